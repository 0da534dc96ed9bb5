"""Pairs of one language: what a page's structure says belongs together."""

import random
from collections import Counter

import settings
from headings import BOILERPLATE, says_something, unnumbered
from records import Page, Pair
from text import sentences

MAX_QUERY, MAX_PASSAGE = 300, 700  # characters
_WINDOW = {"zh": 260, "en": 650}  # characters of a section that stand for it: about as much in both languages
_SLICE = {"zh": 18, "en": 60}  # characters of a slice of a sentence
_LEAST_BODY = {"zh": 24, "en": 60}  # characters of a section worth asking for


def make(pages: list[Page], rng: random.Random) -> list[Pair]:
    """Pairs of every page, up to settings.MOST_PAIRS of a source and language."""
    pages = list(pages)
    rng.shuffle(pages)
    made: list[Pair] = []
    count: Counter[tuple[str, str]] = Counter()
    for page in pages:
        limits = settings.MOST_PAIRS[page.language]
        limit = limits.get(page.source, limits["default"])
        of_page = _Maker(page, rng)
        for part in of_page.parts:
            if count[page.source, page.language] + len(of_page.pairs) > limit:
                break
            of_page.section(*part)
        of_page.whole()
        made += of_page.pairs
        count[page.source, page.language] += len(of_page.pairs)
    return made


def useful_sections(page: Page) -> list[tuple[list[str], str]]:
    """Headings and body of the page's sections that hold enough text, without boilerplate."""
    found = []
    for section in page.sections:
        body = "\n".join(p for p in section.paragraphs if not BOILERPLATE.search(p))
        if len(body) >= _LEAST_BODY[page.language]:
            found.append(([unnumbered(h) for h in section.headings], body))
    return found


class _Maker:
    """The pairs of one page."""

    def __init__(self, page: Page, rng: random.Random) -> None:
        self.pairs: list[Pair] = []
        self.parts = useful_sections(page)
        self._page = page
        self._rng = rng
        self._title = _title(page, self.parts)

    def section(self, headings: list[str], body: str) -> None:
        """Pairs of a section: its heading and some of its sentences as queries."""
        if headings and self._chance(0.75):
            self._by_heading(headings, body)
        parts = sentences(body)
        if len(parts) < 3:
            return
        if self._chance(0.6):
            at = self._rng.randrange(len(parts))
            around = parts[max(0, at - 3) : at] + parts[at + 1 : at + 5]
            title = self._title + "\n" if self._chance(0.4) else ""
            self._add("sentence", parts[at], title + " ".join(around))
        if self._chance(0.3):
            self._add("first", parts[0], " ".join(parts[1:6]))
        if len(parts) >= 6 and self._chance(0.25):
            chosen = self._rng.choice(parts)
            rest = " ".join(p for p in parts if p != chosen)
            heading = headings[-1] if headings else ""
            self._add("slice", chosen[: _SLICE[self._page.language]], f"{self._title} {heading}\n{rest[:600]}")

    def whole(self) -> None:
        """The title as a query, any section as the passage."""
        if len(self.parts) > 1 and len(self._title) > 3 and self._chance(0.5):
            self._add("title", self._title, self._window(self._rng.choice(self.parts)[1]))

    def _by_heading(self, headings: list[str], body: str) -> None:
        heading = headings[-1]
        titled = f"{self._title} {heading}"
        if says_something(heading):
            # Twice as often alone: that is the hard case.
            query = self._rng.choice([heading, heading, titled, " ".join(headings[-2:])])
            self._add("heading", query, self._window(body))
        elif len(self._title) > 2:
            self._add("title", self._rng.choice([titled, self._title]), self._window(body))

    def _window(self, body: str) -> str:
        """The start of a long section, or at times a part from its middle."""
        length = _WINDOW[self._page.language]
        if len(body) <= length:
            return body
        start = self._rng.randrange(len(body) - length) if self._chance(0.4) else 0
        return body[start : start + length]

    def _add(self, kind: str, query: str, passage: str) -> None:
        language = self._page.language
        self.pairs.append(Pair(query[:MAX_QUERY], passage[:MAX_PASSAGE], kind, self._page.source, language, language))

    def _chance(self, probability: float) -> bool:
        return self._rng.random() < probability


def _title(page: Page, parts: list[tuple[list[str], str]]) -> str:
    if page.key.startswith("man:"):
        return man_name(page)
    return parts[0][0][0] if parts and parts[0][0] else page.title


def man_name(page: Page) -> str:
    """What a manual page is called, without its section."""
    return page.key.removeprefix("man:").rsplit(".", 1)[0]
