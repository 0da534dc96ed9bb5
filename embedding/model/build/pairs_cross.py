"""Pairs across the languages: messages, and pages with their translations."""

import random
import re
from collections import Counter, defaultdict

from headings import BOILERPLATE, unnumbered
from pairs_within import MAX_PASSAGE, MAX_QUERY, man_name
from records import Message, Page, Pair, Section
from text import has_han

# Sections that manual pages have under the same names: Chinese pattern, English pattern.
_MAN_SECTIONS = [
    ("^(NAME|名称|名字|名稱)", "^NAME"),
    ("(描述|说明|DESCRIPTION)", "^DESCRIPTION"),
    ("(返回值|RETURN)", "^RETURN VALUE"),
    ("(错误|ERRORS)", "^ERRORS"),
]

# Characters of English for one of Chinese, beyond which two texts are no translations of each other.
_PAGE_RATIO = (1.0, 8.0)
_TEXT_RATIO = (1.2, 7.0)

_ZH_EXCERPT, _EN_EXCERPT = 250, 650  # characters, about the same content


def from_messages(messages: list[Message], rng: random.Random) -> list[Pair]:
    """A pair a message, in either direction; messages of two or three characters are kinds of their own."""
    made: list[Pair] = []
    for message in messages:
        if len(message.en) >= 4:
            kind = "x-message" if len(message.zh) >= 4 else "x-short"
            made += _pair(kind, message.source, message.en, message.zh, rng, towards_english=0.5)
    return made


def from_pages(pages: list[Page], rng: random.Random) -> list[Pair]:
    """Pairs of pages that are there in both languages."""
    translations: dict[tuple[str, str], dict[str, Page]] = defaultdict(dict)
    for page in pages:
        source = "man" if page.key.startswith("man:") else page.source
        translations[source, page.key].setdefault(page.language, page)
    made: list[Pair] = []
    used: Counter[str] = Counter()
    for (source, _), by_language in translations.items():
        if len(by_language) == 2:
            of_page = _parallel(source, by_language["zh"], by_language["en"], rng)
            made += of_page
            used[source] += bool(of_page)
    print(f"{used.total()} pages in both languages:", dict(used.most_common()))
    return made


def _parallel(source: str, zh: Page, en: Page, rng: random.Random) -> list[Pair]:
    ratio = _length(en) / max(1, _length(zh))
    if len(zh.sections) == len(en.sections) and _PAGE_RATIO[0] < ratio < _PAGE_RATIO[1]:
        made: list[Pair] = []
        for a, b in zip(zh.sections, en.sections, strict=True):
            made += _aligned_sections(source, (zh, a), (en, b), rng)
        return made
    if source == "man":
        return _man_sections(zh, en)
    if zh.title and en.title and _PAGE_RATIO[0] < ratio < _PAGE_RATIO[1]:
        zh_body, en_body = (" ".join(s.body() for s in p.sections) for p in (zh, en))
        made = _pair("x-heading", source, en.title, zh.title, rng, towards_english=1)
        made += _pair("x-body", source, en_body[:_EN_EXCERPT], zh_body[:_ZH_EXCERPT], rng, towards_english=1)
        return made + _pair("x-heading-body", source, en_body[:_EN_EXCERPT], zh.title, rng, towards_english=1)
    return []


def _length(page: Page) -> int:
    return sum(len(s.body()) for s in page.sections)


def _aligned_sections(
    source: str, zh: tuple[Page, Section], en: tuple[Page, Section], rng: random.Random
) -> list[Pair]:
    """Two sections at the same place of two pages: headings, heading to body, paragraphs."""
    (zh_page, zh_section), (_, en_section) = zh, en
    zh_body, en_body = zh_section.body(), en_section.body()
    if not has_han(zh_body) or not _alike(zh_body, en_body):
        return []
    made: list[Pair] = []
    if zh_section.headings and en_section.headings:
        zh_heading, en_heading = unnumbered(zh_section.headings[-1]), unnumbered(en_section.headings[-1])
        if has_han(zh_heading) and not has_han(en_heading) and len(zh_heading) > 1:
            made += _pair("x-heading", source, en_heading, zh_heading, rng, towards_english=0.5)
            if len(en_body) > 40 and len(zh_heading) > 3:
                titled = f"{_page_title(zh_page)} {zh_heading}" if rng.random() < 0.4 else zh_heading
                made += _pair("x-heading-body", source, en_body[:_EN_EXCERPT], titled, rng, towards_english=1)
            if len(zh_body) > 20 and len(en_heading) > 5:
                made += _pair("x-heading-body", source, en_heading, zh_body[:300], rng, towards_english=0)
    if len(zh_section.paragraphs) == len(en_section.paragraphs):
        for a, b in zip(zh_section.paragraphs, en_section.paragraphs, strict=True):
            if len(a) >= 8 and _alike(a, b) and not BOILERPLATE.search(a):
                made += _pair("x-paragraph", source, b, a, rng, towards_english=0.6)
    elif len(zh_body) > 20:
        made += _pair("x-body", source, en_body[:_EN_EXCERPT], zh_body[:_ZH_EXCERPT], rng, towards_english=1)
    return made


def _page_title(page: Page) -> str:
    if page.key.startswith("man:"):
        return man_name(page)
    first = page.sections[0].headings
    return unnumbered(first[0]) if first else page.title


def _man_sections(zh: Page, en: Page) -> list[Pair]:
    """The standard sections of a manual page whose translation is of another version."""
    made: list[Pair] = []
    for zh_pattern, en_pattern in _MAN_SECTIONS:
        a, b = _first_section(zh, zh_pattern), _first_section(en, en_pattern)
        if a and b and has_han(a.body()):
            forth = (a.body()[:_ZH_EXCERPT], b.body()[:_EN_EXCERPT], "zh", "en")
            back = (b.paragraphs[0][:MAX_QUERY], " ".join(a.paragraphs)[:300], "en", "zh")
            for query, passage, query_language, passage_language in (forth, back):
                if has_han(query) != has_han(passage):
                    made.append(Pair(query, passage, "x-body", "man", query_language, passage_language))
    return made


def _first_section(page: Page, pattern: str) -> Section | None:
    return next((s for s in page.sections if s.headings and re.search(pattern, s.headings[-1])), None)


def _alike(zh: str, en: str) -> bool:
    return _TEXT_RATIO[0] < len(en) / max(1, len(zh)) < _TEXT_RATIO[1]


def _pair(kind: str, source: str, en: str, zh: str, rng: random.Random, towards_english: float) -> list[Pair]:
    """One pair, its query Chinese with the given probability; none if a text is not of its language."""
    if has_han(en) or not has_han(zh):
        return []
    if rng.random() < towards_english:
        return [Pair(zh[:MAX_QUERY], en[:MAX_PASSAGE], kind, source, "zh", "en")]
    return [Pair(en[:MAX_QUERY], zh[:MAX_PASSAGE], kind, source, "en", "zh")]
