"""Section of the report about the square-root rule, with its picture and its verdict."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.ticker import NullFormatter, NullLocator

from evidence.validation.root_n.measured import PACKET_NOISE, RTTS_S, UTILIZATION, exponent, nearest
from goodqueue.plots.style import BLUE, GREY, MARKERS, VERMILION, Picture
from goodqueue.sizing.rules import rule_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from evidence.validation.root_n.measured import Measured
    from goodqueue.core.intervals import Interval

RULE = rule_named("sqrt_n")

FOLDER = Path("docs/img")
TARGET = f"{100 * UTILIZATION:.0f} %"


def known(regular: Sequence[Measured]) -> list[str]:
    """Describes the exponent if its interval excludes -1/2; the section explains why it may."""
    fitted = exponent(regular)
    if fitted.low <= -0.5 <= fitted.high:
        return []
    return [f"the buffer for {TARGET} goes with N to the power {_fitted(fitted)}, not -1/2"]


def verdict(regular: Sequence[Measured], failing: Sequence[Measured]) -> list[str]:
    """Describes each of the other criteria that does not hold."""
    misses = [
        f"C T / sqrt(N) with {one.case.link.flows} flows {one.case.name}: {sentence}"
        for one in regular
        for sentence in RULE.advise(one.case.link).broken
    ]
    for one in failing:
        if RULE.advise(one.case.link).holds:
            misses.append(f"C T / sqrt(N) does not notice: {one.case.name}")
        if one.at_the_rule.high >= UTILIZATION:
            misses.append(f"C T / sqrt(N) is not shown to fail: {one.case.name}")
    return misses


def section(regular: Sequence[Measured], failing: Sequence[Measured], seeds: int) -> str:
    """Returns the section, as Markdown."""
    link = regular[0].case.link
    fitted, windows = exponent(regular), exponent(regular, PACKET_NOISE)
    rtts = " to ".join(f"{1e3 * rtt:.0f}" for rtt in RTTS_S)
    text = (
        f"The table has the buffer that keeps a link of {link.rate_bps / 1e6:.0f} Mb/s busy "
        f"{TARGET} of the time under long Reno flows of {rtts} ms. Each flow has its own "
        "round-trip time, paces its packets and starts at random. Every number of flows ran "
        "behind buffers near the rule's. The buffer at which the idle share is 1 % is "
        f"interpolated in logarithms, seed by seed ({seeds} seeds, each of at least 20 bursts of "
        "losses; 95 % intervals of Student's t over seeds). "
        f"**B is proportional to N to the power {_fitted(fitted)}**; the rule says -0.5. A likely "
        "reason, found after the figure was seen, is that the rule considers windows and no "
        "packets. Single packets that arrived as a Poisson process would need "
        f"{PACKET_NOISE:.0f} packets of buffer for {TARGET} even if windows were constant. If "
        f"{PACKET_NOISE:.0f} packets are subtracted from every buffer, the exponent is "
        f"{_fitted(windows)}. Paced flows are at most as noisy as a Poisson process."
    )
    columns = (
        "| | rate, Mb/s | flows | packets in flight per flow | C·T/√N, packets "
        "| busy, %, with packets | lost there, % | flows hit by a burst, % | B for 99 %, packets "
        "| over C·T/√N |"
    )
    rows = [_row(one) for one in (*regular, *failing)]
    noticed = [
        f"* {one.case.name}: {'; '.join(RULE.advise(one.case.link).broken)}." for one in failing
    ]
    return "\n".join(
        [
            "## The square root of the number of flows",
            "",
            *textwrap.wrap(text, 100),
            "",
            f"![Buffer for {TARGET} utilisation against flows](img/root-n.png)",
            "",
            columns,
            "| --- |" + " ---: |" * 9,
            *rows,
            "",
            "Where the rule asks for too little, `goodqueue size` says so before anything is run:",
            "",
            *(line for one in noticed for line in _item(one)),
            "",
        ]
    )


def picture(regular: Sequence[Measured], failing: Sequence[Measured]) -> Picture:
    """Draws buffers against the number of flows, beside the rule's."""
    fitted = exponent(regular)

    def draw(axes: list[Axes]) -> None:
        (own,) = axes
        flows = [one.case.link.flows for one in regular]
        ends = [min(flows) / 1.4, max(flows) * 1.4]
        bdp = regular[0].case.link.bdp_packets
        rule = [bdp / math.sqrt(count) for count in ends]
        own.plot(ends, rule, "--", color=GREY, label="C T / sqrt(N)")
        same = [one for one in failing if math.isclose(one.case.link.bdp_packets, bdp)]
        for label, colour, mark, group in (
            ("out of step", BLUE, MARKERS[0], regular),
            *((one.case.name, VERMILION, MARKERS[1], [one]) for one in same),
        ):
            buffers = [one.buffer for one in group]
            own.errorbar(
                [one.case.link.flows for one in group],
                [mean for mean, _, _ in buffers],
                yerr=[
                    [mean - low for mean, low, _ in buffers],
                    [high - mean for mean, _, high in buffers],
                ],
                fmt=f"{mark}-" if len(group) > 1 else mark,
                color=colour,
                capsize=3,
                label=label,
            )
        own.set_xscale("log")
        own.set_yscale("log")
        own.set_xticks(flows, [str(count) for count in flows])
        ticks = (100, 200, 500, 1000, 2000)
        own.set_yticks(ticks, [f"{tick:,}" for tick in ticks])
        for axis in (own.xaxis, own.yaxis):
            axis.set_minor_locator(NullLocator())
            axis.set_minor_formatter(NullFormatter())
        own.set_xlabel("flows")
        own.set_ylabel("packets")
        own.set_title(f"Buffer for {TARGET} utilisation")
        own.legend()

    return Picture(
        "root-n",
        f"Out of step, flows need a buffer that falls with their number to the power "
        f"{fitted.mean:.2f} ({fitted.low:.2f} to {fitted.high:.2f}); 64 flows in step need more "
        "than C T / sqrt(N), which the rule's own check of its assumptions says. Bars: 95 % "
        "intervals over seeds.",
        draw,
    )


def _row(one: Measured) -> str:
    link, busy = one.case.link, one.at_the_rule
    mean, low, high = one.buffer
    cells = [
        one.case.name,
        f"{link.rate_bps / 1e6:.0f}",
        f"{link.flows}",
        f"{link.window_packets:.3g}",
        f"{one.case.rule:.0f}",
        f"{100 * busy.mean:.2f} ± {100 * busy.half_width:.2f}, {nearest(one.case)}",
        f"{100 * one.loss_rate:.2g}",
        f"{100 * one.hit:.0f}",
        f"{mean:.0f} ({low:.0f} to {high:.0f})",
        f"{mean / one.case.rule:.2f}",
    ]
    return f"| {' | '.join(cells)} |"


def _item(text: str) -> list[str]:
    return textwrap.wrap(text, 100, subsequent_indent="  ")


def _fitted(exponent: Interval) -> str:
    return f"{exponent.mean:.2f} ({exponent.low:.2f} to {exponent.high:.2f})"
