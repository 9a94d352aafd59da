"""Search for the model that agrees best with a capture, over the properties that it does not show.

The first model assumes for these properties what most hosts run (the `linux` profile, CUBIC). If it
does not agree with the capture, every change of one choice is tried, and the change that brings the
model nearest is kept. This is repeated until the model agrees, no change helps, or `MAX_MODELS`
models were run.
"""

from __future__ import annotations

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
"""Number of replicates of a model that is tried."""

MAX_MODELS = 16
"""Largest number of models that are tried."""

MAX_PACKETS_OF_A_SMALL_BUFFER = 12
"""Buffer in packets up to which an error of one packet in its estimate matters."""

NEAR = 0.25
"""Distance below which no change is tried: every figure is within half of its tolerance."""

NEARER = 0.5
"""A change is kept if it reduces the distance to less than this share."""


def fit(
    bench: Bench, model: Model, budget: Budget, work: float = 1.0, few: int = FEW_REPLICATES
) -> Today:
    """Returns the model that agrees best, with its comparison with the capture.

    Args:
        bench: runner of models.
        model: the model to begin with.
        budget: budget of the search; the first model is run in any case.
        work: work of one run in packets.
        few: number of replicates of a model that is tried.
    """
    best = bench.compare(model, few)
    once, tried, words = few * work, 1, list[str]()
    budget.charge(once)
    first = best
    while best.distance(first) > NEAR:
        found: dict[str, Today] = {}
        for what, change in _changes(best.model):
            if tried == MAX_MODELS or budget.left < 2 * once:
                break
            budget.charge(once)
            found[what] = bench.compare(change(best.model), few)
            tried += 1
        nearest = min(found, key=lambda what: found[what].distance(first), default=None)
        if nearest is None or found[nearest].distance(first) > NEARER * best.distance(first):
            break
        best = found[nearest]
        words.append(nearest)
    share = budget.left / (2 * once)
    replicates = max(int(min(REPLICATES, share * few)), few)
    budget.charge(replicates * work)
    return replace(bench.compare(best.model, replicates), tried=tried, fitted=tuple(words))


def _changes(model: Model) -> Iterator[tuple[str, Change]]:
    """Yields possible changes of a model, each with a description; none that was made already."""
    choices, packets = model.choices, model.limit_packets
    if choices.starts == "seen":
        what = "the simulated congestion control ends slow start"
        yield what, _chosen(starts="profile")
    # Linux sends timestamps by default; the profile of the RFCs has none.
    if choices.profile == "linux" and not any(sender.timestamps for sender in model.local):
        yield "TCP of the RFCs, without Linux's additions", _chosen(profile="rfc")
    if choices.unknown == "cubic" and any(sender.control is None for sender in model.local):
        yield "flows with unknown congestion control have Reno", _chosen(unknown="reno")
    if packets is not None and packets <= MAX_PACKETS_OF_A_SMALL_BUFFER and not model.aqm:
        for more in (1, -1) if packets > 1 else (1,):
            yield f"the buffer holds {packets + more} packets", _behind(packets + more)


def _chosen(**choices: Any) -> Change:  # noqa: ANN401 - fields of `Choices`
    return lambda model: replace(model, choices=replace(model.choices, **choices))


def _behind(packets: int) -> Change:
    return lambda model: replace(model, limit_packets=packets)
