"""What the steps hand each other, as JSON lines."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass
class Section:
    """A part of a page below one heading: the path of headings to it, outermost first, and its paragraphs."""

    headings: list[str]
    paragraphs: list[str]

    def body(self) -> str:
        """The paragraphs, one a line."""
        return "\n".join(self.paragraphs)


@dataclass
class Page:
    """A document of a source. Translations of one page have the same key."""

    source: str
    language: str  # zh or en
    key: str
    title: str
    sections: list[Section] = field(default_factory=list)


@dataclass
class Message:
    """An entry of a message catalogue or dictionary: the same said in both languages."""

    source: str
    en: str
    zh: str


@dataclass
class Pair:
    """A training example: what somebody might ask, and a passage that answers it."""

    query: str
    passage: str
    kind: str  # a key of settings.KIND_WEIGHT
    source: str
    query_language: str
    passage_language: str


def write_lines(path: Path, records: Iterable[Page | Message | Pair]) -> None:
    """Write records; the file appears only when it is whole, so that an interrupted step is run again."""
    partial = path.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as out:
        for record in records:
            out.write(json.dumps(asdict(record), ensure_ascii=False) + "\n")
    partial.rename(path)


def _objects(path: Path) -> Iterator[dict]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def read_pages(path: Path) -> list[Page]:
    """Read what write_lines wrote."""
    pages = [Page(**o) for o in _objects(path)]
    for page in pages:
        page.sections = [Section(**s) for s in page.sections]
    return pages


def read_messages(path: Path) -> list[Message]:
    """Read what write_lines wrote."""
    return [Message(**o) for o in _objects(path)]


def read_pairs(path: Path) -> list[Pair]:
    """Read what write_lines wrote."""
    return [Pair(**o) for o in _objects(path)]
