"""What became of each rule's buffer where it was simulated: the measured record of the rules."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Record:
    """How often a rule kept its promise, by direct simulation at its buffer.

    Its promise is the utilisation asked for and, where one was asked for, the bound on loss.

    Attributes:
        held: links on which all assumptions of the rule held that can be checked.
        held_kept: of those, links on which it kept its promise.
        run: all links on which its buffer was run.
        run_kept: of those, links on which it kept its promise.
    """

    held: int
    held_kept: int
    run: int
    run_kept: int

    def words(self) -> str:
        """The record in a few words."""
        if not self.held:
            return f"kept its promise on {_share(self.run_kept, self.run)} of {self.run:,} links"
        return (
            f"kept its promise on {_share(self.held_kept, self.held)} of {self.held:,} links where "
            f"its assumptions held, {_share(self.run_kept, self.run)} of all {self.run:,}"
        )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(whole, 1):.0f} %"


@cache
def records() -> dict[str, Record]:
    """The record of each rule that the study ran, by the rule's name."""
    text = files(__package__).joinpath("record.json").read_text(encoding="utf-8")
    return {name: Record(**counts) for name, counts in json.loads(text).items()}
