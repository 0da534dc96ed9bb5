"""Adam, for parameters of which a step touches some rows."""

import numpy as np

_MEAN_DECAY, _SQUARE_DECAY = 0.9, 0.99


class Adam:
    """Descends on one array of parameters, in place."""

    def __init__(self, parameters: np.ndarray, rate: float) -> None:
        """With a learning rate that each step scales."""
        self._parameters = parameters
        self._rate = rate
        self._mean = np.zeros_like(parameters)
        self._square = np.zeros_like(parameters)

    def step(self, gradient: np.ndarray, pace: float, rows: np.ndarray | slice = slice(None)) -> None:
        """Descend by the gradient of the given rows, all by default. No correction of the start: it is a few steps."""
        mean = _MEAN_DECAY * self._mean[rows] + (1 - _MEAN_DECAY) * gradient
        square = _SQUARE_DECAY * self._square[rows] + (1 - _SQUARE_DECAY) * gradient**2
        self._mean[rows], self._square[rows] = mean, square
        self._parameters[rows] -= self._rate * pace * mean / (np.sqrt(square) + 1e-8)
