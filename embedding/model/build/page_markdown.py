"""Sections of a Markdown page."""

import re
from pathlib import Path

from records import Section
from sections import SectionBuilder
from text import read_text, squeeze


def parse(path: Path) -> tuple[str, list[Section]]:
    """The page's sections, with the fenced code left out; it has no title besides its headings."""
    builder = SectionBuilder()
    fenced = False
    for line in read_text(path).split("\n"):
        heading = re.match(r"(#{1,6})\s+(.*)", line)
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced:
            continue
        elif heading:
            builder.heading(len(heading[1]), squeeze(heading[2]))
        elif line.strip():
            builder.add(line)
        else:
            builder.close_paragraph()
    builder.close_section()
    return "", builder.sections
