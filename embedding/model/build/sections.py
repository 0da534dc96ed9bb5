"""Collects headings and paragraphs into sections: what the parsers of all formats share."""

from records import Section
from text import squeeze

MAX_HEADING = 160  # characters


class SectionBuilder:
    """Takes a page's headings and text in order and gives its sections."""

    def __init__(self) -> None:
        """Start with an empty page."""
        self.sections: list[Section] = []
        self._path: list[tuple[int, str]] = []  # (level, heading), outermost first
        self._paragraphs: list[str] = []
        self._pending: list[str] = []  # parts of a paragraph that is not closed yet

    def heading(self, level: int, text: str) -> None:
        """Open a section below the nearest heading of a smaller level."""
        self.close_section()
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        if text:
            self._path.append((level, text[:MAX_HEADING]))

    def add(self, text: str) -> None:
        """Go on with the open paragraph."""
        self._pending.append(text)

    def drop_pending(self) -> None:
        """Take back what was last added: it was no text."""
        if self._pending:
            self._pending.pop()

    def close_paragraph(self, separator: str = " ") -> None:
        """End the open paragraph. One character is no paragraph."""
        text = squeeze(separator.join(self._pending))
        self._pending.clear()
        if len(text) > 1:
            self._paragraphs.append(text)

    def close_section(self, separator: str = " ") -> None:
        """End the open section; one without text is left out."""
        self.close_paragraph(separator)
        if self._paragraphs:
            self.sections.append(Section([h for _, h in self._path], self._paragraphs))
            self._paragraphs = []
