"""Counts of verdicts, for the terminal, JSON and the HTML page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.papers.cells import Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goodqueue.papers.cells import Cell, Reproduction
    from goodqueue.papers.experiment import Experiment

WEAK_MATCHES = "weak matches"

_ONE = {WEAK_MATCHES: "weak match"}
"""Labels of a single cell, where they differ from the heading of the column."""

_MANY: dict[str, str] = {
    Verdict.MATCHES: "match",
    Verdict.SHAPE: "match in shape",
    Verdict.NOT: "do not match",
    Finding.HOLDS: "hold",
    Finding.ELSEWHERE: "fail elsewhere",
}
"""Labels of several cells, where they differ from the heading of the column."""

LEGEND = (
    "A weak match has an interval wider than half of our mean. A control is a model that is wrong "
    "on purpose, held against the same published figures: where it matches as often as ours, a "
    "match says nothing."
)


@dataclass(frozen=True, slots=True)
class Tally:
    """The number of cells with each verdict.

    Attributes:
        matches: published figures that match, without weak matches.
        weak: published figures that match, but with an interval wider than half of our mean.
        shape: figures that match in shape only.
        fails: figures that do not match.
        findings: number of conclusions with each finding.
    """

    matches: int
    weak: int
    shape: int
    fails: int
    findings: dict[Finding, int]

    @property
    def figures(self) -> dict[str, int]:
        """Counts of figures, by their labels."""
        return {
            str(Verdict.MATCHES): self.matches,
            WEAK_MATCHES: self.weak,
            str(Verdict.SHAPE): self.shape,
            str(Verdict.NOT): self.fails,
        }

    @property
    def every(self) -> dict[str, int]:
        """Counts of figures and of conclusions, by their labels."""
        return self.figures | {str(one): count for one, count in self.findings.items()}

    def text(self) -> str:
        """Lists the counts that are not zero, in words."""
        counts = [(label, count) for label, count in self.every.items() if count]
        words = [(_ONE if count == 1 else _MANY).get(label, label) for label, count in counts]
        return ", ".join(f"{count} {word}" for word, (_, count) in zip(words, counts, strict=True))

    def as_dict(self) -> dict[str, int]:
        """Returns the counts as a dictionary that JSON can hold."""
        return {label.replace(" ", "_"): count for label, count in self.every.items()}


def tally(cells: Sequence[Cell]) -> Tally:
    """Counts the verdicts of cells."""
    verdicts = [cell.verdict for cell in cells]
    return Tally(
        matches=verdicts.count(Verdict.MATCHES),
        weak=verdicts.count(Verdict.WEAK),
        shape=verdicts.count(Verdict.SHAPE),
        fails=verdicts.count(Verdict.NOT),
        findings={one: verdicts.count(one) for one in Finding},
    )


@dataclass(frozen=True, slots=True)
class Control:
    """Matches of a control, a model that is wrong on purpose, beside those of our model.

    Attributes:
        name: name of the control, which describes its error.
        quantity: quantity of the cells; "" for all quantities together.
        cells: number of published figures that both models are compared with.
        ours: matches of our model, without weak ones.
        ours_weak: weak matches of our model.
        matches: matches of the control, without weak ones.
        weak: weak matches of the control.
    """

    name: str
    quantity: str
    cells: int
    ours: int
    ours_weak: int
    matches: int
    weak: int


def controls(cells: Sequence[Cell]) -> Iterator[Control]:
    """Yields the matches of each control of these cells, by quantity."""
    for name in dict.fromkeys(name for cell in cells for name in cell.controls):
        members = [cell for cell in cells if name in cell.controls and cell.published is not None]
        for quantity in dict.fromkeys(cell.quantity for cell in members):
            yield _control(name, quantity, [one for one in members if one.quantity == quantity])


def of_all(cells: Sequence[Cell]) -> Iterator[Control]:
    """Yields the matches of each control of these cells, over all quantities together."""
    for name in dict.fromkeys(name for cell in cells for name in cell.controls):
        members = [cell for cell in cells if name in cell.controls and cell.published is not None]
        yield _control(name, "", members)


def _control(name: str, quantity: str, cells: Sequence[Cell]) -> Control:
    ours, wrong = tally(cells), tally([cell.controlled(name) for cell in cells])
    counts = (ours.matches, ours.weak, wrong.matches, wrong.weak)
    return Control(name, quantity, len(cells), *counts)


def once(found: Sequence[tuple[Experiment, Reproduction]]) -> list[Cell]:
    """Returns the cells of all experiments without those that repeat a cell of another."""
    names = {(one.paper, one.name) for one, _ in found}
    return [
        cell for one, done in found for cell in done.cells if (one.paper, cell.repeats) not in names
    ]
