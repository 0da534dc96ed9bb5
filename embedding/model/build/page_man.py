"""Sections of a manual page (man and mdoc macros)."""

import re
from pathlib import Path

from records import Section
from sections import SectionBuilder
from text import read_text, squeeze

_PARAGRAPH = frozenset("PP P LP TP IP HP Pp It sp RS RE".split())
_JOINED = frozenset("BR RB IR RI BI IB".split())  # fonts alternate, without space between the arguments
_INLINE = frozenset("B I SM SB Fl Ar Nm Nd Xr Pa Cm Dq Sq Ql Em Sy Va Fn Dv Er".split())

_ESCAPES = {
    "\\-": "-",
    "\\&": "",
    "\\e": "\\",
    "\\(aq": "'",
    "\\(bu": "•",
    "\\|": "",
    "\\'": "'",
    "\\ ": " ",
    "\\~": " ",
    "\\(em": "—",
}


def parse(path: Path) -> tuple[str, list[Section]]:
    """The page's name and sections."""
    builder = SectionBuilder()
    name = ""
    for line in _unescape(read_text(path)).split("\n"):
        macro = re.match(r"[.']\s*([A-Za-z]+)\s*(.*)", line)
        if macro:
            name = _macro(builder, macro[1], macro[2].strip()) or name
        elif line.startswith((".", "'")):
            continue  # a comment
        elif line.strip():
            builder.add(line)
        else:
            builder.close_paragraph()
    builder.close_section()
    return name, builder.sections


def _macro(builder: SectionBuilder, macro: str, rest: str) -> str:
    """Act on a macro; gives the page's name if the macro says it."""
    arguments = [a.strip('"') for a in re.findall(r'"[^"]*"|\S+', rest)]
    text = squeeze(" ".join(arguments))
    if macro in ("TH", "Dt"):
        return arguments[0] if arguments else ""
    if macro in ("SH", "Sh"):
        builder.heading(1, text)
    elif macro in ("SS", "Ss"):
        builder.heading(2, text)
    elif macro in _PARAGRAPH:
        builder.close_paragraph()
        if macro in ("IP", "It") and text:
            builder.add(re.sub(r"\s+\d+$", "", text))  # the number is an indentation
    elif macro in _JOINED:
        builder.add("".join(arguments))
    elif macro in _INLINE:
        builder.add(text)
    return ""


def _unescape(source: str) -> str:
    source = re.sub(r"\\f(?:\[[^\]]*\]|\(..|.)", "", source)  # fonts
    for escape, text in _ESCAPES.items():
        source = source.replace(escape, text)
    source = re.sub(r"\\s[+-]?\d", "", source)  # sizes
    source = re.sub(r"\\\*?\((..)", "", source)  # other characters by name
    source = re.sub(r'\\".*', "", source)  # comments
    return re.sub(r"\\\[[^\]]*\]", "", source)
