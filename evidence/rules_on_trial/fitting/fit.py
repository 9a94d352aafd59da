"""Fits the surfaces to the study's runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evidence.rules_on_trial.fitting import network
from evidence.rules_on_trial.fitting.network import values
from evidence.rules_on_trial.fitting.table import Fitted
from goodqueue.sizing.calibrated.smallest import NINETY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from evidence.rules_on_trial.fitting.data import Rows
    from goodqueue.sizing.calibrated.surface import Surfaces

    Floats = NDArray[np.float64]

FOLDS = 4
"""Number of networks. Each is fitted to all parts of the links except one, which tests the network.
"""

SPREAD = network.Recipe(units=(10,), ridge=1e-3, iterations=150, huber=1.0)
"""Recipe of the network of errors: few units, because it must be smooth."""

LEAST_ERROR = 0.02
"""Value added to an error before its logarithm is taken."""

KINDS = 4
"""Kinds of links whose intervals have ends of their own: two kinds of hosts, two bounds."""

HALF_NORMAL = 0.635
"""Negative mean of log |z| of a standard normal z: the bias of a mean logarithm."""

RANGE = 0.003
"""Share of the runs on each side that may lie outside a group's fitted range."""

NEAR_IDLE, NEAR_LOSS = (0.002, 0.15), (0.001, 0.08)
"""Ranges of usual bounds. Runs within these ranges have full weight, other runs a third."""


def fit(rows: Rows, recipe: network.Recipe) -> tuple[Fitted, Floats]:
    """Returns the surfaces, and predictions by networks that were not fitted to a run's link.

    Args:
        rows: the runs.
        recipe: settings of the fit.
    """
    centre, scale = rows.groups.mean(axis=0), rows.groups.std(axis=0) + 1e-9
    inputs = (rows.groups - centre) / scale
    missed = rows.outputs - rows.forms
    offset, stretch = missed.mean(axis=0), missed.std(axis=0)
    targets = (missed - offset) / stretch
    weights = _weights(rows.outputs)
    members, predicted = [], np.zeros_like(rows.outputs)
    for fold in range(FOLDS):
        kept = rows.link // 2 % FOLDS != fold
        its_recipe = replace(recipe, seed=recipe.seed + fold)
        member = network.fit(inputs[kept], targets[kept], weights[kept], its_recipe)
        members.append(member)
        predicted[~kept] = rows.forms[~kept] + values(member, inputs[~kept]) * stretch + offset
    low, high = np.quantile(rows.groups, (RANGE, 1 - RANGE), axis=0)
    errors = np.log(np.abs(rows.outputs - predicted) + LEAST_ERROR) + HALF_NORMAL
    made = Fitted(
        members=tuple(members),
        spread=network.fit(inputs, errors, weights, SPREAD),
        centre=centre,
        scale=scale,
        offset=offset,
        stretch=stretch,
        ranges=np.stack((low, high), axis=1),
        widths=np.ones(3),
        tails=np.full((KINDS, 2), NINETY),
        theory_errors=np.sqrt(np.mean(missed**2, axis=0)),
    )
    return made, predicted


def without_link(made: Surfaces, index: int) -> Surfaces:
    """Returns the surfaces of the network that was not fitted to this link."""
    return made.alone(index // 2 % FOLDS)


def _weights(outputs: Floats) -> Floats:
    near = np.zeros(len(outputs), dtype=bool)
    for column, (low, high) in ((0, NEAR_IDLE), (1, NEAR_LOSS)):
        near |= (outputs[:, column] > np.log(low)) & (outputs[:, column] < np.log(high))
    return np.where(near, 1.0, 1 / 3)
