"""The model that agrees best with a capture: a small search over what the capture leaves open.

The first model takes what the capture shows and, for the rest, what most hosts run (the `linux`
profile, CUBIC). Where it is not near the capture, every change of one choice is tried, and
the one that brings the model nearest is kept, until the model is near, no change helps, or
`MOST_MODELS` models were run.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goodqueue.passive.today import REPLICATES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from goodqueue.passive.model import Model
    from goodqueue.passive.today import Bench, Today
    from goodqueue.sizing.search.budget import Budget

    Change = Callable[[Model], Model]

FEW_REPLICATES = 6
"""Runs of a model that is tried."""

MOST_MODELS = 16
"""So many models are tried at most."""

FEW_PACKETS = 12
"""Up to so many packets the estimate of the buffer may be one off and matter."""

NEAR = 0.25
"""Up to this distance no change is tried: a figure is off by half of what is allowed at most."""

NEARER = 0.5
"""A change is kept if the distance falls below this share of what it was."""


def fit(bench: Bench, model: Model, budget: Budget, few: int = FEW_REPLICATES) -> Today:
    """The model that agrees best, beside the capture.

    Args:
        bench: what runs models.
        model: the model to begin with.
        budget: the time that the search may take; the first model is run in any case.
        few: replicates of a model that is tried.
    """
    best = bench.compare(model, few)
    once_s, tried, words = budget.used_s, 1, list[str]()
    first = best
    while best.distance(first) > NEAR:
        found: dict[str, Today] = {}
        for what, change in _changes(best.model):
            if tried == MOST_MODELS or budget.left_s < 2 * once_s:
                break
            found[what] = bench.compare(change(best.model), few)
            tried += 1
        nearest = min(found, key=lambda what: found[what].distance(first), default=None)
        if nearest is None or found[nearest].distance(first) > NEARER * best.distance(first):
            break
        best = found[nearest]
        words.append(nearest)
    share = budget.left_s / (2 * once_s) if once_s else math.inf
    replicates = max(int(min(REPLICATES, share * few)), few)
    return replace(bench.compare(best.model, replicates), tried=tried, fitted=tuple(words))


def _changes(model: Model) -> Iterator[tuple[str, Change]]:
    """What may be changed in a model, in words; nothing that is changed already."""
    choices, packets = model.choices, model.limit_packets
    if choices.starts == "seen":
        what = "slow start ends as the simulated congestion control decides"
        yield what, _chosen(starts="profile")
    # Linux sends timestamps unless it is told not to; the RFCs' profile has none.
    if choices.profile == "linux" and not any(sender.timestamps for sender in model.local):
        yield "TCP by the RFCs, without what Linux adds", _chosen(profile="rfc")
    if choices.unknown == "cubic" and any(sender.control is None for sender in model.local):
        yield "flows that do not show their congestion control are Reno's", _chosen(unknown="reno")
    if packets is not None and packets <= FEW_PACKETS and not model.aqm:
        for more in (1, -1) if packets > 1 else (1,):
            yield f"the buffer holds {packets + more} packets", _behind(packets + more)


def _chosen(**choices: Any) -> Change:  # noqa: ANN401 - fields of `Choices`
    return lambda model: replace(model, choices=replace(model.choices, **choices))


def _behind(packets: int) -> Change:
    return lambda model: replace(model, limit_packets=packets)
