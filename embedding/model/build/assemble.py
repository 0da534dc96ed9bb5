"""Trains the tables, averages them and writes the model with its parity file."""

import hashlib
from array import array

import numpy as np

import heldout
import kbs
import parity
import settings
import train
import vocabulary
from examples import Examples
from examples import load as load_examples
from vocabulary import Entry


def build() -> None:
    """Train what is not there yet, write the results into the repository, and say what they are worth."""
    entries = vocabulary.load()
    model = _model(entries, train.average(_tables(entries)))
    kbs.write(settings.MODEL, model)
    parity.write(settings.MODEL, entries, settings.PARITY)
    print(heldout.score(model))
    image = settings.MODEL.read_bytes()
    print(f"{settings.MODEL}: {len(image)} bytes, sha256 {hashlib.sha256(image).hexdigest()}")
    print("To ship it, go on as MODEL_CARD.md says under: Shipping another model")


def _tables(entries: list[Entry]) -> list[np.ndarray]:
    """A table a recipe; tables of earlier runs are taken as they are."""
    settings.TABLES.mkdir(exist_ok=True)
    examples: Examples | None = None
    tables = []
    for recipe in settings.RECIPES:
        path = settings.TABLES / f"{recipe.name}.npy"
        if not path.exists():
            examples = examples or load_examples(entries)
            np.save(path, train.train(entries, examples, recipe))
        tables.append(np.load(path))
    return tables


def _model(entries: list[Entry], table: np.ndarray) -> kbs.Model:
    quantised = [kbs.quantise(row) for row in table.tolist()]
    return kbs.Model(
        dims=settings.DIMS,
        pieces=[e.piece for e in entries],
        log_probs=array("f", [e.log_prob for e in entries]),
        scales=array("f", [scale for scale, _ in quantised]),
        rows=b"".join(values for _, values in quantised),
    )
