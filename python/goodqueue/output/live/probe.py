"""Results of a probe as tables, sentences and a page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from goodqueue.live.probe import DIRECTIONS
from goodqueue.output import page
from goodqueue.output.terminal import (
    MISSING,
    counted,
    milliseconds,
    number,
    percent,
    plain,
    quantity,
    rate,
    say,
    size_of,
    stdout,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goodqueue.live.probe import Probe
    from goodqueue.live.probe_size import Sized
    from goodqueue.output.terminal import Figures
    from goodqueue.plots.style import Picture

QUEUES = {
    "fifo": "FIFO",
    "codel": "CoDel",
    "fq_codel": "FQ-CoDel",
    "pie": "PIE",
    "policer": "policer",
    "cannot_tell": "cannot tell",
}
"""Names of the queues."""


def print_probe(probe: Probe, sizes: Sequence[Sized]) -> None:
    """Prints the tables and what they mean."""
    for made in tables(probe, sizes):
        stdout().print(made)
    say("", *sentences(probe, sizes))


def tables(probe: Probe, sizes: Sequence[Sized]) -> list[Figures]:
    """Returns the tables of a probe."""
    made = []
    if any(probe.figures[direction] for direction in DIRECTIONS):
        made.append(bottlenecks(probe))
    if probe.figures["tcp"]:
        made.append(loads(probe))
    if sizes:
        made.append(buffers(sizes))
    return made


def bottlenecks(probe: Probe) -> Figures:
    """Returns the table of both directions."""
    found = [probe.figures[direction] for direction in DIRECTIONS]
    rows = [[name, *("-" if one is None else cell(one) for one in found)] for name, cell in CELLS]
    return table("Bottlenecks", ["", "up", "down"], rows, ["up", "down"])


def _estimate(name: str, found: dict[str, float] | None, scale: float = 1) -> str:
    if found is None:
        return MISSING
    half = (found["high"] - found["low"]) / 2
    return quantity(name, found["value"] * scale, half * scale, digits=3)


def _rate(one: dict[str, Any]) -> str:
    text = _estimate("_bps", one["rate_bps"])
    return text if one["is_saturated"] else f"≥ {text}"


def _buffer(unit: str, name: str) -> Any:  # noqa: ANN401 - a function of a direction
    def cell(one: dict[str, Any]) -> str:
        buffer = one["buffer"]
        return MISSING if buffer is None else _estimate(name, buffer[unit])

    return cell


def _limited(one: dict[str, Any]) -> str:
    buffer = one["buffer"]
    return MISSING if buffer is None else (buffer["unit"] or "cannot tell")


def _codepoint(place: int) -> Any:  # noqa: ANN401 - a function of a direction
    def cell(one: dict[str, Any]) -> str:
        found = one["ecn"][place]
        if found is None:
            return MISSING
        if found["marked"] > 0:
            return f"{percent(found['marked'])} marked"
        return "kept" if found["kept"] > 0.99 else f"{percent(found['kept'])} kept"

    return cell


CELLS = (
    ("rate", _rate),
    ("rate of bursts", lambda one: rate(one["burst_bps"])),
    ("queue", lambda one: QUEUES[one["discipline"]]),
    ("full buffer, delay", _buffer("seconds", "_s")),
    ("full buffer, bytes", _buffer("bytes", "_bytes")),
    ("full buffer, packets of 1400 B", _buffer("packets", "_packets")),
    ("limited in", _limited),
    ("longest queueing delay", lambda one: quantity("_s", one["longest_wait_s"])),
    ("sparse packets' share of it", lambda one: percent(one["features"]["sparse_share"])),
    ("other traffic", lambda one: percent(one["cross_share"])),
    ("ECT(0)", _codepoint(0)),
    ("ECT(1)", _codepoint(1)),
)
"""Rows of the table: the name, and the cell of a direction."""


def loads(probe: Probe) -> Figures:
    """Returns the table of latency beside a TCP flow and within it."""
    rows = [
        [
            f"TCP {load['path']}",
            rate(load["goodput_bps"]),
            milliseconds(load["rtt_p50_s"]),
            milliseconds(load["rtt_p95_s"]),
            milliseconds(load["flow_rtt_p50_s"]),
            number(load["responsiveness_rpm"], 3),
            percent(load["ping_loss"]),
        ]
        for load in probe.figures["tcp"]
    ]
    heads = [
        *("", "goodput", "RTT p50, ms", "RTT p95, ms", "RTT in the flow, ms"),
        *("round trips per min", "pings lost"),
    ]
    kept = ["goodput", "RTT p95, ms", "RTT in the flow, ms"]
    return table("Latency under load", heads, rows, kept)


def buffers(sizes: Sequence[Sized]) -> Figures:
    """Returns the table of present and needed buffers."""
    rows = [
        [
            one.direction,
            MISSING if one.present_bytes is None else size_of(one.present_bytes),
            milliseconds(one.present_s),
            MISSING if one.needed_packets is None else size_of(1500 * one.needed_packets),
            milliseconds(one.needed_s),
            MISSING if one.excess_s is None else milliseconds(max(one.excess_s, 0)),
        ]
        for one in sizes
    ]
    heads = ["", "present", "full, ms", "needed", "full, ms ", "excess, ms"]
    return table("Buffers", heads, rows, ["present", "needed", "excess, ms"])


def sentences(probe: Probe, sizes: Sequence[Sized]) -> list[str]:
    """Returns what the tables mean."""
    lines = []
    rtt = probe.figures["base_rtt_s"]
    if rtt is None:
        lines.append("No ping came back.")
    else:
        lines.append(
            f"The base RTT is {milliseconds(rtt['value'])} ms "
            f"({milliseconds(rtt['low'])} to {milliseconds(rtt['high'])} ms)."
        )
    drift = probe.figures["clock_drift_ppm"]
    if drift is not None and (drift["low"] > 0 or drift["high"] < 0):
        lines.append(
            f"The clocks drift apart by {number(drift['value'], 3)} ppm, which is taken out."
        )
    if not probe.figures["consented"]:
        lines.append("The buffer was not filled, so its size is not known; --load fills it.")
    for direction in DIRECTIONS:
        lines += _doubts(probe, direction)
    for one in sizes:
        lines += _size(one)
    return lines


def _doubts(probe: Probe, direction: str) -> list[str]:
    found = probe.figures[direction]
    if found is None:
        return []
    lines = []
    if probe.is_disturbed(direction):
        lines.append(
            f"The queue {direction} cannot be told: a machine was too busy to read all packets."
        )
    if not found["is_saturated"]:
        lines.append(f"The direction {direction} was not filled: --max-rate limits the probe.")
    if found["pauses"]:
        lines.append(
            f"The link {direction} paused {counted(found['pauses'], 'time')}, for at most "
            f"{milliseconds(found['longest_pause_s'])} ms. It is in no queueing delay of the table."
        )
    return lines


def _size(one: Sized) -> list[str]:
    if one.needed_packets is None or one.needed_s is None or one.excess_s is None:
        return [f"No buffer keeps the link {one.direction} busy with these flows."]
    needed = f"{milliseconds(one.needed_s)} ms"
    present = f"{milliseconds(one.present_s)} ms"
    if one.present_bytes is None:
        shown = f"The buffer {one.direction} did not show its end."
        return [f"{shown} A FIFO needs {needed}; a load caused {present}."]
    whole = f"The buffer {one.direction} holds {present}, and {needed} keep the link busy."
    if one.excess_s <= 0:
        return [whole]
    excess = f"{milliseconds(one.excess_s)} ms"
    return [f"{whole} When it is full, each packet waits {excess} longer than needed."]


def write_page(
    probe: Probe,
    sizes: Sequence[Sized],
    pictures: Sequence[Picture],
    command: Sequence[str],
    path: Path,
) -> None:
    """Writes the page of a probe."""
    body = [f"<p>{escape(line)}</p>" for line in sentences(probe, sizes)]
    for made in tables(probe, sizes):
        cells = [list(map(escape, row)) for row in made.rows]
        body += [
            f"<h2>{escape(made.title)}</h2>",
            page.table(list(map(escape, made.columns)), cells),
        ]
    body += map(page.figure, pictures)
    heading = f"The path to {plain(probe.host)}"
    page.write(heading, heading, body, command, path)
