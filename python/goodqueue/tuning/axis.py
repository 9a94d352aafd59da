"""Values of one parameter of a scenario, from one end of its range to the other.

A value is known to the search by its *mark*, a whole number whose logarithm grows evenly over the
range. The searches of buffers read their limits in the same way, so that the same lines are fitted
to the figures of both.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.errors import RequestError, ScenarioError
from goodqueue.runs.settings import toml_of
from goodqueue.sizing.search.sets import NEIGHBOURS

if TYPE_CHECKING:
    from goodqueue.tuning.subject import Subject

POINTS = 129
"""Values of a range, both ends included; a whole number of packets may give fewer."""

NEAR = 5
"""Steps between two values up to which a line is fitted to their figures."""

RATE = (POINTS - 1) / NEAR * math.log(NEIGHBOURS)
"""Growth of the logarithm of marks from one end of the range to the other."""

FIRST_MARK = 1000

MAX_LISTED = 1000
"""Largest number of values that are given one by one."""

WIDE = 4.0
"""Ratio of the ends of a range from which on its steps are factors."""

WRITTEN = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+) ?([^0-9. ]*)\s*")
"""A number and its unit."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a parameter.

    Attributes:
        number: number in the unit of the axis.
        text: value as `--set` takes it.
    """

    number: float
    text: str


@dataclass(frozen=True, slots=True)
class Axis:
    """A parameter with the values that may be tried.

    Attributes:
        path: path of its key.
        suffix: unit of its numbers, as the end of a name: `_packets`, `_bps`, `_s`, or none.
        unit: unit in which its values are written, such as `Mbps`.
        values: its values by their marks, rising.
        log: True if the steps between values are factors.
        own: mark of the file's own value; None if it is not in the range, or not known.
        own_number: the file's own value; None if it is not known.
    """

    path: str
    suffix: str
    unit: str
    values: dict[int, Value]
    log: bool
    own: int | None
    own_number: float | None

    @property
    def marks(self) -> list[int]:
        """Marks of all values, rising."""
        return list(self.values)

    @property
    def ends(self) -> tuple[float, float]:
        """Returns the smallest and the largest number."""
        numbers = [value.number for value in self.values.values()]
        return numbers[0], numbers[-1]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def column(self) -> str:
        """Name of its values among figures and in frames: the path with the unit of its numbers."""
        return self.path + self.suffix

    def settings(self, mark: int) -> list[tuple[str, str]]:
        """Returns the path and the value of a mark, as `--set` takes them."""
        return [(self.path, self.values[mark].text)]

    def numbers(self, mark: int) -> dict[str, float]:
        """Returns the number of a mark by its column."""
        return {self.column: float(self.values[mark].number)}

    def number_at(self, mark: float) -> float:
        """Returns the number at a mark, which need not be that of a value; within the range."""
        place = min(max(math.log(max(mark, 1) / FIRST_MARK) / RATE, 0.0), 1.0)
        low, high = self.ends
        return low * (high / low) ** place if self.log else low + (high - low) * place

    def steps_from_own(self, mark: int) -> float:
        """Returns how far a value is from the file's own, or from the lower end if it is unknown.

        The unit is the logarithm of marks.
        """
        marks, (low, high) = self.marks, self.ends
        if self.own_number is None or self.own_number <= low:
            return math.log(mark / marks[0])
        own = marks[-1] if self.own_number >= high else self.own
        return abs(math.log(mark / (own or marks[0])))

    def text_of(self, number: float) -> str:
        """Returns a number in the unit of the range, with at most four digits behind the first."""
        return written(number, self.unit, digits=4)


def axis_of(text: str, subject: Subject) -> Axis:
    """Returns the parameter of `--vary`, with its ends checked.

    Args:
        text: `PATH=LOW..HIGH`, or `PATH=A,B,C` for these values alone; ends in % are shares of
            the value in the file, unless this is a share itself.
        subject: the scenario.

    Raises:
        RequestError: with the mistake and what to write instead.
    """
    path, equals, between = (part.strip() for part in text.partition("="))
    if path and equals and "," in between and ".." not in between:
        return _listed(text, path, between, subject)
    low, dots, high = (part.strip() for part in between.partition(".."))
    if not (path and equals and low and dots and high):
        raise RequestError(
            f"--vary {text}: write --vary PATH=LOW..HIGH, as in "
            "--vary topology.bottleneck.queue.limit=10p..1000p"
        )
    own = subject.own_value(path)
    if own is not None and low.endswith("%") and high.endswith("%") and not _is_share(own):
        low, high = _share(own, low), _share(own, high)
    elif own is None and low.endswith("%"):
        subject.check([(path, low)], f"--vary {text}")
    suffix, unit, log, numbers = _range(text, low, high)
    values = [Value(number, written(number, unit)) for number in numbers]
    own_value = _value(own, suffix)
    if own_value is not None and values[0].number <= own_value.number <= values[-1].number:
        values[:] = _with(values, own_value)
    marks = {_mark(value.number, numbers[0], numbers[-1], log): value for value in values}
    for end in (values[0], values[-1]):
        subject.check([(path, end.text)], f"--vary {text}")
    own_mark = next((mark for mark, value in marks.items() if value == own_value), None)
    own_number = None if own_value is None else own_value.number
    return Axis(path, suffix, unit, marks, log, own_mark, own_number)


def _listed(text: str, path: str, between: str, subject: Subject) -> Axis:
    """Returns the parameter of `--vary` with its values one by one."""
    texts = [one.strip() for one in between.split(",")]
    read = [_core.measure(one) or (_number(one), "") for one in texts]
    numbers, units = [number for number, _ in read], {unit for _, unit in read}
    if any(map(math.isnan, numbers)) or len(units) > 1:
        raise RequestError(f"--vary {text}: write all values as numbers, with the same unit")
    if not 2 <= len(numbers) <= MAX_LISTED or any(a >= b for a, b in pairwise(numbers)):
        raise RequestError(f"--vary {text}: write 2 to {MAX_LISTED} values that rise")
    (suffix,) = units
    found = WRITTEN.fullmatch(texts[0])
    for one in texts:
        subject.check([(path, one)], f"--vary {text}")
    low, high = numbers[0], numbers[-1]
    log = low > 0 and high >= WIDE * low
    values = {
        _mark(number, low, high, log): Value(number, one)
        for number, one in zip(numbers, texts, strict=True)
    }
    if len(values) < len(texts):
        raise RequestError(f"--vary {text}: some values are too close to one another")
    own = _value(subject.own_value(path), suffix)
    own_number = None if own is None else own.number
    own_mark = next((mark for mark, one in values.items() if one.number == own_number), None)
    return Axis(path, suffix, found[2] if found else "", values, log, own_mark, own_number)


def _mark(number: float, low: float, high: float, log: bool) -> int:
    place = math.log(number / low) / math.log(high / low) if log else (number - low) / (high - low)
    return round(FIRST_MARK * math.exp(RATE * place))


def _range(text: str, low: str, high: str) -> tuple[str, str, bool, list[float]]:
    """Returns the unit of a range, whether it is logarithmic, and its numbers, rising."""
    first, last = (_core.measure(end) or (_number(end), "") for end in (low, high))
    if math.isnan(first[0]) or math.isnan(last[0]):
        raise RequestError(f"--vary {text}: write both ends as numbers, with the same unit")
    log = first[0] > 0 and last[0] >= WIDE * first[0]
    scale = "log" if log else "linear"
    ends = [end if _core.measure(end) else json.loads(end) for end in (low, high)]
    sweep = {"value": {"from": ends[0], "to": ends[1], "points": POINTS, "scale": scale}}
    study = toml_of({"schema_version": 1, "scenario": {}, "sweep": sweep})
    try:
        grid = _core.Study.parse(study, "--vary", [])
    except ScenarioError as error:
        raise RequestError(f"--vary {text}: {error.message}\n  help: {error.help}") from None
    rows = [json.loads(grid.parameters_json(index)) for index in range(grid.variants)]
    column = next(iter(rows[0]))
    numbers = [float(row[column]) for row in rows]
    found = WRITTEN.fullmatch(low)
    return column.removeprefix("value"), found[2] if found else "", log, numbers


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def written(number: float, unit: str, digits: int = 6) -> str:
    """Returns a number of a column in a unit of scenario files, with this many digits."""
    factor = _core.measure(f"1{unit}") if unit else None
    scaled = number / factor[0] if factor else number
    decimals = max(digits - 1 - math.floor(math.log10(abs(scaled))), 0) if scaled else 0
    text = f"{scaled:.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{text}{unit}"


def _is_share(own: str) -> bool:
    """Returns True if a value is a share itself: `5%`, or a number with decimals from 0 to 1."""
    return own.endswith("%") or ("." in own and 0 <= _number(own) <= 1)


def _share(own: str, share: str) -> str:
    """Returns a share of a value in the value's unit."""
    found = WRITTEN.fullmatch(own)
    of = _core.measure(share)
    if found is None or of is None:
        raise RequestError(
            f"the value in the file is {own}, and {share} of it is no value; write both ends with "
            "their unit"
        )
    number = float(found[1]) * of[0]
    return f"{number:.9f}".rstrip("0").rstrip(".") + found[2]


def _value(own: str | None, suffix: str) -> Value | None:
    """Returns the file's own value if it has the unit of the range."""
    if own is None:
        return None
    number, unit = _core.measure(own) or (_number(own), "")
    return Value(number, own) if unit == suffix and math.isfinite(number) else None


def _with(values: list[Value], own: Value) -> list[Value]:
    """Returns the values with another one, in place of one that is closer than a tenth step."""
    numbers = [value.number for value in values]
    at = bisect_left(numbers, own.number)
    for place in (at - 1, at):
        if 0 <= place < len(values):
            beside = place + 1 if place + 1 < len(values) else place - 1
            step = abs(numbers[beside] - numbers[place])
            if abs(numbers[place] - own.number) < 0.1 * step:
                return [*values[:place], own, *values[place + 1 :]]
    return [*values[:at], own, *values[at:]]
