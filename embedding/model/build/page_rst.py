"""Sections of a reStructuredText page (the kernel's documentation)."""

import re
from pathlib import Path

from records import Section
from sections import SectionBuilder
from text import read_text, squeeze

_UNDERLINE = re.compile(r"""([=\-~^"'`#*+.:_])\1{2,}\s*""")


def parse(path: Path) -> tuple[str, list[Section]]:
    """The page's title and sections; directives are left out."""
    lines = read_text(path).split("\n")
    builder = SectionBuilder()
    styles: list[tuple[str, bool]] = []  # (underline character, with overline) in order of first use: the levels
    title = ""
    i = 0
    while i < len(lines):
        line = lines[i]
        if _is_heading(lines, i):
            overlined = i > 0 and _UNDERLINE.fullmatch(lines[i - 1]) is not None
            if overlined:
                builder.drop_pending()
            style = (lines[i + 1][0], overlined)
            if style not in styles:
                styles.append(style)
            heading = _plain(squeeze(line))
            title = title or heading
            builder.heading(styles.index(style), heading)
            i += 2
        elif line.startswith(".. "):
            builder.close_paragraph()
            i = _after_directive(lines, i + 1)
        elif not line.strip():
            builder.close_paragraph()
            i += 1
        else:
            if not line.strip().startswith(("..", ":")):
                builder.add(_plain(line.strip()))
            i += 1
    builder.close_section()
    return title, builder.sections


def _is_heading(lines: list[str], i: int) -> bool:
    below = lines[i + 1] if i + 1 < len(lines) else ""
    return bool(lines[i].strip() and _UNDERLINE.fullmatch(below) and not _UNDERLINE.fullmatch(lines[i]))


def _after_directive(lines: list[str], i: int) -> int:
    while i < len(lines) and (not lines[i].strip() or lines[i][0] in " \t"):
        i += 1
    return i


def _plain(text: str) -> str:
    text = re.sub(r":[a-zA-Z:+-]+:`([^`<]*?)(?:\s*<[^>]*>)?`", r"\1", text)  # :ref:`text <target>`
    text = re.sub(r"`+([^`<]*?)(?:\s*<[^>]*>)?`+_{0,2}", r"\1", text)  # `text <target>`_
    return re.sub(r"\*\*?([^*]+)\*\*?", r"\1", text)
