"""The answer for a switch: its memory, its threshold, its incasts, its sessions and busy ports."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from goodqueue.boxes.scenario import ALPHA_PATH, SESSIONS
from goodqueue.boxes.switch import CUBIC_KEPT, M_PER_S, RENO_KEPT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodqueue.boxes.scenario import Box
    from goodqueue.boxes.switch import Switch
    from goodqueue.boxes.worlds import World
    from goodqueue.tuning.answer import Tuned

KEPT = (CUBIC_KEPT, RENO_KEPT)
"""Shares of their windows that senders keep after a loss."""

MEMORY, ALPHA, DEGREE, BUSY = "memory", "alpha", "degree", "busy"
"""Names of the searches."""

LARGEST = (DEGREE, BUSY)
"""Searches whose answer is the largest value that keeps the bounds; the others' is the smallest."""

LARGEST_ALPHA = 8.0
"""Largest factor of dynamic thresholds of switch chips."""

MAX_BUSY = 8
"""Largest number of ports that sessions fill in a search; their packets are most of a run."""

MORE_BUSY = 2
"""Ports beyond those of the closed form that sessions may fill in a search."""


@dataclass(frozen=True, slots=True)
class Found:
    """The outermost value of a parameter that keeps the bounds.

    Attributes:
        what: name of the search.
        vary: the parameter and its values, as `--vary` has them.
        tuned: the search.
        world: the answers for other hosts; None if they were not run.
    """

    what: str
    vary: str
    tuned: Tuned
    world: World | None = None

    @property
    def value(self) -> float | None:
        """The value; None if no value is known to keep the bounds."""
        best = self.tuned.best
        return None if best is None else self.tuned.axis.values[best.mark].number

    @property
    def text(self) -> str | None:
        """The value as `--set` takes it; None if there is none."""
        return self.tuned.value

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the outermost value."""
        best = self.tuned.best
        return None if best is None else (best.low, best.high)

    @property
    def ends_range(self) -> bool:
        """True if the outermost value that was tried keeps the bounds."""
        ends = self.tuned.axis.ends
        return self.value == (ends[1] if self.what in LARGEST else ends[0])

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values; docs/box.md lists the keys."""
        found = self.tuned.as_dict()
        keys = ("parameter", "recommended", "impossible", "nearest_miss", "values", "budget")
        world = None if self.world is None else self.world.as_dict()
        return {**{key: found[key] for key in keys}, "world": world}


@dataclass(frozen=True, slots=True)
class Session:
    """The distance that one TCP session fills a port over, while all other ports are idle.

    Attributes:
        rate_bps: line rate of the port.
        alpha: factor of the dynamic thresholds.
        held_bytes: memory that the port holds.
        cubic_s: longest base round-trip time with CUBIC in seconds.
        reno_s: the same with Reno.
    """

    rate_bps: float
    alpha: float
    held_bytes: float
    cubic_s: float
    reno_s: float

    def as_dict(self) -> dict[str, float]:
        """Returns plain values; distances are in metres of fibre, one way."""
        return {
            "rate_bps": self.rate_bps,
            "alpha": self.alpha,
            "held_bytes": self.held_bytes,
            "cubic_rtt_s": self.cubic_s,
            "reno_rtt_s": self.reno_s,
            "cubic_m": self.cubic_s / 2 * M_PER_S,
            "reno_m": self.reno_s / 2 * M_PER_S,
        }


@dataclass(frozen=True)
class Answer:
    """The answer for a switch.

    Attributes:
        box: the switch and its traffic.
        keep: the bounds as written.
        notes: sentences about a file that was read.
        budget: packets that all runs might send.
        found: the searches that were made, by their names.
        worlds_used: packets of the runs with other hosts.
        stopped: True if Ctrl-C ended the runs with other hosts.
    """

    box: Box
    keep: tuple[str, ...]
    notes: tuple[str, ...]
    budget: float
    found: Mapping[str, Found] = field(default_factory=dict)
    worlds_used: float = 0.0
    stopped: bool = False

    @property
    def alpha(self) -> float:
        """The factor to set: the one that was found, or that of the question."""
        found = self.found.get(ALPHA)
        value = None if found is None else found.value
        return self.box.switch.alpha if value is None else value

    @property
    def switch(self) -> Switch:
        """The switch with the factor to set."""
        return replace(self.box.switch, alpha=self.alpha)

    @property
    def needed_bytes(self) -> float | None:
        """Memory that the client's port must be able to hold alone; None if it is unknown."""
        found = self.found.get(MEMORY)
        if found is None or found.value is None:
            return None
        return replace(self.box.switch, memory_bytes=int(found.value)).held(1)

    @property
    def busy_by_theory(self) -> int | None:
        """Number of other ports that may be overloaded, by the closed form; None if unknown.

        Each of n overloaded ports holds alpha M / (1 + n alpha), and the client's is one of them.
        """
        needed = self.needed_bytes
        if needed is None:
            return None
        return max(self.switch.busy_for(needed) - 1, 0)

    @property
    def busy_tried(self) -> list[int]:
        """Numbers of busy ports that are tried; none if the port does not survive alone."""
        theory, degree = self.busy_by_theory, self.found.get(DEGREE)
        if theory is None or degree is None or (degree.value or 0) < self.box.incast.senders:
            return []
        near = {1, max(theory // 2, 1), *range(max(theory, 1), theory + MORE_BUSY + 1)}
        return sorted(one for one in near if one <= min(self.box.most_busy, MAX_BUSY))

    @property
    def busy(self) -> int | None:
        """Number of other ports that long sessions may fill; None if it is unknown."""
        found = self.found.get(BUSY)
        return None if found is None or found.value is None else round(found.value / SESSIONS)

    @property
    def sessions(self) -> list[Session]:
        """Distances that one session fills ports over, with the factor to set and with 8."""
        rates = dict.fromkeys(group.rate_bps for group in self.box.switch.groups)
        return [
            Session(rate, alpha, switch.held(1), *(switch.session_rtt_s(rate, k) for k in KEPT))
            for alpha in dict.fromkeys((self.alpha, LARGEST_ALPHA))
            for switch in [replace(self.box.switch, alpha=alpha)]
            for rate in rates
        ]

    @property
    def used(self) -> float:
        """Packets that all runs sent."""
        return sum(one.tuned.used for one in self.found.values()) + self.worlds_used

    @property
    def interrupted(self) -> bool:
        """True if Ctrl-C ended the command."""
        return self.stopped or any(one.tuned.interrupted for one in self.found.values())

    @property
    def impossible(self) -> bool:
        """True if runs showed that no memory that was tried keeps the bounds."""
        return MEMORY in self.found and self.found[MEMORY].tuned.impossible

    @property
    def proved(self) -> bool:
        """True if runs showed the memory, and the number of senders with the memory at hand."""
        shown = [self.found[what] for what in (MEMORY, DEGREE) if what in self.found]
        return len(shown) == 2 and all(one.tuned.proved for one in shown)

    def source(self, what: str) -> dict[str, Any]:
        """Returns the settings of the scenario of a search."""
        return self.box.settings(max(self.busy_tried) if what == BUSY else 0)

    def settings(self, what: str) -> dict[str, str]:
        """Returns the values at which a parameter is searched, beside those of the question."""
        return {ALPHA_PATH: f"{self.alpha:g}"} if what in LARGEST else {}

    def with_world(self, what: str, world: World) -> Answer:
        """Returns the answer with the results of a search for other hosts."""
        return replace(self, found={**self.found, what: replace(self.found[what], world=world)})

    def toml(self) -> str:
        """Returns the scenario with the threshold to set, as a file for people."""
        return replace(self.box, switch=self.switch).toml()

    def as_dict(self) -> dict[str, Any]:
        """Returns the answer as plain data, as `--json` prints it."""
        switch, incast = self.box.switch, self.box.incast
        return {
            "schema_version": 1,
            "ports": [{"count": one.count, "rate_bps": one.rate_bps} for one in switch.groups],
            "memory_bytes": switch.memory_bytes,
            "alpha": switch.alpha,
            "cell_bytes": switch.cell_bytes,
            "reserved_bytes": switch.reserved_bytes,
            "rtt_s": self.box.rtt_s,
            "incast": {"senders": incast.senders, "size_bytes": incast.size_bytes},
            "control": self.box.control,
            "keep": list(self.keep),
            "searches": {what: one.as_dict() for what, one in self.found.items()},
            "sessions": [one.as_dict() for one in self.sessions],
            "busy_by_theory": self.busy_by_theory,
            "busy_by_sessions": self.busy,
            "shown": self.proved,
            "notes": list(self.notes),
            "budget": {"packets": self.budget, "used": self.used},
            "interrupted": self.interrupted,
        }
