"""Measured record of the rules: the results of simulations with each rule's buffer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

FILE = "coverage.json"
"""Measured coverage of the fitted table, with the results version of its runs."""


@dataclass(frozen=True, slots=True)
class Record:
    """Number of times that a rule kept its promise, by direct simulation at its buffer.

    Its promise is the requested utilisation and the bound on loss, if there is one.

    Attributes:
        held: number of links on which all assumptions of the rule that can be checked held.
        held_kept: number of these links on which it kept its promise.
        run: number of all links on which its buffer was run.
        run_kept: number of these links on which it kept its promise.
    """

    held: int
    held_kept: int
    run: int
    run_kept: int

    def words(self) -> str:
        """Returns the record in a few words."""
        if not self.held:
            return f"kept its promise on {_share(self.run_kept, self.run)} of {self.run:,} links"
        return (
            f"kept its promise on {_share(self.held_kept, self.held)} of {self.held:,} "
            f"links on which its assumptions held, {_share(self.run_kept, self.run)} of "
            f"all {self.run:,}"
        )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(whole, 1):.0f} %"


@cache
def records() -> dict[str, Record]:
    """Returns the record of each rule, by the rule's name.

    The rules for modern congestion controls have a study of their own.
    """
    found: dict[str, Record] = {}
    for file in ("record.json", "modern.json"):
        text = files(__package__).joinpath(file).read_text(encoding="utf-8")
        found |= {name: Record(**counts) for name, counts in json.loads(text).items()}
    return found


@cache
def fitted_version() -> int:
    """Returns the results version of the engine to whose runs the table was fitted."""
    text = files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    version: int = json.loads(text)["results_version"]
    return version
