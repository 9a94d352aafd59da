"""Measured record of the rules: the results of simulations with each rule's buffer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

FILE = "coverage.json"
"""Measured coverage of the fitted table, with the results version of its runs."""

FINGERPRINTS = "fingerprints.json"
"""Digests of the figures of short runs of the calibration: by the engine of the fit, and by the
engine of the package (`python -m evidence fingerprints`)."""

RECORDS = {"record.json": "calibrated", "modern.json": "modern"}
"""Files of records, each with its fingerprint."""


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

    def words(self, *, older: bool = False) -> str:
        """Returns the record in a few words.

        Args:
            older: True if the engine gives other results today than in the runs of the record.
        """
        when = " (runs of an older engine)" if older else ""
        if not self.held:
            share = _share(self.run_kept, self.run)
            return f"kept its promise on {share} of {self.run:,} links{when}"
        return (
            f"kept its promise on {_share(self.held_kept, self.held)} of {self.held:,} "
            f"links on which its assumptions held, {_share(self.run_kept, self.run)} of "
            f"all {self.run:,}{when}"
        )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(whole, 1):.0f} %"


@cache
def records() -> dict[str, Record]:
    """Returns the record of each rule, by the rule's name.

    The rules for modern congestion controls have a study of their own.
    """
    found: dict[str, Record] = {}
    for file in RECORDS:
        found |= {name: Record(**counts) for name, counts in _counts(file).items()}
    return found


def record_is_older(rule: str) -> bool:
    """Returns True if the engine gives other results today than in the runs of a rule's record."""
    return any(is_older(RECORDS[file]) for file in RECORDS if rule in _counts(file))


@cache
def _counts(file: str) -> dict[str, dict[str, int]]:
    text = files(__package__).joinpath(file).read_text(encoding="utf-8")
    found: dict[str, dict[str, int]] = json.loads(text)
    return found


@cache
def fitted_version() -> int:
    """Returns the results version of the engine to whose runs the table was fitted."""
    text = files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    version: int = json.loads(text)["results_version"]
    return version


@cache
def is_older(what: str = "calibrated") -> bool:
    """Returns True if the engine gives other results than the one to which something was fitted.

    Args:
        what: `calibrated` for the fitted table and the record of the rules, `modern` for the record
            of the rules for modern congestion controls, `hybrid` for the hybrid engine's error.
    """
    text = files(__package__).joinpath(FINGERPRINTS).read_text(encoding="utf-8")
    found: dict[str, str] = json.loads(text)[what]
    return found["fitted"] != found["engine"]
