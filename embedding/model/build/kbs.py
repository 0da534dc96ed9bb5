"""The model file: format KBS1 of MODEL_CARD.md, little endian. Standard library only, so that CI can test it as it is.

"KBS1", u32 V, u32 D, u32 L, V x f32 log-probability, V x f32 scale, (V+1) x u32 offset, L bytes of text, V*D x int8
"""

import struct
import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MAGIC = b"KBS1"
HEADER_BYTES = 16


@dataclass
class Model:
    """A static embedding: row i, scales[i] times its int8 values, is the vector of pieces[i]."""

    dims: int
    pieces: list[str]
    log_probs: array  # of V float32
    scales: array  # of V float32
    rows: bytes  # V * dims int8, row after row

    def row(self, piece: int) -> list[float]:
        """The vector of a piece; its length is the piece's importance."""
        values = array("b", self.rows[piece * self.dims : (piece + 1) * self.dims])
        return [self.scales[piece] * v for v in values]


def write(path: Path, model: Model) -> None:
    """Write the file."""
    texts = [p.encode() for p in model.pieces]
    blob = b"".join(texts)
    offsets = array("I", [0])
    for text in texts:
        offsets.append(offsets[-1] + len(text))
    head = MAGIC + struct.pack("<III", len(texts), model.dims, len(blob))
    parts = [_little(model.log_probs), _little(model.scales), _little(offsets)]
    path.write_bytes(head + b"".join(parts) + blob + model.rows)


def read(path: Path) -> Model:
    """Read the file; whatever has another size than its header says is refused."""
    data = path.read_bytes()
    if data[:4] != MAGIC:
        raise ValueError(f"{path} is no KBS1 model: wrong first bytes")
    count, dims, blob_bytes = struct.unpack("<III", data[4:HEADER_BYTES])
    want = HEADER_BYTES + 8 * count + 4 * (count + 1) + blob_bytes + count * dims
    if len(data) != want:
        raise ValueError(f"{path} has {len(data)} bytes instead of {want}: cut short or damaged")
    at = HEADER_BYTES
    log_probs = _numbers("f", data[at : at + 4 * count])
    at += 4 * count
    scales = _numbers("f", data[at : at + 4 * count])
    at += 4 * count
    offsets = _numbers("I", data[at : at + 4 * (count + 1)])
    at += 4 * (count + 1)
    blob = data[at : at + blob_bytes]
    pieces = [blob[offsets[i] : offsets[i + 1]].decode() for i in range(count)]
    return Model(dims, pieces, log_probs, scales, data[at + blob_bytes :])


def quantise(row: Sequence[float]) -> tuple[float, bytes]:
    """The scale and int8 values of a row: its largest value becomes 127."""
    scale = max(abs(v) for v in row) / 127 + 1e-12
    return scale, array("b", [round(v / scale) for v in row]).tobytes()


def _little(numbers: array) -> bytes:
    if sys.byteorder == "big":
        numbers = array(numbers.typecode, numbers)
        numbers.byteswap()
    return numbers.tobytes()


def _numbers(typecode: str, data: bytes) -> array:
    numbers = array(typecode, data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
