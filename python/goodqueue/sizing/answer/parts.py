"""The parts of an answer: the answers for a rule, for a changed link, and for another queue."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from goodqueue.sizing.calibrated.record import fitted_version

if TYPE_CHECKING:
    from goodqueue.core.intervals import Interval
    from goodqueue.runs.engines import Engine
    from goodqueue.sizing.calibrated.record import Record
    from goodqueue.sizing.calibrated.smallest import Calibrated
    from goodqueue.sizing.link import Link
    from goodqueue.sizing.rules import Advice, Rule
    from goodqueue.sizing.search.trials import Trials

FIGURES = ("utilization", "loss_rate", "p99_delay_s", "jain")
"""Figures that are reported for each buffer: utilisation, loss, the 99th percentile of the queueing
delay, and Jain's index of the long flows' goodputs, if there are long flows."""


PROMISED = ("utilization", "loss_rate")
"""Figures that a rule promises if they are bounded. Delay is not among them, because only BSCL
considers it.
"""

SURE = 0.9
"""Probability from which on the statement of calibrated theory about one rule is used."""


@dataclass(frozen=True, slots=True)
class RuleAnswer:
    """Answer of one rule, and its simulation.

    Attributes:
        rule: the rule.
        advice: its buffer and broken assumptions.
        simulated: figures with their intervals at that buffer; empty if it was not run.
        unmet: bounds that the means do not keep; without a simulation, bounds that calibrated
            theory expects to be broken.
        why_not: reason why it was not simulated, if it was not.
        engine: engine that simulated it; None if none did.
        chances: probability that its buffer keeps each bound, by calibrated theory; empty if that
            theory does not apply.
        record: record of its promise in the study of the rules; None if it was not
            run.
    """

    rule: Rule
    advice: Advice
    simulated: dict[str, Interval] = field(default_factory=dict)
    unmet: tuple[str, ...] = ()
    why_not: str | None = None
    engine: Engine | None = None
    chances: dict[str, float] = field(default_factory=dict)
    record: Record | None = None

    @property
    def holds(self) -> bool:
        """True if its assumptions hold and calibrated theory does not expect it to fail."""
        return self.advice.holds and not self.doubted

    @property
    def doubted(self) -> tuple[str, ...]:
        """Promised figures, utilisation or loss, that calibrated theory doubts."""
        return tuple(
            name for name in PROMISED if name in self.chances and self.chances[name] < SURE
        )

    @property
    def chance(self) -> float | None:
        """Smallest of the probabilities that a bound is kept, by calibrated theory."""
        return min(self.chances.values()) if self.chances else None

    @property
    def keeps_bounds(self) -> bool | None:
        """True if the buffer keeps all bounds, by its means or by calibrated theory.

        None if the buffer was not simulated and calibrated theory is not sure.
        """
        if self.simulated:
            return not self.unmet
        if self.chance is None or 1 - SURE < self.chance < SURE:
            return None
        return self.chance >= SURE


@dataclass(frozen=True, slots=True)
class Change:
    """Buffer that a changed link would need.

    Attributes:
        what: the change, such as `flows / 4`.
        packets: the smallest buffer by simulation, on a coarser grid; None if none suffices.
        theory: the rules' answers for the changed link.
        engine: engine that simulated it; None if none did.
        why_not: reason why it was not simulated, if it was not.
    """

    what: str
    packets: int | None
    theory: int | None
    engine: Engine | None = None
    why_not: str | None = None


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another queue discipline in place of the link's, with its defaults.

    Attributes:
        queue: its name.
        figures: simulated figures with intervals; empty if it was not run.
        unmet: the bounds that its means do not keep.
        engine: engine that simulated it; None if none did.
        why_not: reason why it was not simulated, if it was not.
    """

    queue: str
    figures: dict[str, Interval]
    unmet: tuple[str, ...]
    engine: Engine | None = None
    why_not: str | None = None


def figures_at(trials: Trials, limit: int) -> dict[str, Interval]:
    """Returns the figures of a limit's replicates, with their intervals."""
    known = trials.replicates[limit][0]
    return {name: trials.interval(limit, name) for name in FIGURES if name in known}


def link_dict(link: Link) -> dict[str, Any]:
    """Returns the link as plain values, with the quantities that follow from its description."""
    return {
        "rate_bps": link.rate_bps,
        "rtts_s": list(link.rtts_s),
        "mean_rtt_s": link.mean_rtt_s,
        "harmonic_mean_rtt_s": link.harmonic_rtt_s if link.rtts_s else None,
        "flows": link.flows,
        "packet_bytes": link.packet_bytes,
        "framing_bytes": link.framing_bytes,
        "local_share": link.local_share,
        "congestion_control": link.control_words if link.flows else None,
        "profile": link.profile,
        "byte_counting": link.byte_counting,
        "ack_every": link.ack_every,
        "paced": link.paced,
        "access_rate_bps": link.access_rate_bps,
        "input_rate_bps": link.input_rate_bps,
        "max_window_packets": link.max_window_packets,
        "synchronization": link.synchronization,
        "marks_at_packets": link.marks_at
        if any(name == "dctcp" for name, _ in link.shares)
        else None,
        "bdp_packets": link.bdp_packets,
        "bdp_bytes": link.bdp_packets * link.frame_bytes,
        "min_utilization": link.min_utilization,
        "max_loss_rate": link.max_loss_rate,
        "max_delay_s": link.max_delay_s,
        "for_bursts": link.for_bursts,
    }


def buffer_dict(link: Link, packets: int | None) -> dict[str, Any]:
    """Returns a buffer in every unit; `bdp` is None if there is no round-trip time.

    All values are None if there is no buffer.
    """
    if packets is None:
        return dict.fromkeys(("packets", "bytes", "seconds", "bdp"))
    return {
        "packets": packets,
        "bytes": packets * link.frame_bytes,
        "seconds": link.seconds(packets),
        "bdp": packets / link.bdp_packets if link.bdp_packets else None,
    }


def calibrated_dict(link: Link, found: Calibrated | None) -> dict[str, Any] | None:
    """Returns the answer of calibrated theory as plain values."""
    if found is None:
        return None
    return {
        **buffer_dict(link, found.packets),
        "at_least_packets": found.low,
        "at_most_packets": found.high,
        "interval": 0.9,
        "chance_feasible": found.chance,
        "least_for_utilization_and_loss": found.least,
        "most_for_delay": found.most,
        "expected": {
            name: dict(zip(("mean", "low", "high"), values, strict=True))
            for name, values in found.figures.items()
        },
        "outside_fitted_range": list(found.outside),
        "fitted_to_results_version": fitted_version(),
    }


def rule_dict(link: Link, one: RuleAnswer) -> dict[str, Any]:
    """Returns the answer of a rule as plain values."""
    return {
        "rule": one.rule.name,
        "title": one.rule.title,
        "kind": one.rule.kind,
        "bound": one.rule.bound,
        **buffer_dict(link, one.advice.whole_packets),
        "holds": one.holds,
        "keeps_bounds": one.keeps_bounds,
        "chance_kept": one.chances or None,
        "broken_assumptions": list(one.advice.broken),
        "doubted": list(one.doubted),
        "record": None if one.record is None else asdict(one.record),
        "notes": list(one.advice.notes),
        "simulated": plain(one.simulated) if one.simulated else None,
        "unmet": list(one.unmet),
        "why_not_simulated": one.why_not,
        "engine": one.engine,
        "source": one.rule.source,
    }


def plain(figures: dict[str, Interval]) -> dict[str, Any]:
    """Returns the mean of each figure and the ends of its interval."""
    return {
        name: dict(zip(("mean", "low", "high"), (one.mean, *one.ends), strict=True))
        for name, one in figures.items()
    }
