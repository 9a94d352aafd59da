"""The results of a capture's analysis as tables for people."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from rich.text import Text

from goodqueue.output.terminal import (
    counted,
    milliseconds,
    number,
    packets,
    percent,
    plain,
    quantity,
    rate,
    say,
    size_of,
    stdout,
    table,
)
from goodqueue.passive.analysis import PARAMETERS, Analysis, Parameter
from goodqueue.passive.traffic import forward

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from goodqueue.output.terminal import Figures

MAX_FLOWS_PRINTED = 20
MAX_NOTES_PRINTED = 8


def print_analysis(analysis: Analysis, sizing: Sequence[str]) -> None:
    """Prints the files, the link, the flows and the parameters of the sizing rules.

    Args:
        analysis: the findings.
        sizing: options of `goodqueue size` that name the same captures.
    """
    console = stdout()
    summary = analysis.summary
    for read in summary["reading"]:
        say(f"[bold]{plain(read['path'])}[/]: {_reading(read)}", markup=True)
    console.print()
    for line in _link(summary["link"]):
        console.print(line)
    if summary["bursts"] and summary["bursts"]["count"]:
        console.print(_bursts(summary["bursts"]))
    if summary["classes"]:
        console.print()
        console.print(_classes(summary["classes"]))
    flows = forward(analysis)
    if flows.height:
        console.print()
        console.print(_flows(flows.head(MAX_FLOWS_PRINTED).to_dicts()))
    if flows.height > MAX_FLOWS_PRINTED:
        console.print(
            f"... and {counted(flows.height - MAX_FLOWS_PRINTED, 'more flow')}; --out "
            "writes them all"
        )
    console.print()
    console.print(parameter_table(analysis))
    say(*(f"Note: {plain(note)}" for note in summary["notes"][:MAX_NOTES_PRINTED]), markup=True)
    if (more := len(summary["notes"]) - MAX_NOTES_PRINTED) > 0:
        console.print(f"... and {counted(more, 'more note')}; --json prints them all")
    if analysis.parameters["N_b"] is not None and summary["link"]["rate_bps"] is not None:
        command = shlex.join(["goodqueue", "size", *sizing])
        say(f"To size its buffer: {plain(command)}", markup=True)


def sentences(analysis: Analysis) -> list[str]:
    """Returns the files, the link and its losses in words, without markup."""
    summary = analysis.summary
    lines = [f"{read['path']}: {_reading(read)}." for read in summary["reading"]]
    lines += _link(summary["link"])
    if summary["bursts"] and summary["bursts"]["count"]:
        lines.append(_bursts(summary["bursts"]))
    return [Text.from_markup(line).plain for line in lines]


def tables(analysis: Analysis) -> Iterator[Figures]:
    """Yields what limits the flows, all flows, and the parameters of the sizing rules."""
    if classes := analysis.summary["classes"]:
        yield _classes(classes)
    if (flows := forward(analysis)).height:
        yield _flows(flows.to_dicts())
    yield parameter_table(analysis)


def parameter_table(analysis: Analysis) -> Figures:
    """Returns a table of the parameters of the sizing rules with their intervals."""
    rows = [
        [f"{_symbol(name)}: {meaning}", *_interval(name, analysis.parameters.get(name))]
        for name, meaning in PARAMETERS.items()
    ]
    return table("Parameters of the sizing rules", ["parameter", "estimate", "95 % interval"], rows)


def estimates(analysis: Analysis, file: Path) -> str:
    """Returns the parameters in a sentence."""
    parts = []
    for name, found in analysis.parameters.items():
        if found is not None:
            value, interval = _interval(name, found)
            parts.append(f"{_symbol(name)} {value} ({interval})")
    return f"estimated from {file.name}, with 95 % intervals: {', '.join(parts)}"


def _reading(read: dict[str, Any]) -> str:
    span = "" if read["first_s"] is None else f" over {number(read['last_s'] - read['first_s'])} s"
    kind = ", ".join(filter(None, [read["format"], read["compression"]]))
    text = f"{kind}, {read['frames']:,} frames{span}, {packets(read['packets'])} read"
    if read["skipped"]:
        reasons = ", ".join(f"{count:,} {_words(why)}" for why, count in read["skipped"].items())
        text += f"; skipped {reasons}"
    if read["cut"]:
        text += f"; the file ends within a record at byte {read['cut_at_byte']:,}, read up to there"
    return text


def _words(reason: str) -> str:
    return plain(reason.replace("_", " "))


def _link(link: dict[str, Any]) -> list[str]:
    lines = [
        f"The link: {rate(link['rate_bps'])}"
        + (f" ({link['rate_is']})" if link["rate_is"] else " (rate unknown)")
        + f", utilisation {percent(link['utilization'])}, throughput {rate(link['throughput_bps'])}"
        f", goodput {rate(link['goodput_bps'])}; {link['lost_packets']:,} of "
        f"{packets(link['packets'])} lost, {percent(link['loss_rate'])}."
    ]
    if delay := link["queueing_delay_s"]:
        lines.append(
            f"Queueing delay, ms: mean {milliseconds(delay['mean'])}, p50 "
            f"{milliseconds(delay['p50'])}, p99 {milliseconds(delay['p99'])}, most "
            f"{milliseconds(delay['max'])}."
        )
    if buffer := link["buffer"]:
        low, high = buffer["interval_s"]
        kind = {"fifo": " of a FIFO", "aqm": ", but an AQM drops before it is full"}
        lines.append(
            f"Its buffer holds {milliseconds(buffer['s'])} ms ({milliseconds(low)} to "
            f"{milliseconds(high)}), {size_of(buffer['bytes'])}, "
            f"{number(buffer['packets'], 3)} packets{kind.get(link['queue_kind'], '')}."
        )
    return lines


def _bursts(bursts: dict[str, Any]) -> str:
    return (
        f"Losses come in bursts of {counted(bursts['mean_packets'], 'packet')} (p99 "
        f"{number(bursts['p99_packets'], 3)}, {counted(bursts['count'], 'burst', 9)}, "
        f"{bursts['start_up']:,} of them as flows start) that hit "
        f"{counted(bursts['mean_flows_hit'], 'flow')} on average; synchronisation "
        f"{percent(bursts['synchronization'])}."
    )


def _classes(classes: dict[str, Any]) -> Figures:
    total = sum(of["bytes"] for of in classes.values())
    rows = [
        [
            name.replace("_", " "),
            f"{of['flows']:,}",
            size_of(of["bytes"]),
            percent(of["bytes"] / total if total else None),
        ]
        for name, of in classes.items()
        if of["flows"]
    ]
    return table("What limits the flows", ["limited by", "flows", "bytes", "share"], rows)


def _flows(flows: list[dict[str, Any]]) -> Figures:
    columns = [
        *("flow", "limited by", "control", "goodput", "RTT base", "RTT mean"),
        *("lost here", "sent again", "in flight"),
    ]
    rows = [
        [
            plain(flow["name"].removesuffix("/tcp")),
            _limited_by(flow),
            flow["congestion_control"] or "-",
            rate(flow["goodput_bps"]),
            milliseconds(flow["rtt_s"]),
            milliseconds(flow["rtt_mean_s"]),
            number(flow["lost_target"]),
            number(flow["retransmissions"]),
            size_of(flow["max_flight_bytes"]),
        ]
        for flow in flows
    ]
    return table(
        "Flows over the link, largest first (round-trip times in ms)",
        columns,
        rows,
        important=["goodput", "RTT mean", "lost here"],
    )


def _limited_by(flow: dict[str, Any]) -> str:
    limit = (flow["class"] or "-").replace("_", " ")
    return f"{limit}, {flow['bottleneck']}" if flow["bottleneck"] else limit


def _symbol(name: str) -> str:
    return name.removesuffix("_bps").removesuffix("_bytes").removesuffix("_s")


def _interval(name: str, found: Parameter | None) -> list[str]:
    if found is None:
        return ["-", "-"]
    return [_value(name, found.value), f"{_value(name, found.low)} to {_value(name, found.high)}"]


def _value(name: str, value: float) -> str:
    return quantity(name, value, digits=3)
