"""Tests of what the daemon shares with the build: normalisation, pieces, vectors and the file. Standard library only.

Run by `make test`: python3 -m unittest discover -s embedding/model/build
"""

import json
import math
import tempfile
import unittest
from array import array
from pathlib import Path

import kbs
from normalize import normalize
from tokenize_reference import Tokenizer

EMBEDDING = Path(__file__).resolve().parents[2]
MODEL = next((EMBEDDING / "model").glob("*.kbs"))
PARITY = EMBEDDING / "testdata" / "parity.jsonl"  # the Go test reads the same file


class Normalize(unittest.TestCase):
    """The rules of the card, one a case."""

    CASES = {
        "Hello, World 2": "▁hello,▁world▁2",
        "怎么重启 nginx 服务": "怎么重启▁nginx服务",
        "ＡＢＣ１２３　全角": "▁abc123全角",
        "a\u00a0b\tc\nd": "▁a▁b▁c▁d",
        "MySQL JavaScript": "▁mysql▁javascript",  # shorter than CAMEL_MIN
        "CephOSDFlapping": "▁ceph▁osd▁flapping",
        "getHTTPResponseCode2XX": "▁get▁http▁response▁code2▁xx",
        "Ünïcödé ÉCOLE": "▁ünïcödé▁école",
        "İstanbul": "▁istanbul",  # lower case of one character in two
        "": "",
    }

    def test_rules(self) -> None:
        """Each rule alone."""
        for text, want in self.CASES.items():
            with self.subTest(text):
                self.assertEqual(normalize(text), want)


class Parity(unittest.TestCase):
    """The shipped model gives the pieces and vectors of the parity file, as the Go implementation is held to."""

    def test_pieces_and_vectors(self) -> None:
        """Ids are equal, vectors point the same way."""
        model = kbs.read(MODEL)
        tokenizer = Tokenizer(model)
        lines = [json.loads(line) for line in PARITY.read_text(encoding="utf-8").splitlines()]
        self.assertGreaterEqual(len(lines), 60)
        for line in lines:
            ids = tokenizer.ids(line["text"])
            self.assertEqual(ids, line["ids"], line["text"])
            total = [sum(column) for column in zip(*map(model.row, ids), strict=True)] or [0.0] * model.dims
            self.assertGreaterEqual(_cosine(total, line["vec"]), 0.99999, line["text"])


class File(unittest.TestCase):
    """The format, written and read back."""

    def setUp(self) -> None:
        """A model of two pieces."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "small.kbs"
        rows = [[0.5, -1.0, 0.25], [0.0, 2.0, -2.0]]
        quantised = [kbs.quantise(r) for r in rows]
        self.rows = rows
        self.model = kbs.Model(
            dims=3,
            pieces=["▁word", "中"],
            log_probs=array("f", [-2.5, -3.0]),
            scales=array("f", [scale for scale, _ in quantised]),
            rows=b"".join(values for _, values in quantised),
        )

    def test_round_trip(self) -> None:
        """What is written is read; a row differs by half a step of its scale at most."""
        kbs.write(self.path, self.model)
        got = kbs.read(self.path)
        self.assertEqual(got, self.model)
        for i, row in enumerate(self.rows):
            for value, want in zip(got.row(i), row, strict=True):
                self.assertAlmostEqual(value, want, delta=got.scales[i] * 0.51)

    def test_damage_is_refused(self) -> None:
        """A byte less, a byte more and another format are errors that name the file."""
        kbs.write(self.path, self.model)
        whole = self.path.read_bytes()
        for damaged in (whole[:-1], whole + b"x", b"KBS2" + whole[4:]):
            self.path.write_bytes(damaged)
            with self.assertRaisesRegex(ValueError, "small.kbs"):
                kbs.read(self.path)


def _cosine(a: list[float], b: list[float]) -> float:
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    length = math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
    return dot / length if length else float(not any(a) and not any(b))


if __name__ == "__main__":
    unittest.main()
