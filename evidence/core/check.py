"""The check of all stamps, and the list of things that are known to be stale."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evidence.core import cells, fingerprints, stamps
from evidence.core.derived import HOME, everything
from evidence.core.stamps import State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

EXCUSES = HOME / "STALE.md"

ROW = re.compile(r"^\| `(?P<name>[\w/-]+)` \| (?P<reason>[^|]+) \| (?P<date>\d{4}-\d\d-\d\d) \|$")

MAX_CANARIES = 40
"""Largest number of different canaries, which bounds the time of the check."""


@dataclass(frozen=True)
class Verdict:
    """Outcome of the check.

    Attributes:
        states: state of each thing.
        reasons: grounds of the state, for each thing that is not fresh.
        excused: things in the list of things that are known to be stale, with the reason.
        canaries: number of different canaries.
        fingerprinted: True if the package has the fingerprints of this engine.
    """

    states: Mapping[str, State]
    reasons: Mapping[str, str]
    excused: Mapping[str, str]
    canaries: int
    fingerprinted: bool = True

    def named(self, state: State) -> list[str]:
        """Returns the names of the things in a state."""
        return [name for name, its in self.states.items() if its is state]

    @property
    def faults(self) -> list[str]:
        """Sentences on what must be mended before a commit."""
        said = [
            f"{name} is {self.states[name]} ({self.reasons[name]}): make it again "
            f"(python -m evidence make {name}), or name it in {EXCUSES.relative_to(HOME.parent)} "
            "with a reason and a date"
            for name in self._aged()
            if name not in self.excused
        ]
        for name in self.excused:
            if name not in self.states:
                said.append(f"STALE.md names {name}, which nothing makes")
            elif self.states[name] is State.FRESH:
                said.append(f"STALE.md names {name}, which is fresh: take it out")
        if self.canaries > MAX_CANARIES:
            said.append(
                f"there are {self.canaries} canaries, and at most {MAX_CANARIES} are allowed"
            )
        if not self.fingerprinted:
            said.append(
                f"{fingerprints.FILE.relative_to(HOME.parent)} has fingerprints of another engine: "
                "write those of this one (python -m evidence fingerprints)"
            )
        return said

    def _aged(self) -> Sequence[str]:
        """Returns what is stale, and what nothing is known of because it has no stamp."""
        unstamped = [
            name for name in self.named(State.UNKNOWN) if self.reasons[name] == stamps.UNSTAMPED
        ]
        return self.named(State.STALE) + unstamped


def excuses(path: Path = EXCUSES) -> dict[str, str]:
    """Returns the reasons of the list by the names of the things.

    Raises:
        ValueError: if a row of the table has another form.
    """
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("| `"):
            row = ROW.match(line)
            if row is None:
                raise ValueError(
                    f"{path.name}:{number}: write | `name` | reason | 2026-01-31 |, not {line!r}"
                )
            found[row["name"]] = row["reason"].strip()
    return found


def check() -> Verdict:
    """Runs every canary and returns the state of each thing."""
    things = everything()
    stamped = [stamp for thing in things.values() if (stamp := stamps.read(thing))]
    cells.prepare(cells.cell_in(one) for stamp in stamped for one in stamp.canary)
    states = {name: stamps.state_of(thing) for name, thing in things.items()}
    reasons = {
        name: stamps.reason_of(thing)
        for name, thing in things.items()
        if states[name] is not State.FRESH
    }
    canaries = {cells.key_of(stamp.canary) for stamp in stamped if stamp.canary}
    return Verdict(states, reasons, excuses(), len(canaries), fingerprints.is_current())
