"""The error of a box's answer that comes from hosts which were not described.

Each property of the hosts is changed alone. The edge of the values that keep the bounds is halved
down to with a few seeds, for the box itself and for the changed one, and the ratio of both counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodqueue.sizing.search.budget import BudgetSpent
from goodqueue.sizing.search.trials import COARSE_REPLICATES, Trials
from goodqueue.tuning.axis import axis_of
from goodqueue.tuning.bounds import keep_of
from goodqueue.tuning.replicates import Replicates
from goodqueue.tuning.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodqueue.boxes.scenario import Box
    from goodqueue.sizing.search.budget import Budget
    from goodqueue.study.runner import Runner

SPREAD = "answers spread over a millisecond"


def worlds(box: Box) -> dict[str, dict[str, str]]:
    """Returns other values of the scenario, by a description of the one property that differs."""
    found = {
        "round trips a fifth shorter": _delays(box, 0.8),
        "round trips a fifth longer": _delays(box, 1.2),
        SPREAD: {"flow.query.start_jitter": "1ms"},
        "paced senders": {"tcp.pacing": "true"},
        "timeouts of 5 ms": {"tcp.rto.minimum": "5ms"},
    }
    if box.control != "dctcp":
        other = "reno" if box.control != "reno" else "cubic"
        for control in (other, "bbr"):
            if control != box.control:
                found[f"{NAMES[control]} senders"] = {"tcp.congestion_control": control}
    return found


NAMES = {"reno": "Reno", "cubic": "CUBIC", "bbr": "BBR"}


def _delays(box: Box, factor: float) -> dict[str, str]:
    """Returns other delays of all ports."""
    delay = f"{round(factor * 1e9 * box.rtt_s / 4)}ns"
    count = sum(group.count for group in box.switch.groups[1:])
    links = {f"topology.link.{place}.delay": delay for place in range(count)}
    return {"topology.port.delay": delay, **links}


@dataclass(frozen=True, slots=True)
class World:
    """An answer over the hosts that were not described.

    Attributes:
        value: the answer for the hosts as described.
        found: the answer for each change, by its name; None if no value keeps the bounds then.
        complete: False if the budget ended before all hosts were tried.
    """

    value: float
    found: dict[str, float | None]
    complete: bool = True

    @property
    def low(self) -> float:
        """Smallest answer of all hosts that have one."""
        return min([self.value, *(one for one in self.found.values() if one is not None)])

    @property
    def high(self) -> float:
        """Largest answer of all hosts that have one."""
        return max([self.value, *(one for one in self.found.values() if one is not None)])

    @property
    def none(self) -> list[str]:
        """Hosts for which no value keeps the bounds."""
        return [name for name, one in self.found.items() if one is None]

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values."""
        return {"complete": self.complete, "hosts": self.found}


@dataclass(frozen=True, slots=True)
class Pairs:
    """Short searches for the edge of the values that keep the bounds.

    Attributes:
        box: the box.
        vary: the parameter, as `--vary` has it.
        keep: the bounds, as `--keep` has them.
        runner: runner of the runs.
        budget: work of all runs.
        memory: largest memory of the runs in bytes.
    """

    box: Box
    vary: str
    keep: Sequence[str]
    runner: Runner
    budget: Budget
    memory: int

    def world(self, value: float, set_: Mapping[str, str], largest: bool) -> World:
        """Returns the answer over the hosts.

        Args:
            value: the answer for the hosts as described.
            set_: values of the scenario at which the answer was found.
            largest: True if the answer is the largest value that keeps the bounds, False if it is
                the smallest.
        """
        found: dict[str, float | None] = {}
        every = worlds(self.box)
        try:
            itself = self._edge(set_, largest)
            if itself is None:
                return World(value, {}, complete=False)
            for name, changes in every.items():
                other = self._edge({**set_, **changes}, largest)
                found[name] = None if other is None else value * other / itself
        except BudgetSpent:
            pass
        return World(value, found, len(found) == len(every))

    def _edge(self, set_: Mapping[str, str], largest: bool) -> float | None:
        """Returns the outermost value whose means keep the bounds under a few seeds.

        The values beyond it are taken to break them.
        """
        subject = Subject(self.box.settings(), tuple(set_.items()))
        names = subject.scenario().metric_names()
        keeps = [keep_of(one, names) for one in self.keep]
        axis = axis_of(self.vary, subject)
        figures = [one.figure for one in keeps]
        runs = Replicates(subject, axis, figures, self.runner, self.budget, self.memory)
        trials = Trials(runs)
        targets = [one.bound for one in keeps]
        marks = axis.marks if largest else axis.marks[::-1]
        kept, broken = -1, len(marks)
        while broken - kept > 1:
            middle = (kept + broken) // 2
            trials.ensure([marks[middle]], COARSE_REPLICATES)
            if trials.unmet(marks[middle], targets):
                broken = middle
            else:
                kept = middle
        return None if kept < 0 else axis.values[marks[kept]].number
