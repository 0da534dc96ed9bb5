"""The table of piece vectors and its parameters.

    E_t = exp(g_t) (Z_t W) + D_t

Z (V x teacher dimensions) are the teachers' vectors of the pieces, fixed. W maps them to the model's dimensions and is
shared, so pieces that training never sees move as well. g_t is the logarithm of a piece's length: how much it weighs
in a text. D_t is a piece's own correction, pulled back to zero.
"""

from dataclasses import dataclass

import numpy as np

import settings
import teachers
from normalize import WORD_START
from vocabulary import Entry


@dataclass
class Table:
    """Parameters of a table of V pieces; float32 all."""

    teacher: np.ndarray  # Z: V x teacher dimensions
    map: np.ndarray  # W: teacher dimensions x DIMS
    log_length: np.ndarray  # g: V
    correction: np.ndarray  # D: V x DIMS

    def vectors(self) -> np.ndarray:
        """E: V x DIMS."""
        return np.exp(self.log_length)[:, None] * (self.teacher @ self.map) + self.correction


def initial(entries: list[Entry]) -> Table:
    """The table that training starts from: principal components of the teachers' vectors, lengths by frequency."""
    z = teacher_vectors(entries)
    frequency = np.array([e.frequency for e in entries])
    projection = _principal_components(z, np.minimum(frequency, 2e-4) ** 0.5)
    length = settings.SIF / (settings.SIF + frequency)  # frequent pieces say little
    projected = np.linalg.norm(z @ projection, axis=1)
    return Table(
        teacher=z,
        map=projection,
        log_length=(np.log(length) - np.log(projected + 1e-6)).astype(np.float32),
        correction=np.zeros((len(entries), settings.DIMS), np.float32),
    )


def teacher_vectors(entries: list[Entry]) -> np.ndarray:
    """Z: both teachers' vectors side by side."""
    texts = [e.piece.replace(WORD_START, "") or " " for e in entries]
    e5, use = (teachers.centred(teachers.vectors(name, "pieces", texts)) for name in ("e5", "use"))
    both = np.concatenate([e5, use * settings.USE_WEIGHT], axis=1)
    return both - both.mean(0)


def _principal_components(z: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The DIMS strongest directions of z weighted by row, longer ones shortened (settings.WHITENING)."""
    weight = weight / weight.sum()
    covariance = (z * weight[:, None]).T @ z
    values, directions = np.linalg.eigh(covariance.astype(np.float64))
    values, directions = values[::-1][: settings.DIMS], directions[:, ::-1][:, : settings.DIMS]
    return (directions * (values / values[0]) ** -settings.WHITENING).astype(np.float32)
