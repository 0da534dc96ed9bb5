"""Trains a table by a recipe: a query shall be nearer to its own passage than to the others of the batch, and back."""

import time

import numpy as np

import settings
import table as tables
from adam import Adam
from examples import Examples, Sampler
from settings import Recipe
from table import Table
from vocabulary import Entry


def train(entries: list[Entry], examples: Examples, recipe: Recipe) -> np.ndarray:
    """The trained table, V x DIMS float32."""
    return _Training(tables.initial(entries), examples, recipe).run()


class _Training:
    def __init__(self, table: Table, examples: Examples, recipe: Recipe) -> None:
        self._table = table
        self._recipe = recipe
        self._sampler = Sampler(examples, recipe, np.random.default_rng(recipe.seed))
        self._start_length = table.log_length.copy()
        self._map = Adam(table.map, settings.MAP_RATE)
        self._length = Adam(table.log_length, settings.LENGTH_RATE)
        self._correction = Adam(table.correction, recipe.correction_rate)
        self._step = 0
        self._steps = settings.EPOCHS * self._sampler.batches_per_epoch()

    def run(self) -> np.ndarray:
        began = time.monotonic()
        for epoch in range(settings.EPOCHS):
            losses = [self._batch(batch) for batch in self._sampler.epoch()]
            seconds = time.monotonic() - began
            print(f"recipe {self._recipe.name}, epoch {epoch}: loss {np.mean(losses):.4f}, {seconds:.0f} s", flush=True)
        return self._table.vectors()

    def _batch(self, batch: np.ndarray) -> float:
        """One step of descent; gives the loss before it."""
        self._step += 1
        bags = self._sampler.matrix(batch, len(self._table.log_length))
        used = np.unique(bags.indices)
        bags = bags[:, used]
        projected = self._table.teacher[used] @ self._table.map
        scale = np.exp(self._table.log_length[used])[:, None]
        vectors = scale * projected + self._table.correction[used]

        loss, gradient = contrast(bags @ vectors, self._recipe.temperature)
        by_piece = np.asarray(bags.T @ gradient, dtype=np.float32)
        self._descend(used, by_piece, projected, scale)
        return loss

    def _descend(self, used: np.ndarray, gradient: np.ndarray, projected: np.ndarray, scale: np.ndarray) -> None:
        """Steps for W, and for g and D of the pieces in use, from the gradient by their vectors (len(used) x DIMS)."""
        t = self._table
        pace = max(0.03, 1 - self._step / self._steps)  # the rates fall to nearly nothing
        self._map.step(t.teacher[used].T @ (scale * gradient), pace)
        self._correction.step(gradient, pace, used)
        self._length.step((gradient * projected).sum(1) * scale[:, 0], pace, used)
        t.correction[used] *= 1 - pace * self._recipe.decay
        t.log_length[used] -= pace * self._recipe.decay * (t.log_length - self._start_length)[used]


def contrast(sums: np.ndarray, temperature: float) -> tuple[float, np.ndarray]:
    """Loss of a batch's 2n text vectors, queries above passages, and its gradient (2n x DIMS).

    The symmetric cross-entropy of choosing each query's passage among n, and each passage's query.
    """
    n = len(sums) // 2
    lengths = np.linalg.norm(sums, axis=1, keepdims=True) + 1e-8
    unit = sums / lengths
    queries, passages = unit[:n], unit[n:]
    likeness = queries @ passages.T / temperature
    by_query, by_passage = _softmax(likeness, 1), _softmax(likeness, 0)
    loss = -np.log(by_query.diagonal() + 1e-9).mean()
    wrong = (by_query + by_passage - 2 * np.eye(n, dtype=np.float32)) / (2 * n * temperature)
    by_unit = np.concatenate([wrong @ passages, wrong.T @ queries])
    # Along its own direction a vector can't move: only its direction counts.
    return float(loss), (by_unit - (by_unit * unit).sum(1, keepdims=True) * unit) / lengths


def _softmax(x: np.ndarray, axis: int) -> np.ndarray:
    x = np.exp(x - x.max(axis, keepdims=True))
    return x / x.sum(axis, keepdims=True)


def average(trained: list[np.ndarray]) -> np.ndarray:
    """The mean of tables brought to one scale, its longest row of length 1, lengths to settings.LENGTH_POWER."""
    scaled = [t / np.median(np.linalg.norm(t, axis=1)) for t in trained]
    mean = np.mean(scaled, axis=0)
    lengths = np.linalg.norm(mean, axis=1, keepdims=True)
    return (mean / lengths * (lengths / lengths.max()) ** settings.LENGTH_POWER).astype(np.float32)
