"""The condition that a paper leaves open, and the values under which its rows are run."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goodqueue.papers.cells import Spread

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Open:
    """A condition that the paper does not state, and the values under which each row is run.

    Attributes:
        kind: `seeds`; `phases`, which are evenly spaced values of a span; or `none`.
        label: name of the open condition.
        count: number of values that are run.
        why: sentence about the meaning of the interval over these values.
        first: start of the span.
        span: length of the span, in the unit that `set` gives it.
        set: overrides of the scenario in which `{}` is replaced by the value.
        chosen: value that is tried beside the phases, and that the search of all of them chose: a
            run with it is judged, and the phases are printed beside it. None if no value is chosen.
        replicates: seeds under which each phase, or a row without an open condition, is run.
    """

    kind: str
    why: str
    label: str = "seed"
    count: int = 1
    first: float = 0.0
    span: float = 0.0
    set: tuple[str, ...] = ()
    chosen: float | None = None
    replicates: int = 1

    def with_seeds(self, count: int) -> Open:
        """Returns the condition with this number of seeds for each of its values."""
        if self.kind == "seeds":
            return replace(self, count=count)
        return replace(self, replicates=count)

    @property
    def is_chosen(self) -> bool:
        """True if a value is chosen, so that nothing is open any more."""
        return self.chosen is not None

    @property
    def other_values(self) -> str:
        """Label of the range over the phases beside a chosen value."""
        return f"{self.count} other values"

    @property
    def values(self) -> list[str]:
        """The chosen value, if there is one, and the phases: the middles of equal parts."""
        if self.kind != "phases":
            return [""]
        step = self.span / self.count
        phases = [self.first + step * (index + 0.5) for index in range(self.count)]
        tried = phases if self.chosen is None else [self.chosen, *phases]
        return [f"{value:.9f}" for value in tried]

    @property
    def seeds(self) -> range:
        """The seeds under which each value is run."""
        return range(1, 1 + (self.count if self.kind == "seeds" else self.replicates))

    def spread(self, values: Sequence[float], most: float = math.inf) -> Spread:
        """Returns the spread of a figure over the open condition.

        Args:
            values: the figure under each value of the condition.
            most: largest value that the figure can have; the interval is cut there.
        """
        if self.is_chosen:
            return Spread.of_seeds(values[: self.replicates], least=0.0, most=most)
        match self.kind:
            case "seeds":
                # Tables print counts, shares, times and rates: none is negative.
                return Spread.of_seeds(values, least=0.0, most=most)
            case "phases":
                return Spread.of_range(values)
            case _:
                return Spread.of_seeds(values, least=0.0, most=most)

    def others(self, values: Sequence[float], _most: float = math.inf) -> Spread:
        """Returns the range over the values that were not chosen; its mean is not known.

        A mean over starts of a probe is the figure of no run, and is not printed.
        """
        return Spread(math.nan, min(values[self.replicates :]), max(values[self.replicates :]))
