"""Tokenize(text) of MODEL_CARD.md in plain Python: the reference the daemon's tokenizer is held against.

The build itself uses the `tokenizers` library, which is some hundred times as fast; parity.py proves
that the two agree.
"""

from kbs import Model
from normalize import normalize

UNKNOWN_LOG_PROB = -35.0  # of a character that no piece of one character stands for


class Tokenizer:
    """The likeliest split of a text into pieces (Viterbi over characters)."""

    def __init__(self, model: Model) -> None:
        """Index the model's pieces."""
        self._log_probs = model.log_probs
        self._ids = {piece: i for i, piece in enumerate(model.pieces)}
        self._longest = max(map(len, model.pieces))

    def ids(self, text: str) -> list[int]:
        """The ids of the text's pieces in order, unknown characters left out."""
        norm = normalize(text)
        best = [0.0] + [float("-inf")] * len(norm)  # best[i]: log-probability of the best split of norm[:i]
        last: list[tuple[int, int | None]] = [(0, None)] * (len(norm) + 1)  # its last piece: (start, id)
        for start in range(len(norm)):
            for end in range(start + 1, min(len(norm), start + self._longest) + 1):
                piece = self._ids.get(norm[start:end])
                if piece is not None:
                    score = best[start] + self._log_probs[piece]
                elif end == start + 1:
                    score = best[start] + UNKNOWN_LOG_PROB
                else:
                    continue
                if score > best[end]:
                    best[end], last[end] = score, (start, piece)
        return self._backwards(last)

    @staticmethod
    def _backwards(last: list[tuple[int, int | None]]) -> list[int]:
        found: list[int] = []
        end = len(last) - 1
        while end > 0:
            end, piece = last[end]
            if piece is not None:
                found.append(piece)
        return found[::-1]
