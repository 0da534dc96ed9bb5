"""Chooses the pieces and their log-probabilities: pages, messages, word lists -> vocabulary.json.

Candidates come from four places: pieces of multilingual-e5's vocabulary that the sources hold, words of the sources,
jieba's most frequent words, and every character of GB 2312. Hard EM on the sources' text then gives the frequencies and
drops what the tokenizer doesn't choose.
"""

import json
import math
import random
import re
from collections import Counter
from dataclasses import dataclass

from tokenizers import Tokenizer, models

import records
import settings
import word_lists
from normalize import WORD_START, normalize

CHINESE = re.compile("[\u4e00-\u9fff]+")
LATIN = re.compile(f"{WORD_START}?[a-z0-9]+")

# What pages of one source and language give at most, in characters, so that no source outvotes the others.
_MOST_TEXT = {"zh": 3_000_000, "en": 1_500_000}
_DESCRIPTIONS = 12_000  # English package descriptions: breadth of words

# A word or piece must occur this often to be a candidate.
_LEAST = {"chinese word": 7, "english word": 9, "e5 chinese": 3, "e5 english": 6, "e5 continuation": 20}

_ROUNDS = 4
_KEEP_ROUNDS = 2  # rounds before the vocabulary is cut to size
_CHINESE_BONUS = 1.3  # Chinese pieces are rarer each than English ones, and as needed


@dataclass
class Entry:
    """A piece: the log-probability by which the tokenizer chooses, and its frequency in general text."""

    piece: str
    log_prob: float
    frequency: float


def load() -> list[Entry]:
    """Read what build wrote; ids of pieces are positions in it."""
    return [Entry(*row) for row in json.loads(settings.VOCABULARY.read_text(encoding="utf-8"))]


def unigram_tokenizer(entries: list[Entry]) -> Tokenizer:
    """The library's tokenizer over the pieces; the unknown character has the id len(entries)."""
    unknown = ("<unk>", -25.0)
    return Tokenizer(models.Unigram([(e.piece, e.log_prob) for e in entries] + [unknown], unk_id=len(entries)))


def build() -> None:
    """Choose the pieces and write them, likeliest first."""
    texts = [normalize(t) for t in _texts()]
    words, characters = _count(texts)
    general, general_total = word_lists.jieba_words()
    candidates, always = _candidates(words, characters, general)
    entries = _expectation_maximisation(texts, candidates, always, general, general_total)
    entries.sort(key=lambda e: (-e.log_prob, e.piece))
    rows = [[e.piece, e.log_prob, e.frequency] for e in entries]
    settings.VOCABULARY.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    print(f"{len(entries)} pieces from {len(texts)} texts, {sum(map(len, texts))} characters")


def _texts() -> list[str]:
    shuffle = random.Random(1).shuffle
    pages = records.read_pages(settings.PAGES)
    shuffle(pages)
    taken: Counter[tuple[str, str]] = Counter()
    texts: list[str] = []
    for page in pages:
        key = (page.source, page.language)
        if taken[key] > _MOST_TEXT[page.language]:
            continue
        for section in page.sections:
            text = " ".join(section.headings) + "\n" + section.body()
            texts.append(text[:4000])
            taken[key] += len(text)
    messages = records.read_messages(settings.MESSAGES)
    texts += [m.en for m in messages] + [m.zh for m in messages]
    blocks = settings.DESCRIPTIONS["en"].read_text(encoding="utf-8").split("\n\n")
    descriptions = ["\n".join(b.split("\n", 3)[2:]) for b in blocks if b]
    shuffle(descriptions)
    return texts + descriptions[:_DESCRIPTIONS]


def _count(texts: list[str]) -> tuple[Counter[str], Counter[str]]:
    """How often words (English ones with WORD_START) and characters occur."""
    words: Counter[str] = Counter()
    characters: Counter[str] = Counter()
    for text in texts:
        characters.update(text)
        for run in CHINESE.findall(text):
            words.update(word_lists.cut(run))
        words.update(WORD_START + w for w in re.findall(f"(?<={WORD_START})[a-z0-9]{{1,20}}", text))
    return words, characters


def _candidates(
    words: Counter[str], characters: Counter[str], general: dict[str, float]
) -> tuple[dict[str, float], set[str]]:
    """Candidate pieces with a first log-probability, and those that are kept whatever happens."""
    simplified = word_lists.gb2312()
    always = simplified | {chr(c) for c in range(33, 127) if not chr(c).isupper()} | {WORD_START}
    by_frequency = sorted(general.items(), key=lambda item: -item[1])
    general_words = [w for w, _ in by_frequency if 2 <= len(w) <= 4][: settings.GENERAL_CHINESE_WORDS]
    chinese = {
        w
        for w, n in words.items()
        if n >= _LEAST["chinese word"] and CHINESE.fullmatch(w) and 2 <= len(w) <= 4 and set(w) <= simplified
    }
    english = {
        w
        for w, n in words.items()
        if n >= _LEAST["english word"] and re.fullmatch(f"{WORD_START}[a-z][a-z0-9]{{1,17}}", w)
    }
    e5 = _e5_candidates(words, characters, simplified)
    total = sum(words.values())
    first: dict[str, float] = {}
    for piece in e5.keys() | chinese | set(general_words) | english | always:
        least = 1e-9 if len(piece) < 2 else 3e-8
        first[piece] = math.log(max(words[piece] / total, math.exp(e5[piece]) if piece in e5 else 0, least))
    return first, always | set(general_words)


def _e5_candidates(words: Counter[str], characters: Counter[str], simplified: set[str]) -> dict[str, float]:
    """The e5 pieces, in our normal form, that the sources hold, with e5's log-probabilities."""
    inner = _inner_parts(words)
    kept: dict[str, float] = {}
    for piece, log_prob in word_lists.e5_pieces():
        form = normalize(piece.replace(WORD_START, " "))
        if not piece.startswith(WORD_START):
            form = form.removeprefix(WORD_START)
        if not form or form == WORD_START or len(form) > 18:
            continue
        if CHINESE.fullmatch(form):
            if len(form) == 1:
                known = form in simplified or characters[form] > 0
            else:
                known = len(form) <= 4 and words[form] >= _LEAST["e5 chinese"]
        elif LATIN.fullmatch(form):
            start = form.startswith(WORD_START)
            known = words[form] >= _LEAST["e5 english"] if start else inner[form] >= _LEAST["e5 continuation"]
        else:
            known = len(form) == 1 and characters[form] > 0 and not _is_foreign(form)
        if known:
            kept[form] = max(kept.get(form, -99.0), log_prob)
    return kept


def _inner_parts(words: Counter[str]) -> Counter[str]:
    """How often strings of up to 8 letters occur inside English words, not at their start."""
    parts: Counter[str] = Counter()
    for word, count in words.items():
        if word.startswith(WORD_START):
            for i in range(2, len(word)):
                for j in range(i + 1, min(len(word), i + 8) + 1):
                    parts[word[i:j]] += count
    return parts


def _is_foreign(character: str) -> bool:
    """Scripts the model doesn't serve: Greek to Cyrillic and beyond, kana, hangul, what is past the first plane."""
    code = ord(character)
    return 0x370 <= code < 0x2000 or 0x3040 <= code < 0x3100 or 0xAC00 <= code < 0xD7B0 or code >= 0x10000


def _expectation_maximisation(
    texts: list[str], candidates: dict[str, float], always: set[str], general: dict[str, float], general_total: float
) -> list[Entry]:
    """Tokenise, count, drop what is not used; the counts are the next round's probabilities."""
    log_probs = candidates
    must = {p for p in always if not CHINESE.fullmatch(p) or len(p) == 1}  # words compete for the last places
    frequency: dict[str, float] = {}
    for number in range(_ROUNDS):
        counts = _piece_counts(texts, log_probs)
        total = sum(counts.values())
        for piece in log_probs:
            here = counts[piece] / total
            # Chinese words that the sources happen to lack are smoothed with their general frequency.
            there = general.get(piece, 0) / general_total * 0.6 if CHINESE.fullmatch(piece) else here
            frequency[piece] = 0.7 * here + 0.3 * there + 0.3 / total
        least = 3 if number < _KEEP_ROUNDS else 5
        keep = [p for p in log_probs if p in always or counts[p] >= least]
        if number >= _KEEP_ROUNDS and len(keep) > settings.VOCABULARY_SIZE:
            free = sorted((p for p in keep if p not in must), key=lambda p: (-_worth(p, frequency), p))
            keep = list(must) + free[: settings.VOCABULARY_SIZE - len(must)]
        log_probs = {p: math.log(frequency[p]) for p in keep}
    return [Entry(p, lp, frequency[p]) for p, lp in log_probs.items()]


def _worth(piece: str, frequency: dict[str, float]) -> float:
    return frequency[piece] * (_CHINESE_BONUS if CHINESE.fullmatch(piece) else 1)


def _piece_counts(texts: list[str], log_probs: dict[str, float]) -> Counter[str]:
    tokenizer = unigram_tokenizer([Entry(p, lp, 0) for p, lp in sorted(log_probs.items())])
    counts: Counter[str] = Counter()
    for start in range(0, len(texts), 4000):
        for encoding in tokenizer.encode_batch(texts[start : start + 4000]):
            counts.update(encoding.tokens)
    return counts
