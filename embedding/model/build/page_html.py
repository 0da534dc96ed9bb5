"""Sections of an HTML page."""

import re
import sys
from pathlib import Path

from lxml import etree, html

from records import Section
from sections import SectionBuilder
from text import read_bytes, squeeze

BLOCKS = frozenset("p li dd dt td th div pre section article blockquote caption".split())

# Navigation, not text, in the pages of the sources.
_NOISE_TAGS = "script style nav head footer aside".split()
_NOISE_CLASSES = "navheader navfooter toc sphinxsidebar related headerlink leftside docnav".split()
_NOISE_IDS = "TopLeftBar SearchFrame Bookmarks DonationFrame quickview".split()
_NOISE = "|".join(
    [f"//{t}" for t in _NOISE_TAGS]
    # toc-backref holds the text of a heading that a table of contents links to
    + [f'//*[contains(@class,"{c}") and not(contains(@class,"toc-backref"))]' for c in _NOISE_CLASSES]
    + [f'//*[@id="{i}"]' for i in _NOISE_IDS]
)


def parse(path: Path) -> tuple[str, list[Section]]:
    """The page's title and sections; code listings are left out."""
    data = read_bytes(path)
    if not data.strip():
        return "", []
    try:
        tree = html.document_fromstring(data, parser=html.HTMLParser(encoding="utf-8"))
    except etree.ParserError:  # nothing but comments
        return "", []
    title = squeeze(tree.findtext(".//title") or "")
    for node in tree.xpath(_NOISE):
        if node.getparent() is not None:
            node.drop_tree()  # keeps the text behind it
    body = tree.find("body")
    if body is None:
        return title, []
    sys.setrecursionlimit(10_000)  # tables in tables in tables
    builder = SectionBuilder()
    _walk(body, builder)
    builder.close_section("")
    return title, builder.sections


def _walk(node: html.HtmlElement, builder: SectionBuilder) -> None:
    if not isinstance(node.tag, str):  # a comment
        return
    if level := re.fullmatch("h([1-6])", node.tag):
        builder.close_section("")
        builder.heading(int(level[1]), squeeze(node.text_content()))
        return
    block = node.tag in BLOCKS
    if block:
        builder.close_paragraph("")
    if node.tag == "pre":
        return
    if node.text:
        builder.add(node.text)
    for child in node:
        _walk(child, builder)
        if child.tail:
            builder.add(child.tail)
    if block:
        builder.close_paragraph("")
