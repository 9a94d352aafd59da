"""The parts of docs/hybrid.md about the measured error of the hybrid engine."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from statistics import fmean, median
from textwrap import fill
from typing import TYPE_CHECKING

from evidence.core.pages import with_part
from evidence.hybrid.error import (
    agreed,
    all_needed,
    differences,
    engines,
    halves,
    measured,
    root_mean_square,
)
from evidence.hybrid.runs import read
from goodqueue.sizing.search.agreement import AGREED_WINDOW, BOUNDS, WINDOWS, class_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evidence.hybrid.error import Curve
    from evidence.hybrid.runs import Compared, Comparison
    from goodqueue.sizing.search.agreement import Agreement

PAGE = Path("docs/hybrid.md")

PARTS = ("links", "buffers", "classes", "kinds")

BOUND = {"utilization": "utilisation", "loss": "loss"}
SIZE = {
    "large": f"windows of {AGREED_WINDOW} packets and more",
    "small": f"windows below {AGREED_WINDOW} packets",
}
HOSTS = {
    (profile, control): f"{words} {name}"
    for (control, words), (profile, name) in product(
        (("reno", "Reno"), ("cubic", "CUBIC")), (("linux", "on Linux"), ("rfc", "by the RFCs"))
    )
}

MANY_LINKS = 5
"""Smallest number of links of a kind whose error is compared with that of other kinds."""

WIDTH = 120


def write() -> None:
    """Writes the parts."""
    text = PAGE.read_text(encoding="utf-8")
    for name, part in parts_of_page(read()).items():
        text = with_part(text, name, part)
    PAGE.write_text(text, encoding="utf-8")


def parts_of_page(comparison: Comparison) -> dict[str, str]:
    """Returns the parts of docs/hybrid.md by name."""
    texts = (
        _paragraph(links(comparison)) + same_buffer(comparison.links),
        smallest_buffers(comparison.links),
        classes(comparison),
        kinds(comparison.links),
    )
    return dict(zip(PARTS, texts, strict=True))


def links(comparison: Comparison) -> str:
    """Returns what was compared."""
    drawn = [one.drawn for one in comparison.links]
    runs = [behind.runs for one in comparison.links for behind in one.behind]
    rates = [one.rate for one in drawn]
    flows = [one.flows for one in drawn]
    windows = [one.link.window_packets for one in drawn]
    rtts = [1e3 * rtt for one in drawn for rtt in one.rtts]
    return (
        f"Both engines ran on {len(drawn)} drawn links of {_rate(min(rates))} to "
        f"{_rate(max(rates))} with {min(flows):,} to {max(flows):,} flows, base round trips of "
        f"{min(rtts):.0f} to {max(rtts):.0f} ms and mean windows of {min(windows):.0f} to "
        f"{max(windows):,.0f} packets, each behind five buffers under {min(runs)} to {max(runs)} "
        f"seeds (results version {comparison.results_version}, version "
        f"{comparison.hybrid_version} of the hybrid engine)."
    )


def _rate(bps: float) -> str:
    return f"{bps / 1e9:.1f} Gb/s" if bps >= 1e9 else f"{bps / 1e6:.0f} Mb/s"


FIGURES = {
    "utilization": ("utilisation", 100, 2, " points"),
    "loss_rate": ("loss", 100, 1, " %"),
    "p99_queueing_delay_s": ("99th percentile of the queueing delay", 100, 1, " %"),
    "mean_flows_hit": ("flows that lose in one loss event", 100, 1, " %"),
    "jain": ("Jain's index", 1, 3, ""),
}
"""Words of a figure, factor and digits of its differences, and their unit."""


def same_buffer(links: Sequence[Compared]) -> str:
    """Returns the table of differences behind the same buffer."""
    rows = []
    for name, (words, factor, digits, unit) in FIGURES.items():
        ours, noise = (_differences(curves, name) for curves in (engines(links), halves(links)))
        errors = [fmean(ours), root_mean_square(ours), root_mean_square(noise)]
        mean, *spreads = (f"{factor * error:.{digits}f}{unit}" for error in errors)
        rows.append([words, _signed(mean), *spreads])
    heads = ["behind the same buffer", "mean difference", "root mean square"]
    return _table([*heads, "packets against packets"], rows)


def _differences(curves: Sequence[Curve], name: str) -> list[float]:
    """Returns differences; of figures in per cent they are natural logarithms of ratios."""
    return differences(curves, name, logarithms=FIGURES[name][3] == " %")


def _signed(text: str) -> str:
    """Returns a difference with its sign, or without one if all its digits are zeros."""
    if not any(digit in "123456789" for digit in text):
        return text.removeprefix("-")
    return text.replace("-", "\N{MINUS SIGN}") if text.startswith("-") else f"+{text}"


def smallest_buffers(links: Sequence[Compared]) -> str:
    """Returns the table of the smallest buffers by kind of hosts."""
    rows = []
    for (profile, control), words in HOSTS.items():
        its = [one for one in links if (one.drawn.profile, one.drawn.control) == (profile, control)]
        rows.append([f"utilisation, {words}", *_counts(engines(its), "utilization")])
    rows += [[f"{BOUND[bound]}, all", *_counts(engines(links), bound)] for bound in BOUNDS]
    for bound in BOUNDS:
        words = f"*packets against packets, {BOUND[bound]}*"
        rows.append([words, *_counts(halves(links), bound)])
    heads = ["smallest buffer for a bound on", "links", "within 10 % or 2 packets"]
    text = _table([*heads, "within 30 % or 2 packets"], rows)
    outside = ", ".join(
        f"{sum(not 0 < pair.other < math.inf for pair in all_needed(engines(links), bound))} for a "
        f"bound on {BOUND[bound]}"
        for bound in BOUNDS
    )
    return text + _paragraph(
        "Links on which the hybrid engine's curve does not cross the bound count as links that do "
        f"not agree: {outside}."
    )


def _counts(curves: Sequence[Curve], bound: str) -> list[str]:
    found = agreed(all_needed(curves, bound))
    return [f"{found.links}", *(_of(part, found) for part in (found.within_10, found.within_30))]


def _of(part: int, found: Agreement) -> str:
    return f"{part} ({_share(part, found)})"


def _share(part: int, found: Agreement) -> str:
    return f"{100 * part / max(found.links, 1):.0f} %"


def classes(comparison: Comparison) -> str:
    """Returns the table of the error by class, and what it says of an answer."""
    found = measured(comparison)
    rows = []
    for bound, size in product(BOUNDS, WINDOWS):
        its = [one for one in comparison.links if class_of(one.drawn.link) == size]
        noise = agreed(all_needed(halves(its), bound))
        one = found.classes[bound, size]
        counts = [_of(part, one) for part in (one.within_10, one.within_30)]
        words = f"{BOUND[bound]}, {SIZE[size]}"
        rows.append([words, f"{one.links}", *counts, _range(one), _range(noise)])
    heads = ["bound, class", "links", "within 10 % or 2 packets", "within 30 % or 2 packets"]
    text = _table([*heads, "ratio of the buffers", "ratio, packets against packets"], rows)
    best = found.classes["utilization", "large"]
    worst = found.classes["loss", "small"]
    said = (
        f"A buffer for a utilisation lies within 30 % or 2 packets of the packet engine's on "
        f"{_share(best.within_30, best)} of links with windows of {AGREED_WINDOW} packets and "
        f"more; one for a loss, with smaller windows, on {_share(worst.within_30, worst)}. The "
        "packet engine's loss is usually at most "
        f"{found.loss_error:.2f} times the hybrid engine's behind the same buffer. If the loss "
        "with the answer's buffer is lower than the bound on the loss by this factor, only the "
        "utilisation decides."
    )
    return text + _paragraph(said)


def _range(found: Agreement) -> str:
    low, high = ("?" if one is None else f"{one:.2f}" for one in (found.low, found.high))
    return f"{low} to {high}"


def kinds(links: Sequence[Compared]) -> str:
    """Returns the table of errors by hosts and round trips, and the kind with the largest error."""
    rows: list[list[str]] = []
    errors: dict[str, float] = {}
    for (hosts, words), equal in product(HOSTS.items(), (True, False)):
        its = [
            one
            for one in links
            if (one.drawn.profile, one.drawn.control) == hosts
            and (len(one.drawn.rtts) == 1) is equal
        ]
        if not its:
            continue
        kind = f"{words}, {'equal' if equal else 'spread'} round trips"
        curves = engines(its)
        ratio = median(pair.ratio for pair in all_needed(curves, "utilization"))
        if len(its) >= MANY_LINKS:
            errors[kind] = ratio
        changes = (
            _signed(f"{100 * fmean(_differences(curves, name)):.0f} %")
            for name in ("loss_rate", "mean_flows_hit")
        )
        rows.append([kind, f"{len(its)}", f"{ratio:.2f}", *changes])
    heads = ["hosts", "links", "median ratio of the buffers for a utilisation"]
    text = _table([*heads, "loss, mean difference", "flows that lose, mean difference"], rows)
    return text + _paragraph(_largest(errors))


def _largest(errors: Mapping[str, float]) -> str:
    if not errors:
        return f"No kind has {MANY_LINKS} links."
    kind = max(errors, key=lambda name: abs(math.log(max(errors[name], 1e-3))))
    words = "small" if errors[kind] < 1 else "large"
    return (
        f"Of the kinds with {MANY_LINKS} links or more, {kind}, have the largest error: half of "
        f"the buffers are at least {100 * abs(errors[kind] - 1):.0f} % too {words}."
    )


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + "\n"


def _paragraph(text: str) -> str:
    return fill(text, WIDTH, break_long_words=False, break_on_hyphens=False) + "\n\n"
