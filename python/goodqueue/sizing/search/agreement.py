"""Measured error of the hybrid engine's buffers, and the interval of an answer with this error.

Both engines ran on the same links (docs/hybrid.md). The ratios of their smallest buffers, by class
of links, are the error of a further link of that class. `evidence/hybrid` writes the file.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from goodqueue.sizing.calibrated.record import is_older

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodqueue.sizing.link import Link
    from goodqueue.sizing.search.smallest import Smallest

FILE = "agreement.json"
"""The file of the package with the measured error."""

AGREED_WINDOW = 20
"""Mean window of a flow, in packets, that divides the links into two classes. It was chosen on
links of development, before the links of the measurement were run."""

BOUNDS, WINDOWS = ("utilization", "loss"), ("large", "small")
"""Parts of the name of a class: the bound, and `small` for windows below `AGREED_WINDOW`."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Ratios of buffers, hybrid engine over packet engine, on links of one class.

    Attributes:
        links: number of links.
        within_10: number of links whose buffers differ by at most 10 % or 2 packets.
        within_30: number of links whose buffers differ by at most 30 % or 2 packets.
        low: smallest ratio of the middle nine tenths of the links; None if more than a twentieth of
            the links have no ratio, because the hybrid engine kept the bound with every buffer.
        high: largest ratio of the middle nine tenths; None if more than a twentieth of the links
            have no ratio, because the hybrid engine kept the bound with no buffer.
    """

    links: int
    within_10: int
    within_30: int
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Measured:
    """The measured error of the hybrid engine.

    Attributes:
        results_version: results version of the packet engine that it was measured with.
        hybrid_version: version of the hybrid engine.
        loss_error: largest usual ratio of the packet engine's loss to the hybrid engine's behind
            the same buffer.
        classes: agreement by bound and windows.
    """

    results_version: int
    hybrid_version: int
    loss_error: float
    classes: Mapping[tuple[str, str], Agreement]

    def as_dict(self) -> dict[str, Any]:
        """Returns the content of the file."""
        return {
            "results_version": self.results_version,
            "hybrid_version": self.hybrid_version,
            "loss_error": self.loss_error,
            "classes": {
                bound: {
                    size: {one.name: getattr(self.classes[bound, size], one.name) for one in PARTS}
                    for size in WINDOWS
                }
                for bound in BOUNDS
            },
        }


PARTS = fields(Agreement)
"""The fields of a class in the file."""


@dataclass(frozen=True, slots=True)
class Widened:
    """Range of buffers that the engine's measured error leaves.

    Attributes:
        low: smallest buffer in packets.
        high: largest one; None if no limit was shown to suffice or the error has no known bound.
        agreement: the measured error.
    """

    low: int
    high: int | None
    agreement: Agreement

    def as_dict(self) -> dict[str, int | None]:
        """Returns plain values."""
        return {"low_packets": self.low, "high_packets": self.high}


@cache
def measured() -> Measured:
    """Returns the measured error of the package."""
    return parsed(files(__package__).joinpath(FILE).read_text(encoding="utf-8"))


def parsed(text: str) -> Measured:
    """Returns the measured error that a file contains.

    Raises:
        ValueError: if the file lacks a value, has another one, or a value is impossible.
    """
    found = _table(
        json.loads(text), ("results_version", "hybrid_version", "loss_error", "classes"), "the file"
    )
    classes = {
        (bound, size): _agreement(one, f"{bound}, {size}")
        for bound, its in _table(found["classes"], BOUNDS, "classes").items()
        for size, one in _table(its, WINDOWS, bound).items()
    }
    loss_error = _number(found["loss_error"], "loss_error")
    if loss_error < 1:
        raise ValueError(f"{FILE}: loss_error: {loss_error} is below 1")
    return Measured(
        _count(found["results_version"], "results_version"),
        _count(found["hybrid_version"], "hybrid_version"),
        loss_error,
        classes,
    )


def _agreement(value: object, where: str) -> Agreement:
    found = _table(value, [one.name for one in PARTS], where)
    links, near, nearer = (
        _count(found[name], f"{where}, {name}") for name in ("links", "within_30", "within_10")
    )
    if not links >= near >= nearer:
        raise ValueError(f"{FILE}: {where}: {nearer}, {near} and {links} links do not rise")
    low, high = (
        None if found[name] is None else _number(found[name], f"{where}, {name}")
        for name in ("low", "high")
    )
    if low is not None and high is not None and low > high:
        raise ValueError(f"{FILE}: {where}: low is above high")
    return Agreement(links, nearer, near, low, high)


def _table(value: object, names: Sequence[str], where: str) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) != set(names):
        raise ValueError(f"{FILE}: {where}: not a table of {', '.join(names)}")
    return value


def _count(value: object, where: str) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{FILE}: {where}: {value!r} is no count")
    return value


def _number(value: object, where: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf:
        return float(value)
    raise ValueError(f"{FILE}: {where}: {value!r} is no positive number")


def why_older() -> str | None:
    """Returns that the engines changed since the error was measured; None if they did not."""
    if not is_older("hybrid"):
        return None
    its = measured()
    return (
        "the hybrid engine's error is older than the engines: it was measured with results version "
        f"{its.results_version} and version {its.hybrid_version} of the hybrid engine, and the "
        "engines of today give other results on such links"
    )


def in_words() -> str:
    """Returns the measured agreement, which is printed beside every answer of the engine."""
    (links, tenth, third), (of_loss, loss_tenth, loss_third) = (
        [
            sum(getattr(measured().classes[bound, size], name) for size in WINDOWS)
            for name in ("links", "within_10", "within_30")
        ]
        for bound in BOUNDS
    )
    return (
        "The hybrid engine simulated no packets. On drawn links where both engines ran, its "
        "smallest buffer for a utilisation was within 30 % or 2 packets of the packet engine's on "
        f"{_share(third, links)} of {links} links and within 10 % or 2 packets on "
        f"{_share(tenth, links)}, for a loss bound on {_share(loss_third, of_loss)} of {of_loss} "
        f"links and on {_share(loss_tenth, of_loss)} (docs/hybrid.md)."
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(whole, 1):.0f} %"


def that_decides(link: Link, loss_rate: float) -> Link:
    """Returns the link with the bounds that decide an answer of the hybrid engine.

    Args:
        link: the link with its bounds.
        loss_rate: largest likely loss behind the answer's buffer. Far below the bound on the loss,
            the error of the engine's loss does not matter, and the utilisation alone decides.
            This needs an error that is not older than the engines.
    """
    bound = link.max_loss_rate
    if bound is None or loss_rate * measured().loss_error > bound or why_older() is not None:
        return link
    return replace(link, max_loss_rate=None)


def agreement_of(link: Link) -> Agreement:
    """Returns the measured agreement on links like this; the less exact one of two bounds."""
    bound = "utilization" if link.max_loss_rate is None else "loss"
    return measured().classes[bound, class_of(link)]


def class_of(link: Link) -> str:
    """Returns the class of a link's windows."""
    return "small" if link.window_packets < AGREED_WINDOW else "large"


def widened(link: Link, found: Smallest) -> Widened | None:
    """Returns the interval of an answer, widened by the engine's measured error.

    Returns None if the engines changed since, because their error is not known.
    """
    if why_older() is not None:
        return None
    error = agreement_of(link)
    low = 1 if error.high is None else max(math.floor((found.low + 1) / error.high), 1)
    high = None
    if found.high is not None and error.low is not None:
        high = math.ceil(found.high / error.low)
    return Widened(low, high, error)
