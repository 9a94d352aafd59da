"""The answer to how much buffer a link needs, as values, plain data and frames."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from goodqueue.core.shown import axes_of, html_of, words_of
from goodqueue.sizing.answer.facts import BY_THEORY, FAR_FROM_LIKELY, LIKELY_NOT
from goodqueue.sizing.answer.parts import (
    buffer_dict,
    calibrated_dict,
    figures_at,
    link_dict,
    plain,
    rule_dict,
)
from goodqueue.sizing.calibrated.smallest import without
from goodqueue.sizing.search.trials import DROPS

if TYPE_CHECKING:
    import polars as pl

    from goodqueue._core import Scenario
    from goodqueue.core.intervals import Interval
    from goodqueue.core.shown import Drawn
    from goodqueue.runs.engines import Engine
    from goodqueue.sizing.answer.facts import Facts, Guard
    from goodqueue.sizing.answer.page import Page
    from goodqueue.sizing.answer.parts import Alternative, Change, RuleAnswer
    from goodqueue.sizing.answer.world import World
    from goodqueue.sizing.calibrated.smallest import Calibrated
    from goodqueue.sizing.export import Export
    from goodqueue.sizing.link import Link
    from goodqueue.sizing.search.agreement import Widened
    from goodqueue.sizing.search.smallest import Smallest
    from goodqueue.sizing.search.trials import Trials
    from goodqueue.sizing.shared.memory import Memory


@dataclass(frozen=True, repr=False)
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
        why_theory_only: reason why nothing was simulated; None if something was simulated.
        calibrated: answer of calibrated theory; None if it does not apply to such flows.
        changes: answers for changed links.
        alternatives: queue disciplines in place of the link's.
        exports: the buffer as the lines to paste into devices.
        scenario: one replicate at the answer, or near it if there is none, as a scenario for
            `goodqueue run`. None if the search ended before.
        interrupted: True if Ctrl-C ended it before everything was done.
        budget_over: True if the budget was over before the search had an answer.
        more_packets: estimated work in packets in which the stopped search would end.
        used_packets: work of all runs in packets, stored ones included; 0 if nothing was simulated.
        share: measured part of replicates, as a share of their full length.
        left_out: parts beside the answer for which the budget did not suffice: `rules`, `queues`,
            `changes`, `world`, `cost`, `guard`, `page`.
        kept: True if the runs are stored for the next call.
        engine: engine of the answer and its curve; None if nothing was simulated.
        packets_s: usual seconds of one processor for the packet engine, if it exceeds the budget.
        why_not_hybrid: reason why the hybrid engine was not used although the packet engine exceeds
            the budget; None if it was used.
        doubt: reason why an answer of the hybrid engine is unreliable; None if it is reliable.
        widened: range of buffers that follows from the hybrid engine's measured error, if there is
            a doubt and that error was measured on links like this.
        facts: statements of the search beside its limit; None if nothing was simulated.
        world: the answer over hosts that were not described; None if it is not known.
        guard: facts that the answer must not hide; None if there are none.
        page: times of a small page behind its buffer; None if that was not run.
        memory: shared memory that its buffer needs; None if no shared memory decides.

    Examples:
        >>> from goodqueue.sizing import Link, judge_rules
        >>> answer = judge_rules(Link(10e6, (0.060,), flows=1))
        >>> answer.as_dict()["recommendation"]["by"]
        'theory'
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
    more_packets: float | None = None
    used_packets: float = 0.0
    share: float = 1.0
    left_out: tuple[str, ...] = ()
    kept: bool = True
    engine: Engine | None = None
    packets_s: float | None = None
    why_not_hybrid: str | None = None
    doubt: str | None = None
    widened: Widened | None = None
    facts: Facts | None = None
    world: World | None = None
    guard: Guard | None = None
    page: Page | None = None
    memory: Memory | None = None

    def plot(self, name: str = "curve") -> Drawn:
        """Draws a picture of the answer by pyplot, without a caption, and returns its axes.

        Args:
            name: `curve` for the figures by buffer, or `pareto` for utilisation and loss against
                delay.

        Raises:
            RequestError: if nothing was simulated, or if there is no such picture.
        """
        return axes_of(self, name)

    def __repr__(self) -> str:
        return words_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)

    @property
    def engine_name(self) -> str:
        """Name of the engine that simulated the answer, in words."""
        return "hybrid engine" if self.engine == "hybrid" else "packet engine"

    @property
    def ended(self) -> bool:
        """True if the search was stopped before it had an answer."""
        return self.interrupted or self.budget_over

    @property
    def firm(self) -> bool:
        """Returns False if the traffic that was simulated is not that of the link."""
        return True

    @property
    def shown(self) -> bool:
        """True if its engine showed that the recommendation suffices, within a grid step."""
        return self.found is not None and self.found.proved

    @property
    def proved(self) -> bool:
        """True if packets showed that the recommendation suffices; hybrid answers are estimates."""
        return self.shown and self.engine == "packets"

    @property
    def buffer(self) -> int | None:
        """Recommended buffer in packets; None if no buffer suffices.

        The value is the result of the search, or of calibrated theory if nothing is simulated.
        """
        if self.trials is not None:
            return None if self.found is None else self.found.limit
        return None if self.calibrated is None else self.calibrated.packets

    @property
    def number(self) -> int:
        """Returns the answer's number of packets: it has one in every case.

        If nothing was run, it is that of calibrated theory, or one bandwidth-delay product.
        """
        if self.facts is not None:
            return self.facts.packets
        theory = self.calibrated
        if theory is not None:
            for one in (theory.packets, theory.least):
                if one is not None:
                    return one if theory.most is None else max(min(one, theory.most), 1)
        return max(round(self.link.bdp_packets), 1)

    @property
    def deciding_bound(self) -> str | None:
        """Returns the figure whose bound decides, by the search or by calibrated theory."""
        if self.facts is not None:
            return self.facts.deciding
        if self.calibrated is None:
            return None
        return "loss_rate" if self.calibrated.loss_decides else "utilization"

    @property
    def chance(self) -> tuple[int | None, int | None]:
        """Returns the interval of the answer by chance, or by the error of theory or engine.

        For the packet engine it is the 95 % interval over the seeds. For the hybrid engine it
        contains its measured error, and for theory it is the 90 % interval of a prediction.
        """
        if self.facts is None:
            found = self.calibrated
            return (None, None) if found is None else (found.low, found.high)
        if self.engine == "hybrid":
            return (None, None) if self.widened is None else (self.widened.low, self.widened.high)
        return self.facts.chance

    @property
    def why_impossible(self) -> str | None:
        """Returns the reason why no buffer can keep the bounds; None if that is not shown.

        Every limit that was tried must have been shown to break a bound by packets, and there must
        be a reason for the limits that were not: a queue that never fills, bounds that contradict
        each other, or calibrated theory. Without a run, calibrated theory must give it 95 %.
        """
        found, trials, theory = self.found, self.trials, self.calibrated
        expects_none = theory is not None and theory.chance <= (
            FAR_FROM_LIKELY if theory.outside else LIKELY_NOT
        )
        if trials is None:
            return BY_THEORY if expects_none and self.buffer is None else None
        if found is None or self.ended or self.engine != "packets":
            return None
        if found.limit is not None or not found.excluded:
            return None
        if found.floor is not None:
            return "the bounds contradict each other"
        if trials.interval(found.reached, DROPS).mean == 0:
            return "that buffer was never full, so a larger one has no effect"
        return BY_THEORY if expects_none else None

    @property
    def device_packets(self) -> int | None:
        """Buffer for a device: it suffices for nine tenths of the hosts that were not described.

        A bound on the delay keeps it at the recommendation. None if there is no recommendation.
        """
        packets = self.buffer
        if packets is None or self.world is None or self.link.max_delay_s is not None:
            return packets
        return max(packets, self.world.nine_tenths)

    @property
    def rules(self) -> pl.DataFrame:
        """One row per rule: its buffer in every unit, its validity, and the figures there."""
        from goodqueue.sizing.answer.frames import rules_frame

        return rules_frame(self.link, self.by_rule)

    @property
    def curve(self) -> pl.DataFrame:
        """One row per limit that was run, rising: utilisation, loss, delay and fairness."""
        from goodqueue.sizing.answer.frames import curve_frame

        points = [(limit, self.runs(limit), self.figures(limit)) for limit in self.limits]
        return curve_frame(self.link, points, self.engine)

    @property
    def queues(self) -> pl.DataFrame:
        """One row per queue discipline that was tried in place of the link's."""
        from goodqueue.sizing.answer.frames import queues_frame

        return queues_frame(self.alternatives)

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
            "rules": [rule_dict(self.link, one) for one in self.by_rule],
            "decision": self._decision(),
            "recommendation": self._recommendation(),
            "calibrated_theory": calibrated_dict(self.link, self.calibrated),
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
                    "simulated": plain(one.figures) if one.figures else None,
                    "unmet": list(one.unmet),
                    "engine": one.engine,
                    "why_not_simulated": one.why_not,
                }
                for one in self.alternatives
            ],
            "curve": self._curve(),
            "exports": [asdict(one) | {"lines": list(one.lines)} for one in self.exports],
            "today": None,
            "interrupted": self.interrupted,
            "budget": {
                "over": self.budget_over,
                "more_packets": self.more_packets,
                "used_packets": round(self.used_packets),
                "replicate_share": self.share,
                "left_out": list(self.left_out),
            },
        }

    def _decision(self) -> dict[str, Any]:
        """Returns the decision as plain values; docs/cli.md lists the keys."""
        packets, facts, world, guard = self.number, self.facts, self.world, self.guard
        miss = None if facts is None else facts.miss
        return {
            "packets": packets,
            "shown": self.proved and self.firm,
            "impossible": self.why_impossible,
            "sets": [] if facts is None else [list(one) for one in facts.sets],
            "deciding_bound": self.deciding_bound,
            "chance": list(self.chance),
            "world": [None, None] if world is None else [world.low, world.high],
            "hosts": None if world is None else world.as_dict(),
            "device_packets": self.device_packets,
            "expected": self._expected(packets),
            "engine": self.engine or "theory",
            "nearest_miss": None if miss is None else asdict(miss),
            "best_for_each_bound": None if facts is None else facts.best,
            "guard": None if guard is None else asdict(guard),
            "page": None if self.page is None else self.page.as_dict(),
            "memory": None if self.memory is None else self.memory.as_dict(),
        }

    def _expected(self, packets: int) -> dict[str, Any] | None:
        """Returns the figures at the answer, by its runs or by calibrated theory."""
        if self.trials is not None and packets in self.trials.replicates:
            return plain(figures_at(self.trials, packets))
        found = self.calibrated
        if found is None or not found.figures:
            return None
        return {
            name: dict(zip(("mean", "low", "high"), values, strict=True))
            for name, values in found.figures.items()
        }

    def _recommendation(self) -> dict[str, Any]:
        packets = self.buffer
        found = self.found
        undecided = packets is None and self.ended and not self.shown
        return {
            **buffer_dict(self.link, packets),
            "feasible": None if undecided else packets is not None,
            "by": "theory" if self.trials is None else "simulation",
            "why_theory_only": self.why_theory_only,
            "at_least_packets": None if found is None else found.low + 1,
            "at_most_packets": None if found is None else found.high,
            "proved": None if self.trials is None else self.proved,
            "settled": None if found is None else found.settled,
            "firm": self.firm,
            "carried": None if self.widened is None else self.widened.as_dict(),
            "least_for_utilization_and_loss": None if found is None else found.floor,
            "most_for_delay": None if found is None else found.ceiling,
            "give_up": self._give_up(),
            "sets": [] if self.facts is None else [list(one) for one in self.facts.sets],
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
                "simulated": plain(self.figures(limit)),
            }
            for limit in self.limits
        ]
