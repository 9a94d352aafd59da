"""Smallest buffers by both engines, read off the curves of a link, and their ratios by class."""

from __future__ import annotations

import json
import math
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple, cast

from evidence.core.derived import ROOT
from evidence.hybrid.runs import read
from goodqueue.sizing.search import agreement
from goodqueue.sizing.search.agreement import BOUNDS, WINDOWS, Agreement, Measured, class_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evidence.hybrid.runs import Behind, Compared, Comparison, Figures

FILE = Path(str(files("goodqueue.sizing.search"))).relative_to(ROOT) / agreement.FILE

IDLE = (0.02, 0.01, 0.05)
"""Allowed shares of idle time. The first one that the packet engine's curve crosses is used."""

LEAST_LOGARITHM = 1e-6
"""Smallest share whose logarithm is taken; smaller shares count as this one."""

LEFT_OUT = 20
"""One link of this number is left out at each end of a range of ratios."""


class Curve(NamedTuple):
    """Figures of one link behind its buffers, by the packet engine and by what is compared.

    Attributes:
        link: the link.
        packets: the buffers in packets.
        right: figures of the packet engine.
        other: figures of the hybrid engine, or of the packet engine with other seeds.
    """

    link: Compared
    packets: Sequence[int]
    right: Sequence[Figures]
    other: Sequence[Figures]


class Needed(NamedTuple):
    """The smallest buffers that keep a bound, in packets.

    Attributes:
        right: the buffer by the packet engine.
        other: the buffer by what is compared; 0 if every buffer keeps the bound, infinite if none
            does.
    """

    right: float
    other: float

    @property
    def ratio(self) -> float:
        """The buffer that is compared, in those of the packet engine."""
        return self.other / self.right

    def within(self, share: float) -> bool:
        """Returns True if the buffers differ by at most a share or by at most two packets."""
        return abs(self.ratio - 1) <= share or abs(self.other - self.right) <= 2


def engines(links: Sequence[Compared]) -> list[Curve]:
    """Returns the curves of the packet engine and of the hybrid engine."""
    return _curves(links, lambda one: (one.all, one.hybrid))


def halves(links: Sequence[Compared]) -> list[Curve]:
    """Returns the curves of the packet engine's odd seeds and of its even seeds."""
    return _curves(links, lambda one: (one.odd, one.even))


def _curves(
    links: Sequence[Compared], both: Callable[[Behind], tuple[Figures, Figures]]
) -> list[Curve]:
    return [
        Curve(
            link,
            [one.packets for one in link.behind],
            *zip(*(both(one) for one in link.behind), strict=True),
        )
        for link in links
    ]


def crossing(packets: Sequence[int], shares: Sequence[float], bound: float) -> float:
    """Returns the buffer at which a falling curve reaches a bound.

    Between two points logarithms are interpolated. Returns 0 if the curve does not cross the bound
    and its last point keeps it, infinity if that does not keep it.
    """
    for (b0, first), (b1, last) in pairwise(zip(packets, shares, strict=True)):
        if first >= bound > last:
            y0, y1, y = (math.log(max(v, LEAST_LOGARITHM)) for v in (first, last, bound))
            return float(b0 * (b1 / b0) ** ((y0 - y) / (y0 - y1)))
    return 0.0 if shares[-1] < bound else math.inf


def needed(curve: Curve, bound: str) -> Needed | None:
    """Returns the smallest buffers for a bound, None if the packet engine's curve has none.

    The bound on the loss is the geometric mean of the packet engine's losses at the second and at
    the last but one buffer.
    """
    if bound == "utilization":
        allowed: Sequence[float] = IDLE
    else:
        ends = (max(_share(curve.right[at], bound), 1e-9) for at in (1, -2))
        allowed = [math.sqrt(math.prod(ends))]
    for one in allowed:
        pair = Needed(
            *(
                crossing(curve.packets, [_share(found, bound) for found in side], one)
                for side in (curve.right, curve.other)
            )
        )
        if 0 < pair.right < math.inf:
            return pair
    return None


def _share(found: Figures, bound: str) -> float:
    """Returns the share that falls with the buffer: of time that is idle, or of packets lost."""
    return 1 - value(found, "utilization") if bound == "utilization" else value(found, "loss_rate")


def value(found: Figures, name: str) -> float:
    """Returns a figure that every run has."""
    return cast("float", found[name])


def all_needed(curves: Sequence[Curve], bound: str) -> list[Needed]:
    """Returns the smallest buffers of all links that have them."""
    return [pair for curve in curves if (pair := needed(curve, bound))]


def agreed(pairs: Sequence[Needed]) -> Agreement:
    """Returns the agreement on links, with ratios rounded outwards to two digits."""
    ratios = sorted(pair.ratio for pair in pairs) or [math.inf]
    out = len(ratios) // LEFT_OUT
    low, high = ratios[out], ratios[-1 - out]
    return Agreement(
        len(pairs),
        sum(pair.within(0.1) for pair in pairs),
        sum(pair.within(0.3) for pair in pairs),
        math.floor(100 * low) / 100 if 0.01 <= low < math.inf else None,
        math.ceil(100 * high) / 100 if high < math.inf else None,
    )


def differences(curves: Sequence[Curve], name: str, *, logarithms: bool) -> list[float]:
    """Returns the differences of a figure behind the same buffer, or of its natural logarithm."""
    found = []
    for curve in curves:
        for right, other in zip(curve.right, curve.other, strict=True):
            pair = (right[name], other[name])
            if None not in pair and (not logarithms or min(cast("tuple[float, float]", pair)) > 0):
                first, second = cast("tuple[float, float]", pair)
                found.append(math.log(second / first) if logarithms else second - first)
    return found


def root_mean_square(errors: Sequence[float]) -> float:
    """Returns the root mean square of differences."""
    return math.sqrt(fmean(error * error for error in errors))


def measured(comparison: Comparison) -> Measured:
    """Returns the measured error of the hybrid engine."""
    lost = differences(engines(comparison.links), "loss_rate", logarithms=True)
    error = math.exp(abs(fmean(lost)) + 2 * root_mean_square(lost))
    return Measured(
        comparison.results_version,
        comparison.hybrid_version,
        math.ceil(100 * error) / 100,
        {(bound, size): one for bound, size, one in _classes(comparison.links)},
    )


def _classes(links: Sequence[Compared]) -> Iterator[tuple[str, str, Agreement]]:
    for bound in BOUNDS:
        for size in WINDOWS:
            its = [one for one in links if class_of(one.drawn.link) == size]
            yield bound, size, agreed(all_needed(engines(its), bound))


def make() -> None:
    """Writes the file of the package."""
    text = json.dumps(measured(read()).as_dict(), indent=1)
    (ROOT / FILE).write_text(f"{text}\n", encoding="utf-8")
