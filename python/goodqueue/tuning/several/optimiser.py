"""Points that Optuna proposes, from what is known of other points.

The tree-structured Parzen estimator (J. Bergstra et al., "Algorithms for Hyper-Parameter
Optimization", 2011) models where good points lie, with bounds as constraints (S. Watanabe and
F. Hutter, "c-TPE", 2022). Every batch has a study of its own, made from the figures as they are
then known, because further replicates change them. So a batch follows from its seed and from
figures, and not from the order in which threads return runs.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.tuning.several.space import size_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goodqueue.tuning.several.space import Box, Space

TRIES = 4
"""Proposals for each point that is wanted, because those that were run are left out."""


@dataclass(frozen=True, slots=True)
class Known:
    """Figures of a point that was run.

    Attributes:
        point: the point.
        loss: figure that should be small.
        misses: miss of each bound (`Target.miss`), at most 0 if the point keeps it.
    """

    point: int
    loss: float
    misses: tuple[float, ...]


def proposed(space: Space, known: Sequence[Known], box: Box, count: int, seed: int) -> list[int]:
    """Returns at most this many new points of a box, the most promising first.

    Args:
        space: the parameters.
        known: the points that were run; those outside the box are left out.
        box: places among which points are proposed.
        count: number of points.
        seed: seed of the proposals.
    """
    import optuna

    ranges = {
        f"p{index}": optuna.distributions.IntDistribution(low, high)
        for index, (low, high) in enumerate(box)
    }
    with _quiet():
        sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True, n_startup_trials=1)
        study = optuna.create_study(sampler=sampler, direction="minimize")
        inside = [one for one in known if _is_in(space.places(one.point), box)]
        for one in inside:
            study.add_trial(
                optuna.trial.create_trial(
                    value=one.loss,
                    params=dict(zip(ranges, space.places(one.point), strict=True)),
                    distributions=dict(ranges),
                    constraints={f"c{index}": miss for index, miss in enumerate(one.misses)},
                )
            )
        tried = {one.point for one in inside}
        found: list[int] = []
        for _ in range(TRIES * count):
            if len(found) == min(count, size_of(box) - len(inside)):
                break
            trial = study.ask(dict(ranges))
            point = space.point([trial.params[name] for name in ranges])
            if point in tried:
                continue
            tried.add(point)
            found.append(point)
    return found


def _is_in(places: Sequence[int], box: Box) -> bool:
    return all(low <= place <= high for place, (low, high) in zip(places, box, strict=True))


@contextmanager
def _quiet() -> Iterator[None]:
    """Keeps Optuna from printing that it makes a study."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
