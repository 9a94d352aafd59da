"""How much buffer does a link need? Theory, simulation, and what follows from both.

One straight line: a `Link` is judged by every rule; each rule's buffer is simulated; a search finds
the smallest buffer that keeps all bounds; and a few changes of the link show what the answer hangs
on. `size_link` does it all, `Answer.as_dict` is what `--json` prints.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from goodqueue.sizing.rules import RULES
from goodqueue.sizing.rules.bscl import bscl
from goodqueue.sizing.smallest import (
    COARSE_REPLICATES,
    FIRST_REPLICATES,
    Answered,
    Smallest,
    Target,
    Trials,
    smallest,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodqueue.intervals import Interval
    from goodqueue.sizing.link import Link
    from goodqueue.sizing.rules import Advice, Rule
    from goodqueue.sizing.smallest import Sampler

MOST_REPLICATES = 64
"""No limit gets more replicates."""

FIGURES = ("utilization", "loss_rate", "p99_delay_s", "jain")
"""What is reported of a buffer: utilisation, loss, the 99th percentile of the queueing delay, and
Jain's index of the long flows' goodputs."""

QUEUES = ("codel", "fq_codel", "pie")
"""What is tried in place of a FIFO."""


@dataclass(frozen=True, slots=True)
class RuleAnswer:
    """What one rule says, and what simulation says of it.

    Attributes:
        rule: the rule.
        advice: its buffer and broken assumptions.
        simulated: figures with their intervals at that buffer; empty where it was not run.
        unmet: the bounds that the means there do not keep.
        why_not: why it was not simulated, if it was not.
    """

    rule: Rule
    advice: Advice
    simulated: dict[str, Interval] = field(default_factory=dict)
    unmet: tuple[str, ...] = ()
    why_not: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What another link would need.

    Attributes:
        what: the change, such as `flows / 4`.
        packets: the smallest buffer by simulation, on a coarser grid; None if none serves.
        theory: what BSCL says there.
    """

    what: str
    packets: int | None
    theory: int | None


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another queue discipline in place of a FIFO, with its defaults.

    Attributes:
        queue: its name.
        figures: what simulation says, with intervals.
        unmet: the bounds that its means do not keep.
    """

    queue: str
    figures: dict[str, Interval]
    unmet: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer for one link.

    Attributes:
        link: the link.
        rules: every rule's answer, in the order of `RULES`.
        found: what the search found; None if nothing was simulated.
        trials: every limit that was run; None likewise.
        epochs: loss epochs per long flow in a replicate at the answer; None likewise.
        why_theory_only: why nothing was simulated, if nothing was.
        changes: what would change the answer.
        alternatives: queue disciplines in place of a FIFO.
    """

    link: Link
    rules: tuple[RuleAnswer, ...]
    found: Smallest | None = None
    trials: Trials | None = None
    epochs: float | None = None
    why_theory_only: str | None = None
    changes: tuple[Change, ...] = ()
    alternatives: tuple[Alternative, ...] = ()

    @property
    def buffer(self) -> int | None:
        """The recommendation in packets; None where no buffer serves.

        What the search found; in theory alone, the rule whose assumptions hold and that keeps all
        bounds.
        """
        if self.found is not None:
            return self.found.limit
        return theory_only(self.link, self.rules)

    def interval(self, limit: int, figure: str) -> Interval:
        """A figure at a limit that was run."""
        assert self.trials is not None
        return self.trials.interval(limit, figure)

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain values: `link`, `rules`, `recommendation`, `curve`."""
        return {
            "link": link_dict(self.link),
            "rules": [_rule_dict(self.link, one) for one in self.rules],
            "recommendation": self._recommendation(),
            "changes": [
                {"change": one.what, "packets": one.packets, "bscl_packets": one.theory}
                for one in self.changes
            ],
            "alternatives": [
                {"queue": one.queue, "simulated": _figures(one.figures), "unmet": list(one.unmet)}
                for one in self.alternatives
            ],
            "curve": [] if self.trials is None else self._curve(self.trials),
        }

    def _recommendation(self) -> dict[str, Any]:
        packets = self.buffer
        found = self.found
        best = {} if packets is None else buffer_dict(self.link, packets)
        return {
            **best,
            "feasible": packets is not None,
            "by": "theory" if found is None else "simulation",
            "why_theory_only": self.why_theory_only,
            "at_least_packets": None if found is None else found.low + 1,
            "at_most_packets": None if found is None else found.high,
            "settled": None if found is None else found.settled,
            "least_for_utilization_and_loss": None if found is None else found.floor,
            "most_for_delay": None if found is None else found.ceiling,
            "give_up": [] if found is None else list(found.broken),
            "not_monotone_at_packets": [] if found is None else list(found.exceptions),
            "loss_epochs_per_flow": self.epochs,
        }

    def _curve(self, trials: Trials) -> list[dict[str, Any]]:
        return [
            {
                **buffer_dict(self.link, limit),
                "replicates": len(trials.replicates[limit]),
                "simulated": _figures({name: trials.interval(limit, name) for name in FIGURES}),
            }
            for limit in trials.limits
        ]


def targets(link: Link) -> tuple[list[Target], list[Target]]:
    """The link's bounds: those that more buffer helps, and those that it hurts."""
    helped = [Target("utilization", link.min_utilization, at_least=True)]
    if link.max_loss_rate is not None:
        helped.append(Target("loss_rate", link.max_loss_rate, at_least=False))
    hurt = []
    if link.max_delay_s is not None:
        hurt.append(Target("p99_delay_s", link.max_delay_s, at_least=False))
    return helped, hurt


def judge(link: Link) -> tuple[RuleAnswer, ...]:
    """Every rule's answer, by theory alone."""
    return tuple(RuleAnswer(rule, rule.advise(link)) for rule in RULES)


def theory_only(link: Link, rules: Sequence[RuleAnswer]) -> int | None:
    """The buffer by theory, in packets; None where no rule that holds keeps the bounds.

    BSCL's, if its assumptions hold and the delay allows it; else the smallest of the rules that
    ask for utilisation and whose assumptions hold.
    """
    by_name = {one.rule.name: one for one in rules}
    own = by_name["bscl"].advice
    if own.holds:
        answer = bscl(link)
        return own.whole_packets if answer.feasible else None
    usable = [
        by_name[name].advice.whole_packets
        for name in ("sqrt_n", "window_decrease", "bdp")
        if by_name[name].advice.holds
    ]
    best = min((packets for packets in usable if packets is not None), default=None)
    too_slow = best is not None and (link.max_delay_s or float("inf")) < link.seconds(best)
    return None if too_slow else best


class Laboratory(Protocol):
    """Runs replicates of links."""

    def calibrate(self, link: Link, packets: int) -> None:
        """Sees how long replicates must be, by one with this buffer."""
        ...

    def sampler(self, link: Link, queue: str | None = None) -> Sampler:
        """Runs a link behind a FIFO of any limit; or behind a queue, whatever the limit."""
        ...

    def too_long(self, link: Link, packets: int) -> str | None:
        """Why a replicate with this buffer is not run; None if it can be."""
        ...


def size_link(link: Link, laboratory: Laboratory, *, changes: bool = True) -> Answer:
    """Judges, simulates and searches.

    Args:
        link: the link.
        laboratory: what runs replicates.
        changes: whether to look what would change the answer.
    """
    rules = judge(link)
    first = first_reach(link)
    why = laboratory.too_long(link, first)
    if why is not None:
        return Answer(link, rules, why_theory_only=why)
    laboratory.calibrate(link, first)
    why = laboratory.too_long(link, first)
    if why is not None:
        return Answer(link, rules, why_theory_only=why)
    trials = Trials(laboratory.sampler(link))
    helped, hurt = targets(link)
    reach = (first, last_reach(link, laboratory))
    found = smallest(trials, helped, hurt, reach=reach, most_replicates=MOST_REPLICATES)
    rules = simulate_rules(link, laboratory, trials, rules)
    at = found.limit or found.floor or trials.limits[-1]
    return Answer(
        link,
        rules,
        found,
        trials,
        trials.interval(at, "epochs").mean,
        changes=tuple(what_changes(link, laboratory)) if changes else (),
        alternatives=tuple(try_queues(link, laboratory)) if changes else (),
    )


def first_reach(link: Link) -> int:
    """Packets up to which a search looks at first: beyond what theory expects."""
    by_bscl = bscl(link).packets
    by_root = link.bdp_packets / link.flows**0.5
    return max(int(1.5 * max(min(by_bscl, link.bdp_packets), by_root)) + 1, 8)


def last_reach(link: Link, laboratory: Laboratory) -> int:
    """Packets beyond which no search looks.

    Half as much again as the delay allows; without a bound on it eight bandwidth-delay products, or
    twice what BSCL wants. And nothing that takes too long to run.
    """
    if link.max_delay_s is not None:
        last = 1.5 * link.max_delay_s / link.packet_time_s
    else:
        last = max(8 * link.bdp_packets, 2 * bscl(link).packets)
    low, high = 1, max(int(last), 8)
    if laboratory.too_long(link, high) is None:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if laboratory.too_long(link, middle) is None else (low, middle)
    return low


def simulate_rules(
    link: Link, laboratory: Laboratory, trials: Trials, rules: Sequence[RuleAnswer]
) -> tuple[RuleAnswer, ...]:
    """The rules' answers with what happens at their buffers."""
    limits = {one.advice.whole_packets for one in rules}
    reasons = {limit: laboratory.too_long(link, limit) for limit in limits if limit is not None}
    trials.ensure(sorted(limit for limit in reasons if reasons[limit] is None), FIRST_REPLICATES)
    return tuple(
        _simulated(link, trials, one, reasons.get(one.advice.whole_packets or 0)) for one in rules
    )


def _simulated(link: Link, trials: Trials, one: RuleAnswer, why_not: str | None) -> RuleAnswer:
    packets = one.advice.whole_packets
    if packets is None or why_not is not None:
        return replace(one, why_not=why_not)
    figures = {name: trials.interval(packets, name) for name in FIGURES}
    return replace(one, simulated=figures, unmet=unmet(link, figures))


def unmet(link: Link, figures: Mapping[str, Interval]) -> tuple[str, ...]:
    """The bounds that means do not keep."""
    helped, hurt = targets(link)
    return tuple(
        target.figure
        for target in (*helped, *hurt)
        if not target.met_by(figures[target.figure].mean)
    )


def try_queues(link: Link, laboratory: Laboratory) -> list[Alternative]:
    """Queue disciplines with their defaults in place of a FIFO."""
    made = []
    for queue in QUEUES:
        trials = Trials(laboratory.sampler(link, queue))
        trials.ensure([0], FIRST_REPLICATES)
        figures = {name: trials.interval(0, name) for name in FIGURES}
        made.append(Alternative(queue, figures, unmet(link, figures)))
    return made


def what_changes(link: Link, laboratory: Laboratory) -> list[Change]:
    """What the answer hangs on: fewer flows, longer round trips, another control."""
    others = {
        "flows / 4": replace(link, flows=max(link.flows // 4, 1)),
        "RTT x 2": replace(link, rtts_s=tuple(2 * rtt for rtt in link.rtts_s)),
    }
    if link.congestion_control == "reno":
        others["CUBIC instead of Reno"] = replace(link, congestion_control="cubic")
        others["Reno that counts bytes (Linux)"] = replace(link, byte_counting=True)
    made = []
    for what, other in others.items():
        reach = first_reach(other)
        packets = None
        if laboratory.too_long(other, reach) is None:
            helped, hurt = targets(other)
            # The means of a few replicates, not settled: a direction, not a recommendation.
            packets = smallest(
                Trials(laboratory.sampler(other)),
                helped,
                hurt,
                reach=(reach, last_reach(other, laboratory)),
                most_replicates=COARSE_REPLICATES,
            ).limit
        made.append(Change(what, packets, theory_only(other, judge(other))))
    return made


def link_dict(link: Link) -> dict[str, Any]:
    """The link, echoed with what follows from its description."""
    return {
        "rate_bps": link.rate_bps,
        "rtts_s": list(link.rtts_s),
        "mean_rtt_s": link.mean_rtt_s,
        "harmonic_mean_rtt_s": link.harmonic_rtt_s,
        "flows": link.flows,
        "packet_bytes": link.packet_bytes,
        "local_share": link.local_share,
        "congestion_control": link.congestion_control,
        "bdp_packets": link.bdp_packets,
        "bdp_bytes": link.bdp_packets * link.packet_bytes,
        "min_utilization": link.min_utilization,
        "max_loss_rate": link.max_loss_rate,
        "max_delay_s": link.max_delay_s,
    }


def buffer_dict(link: Link, packets: int) -> dict[str, Any]:
    """A buffer in every unit."""
    return {
        "packets": packets,
        "bytes": packets * link.packet_bytes,
        "seconds": link.seconds(packets),
        "bdp": packets / link.bdp_packets,
    }


def _rule_dict(link: Link, one: RuleAnswer) -> dict[str, Any]:
    packets = one.advice.whole_packets
    empty = dict.fromkeys(("packets", "bytes", "seconds", "bdp"))
    return {
        "rule": one.rule.name,
        "title": one.rule.title,
        "kind": one.rule.kind,
        "bound": one.rule.bound,
        **(empty if packets is None else buffer_dict(link, packets)),
        "holds": one.advice.holds,
        "broken_assumptions": list(one.advice.broken),
        "notes": list(one.advice.notes),
        "simulated": _figures(one.simulated) if one.simulated else None,
        "unmet": list(one.unmet),
        "why_not_simulated": one.why_not,
        "source": one.rule.source,
    }


def _figures(figures: dict[str, Interval]) -> dict[str, Any]:
    return {
        name: {"mean": one.mean, "low": _end(one.low), "high": _end(one.high)}
        for name, one in figures.items()
    }


def _end(value: float) -> float | None:
    """An end of an interval; None if it has none yet."""
    return value if math.isfinite(value) else None


__all__ = ["Answer", "Answered", "Change", "RuleAnswer", "judge", "size_link"]
