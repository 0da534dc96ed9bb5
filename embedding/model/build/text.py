"""Small helpers on text that every source needs."""

import gzip
import re
from pathlib import Path

HAN = re.compile("[\u4e00-\u9fff]")


def has_han(text: str) -> bool:
    """Whether text holds a Chinese character: how the build tells Chinese from English."""
    return HAN.search(text) is not None


def squeeze(text: str) -> str:
    """One space for every run of white space; no pilcrows (Sphinx's heading links) and zero-width spaces."""
    return re.sub(r"\s+", " ", text.replace("\u00b6", "").replace("\u200b", "")).strip()


def read_bytes(path: Path) -> bytes:
    """The file's bytes, unpacked if its name ends in .gz."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def read_text(path: Path) -> str:
    """The file as UTF-8; what is not is replaced, since a page with one bad byte is still a page."""
    return read_bytes(path).decode("utf-8", "replace")


def sentences(text: str) -> list[str]:
    """The sentences of a section that are long enough to mean something alone (6 Chinese or 14 other characters)."""
    parts = re.split(r"(?<=[。！？；\n])|(?<=[.!?;])\s+", text)
    return [p.strip() for p in parts if len(p.strip()) >= (6 if has_han(p) else 14)]
