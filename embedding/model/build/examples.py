"""Training pairs as pieces, and the batches they are drawn in."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse
from tokenizers import Tokenizer

import records
import settings
from normalize import normalize
from settings import Recipe
from vocabulary import Entry, unigram_tokenizer

Ids = np.ndarray  # ids of a text's pieces, int32
_LEAST_BATCH = 64  # pairs: with fewer passages to choose from there is little to learn


class Encoder:
    """Text to ids of pieces, unknown characters left out."""

    def __init__(self, entries: list[Entry]) -> None:
        """Over the vocabulary."""
        self._tokenizer: Tokenizer = unigram_tokenizer(entries)
        self._unknown = len(entries)

    def ids(self, texts: list[str]) -> list[Ids]:
        """The ids of each text."""
        out: list[Ids] = []
        for start in range(0, len(texts), 5000):
            batch = [normalize(t) for t in texts[start : start + 5000]]
            for encoding in self._tokenizer.encode_batch(batch):
                out.append(np.array([i for i in encoding.ids if i != self._unknown], dtype=np.int32))
        return out


@dataclass
class Examples:
    """The pairs, tokenised; the lists are parallel."""

    queries: list[Ids]
    passages: list[Ids]
    kinds: np.ndarray
    sources: np.ndarray
    languages: list[str]  # of the queries
    fillers: dict[str, list[Ids]]  # settings.FILLERS by language

    def __len__(self) -> int:
        """How many pairs."""
        return len(self.queries)


def load(entries: list[Entry]) -> Examples:
    """All pairs with a known piece on both sides."""
    encoder = Encoder(entries)
    pairs = records.read_pairs(settings.PAIRS)
    queries, passages = encoder.ids([p.query for p in pairs]), encoder.ids([p.passage for p in pairs])
    known = [i for i in range(len(pairs)) if len(queries[i]) and len(passages[i])]
    return Examples(
        [queries[i] for i in known],
        [passages[i] for i in known],
        np.array([pairs[i].kind for i in known]),
        np.array([pairs[i].source for i in known]),
        [pairs[i].query_language for i in known],
        {language: encoder.ids(words) for language, words in settings.FILLERS.items()},
    )


class Sampler:
    """Draws batches of pairs by a recipe."""

    def __init__(self, examples: Examples, recipe: Recipe, rng: np.random.Generator) -> None:
        """Choose the pairs the recipe uses, by the weights of their kinds."""
        self._examples = examples
        self._recipe = recipe
        self._rng = rng
        cross = np.char.startswith(examples.kinds, "x-")
        share = np.array([settings.KIND_WEIGHT[k] for k in examples.kinds])
        share[cross] *= recipe.cross_weight
        share[cross & (examples.sources == "libreoffice-help")] *= settings.OFFICE_SHARE
        self._chosen = np.flatnonzero(rng.random(len(examples)) < share)

    def batches_per_epoch(self) -> int:
        """About how many batches an epoch has."""
        return len(self._chosen) // settings.BATCH + 1

    def epoch(self) -> Iterator[np.ndarray]:
        """Indices of the pairs of each batch. Some batches are of one source, with passages harder to tell apart."""
        size = settings.BATCH
        alone = self._rng.random(len(self._chosen)) < self._recipe.same_source
        mixed = self._rng.permutation(self._chosen[~alone])
        batches = [mixed[i : i + size] for i in range(0, len(mixed) - size // 2, size)]
        left = []
        for source in sorted(set(self._examples.sources)):
            mine = self._chosen[alone & (self._examples.sources[self._chosen] == source)]
            mine = self._rng.permutation(mine)
            full = len(mine) // size * size
            batches += [mine[i : i + size] for i in range(0, full, size)]
            if len(mine) - full >= size // 3:
                batches.append(mine[full:])
            else:
                left.append(mine[full:])
        rest = self._rng.permutation(np.concatenate(left))
        batches += [rest[i : i + size] for i in range(0, len(rest), size)]
        random.Random(int(self._rng.integers(1 << 31))).shuffle(batches)
        return (b for b in batches if len(b) >= _LEAST_BATCH)

    def matrix(self, batch: np.ndarray, pieces: int) -> sparse.csr_matrix:
        """2n x pieces: each row the mean of a text's pieces, the n queries above their passages."""
        queries = self._bag([self._with_fillers(i) for i in batch], settings.QUERY_DROPOUT, pieces)
        passages = self._bag([self._examples.passages[i] for i in batch], settings.PASSAGE_DROPOUT, pieces)
        return sparse.vstack([queries, passages]).tocsr()

    def _with_fillers(self, index: int) -> Ids:
        query = self._examples.queries[index]
        if self._rng.random() >= self._recipe.filler:
            return query
        words = self._examples.fillers[self._examples.languages[index]]
        count = 1 + int(self._rng.random() * min(4, 1 + len(query) // 3))
        return np.concatenate([query] + [words[int(self._rng.integers(len(words)))] for _ in range(count)])

    def _bag(self, texts: list[Ids], dropout: float, pieces: int) -> sparse.csr_matrix:
        columns = np.concatenate(texts)
        lengths = np.array([len(t) for t in texts])
        rows = np.repeat(np.arange(len(texts)), lengths)
        values = np.repeat(1 / np.maximum(lengths, 1), lengths).astype(np.float32)
        kept = self._rng.random(len(columns)) >= dropout
        return sparse.csr_matrix((values[kept], (rows[kept], columns[kept])), shape=(len(texts), pieces))
