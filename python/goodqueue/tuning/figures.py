"""Names of figures in bounds and goals, such as `ping.p99`, and the metrics that they stand for.

A name is a flow or a link, a dot, and a short name or any key of docs/results.md. A short name
stands for the key that people mean for this kind of flow: the 99th percentile of a ping is that of
its round-trip time, and the one of a web client that of the time of a page.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.core.metrics import is_share
from goodqueue.errors import RequestError, nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

STATISTICS = ("mean", "p50", "p95", "p99", "max")
"""Short names of the statistics of the quantity that a flow or link is about."""

QUANTITIES = (
    ("pages", "page_time_s"),
    ("exchanges", "exchange_time_s"),
    ("transfers", "transfer_time_s"),
    ("segments", "segment_time_s"),
    ("voice_packets", "one_way_delay_s"),
    ("up_updates", "up_delay_s"),
    ("goodput_bps", "rtt_s"),
    ("utilization", "queueing_delay_s"),
)
"""Quantity that a flow or link is about, with a key that only such flows or links have; the first
one that fits is taken."""

SHORT = {
    "goodput": ("goodput_bps.sum", "goodput_bps"),
    "throughput": ("throughput_bps",),
    "fairness": ("goodput_bps.jain", "jain_index"),
    "completion": ("completion_time_s",),
    "rpm": ("round_trips_per_minute",),
    "stalls": ("stall_share",),
    "loss": ("loss_rate", "voice_loss", "up_loss", "packets_lost/packets_sent"),
    "utilization": ("utilization",),
    "utilisation": ("utilization",),
}
"""Keys of the other short names; the first one that the flow or link has is taken. A slash is a
ratio of two keys."""

UNITS = {"_s": "a time such as 50ms", "_bps": "a rate such as 10Mbps", "_bytes": "a size, as 64kB"}
"""Values of figures with a unit, by the ends of their keys, in words."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a run.

    Attributes:
        name: name as the user wrote it.
        key: its metric, or the name of a ratio of two metrics.
        metrics: the metric, or numerator and denominator.
    """

    name: str
    key: str
    metrics: tuple[str, ...]

    @property
    def unit(self) -> str:
        """Returns the end of the key that is its unit; empty for counts, shares and ratings."""
        return next((unit for unit in UNITS if self.key.split(".sum")[0].endswith(unit)), "")

    @property
    def is_share(self) -> bool:
        """True if it is a part of a whole, between 0 and 1."""
        return is_share(self.key)

    def read(self, values: Sequence[float], measured_s: float) -> float:
        """Returns the figure from the values of its metrics.

        A time without a sample counts as the measured part of the run, because nothing ended in it.

        Raises:
            RequestError: if another figure has no sample.
        """
        value, *of = values
        if of:
            value = value / of[0] if of[0] else math.nan
        if not math.isnan(value):
            return value
        if self.unit == "_s":
            return measured_s
        raise RequestError(
            f"{self.name}: a run has no sample of it\n  help: make the run longer, for example "
            f"with --set duration={max(round(4 * measured_s), 1)}s"
        )


def figure_of(text: str, names: Collection[str]) -> Figure:
    """Returns the figure of a name among the metrics of a scenario.

    Raises:
        RequestError: if there is none; the message has the nearest names.
    """
    known = dict.fromkeys(names)
    for at in _dots(text):
        stem, short = text[:at], text[at + 1 :]
        if not any(f"{stem}.{key}" in known for key in ("utilization", "goodput_bps")):
            continue
        keys = [*_keys(stem, short, known), short]
        for key in keys:
            metrics = tuple(f"{stem}.{part}" for part in key.split("/"))
            if all(metric in known for metric in metrics):
                name = metrics[0] if len(metrics) == 1 else f"{stem}.loss_rate"
                return Figure(text, name, metrics)
        raise RequestError(_unknown(text, stem, known))
    stems = sorted(_stems(known))
    raise RequestError(
        f"no flow or link for the figure {text!r}; {nearest(text.partition('.')[0], stems)}"
    )


def _dots(text: str) -> Iterator[int]:
    """Yields the positions of dots, the last first, because names may have dots."""
    return (at for at in range(len(text) - 1, 0, -1) if text[at] == ".")


def _stems(known: Collection[str]) -> set[str]:
    """Returns the names of flows and links of a scenario."""
    ends = (".utilization", ".goodput_bps")
    return {name.removesuffix(end) for name in known for end in ends if name.endswith(end)}


def _keys(stem: str, short: str, known: Collection[str]) -> Sequence[str]:
    """Returns the keys that a short name may stand for."""
    if short in STATISTICS:
        quantity = next(noun for has, noun in QUANTITIES if f"{stem}.{has}" in known)
        return (f"{short}_{quantity}",)
    return SHORT.get(short, ())


def _unknown(text: str, stem: str, known: Collection[str]) -> str:
    keys = [name.removeprefix(f"{stem}.") for name in known if name.startswith(f"{stem}.")]
    short = [*STATISTICS, *(name for name, of in SHORT.items() if set(of) & set(keys))]
    hint = nearest(text.removeprefix(f"{stem}."), [*short, *keys])
    return (
        f"{stem} has no figure {text.removeprefix(f'{stem}.')!r}; {hint}\n"
        f"  help: short names are {', '.join(short)}; docs/results.md has every key"
    )
