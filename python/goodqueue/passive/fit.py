"""The model of a capture that agrees with it best: a small search over what the capture leaves open.

The first model takes what the capture shows and, for the rest, what most hosts run (the `linux`
profile, CUBIC). Where it does not agree with the capture, one choice after the other is changed, and
a change is kept if it brings the model nearer. At most `MOST_MODELS` models are run.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from goodqueue.passive.today import REPLICATES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodqueue.passive.model import Model
    from goodqueue.passive.today import Bench, Today

FEW_REPLICATES = 6
"""Runs of a model that is tried."""

MOST_MODELS = 16
"""So many models are tried at most."""

NEARER = 0.8
"""A change is kept if the distance falls below this share of what it was."""


def fit(bench: Bench, model: Model, seconds: float) -> Today:
    """The model that agrees best, beside the capture.

    Args:
        bench: what runs models.
        model: the model to begin with.
        seconds: wall-clock time that the search may take; the first model is run in any case.
    """
    begun = time.monotonic()
    first = bench.compare(model, FEW_REPLICATES)
    run_s = time.monotonic() - begun
    best, tried, words = first, 1, []
    if not first.agrees:
        for what, change in _changes(model):
            spent = time.monotonic() - begun
            if tried == MOST_MODELS or spent + run_s > seconds or best.agrees:
                break
            changed = change(best.model)
            if changed == best.model:
                continue
            found = bench.compare(changed, FEW_REPLICATES)
            tried += 1
            if found.distance < NEARER * best.distance:
                best = found
                words.append(what)
    spent = time.monotonic() - begun
    share = (seconds - spent) / run_s if run_s else REPLICATES
    replicates = max(min(REPLICATES, int(share * FEW_REPLICATES)), FEW_REPLICATES)
    return replace(
        bench.compare(best.model, replicates), tried=tried, fitted=tuple(words)
    )


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
