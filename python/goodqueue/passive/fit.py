"""The model that agrees best with a capture: a small search over what the capture leaves open.

The first model takes what the capture shows and, for the rest, what most hosts run (the `linux`
profile, CUBIC). Where it does not agree with the capture, one choice after the other is changed,
and a change is kept if it brings the model nearer. At most `MOST_MODELS` models are run.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from goodqueue.passive.today import REPLICATES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodqueue.passive.model import Model
    from goodqueue.passive.today import Bench, Today
    from goodqueue.sizing.budget import Budget

FEW_REPLICATES = 6
"""Runs of a model that is tried."""

MOST_MODELS = 16
"""So many models are tried at most."""

NEARER = 0.8
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
    once_s, tried, words = budget.used_s, 1, []
    for what, change in _changes(model):
        if best.agrees or tried == MOST_MODELS or budget.left_s < 2 * once_s:
            break
        changed = change(best.model)
        if changed == best.model:
            continue
        found = bench.compare(changed, few)
        tried += 1
        if found.distance < NEARER * best.distance:
            best = found
            words.append(what)
    share = budget.left_s / (2 * once_s) if once_s else math.inf
    replicates = max(int(min(REPLICATES, share * few)), few)
    return replace(bench.compare(best.model, replicates), tried=tried, fitted=tuple(words))


class _Change:
    """A change of one choice, or of the limit."""

    def __init__(self, limit: int = 0, **choices: object) -> None:
        self._limit, self._choices = limit, choices

    def __call__(self, model: Model) -> Model:
        packets = model.limit_packets
        if self._limit and packets is not None and packets + self._limit > 0:
            return replace(model, limit_packets=packets + self._limit)
        return replace(model, choices=replace(model.choices, **self._choices))  # type: ignore[arg-type]


def _changes(model: Model) -> Iterator[tuple[str, _Change]]:
    """What may be changed, the likeliest first, each in words."""
    yield (
        "slow start ends as the simulated congestion control decides",
        _Change(starts="profile"),
    )
    local = model.local
    if any(sender.control is None for sender in local):
        yield "flows that do not show their congestion control are Reno's", _Change(unknown="reno")
    if any(sender.control == "reno" for sender in local):
        yield "windows grow by a step per ACK", _Change(byte_counting=False)
    yield "TCP by the RFCs, without Linux's habits", _Change(profile="rfc")
    for packets in (1, -1):
        yield f"the buffer holds {packets:+d} packet", _Change(limit=packets)
