"""The answer to how much buffer a link needs, as values, plain data and frames."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from goodqueue.sizing.calibrated.smallest import without

if TYPE_CHECKING:
    import polars as pl

    from goodqueue._core import Scenario
    from goodqueue.core.intervals import Interval
    from goodqueue.passive.carry import Carried
    from goodqueue.passive.today import Today
    from goodqueue.runs.engines import Engine
    from goodqueue.sizing.calibrated.record import Record
    from goodqueue.sizing.calibrated.smallest import Calibrated
    from goodqueue.sizing.export import Export
    from goodqueue.sizing.link import Link
    from goodqueue.sizing.rules import Advice, Rule
    from goodqueue.sizing.search.smallest import Smallest, Trials

FIGURES = ("utilization", "loss_rate", "p99_delay_s", "jain")
"""Figures reported of a buffer: utilisation, loss, the 99th percentile of the queueing delay, and
Jain's index of the long flows' goodputs, if there are long flows."""


PROMISED = ("utilization", "loss_rate")
"""Figures that a rule promises if they are bounded: no rule but BSCL considers delay."""

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
        """Probability that all bounds are kept, by calibrated theory: that of the worst."""
        return min(self.chances.values()) if self.chances else None

    @property
    def keeps_bounds(self) -> bool | None:
        """True if the buffer keeps all bounds, by its means or by calibrated theory.

        None if neither is sure.
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


@dataclass(frozen=True)
class Answer:
    """The answer for one link.

    Attributes:
        link: the link.
        by_rule: every rule's answer, in the order of `RULES`; empty if no rule applies.
        notes: sentences about the interpretation of a scenario file.
        found: result of the search, or what it had shown when it was stopped; None if nothing was
            simulated.
        trials: every limit that was run; None if nothing was simulated.
        epochs: loss epochs per long flow in a replicate at the answer; None without long flows.
        why_theory_only: reason why nothing was simulated, if nothing was.
        calibrated: answer of calibrated theory; None if it does not apply to such flows.
        changes: answers for changed links.
        alternatives: queue disciplines in place of the link's.
        exports: the buffer as the lines to paste into devices.
        scenario: one replicate at the answer, or near it if there is none, as a scenario for
            `goodqueue run`. None if the search ended before.
        interrupted: True if Ctrl-C ended it before everything was done.
        budget_over: True if the budget was over before the search had an answer.
        more_s: estimated wall-clock seconds that would settle it.
        share: measured part of replicates, as a share of their full length.
        left_out: parts beside the answer for which the budget did not suffice: `rules`, `queues`,
            `changes`.
        kept: True if its runs are stored for the next call.
        engine: engine of the answer and its curve; None if nothing was simulated.
        packets_s: expected wall-clock seconds of the packet engine, if that exceeds the budget.
        why_not_hybrid: reason why the hybrid engine was not used then, if it was not.
        doubt: reason why an answer of the hybrid engine is unreliable, if it is.
        today: comparison of a capture with its model; None if nothing was simulated.
        carried: range of buffers that follows from the error of a capture's model.
    """

    link: Link
    by_rule: tuple[RuleAnswer, ...]
    notes: tuple[str, ...] = ()
    found: Smallest | None = None
    trials: Trials | None = None
    epochs: float | None = None
    why_theory_only: str | None = None
    calibrated: Calibrated | None = None
    changes: tuple[Change, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    exports: tuple[Export, ...] = ()
    scenario: Scenario | None = None
    interrupted: bool = False
    budget_over: bool = False
    more_s: float | None = None
    share: float = 1.0
    left_out: tuple[str, ...] = ()
    kept: bool = True
    engine: Engine | None = None
    packets_s: float | None = None
    why_not_hybrid: str | None = None
    doubt: str | None = None
    today: Today | None = None
    carried: Carried | None = None

    @property
    def engine_name(self) -> str:
        """Name of the engine that simulated it, in words."""
        return "hybrid engine" if self.engine == "hybrid" else "packet engine"

    @property
    def ended(self) -> bool:
        """True if the search was stopped before it had an answer."""
        return self.interrupted or self.budget_over

    @property
    def firm(self) -> bool:
        """False if the model of a capture does not reproduce it."""
        return self.today is None or self.today.agrees

    @property
    def proved(self) -> bool:
        """True if the recommendation was shown to suffice, within a grid step of the smallest."""
        return self.found is not None and self.found.proved

    @property
    def buffer(self) -> int | None:
        """Recommended buffer in packets; None if no buffer suffices.

        It is the result of the search. If nothing is simulated it is that of calibrated theory.
        """
        if self.trials is not None:
            return None if self.found is None else self.found.limit
        return None if self.calibrated is None else self.calibrated.packets

    @property
    def rules(self) -> pl.DataFrame:
        """One row per rule: its buffer in every unit, whether it holds, and the figures there."""
        from goodqueue.sizing.answer.frames import rules_frame

        return rules_frame(self)

    @property
    def curve(self) -> pl.DataFrame:
        """One row per limit that was run, rising: utilisation, loss, delay and fairness."""
        from goodqueue.sizing.answer.frames import curve_frame

        return curve_frame(self)

    @property
    def queues(self) -> pl.DataFrame:
        """One row per queue discipline that was tried in place of the link's."""
        from goodqueue.sizing.answer.frames import queues_frame

        return queues_frame(self)

    @property
    def limits(self) -> list[int]:
        """Limits that were run, rising; empty if theory alone answers."""
        return [] if self.trials is None else self.trials.limits

    def runs(self, limit: int) -> int:
        """Returns the number of replicates of a limit."""
        assert self.trials is not None
        return len(self.trials.replicates[limit])

    def interval(self, limit: int, figure: str) -> Interval:
        """Returns a figure at a limit that was run."""
        assert self.trials is not None
        return self.trials.interval(limit, figure)

    def figures(self, limit: int) -> dict[str, Interval]:
        """Returns all figures at a limit that was run."""
        assert self.trials is not None
        return figures_at(self.trials, limit)

    def as_dict(self) -> dict[str, Any]:
        """Returns the answer as plain values, as `--json` prints it; docs/cli.md lists the keys."""
        return {
            "schema_version": 1,
            "engine": self.engine,
            "packet_search_s": self.packets_s,
            "why_not_hybrid": self.why_not_hybrid,
            "doubt": self.doubt,
            "link": link_dict(self.link),
            "notes": list(self.notes),
            "rules": [_rule_dict(self.link, one) for one in self.by_rule],
            "recommendation": self._recommendation(),
            "calibrated_theory": _calibrated_dict(self.link, self.calibrated),
            "changes": [
                {
                    "change": one.what,
                    "packets": one.packets,
                    "theory_packets": one.theory,
                    "engine": one.engine,
                    "why_not_simulated": one.why_not,
                }
                for one in self.changes
            ],
            "alternatives": [
                {
                    "queue": one.queue,
                    "simulated": _plain(one.figures) if one.figures else None,
                    "unmet": list(one.unmet),
                    "engine": one.engine,
                    "why_not_simulated": one.why_not,
                }
                for one in self.alternatives
            ],
            "curve": self._curve(),
            "exports": [
                {
                    "device": one.device,
                    "lines": list(one.lines),
                    "arithmetic": one.arithmetic,
                    "warning": one.warning,
                }
                for one in self.exports
            ],
            "today": None if self.today is None else self.today.as_dict(),
            "interrupted": self.interrupted,
            "budget": {
                "over": self.budget_over,
                "more_s": self.more_s,
                "replicate_share": self.share,
                "left_out": list(self.left_out),
            },
        }

    def _recommendation(self) -> dict[str, Any]:
        packets = self.buffer
        found = self.found
        empty = dict.fromkeys(("packets", "bytes", "seconds", "bdp"))
        undecided = packets is None and self.ended and not self.proved
        return {
            **(empty if packets is None else buffer_dict(self.link, packets)),
            "feasible": None if undecided else packets is not None,
            "by": "theory" if self.trials is None else "simulation",
            "why_theory_only": self.why_theory_only,
            "at_least_packets": None if found is None else found.low + 1,
            "at_most_packets": None if found is None else found.high,
            "proved": None if self.trials is None else self.proved,
            "settled": None if found is None else found.settled,
            "firm": self.firm,
            "carried": None if self.carried is None else self.carried.as_dict(),
            "least_for_utilization_and_loss": None if found is None else found.floor,
            "most_for_delay": None if found is None else found.ceiling,
            "give_up": self._give_up(),
            "not_monotone_at_packets": [] if found is None else list(found.exceptions),
            "loss_epochs_per_flow": self.epochs,
        }

    def _give_up(self) -> list[str]:
        if self.found is not None:
            return list(self.found.broken)
        by_theory = self.trials is None
        return list(without(self.link)) if by_theory and self.buffer is None else []

    def _curve(self) -> list[dict[str, Any]]:
        return [
            {
                **buffer_dict(self.link, limit),
                "replicates": self.runs(limit),
                "simulated": _plain(self.figures(limit)),
            }
            for limit in self.limits
        ]


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
        "congestion_control": link.congestion_control if link.flows else None,
        "profile": link.profile,
        "byte_counting": link.byte_counting,
        "ack_every": link.ack_every,
        "paced": link.paced,
        "access_rate_bps": link.access_rate_bps,
        "input_rate_bps": link.input_rate_bps,
        "max_window_packets": link.max_window_packets,
        "synchronization": link.synchronization,
        "bdp_packets": link.bdp_packets,
        "bdp_bytes": link.bdp_packets * link.frame_bytes,
        "min_utilization": link.min_utilization,
        "max_loss_rate": link.max_loss_rate,
        "max_delay_s": link.max_delay_s,
    }


def buffer_dict(link: Link, packets: int) -> dict[str, Any]:
    """Returns a buffer in every unit; `bdp` is None if there is no round-trip time."""
    return {
        "packets": packets,
        "bytes": packets * link.frame_bytes,
        "seconds": link.seconds(packets),
        "bdp": packets / link.bdp_packets if link.bdp_packets else None,
    }


def _calibrated_dict(link: Link, found: Calibrated | None) -> dict[str, Any] | None:
    """Returns the answer of calibrated theory as plain values."""
    if found is None:
        return None
    empty = dict.fromkeys(("packets", "bytes", "seconds", "bdp"))
    return {
        **(empty if found.packets is None else buffer_dict(link, found.packets)),
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
        "holds": one.holds,
        "keeps_bounds": one.keeps_bounds,
        "chance_kept": one.chances or None,
        "broken_assumptions": list(one.advice.broken),
        "doubted": list(one.doubted),
        "record": None if one.record is None else asdict(one.record),
        "notes": list(one.advice.notes),
        "simulated": _plain(one.simulated) if one.simulated else None,
        "unmet": list(one.unmet),
        "why_not_simulated": one.why_not,
        "engine": one.engine,
        "source": one.rule.source,
    }


def _plain(figures: dict[str, Interval]) -> dict[str, Any]:
    return {
        name: dict(zip(("mean", "low", "high"), (one.mean, *one.ends), strict=True))
        for name, one in figures.items()
    }
