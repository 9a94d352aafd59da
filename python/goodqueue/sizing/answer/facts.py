"""The facts behind an answer: its number, what it covers, and what is known if none suffices."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from goodqueue.sizing.answer.bounds import targets
from goodqueue.sizing.answer.parts import figures_at, plain
from goodqueue.sizing.calibrated.coverage import decides
from goodqueue.sizing.search.sets import by_chance, nearest, sets
from goodqueue.sizing.search.smallest import bracket
from goodqueue.sizing.search.trials import DROPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.sizing.answer.answer import Answer
    from goodqueue.sizing.link import Link
    from goodqueue.sizing.search.smallest import Smallest
    from goodqueue.sizing.search.trials import Target, Trials

LIKELY_NOT = 0.05
"""Largest probability, by calibrated theory, that some buffer keeps the bounds, with which theory
says that none does."""

FAR_FROM_LIKELY = 1e-3
"""The same probability for links outside those on which the theory was calibrated."""

BY_THEORY = "calibrated theory expects none to suffice"

MUCH_LOSS = 0.02
"""Loss from which on an answer without a bound on the loss says so first."""

GOOD_LOSS = 0.01
"""Loss whose buffer such an answer gives, too."""

LONG_DELAY_S = 0.2
"""99th percentile of the queueing delay from which on an answer without a bound on it says so."""


@dataclass(frozen=True, slots=True)
class Guard:
    """Facts that an answer must not hide, although no bound was asked about them.

    Attributes:
        loss_rate: mean loss behind the answer's buffer; None if it is small or bounded.
        packets_for_good_loss: the buffer that loses 1 %, by calibrated theory, or by a short search
            where that does not apply; None if none does.
        p99_delay_s: 99th percentile of the queueing delay; None if it is short or bounded.
    """

    loss_rate: float | None = None
    packets_for_good_loss: int | None = None
    p99_delay_s: float | None = None


@dataclass(frozen=True, slots=True)
class Miss:
    """The limit that misses the bounds least.

    Attributes:
        packets: the limit.
        figure: the figure that misses its bound most.
        mean: its mean there.
        bound: its bound.
    """

    packets: int
    figure: str
    mean: float
    bound: float


@dataclass(frozen=True, slots=True)
class Facts:
    """What a search says, beside its limit.

    Attributes:
        packets: the answer's number: the smallest buffer that keeps all bounds, or the nearest
            miss.
        sets: lowest and highest limit of each set that keeps all bounds; the highest is None if the
            largest limit that was tried keeps them.
        deciding: figure whose bound the next smaller limit breaks, or which the nearest miss
            misses; None if no bound decides.
        chance: 95 % interval of the answer over the seeds; an end is None if it is not known.
        miss: the nearest miss; None if some limit keeps all bounds.
        best: limit for each bound alone, by its figure: the smallest that keeps it (the largest for
            a bound on the delay), or the one that misses it least.
    """

    packets: int
    sets: tuple[tuple[int, int | None], ...]
    deciding: str | None
    chance: tuple[int | None, int | None]
    miss: Miss | None
    best: dict[str, int]


def facts_of(link: Link, trials: Trials, found: Smallest) -> Facts:
    """Returns what the replicates of a search say."""
    helped, hurt = targets(link)
    every = [*helped, *hurt]
    kept = sets(trials, every)
    packets = found.limit
    if packets is None:
        packets = kept[0][0] if kept else found.nearest
    miss = None
    if not kept and found.limit is None:
        target = _worst(trials, packets, every)
        miss = Miss(packets, target.figure, _mean(trials, packets, target), target.bound)
    below = [limit for limit in trials.limits if limit < packets]
    deciding = None if miss is None else miss.figure
    if miss is None and below:
        deciding = _worst(trials, below[-1], helped).figure
    chance = by_chance(trials, helped, packets, bracket(trials, helped)) if miss is None else None
    return Facts(
        packets,
        tuple(one for one in kept if one[1] is None or one[1] >= packets),
        deciding,
        chance or (None, None),
        miss,
        {target.figure: _best(trials, target, largest=target in hurt) for target in every},
    )


def _mean(trials: Trials, limit: int, target: Target) -> float:
    return trials.interval(limit, target.figure).mean


def _worst(trials: Trials, limit: int, of: Sequence[Target]) -> Target:
    """Returns the target that a limit misses most."""
    return max(of, key=lambda target: target.miss(_mean(trials, limit, target)))


def _best(trials: Trials, target: Target, *, largest: bool) -> int:
    """Returns the smallest or the largest limit that keeps a bound, or misses it least."""
    kept = [limit for limit in trials.limits if trials.passes(limit, [target])]
    if not kept:
        return nearest(trials, [target])
    return max(kept) if largest else min(kept)


def number_of(answer: Answer) -> int:
    """Returns the answer's number of packets: it has one in every case.

    If nothing was run, it is that of calibrated theory, or one bandwidth-delay product.
    """
    if answer.facts is not None:
        return answer.facts.packets
    theory = answer.calibrated
    if theory is not None:
        for one in (theory.packets, theory.least):
            if one is not None:
                return one if theory.most is None else max(min(one, theory.most), 1)
    return max(round(answer.link.bdp_packets), 1)


def deciding_bound(answer: Answer) -> str | None:
    """Returns the figure whose bound decides, by the search or by calibrated theory."""
    if answer.facts is not None:
        return answer.facts.deciding
    if answer.calibrated is None:
        return None
    loss = decides(answer.link, answer.calibrated) == "loss decides"
    return "loss_rate" if loss else "utilization"


def chance(answer: Answer) -> tuple[int | None, int | None]:
    """Returns the interval of the answer by chance, or by the error of theory or engine.

    For the packet engine it is the 95 % interval over the seeds. For the hybrid engine it contains
    its measured error, and for theory it is the 90 % interval of a prediction.
    """
    if answer.facts is None:
        found = answer.calibrated
        return (None, None) if found is None else (found.low, found.high)
    if answer.engine == "hybrid":
        return (None, None) if answer.widened is None else (answer.widened.low, answer.widened.high)
    return answer.facts.chance


def why_impossible(answer: Answer) -> str | None:
    """Returns the reason why no buffer can keep the bounds; None if that is not shown.

    Every limit that was tried must have been shown to break a bound by packets, and there must be a
    reason for the limits that were not: a queue that never fills, bounds that contradict each
    other, or calibrated theory. Without a run, calibrated theory must give it 95 %.
    """
    found, trials, theory = answer.found, answer.trials, answer.calibrated
    expects_none = theory is not None and theory.chance <= (
        FAR_FROM_LIKELY if theory.outside else LIKELY_NOT
    )
    if trials is None:
        return BY_THEORY if expects_none and answer.buffer is None else None
    if found is None or answer.ended or answer.engine != "packets":
        return None
    if found.limit is not None or not found.excluded:
        return None
    if found.floor is not None:
        return "the bounds contradict each other"
    if trials.interval(found.reached, DROPS).mean == 0:
        return "that buffer was never full, so a larger one has no effect"
    return BY_THEORY if expects_none else None


def decision_dict(answer: Answer) -> dict[str, Any]:
    """Returns the decision as plain values; docs/cli.md lists the keys."""
    packets, facts, world, guard = number_of(answer), answer.facts, answer.world, answer.guard
    miss = None if facts is None else facts.miss
    return {
        "packets": packets,
        "shown": answer.proved and answer.firm,
        "impossible": why_impossible(answer),
        "sets": [] if facts is None else [list(one) for one in facts.sets],
        "deciding_bound": deciding_bound(answer),
        "chance": list(chance(answer)),
        "world": [None, None] if world is None else [world.low, world.high],
        "hosts": None if world is None else world.as_dict(),
        "device_packets": answer.device_packets,
        "expected": _expected(answer, packets),
        "engine": answer.engine or "theory",
        "nearest_miss": None if miss is None else asdict(miss),
        "best_for_each_bound": None if facts is None else facts.best,
        "guard": None if guard is None else asdict(guard),
    }


def _expected(answer: Answer, packets: int) -> dict[str, Any] | None:
    """Returns the figures at the answer, by its runs or by calibrated theory."""
    if answer.trials is not None and packets in answer.trials.replicates:
        return plain(figures_at(answer.trials, packets))
    found = answer.calibrated
    if found is None or not found.figures:
        return None
    return {
        name: dict(zip(("mean", "low", "high"), values, strict=True))
        for name, values in found.figures.items()
    }
