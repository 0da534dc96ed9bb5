"""Makes the training pairs: pages and messages -> pairs.jsonl."""

import random
from collections import Counter

import pairs_cross
import pairs_within
import records
import settings
from records import Pair


def build() -> None:
    """Make all pairs and write them, each once, in random order."""
    pages = records.read_pages(settings.PAGES)
    messages = records.read_messages(settings.MESSAGES)
    rng = random.Random(0)
    made = pairs_within.make(pages, rng)
    made += pairs_cross.from_messages(messages, rng)
    made += pairs_cross.from_pages(pages, rng)
    once: dict[tuple[str, str], Pair] = {}
    for pair in made:
        if len(pair.query) > 1 and len(pair.passage) > 1:
            once.setdefault((pair.query, pair.passage[:80]), pair)
    result = list(once.values())
    rng.shuffle(result)
    records.write_lines(settings.PAIRS, result)
    print(f"{len(result)} pairs:", dict(Counter(p.kind for p in result).most_common()))
