"""Finds the pages of the unpacked packages and parses them: unpacked/ -> pages.jsonl."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path

import page_html
import page_man
import page_markdown
import page_rst
import records
import settings
from records import Page
from text import HAN

_PARSERS = {"html": page_html.parse, "rst": page_rst.parse, "man": page_man.parse, "md": page_markdown.parse}

_KERNEL = "linux-doc-6.1/usr/share/doc/linux-doc-6.1/Documentation"


@dataclass(frozen=True)
class _File:
    format: str
    source: str
    path: Path
    key: str  # equal for translations of a page


def build() -> None:
    """Parse all pages and write them."""
    with Pool(settings.PROCESSES) as pool:
        parsed = pool.map(_parse, list(_files()), chunksize=32)
    pages = [p for p in parsed if p]
    records.write_lines(settings.PAGES, pages)
    counts = Counter((p.source, p.language) for p in pages)
    print(f"{len(pages)} pages:", ", ".join(f"{s} {lang} {n}" for (s, lang), n in sorted(counts.items())))


def _parse(file: _File) -> Page | None:
    try:
        title, sections = _PARSERS[file.format](file.path)
    except RecursionError:  # one page nests deeper than any reader would follow
        return None
    if not sections:
        return None
    return Page(file.source, _language("".join(p for s in sections for p in s.paragraphs)), file.key, title, sections)


def _language(text: str) -> str:
    # By its text: a translated folder holds pages that nobody has translated yet.
    start = text[:4000]
    return "zh" if len(HAN.findall(start)) > 0.08 * len(start) else "en"


def _files() -> Iterator[_File]:
    for source, key_prefix, patterns in settings.HTML_PAGES:
        yield from _matching("html", source, patterns, lambda p, prefix=key_prefix: prefix + _html_key(p))
    yield from _kernel()
    yield from _matching("man", "manpages-zh", ["manpages-zh/usr/share/man/zh_CN/man*/*.gz"], _man_key)
    for package in settings.MAN_PACKAGES:
        pattern = f"{package}/usr/share/man/man[1-8]/*.gz"
        yield from (f for f in _matching("man", package, [pattern], _man_key) if not f.path.is_symlink())
    yield from _matching("md", "docker-doc", ["docker-doc/**/*.md*"], lambda p: "dk:" + p.name)


def _matching(format_: str, source: str, patterns: list[str], key: Callable[[Path], str]) -> Iterator[_File]:
    for pattern in patterns:
        for path in sorted(settings.UNPACKED.glob(pattern)):
            if path.is_file():
                yield _File(format_, source, path, key(path))


def _html_key(path: Path) -> str:
    # Where file names repeat in folders, the path below the language's folder; else the name without its language.
    for root in ("/text/", "/manual/en/"):
        if root in str(path):
            return str(path).split(root)[1]
    return re.sub(r"\.(zh-cn|en)(?=\.html)", "", path.name)


def _man_key(path: Path) -> str:
    return "man:" + path.name.removesuffix(".gz")


def _kernel() -> Iterator[_File]:
    """Every page that has a Chinese translation, in both languages, and the English parts about running a system."""
    english = settings.UNPACKED / _KERNEL
    chinese = english / "translations/zh_CN"
    translated = {p.relative_to(chinese) for p in chinese.glob("**/*.rst.gz")}
    for page in sorted(translated):
        for root in (chinese, english):
            if (root / page).exists():
                yield _File("rst", "linux-doc", root / page, f"lx:{page}")
    for folder in settings.KERNEL_FOLDERS:
        for path in sorted((english / folder).glob("**/*.rst.gz")):
            page = path.relative_to(english)
            if page not in translated:
                yield _File("rst", "linux-doc", path, f"lx:{page}")
