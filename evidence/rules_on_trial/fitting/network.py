"""A small smooth regression: two layers of tanh, fitted by L-BFGS of SciPy."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Layers = list[tuple[Floats, Floats]]


@dataclass(frozen=True, slots=True)
class Recipe:
    """Settings of a network's fit.

    Attributes:
        units: number of units of each hidden layer.
        ridge: weight of the squared weights beside the mean loss.
        iterations: largest number of iterations of L-BFGS.
        huber: residual (in units of the outputs' scale) beyond which the loss grows linearly.
        seed: seed of the first weights.
    """

    units: tuple[int, ...] = (24, 24)
    ridge: float = 1e-4
    iterations: int = 400
    huber: float = 0.5
    seed: int = 1


def fit(inputs: Floats, outputs: Floats, weights: Floats, recipe: Recipe) -> Layers:
    """Returns layers whose values are close to the outputs; both are scaled to about 1.

    Args:
        inputs: shape (rows, groups).
        outputs: shape (rows, outputs).
        weights: shape (rows,).
        recipe: settings of the fit.
    """
    sizes = (inputs.shape[1], *recipe.units, outputs.shape[1])
    random = np.random.default_rng(recipe.seed)
    start = np.concatenate(
        [
            part.ravel()
            for first, last in pairwise(sizes)
            for part in (random.normal(0, first**-0.5, (first, last)), np.zeros(last))
        ]
    )
    # Single precision halves the time, and is as exact as single runs of a few epochs require.
    single, target = inputs.astype(np.float32), outputs.astype(np.float32)
    share = (weights / weights.sum()).astype(np.float32)[:, None]

    def cost(flat: Floats) -> tuple[float, Floats]:
        layers = _layers(flat.astype(np.float32), sizes)
        values = [single]
        for matrix, offset in layers[:-1]:
            values.append(np.tanh(values[-1] @ matrix + offset))
        last = values[-1] @ layers[-1][0] + layers[-1][1]
        off = (last - target) / np.float32(recipe.huber)
        root = np.sqrt(1 + off * off)
        total = recipe.huber**2 * float((share * (root - 1)).sum(dtype=np.float64))
        slope = share * off / root * np.float32(recipe.huber)
        parts: list[Floats] = []
        for place in range(len(layers) - 1, -1, -1):
            matrix = layers[place][0]
            total += recipe.ridge / 2 * float((matrix * matrix).sum())
            parts = [
                (values[place].T @ slope + np.float32(recipe.ridge) * matrix).ravel(),
                slope.sum(axis=0),
                *parts,
            ]
            if place:
                slope = (slope @ matrix.T) * (1 - values[place] ** 2)
        return total, np.concatenate(parts).astype(np.float64)

    options = {"maxiter": recipe.iterations, "maxcor": 20}
    found = minimize(cost, start, jac=True, method="L-BFGS-B", options=options)
    return _layers(found.x, sizes)


def values(layers: Layers, inputs: Floats) -> Floats:
    """Returns a network's outputs, shape (rows, outputs)."""
    for matrix, offset in layers[:-1]:
        inputs = np.tanh(inputs @ matrix + offset)
    return inputs @ layers[-1][0] + layers[-1][1]


def _layers(flat: Floats, sizes: tuple[int, ...]) -> Layers:
    layers, at = [], 0
    for first, last in pairwise(sizes):
        matrix = flat[at : at + first * last].reshape(first, last)
        at += first * last
        layers.append((matrix, flat[at : at + last]))
        at += last
    return layers
