"""Points of several parameters, each known to the search by a whole number."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from goodqueue.errors import RequestError
from goodqueue.tuning.axis import axis_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goodqueue.tuning.axis import Axis
    from goodqueue.tuning.subject import Subject

LEAST, MOST = 2, 4
"""Numbers of parameters of a search over several."""

Box = tuple[tuple[int, int], ...]
"""First and last place of each parameter."""


@dataclass(frozen=True, slots=True)
class Space:
    """Several parameters with the values that may be tried.

    A *place* is the index of a value among those of its parameter, and a *point* has a place for
    each. Points are whole numbers, in the order of their places.

    Attributes:
        axes: the parameters.
    """

    axes: tuple[Axis, ...]

    def __len__(self) -> int:
        return prod(self.sizes)

    @property
    def sizes(self) -> list[int]:
        """Number of values of each parameter."""
        return [len(axis.values) for axis in self.axes]

    @property
    def whole(self) -> Box:
        """The box of all points."""
        return tuple((0, size - 1) for size in self.sizes)

    @property
    def own(self) -> int | None:
        """The point with the file's own values; None if one is outside its range, or not known."""
        marks = [axis.own for axis in self.axes]
        if None in marks:
            return None
        both = zip(self.axes, marks, strict=True)
        return self.point([axis.marks.index(mark) for axis, mark in both if mark is not None])

    def point(self, places: Sequence[int]) -> int:
        """Returns the point at these places."""
        found = 0
        for place, size in zip(places, self.sizes, strict=True):
            found = found * size + place
        return found

    def places(self, point: int) -> list[int]:
        """Returns the places of a point."""
        found = []
        for size in reversed(self.sizes):
            point, place = divmod(point, size)
            found.append(place)
        return found[::-1]

    def marks(self, point: int) -> list[tuple[Axis, int]]:
        """Returns each parameter with the mark of its value."""
        both = zip(self.axes, self.places(point), strict=True)
        return [(axis, axis.marks[place]) for axis, place in both]

    def settings(self, point: int) -> list[tuple[str, str]]:
        """Returns the paths and values of a point, as `--set` takes them."""
        return [one for axis, mark in self.marks(point) for one in axis.settings(mark)]

    def numbers(self, point: int) -> dict[str, float]:
        """Returns the numbers of a point by their columns."""
        return {
            name: number
            for axis, mark in self.marks(point)
            for name, number in axis.numbers(mark).items()
        }

    def shares(self, point: int) -> list[float]:
        """Returns how far along its range each value of a point is, between 0 and 1."""
        both = zip(self.places(point), self.sizes, strict=True)
        return [place / max(size - 1, 1) for place, size in both]

    def far(self, point: int) -> float:
        """Returns how far a point is from the file's own values, as a sum of shares of ranges."""
        return sum(axis.steps_from_own(mark) for axis, mark in self.marks(point))

    def around(self, point: int, share: float) -> Box:
        """Returns the box of the points that differ by at most this share of each range."""
        both = zip(self.places(point), self.sizes, strict=True)
        reach = [(place, max(round(share * (size - 1)), 1), size - 1) for place, size in both]
        return tuple((max(at - far, 0), min(at + far, last)) for at, far, last in reach)

    def spread(self, count: int) -> list[int]:
        """Returns points that fill the space evenly.

        They are the additive recurrence of M. Roberts, "The Unreasonable Effectiveness of
        Quasirandom Sequences" (2018), with the root of x^(d+1) = x + 1.
        """
        root = 2.0
        for _ in range(60):
            root = (1 + root) ** (1 / (len(self.axes) + 1))
        found = []
        for step in range(1, count + 1):
            shares = [(0.5 + step * root**-power) % 1 for power in range(1, len(self.axes) + 1)]
            both = zip(shares, self.sizes, strict=True)
            found.append(self.point([int(share * size) for share, size in both]))
        return found

    def beside(self, point: int, share: float) -> Iterator[tuple[Axis, int]]:
        """Yields the points at which one parameter differs by this share of its range, if any."""
        places, sizes = self.places(point), self.sizes
        for index, axis in enumerate(self.axes):
            step = max(round(share * (sizes[index] - 1)), 1)
            for place in (places[index] - step, places[index] + step):
                if 0 <= place < sizes[index]:
                    yield axis, self.point([*places[:index], place, *places[index + 1 :]])


def space_of(texts: Sequence[str], subject: Subject) -> Space:
    """Returns the parameters of several `--vary`.

    Raises:
        RequestError: if their number or a range is wrong, or if the scenario refuses a corner.
    """
    if not LEAST <= len(texts) <= MOST:
        raise RequestError(f"--vary: {len(texts)} parameters; give one, or {LEAST} to {MOST}")
    axes = tuple(axis_of(text, subject) for text in texts)
    paths = [axis.path for axis in axes]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise RequestError(f"--vary {twice}: the parameter is given twice")
    space = Space(axes)
    for corner in itertools.product(*space.whole):
        subject.check(space.settings(space.point(corner)), "--vary")
    return space


def size_of(box: Box) -> int:
    """Returns the number of points of a box."""
    return prod(last - first + 1 for first, last in box)
