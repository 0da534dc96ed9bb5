"""Judges a model on questions that no step of the build has seen: Python's FAQ, each question to find its own answer.

With it changes of the build are compared before anything is measured on the judged sets of eval/, so that those stay a
proof. build.py prints it; of another file: .cache/model/venv/bin/python embedding/model/build/heldout.py FILE.kbs
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import kbs
import page_html
import settings
from examples import Encoder
from headings import unnumbered
from vocabulary import Entry

_LEAST_ANSWER = 60  # characters
_BREADCRUMB_WEIGHT = 0.5  # of the headings in a passage's vector, as in embedding/builtin.go


@dataclass
class Score:
    """Shares of all questions."""

    questions: int
    reciprocal_rank: float  # mean of 1 / rank of the answer
    first: float  # answers at rank 1
    first_ten: float

    def __str__(self) -> str:
        """One line."""
        return (
            f"{self.questions} held-out questions: MRR {self.reciprocal_rank:.3f}, "
            f"first {self.first:.3f}, first ten {self.first_ten:.3f}"
        )


def score(model: kbs.Model) -> Score:
    """Rank all answers by cosine for every question."""
    rows = np.frombuffer(model.rows, np.int8).reshape(-1, model.dims) * np.array(model.scales)[:, None]
    encoder = Encoder([Entry(p, lp, 0) for p, lp in zip(model.pieces, model.log_probs, strict=True)])
    questions, headings, answers = zip(*_faq(), strict=True)
    passages = _vectors(rows, encoder, answers) + _BREADCRUMB_WEIGHT * _vectors(rows, encoder, headings)
    passages /= np.linalg.norm(passages, axis=1, keepdims=True)
    likeness = _vectors(rows, encoder, questions) @ passages.T
    ranks = (likeness > likeness.diagonal()[:, None]).sum(1) + 1
    return Score(len(ranks), (1 / ranks).mean(), (ranks == 1).mean(), (ranks <= 10).mean())


def _faq() -> list[tuple[str, str, str]]:
    """Question, headings above it, answer."""
    found = []
    for path in sorted(settings.UNPACKED.glob(settings.HELD_OUT)):
        for section in page_html.parse(path)[1]:
            if section.headings and len(section.body()) >= _LEAST_ANSWER:
                above = " > ".join(unnumbered(h) for h in section.headings[:-1])
                found.append((unnumbered(section.headings[-1]), above, section.body()[:800]))
    return found


def _vectors(rows: np.ndarray, encoder: Encoder, texts: tuple[str, ...]) -> np.ndarray:
    sums = np.array([rows[ids].sum(0) for ids in encoder.ids(list(texts))])
    return sums / (np.linalg.norm(sums, axis=1, keepdims=True) + 1e-9)


if __name__ == "__main__":
    print(score(kbs.read(Path(sys.argv[1]))))
