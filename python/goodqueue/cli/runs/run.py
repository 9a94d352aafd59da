"""`goodqueue run`: one run, as tables, JSON and files."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from goodqueue.cli.commands.options import drawing, overrides
from goodqueue.cli.files import may_import, print_written, source_of, write_json, write_scenario
from goodqueue.cli.hosts import assumed_hosts, note_hosts
from goodqueue.core.extras import require
from goodqueue.core.files.outdir import check_apart, check_folder, check_output, whole_directory
from goodqueue.errors import RequestError
from goodqueue.output.applications import application_tables
from goodqueue.output.pauses import pauses
from goodqueue.output.progress import run_progress
from goodqueue.output.terminal import (
    counted,
    milliseconds,
    number,
    packets,
    percent,
    plain,
    print_json,
    rate,
    say,
    size_of,
    stderr,
    stdout,
    table,
)
from goodqueue.runs.api import HEADERS, load, run, void_settings
from goodqueue.runs.engines import choice_of, engine_of_run, unproved
from goodqueue.runs.results.traces import OURS, files_of, files_read
from goodqueue.runs.settings import records_packets

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from goodqueue.cli.commands.runs.run import Run
    from goodqueue.core.drawing import Drawing
    from goodqueue.runs.results.result import Result

MAX_FLOWS_PRINTED = 20
MAX_LINKS_PRINTED = 20


def run_scenario(asked: Run) -> int:
    """Runs a scenario, prints its results and writes the requested files."""
    pictured = drawing(asked)
    if asked.explain is not None:
        from goodqueue.cli.runs.explain import explain_flow

        return explain_flow(asked, asked.explain)
    out, series, trace, settings = asked.out, asked.series, asked.traces, overrides(asked.set_)
    engine = choice_of(asked.engine)
    if series is not None and out is None:
        raise RequestError("time series are written to files; name a directory with --out DIR")
    if out is not None:
        require("polars", "matplotlib")
        check_output(out)
    source = source_of(asked.file)
    allowed = may_import(asked.allow_python)
    scenario = load(source, set=settings, seed=asked.seed, allow_python=allowed)
    traces = {_option_of(name): path for name, path in files_of(trace, scenario).items()}
    if not isinstance(trace, Mapping):
        traces = {f"--trace {trace}": path for path in files_of(trace, scenario).values()}
        check_folder(trace, OURS)
    check_apart([asked.file, *files_read(scenario)], {"--out/": out, **traces})
    # The hybrid engine has no series, so those that were not requested by name are omitted.
    which = engine_of_run(engine, scenario, needs_packets=bool(series or trace))
    over_time = out is not None and series is not False and which == "packets"
    wants_packets = which == "packets" and records_packets(scenario)
    hosts = {"assumed_hosts": assumed_hosts(scenario)}
    with ExitStack() as stack:
        progress = stack.enter_context(run_progress())
        directory = None if out is None else stack.enter_context(whole_directory(out))
        result = run(
            source,
            set=settings,
            seed=asked.seed,
            series=over_time,
            throughput=over_time,
            packets=directory / "packets.parquet" if directory and wants_packets else False,
            trace=trace,
            snap=asked.snap or HEADERS,
            memory=asked.memory,
            allow_python=allowed,
            engine=which,
            progress=progress,
            notice=lambda text: stderr().print(text, soft_wrap=True, markup=False),
        )
        if directory is not None:
            write_result(result, directory, pictured, hosts)
    if asked.json:
        print_json({**result.summary, **hosts})
    else:
        print_summary(result.summary)
        if which == "hybrid":
            _print_hybrid(unproved(scenario))
        if out is not None:
            print_written(out)
        print_traces(trace)
    note_hosts([scenario])
    _note_commands(asked.file, result.scenario)
    for path in void_settings(source, settings, allow_python=allowed):
        note = (
            f"--set {path} changed nothing: the scenario has this value without it, or each flow "
            "has its own"
        )
        stderr().print(note, soft_wrap=True, markup=False)
    return 0


def _note_commands(file: str, scenario: str) -> None:
    """Prints a note on commands of flows, which a run of the simulator never executes.

    Args:
        file: name of the scenario file.
        scenario: the resolved scenario, as TOML.
    """
    if "\ncommand = [" in scenario:
        note = (
            "commands of flows were not executed: `run` simulates the flows' workloads, and "
            f"`goodqueue emulate {file}` runs the commands"
        )
        stderr().print(note, soft_wrap=True, markup=False)


def _option_of(trace: str) -> str:
    """Returns the option that asks for a trace of this name."""
    kind, _, of = trace.partition(":")
    return f"--qlog {of}".rstrip() if kind == "qlog" else f"--pcap {trace}"


def print_traces(trace: Mapping[str, Path] | Path) -> None:
    """Prints the files of traces, or their directory."""
    if not isinstance(trace, Mapping):
        say(f"traces in {trace}")
        return
    for name, file in trace.items():
        taken = f" ({size_of(file.stat().st_size)})" if file.is_file() else ""
        say(f"trace {name}: {file}{taken}")


def _print_hybrid(why_unproved: str | None) -> None:
    """Prints which engine answered, and how reliable it is."""
    say("", "by the hybrid engine; figures that need packets are omitted (docs/hybrid.md)")
    if why_unproved is not None:
        text = "[yellow]not compared with the packet engine on such links[/]"
        say(f"{text}: {plain(why_unproved)}", markup=True)


def print_summary(summary: dict[str, Any]) -> None:
    """Prints the summary of a run as tables and a line on the buffers."""
    console = stdout()
    title = plain(summary["title"]) or "Run"
    console.print(
        f"[bold]{title}[/]: {number(summary['measured_s'])} s measured, seed {summary['seed']}"
    )
    console.print()
    links = summary["links"]
    shown = _busiest(links)
    console.print(_links(shown))
    if len(shown) < len(links):
        left_out = len(links) - len(shown)
        console.print(
            f"... and {counted(left_out, 'link')} with less traffic; --json prints them all"
        )
    console.print(_buffers(shown))
    for line in _bursts(shown):
        console.print(line)
    for part in pauses(links, summary["measured_s"]):
        console.print(part, soft_wrap=isinstance(part, str))
    console.print()
    flows = summary["flows"]
    first = dict(list(flows.items())[:MAX_FLOWS_PRINTED])
    groups = summary.get("groups", {})
    if groups:
        console.print(_groups(groups))
    if first:
        console.print(_flows(first))
    if len(flows) > MAX_FLOWS_PRINTED:
        console.print(
            f"... and {counted(len(flows) - MAX_FLOWS_PRINTED, 'more flow')}; "
            "--json prints them all"
        )
    for line in _held_by_windows(flows, shown):
        console.print(line, soft_wrap=True)
    for application_table in application_tables(first):
        console.print()
        console.print(application_table)


def _held_by_windows(flows: dict[str, Any], links: dict[str, Any]) -> list[str]:
    """Returns a sentence about the flows whose receive windows, and not the queue, limit them."""
    shares = {
        name: flow["limited_by"]["receiver_window"]
        for name, flow in flows.items()
        if flow["class"] == "window" and flow["limited_by"]["receiver_window"]
    }
    if not shares:
        return []
    first, share = next(iter(shares.items()))
    others = f" and {counted(len(shares) - 1, 'other flow')}" if len(shares) > 1 else ""
    busiest = max(links.values(), key=lambda link: link["utilization"] or 0)
    rtt_s, rate_bps = flows[first]["mean_rtt_s"], busiest.get("rate_bps")
    needed = ""
    if rtt_s and rate_bps:
        needed = (
            f"; {rate(rate_bps)} x its round trip of {milliseconds(rtt_s)} ms are "
            f"{size_of(rate_bps * rtt_s / 8)}"
        )
    return [
        (
            f"{first}{others}: the receive window held data back for {percent(share)} of the time, "
            f"so a buffer hardly changes this rate (tcp.receive_window{needed})"
        )
    ]


def _busiest(links: dict[str, Any]) -> dict[str, Any]:
    """Returns the links in the order of the scenario; if there are many, the busiest ones."""
    most = sorted(links, key=lambda name: -(links[name]["utilization"] or 0))[:MAX_LINKS_PRINTED]
    return {name: link for name, link in links.items() if name in most}


def _drawn(links: dict[str, Any]) -> str:
    """Returns the link for the pictures: the bottleneck of a dumbbell, else the longest queue.

    Links that only delay are not drawn.
    """
    queues = [name for name, link in links.items() if link["rate_bps"] is not None] or list(links)
    if "bottleneck" in queues:
        return "bottleneck"
    return max(queues, key=lambda name: links[name]["mean_queueing_delay_s"] or 0)


def _links(links: dict[str, Any]) -> object:
    columns = [
        "link",
        "rate",
        "utilisation",
        "loss",
        "drops",
        "backlog mean",
        "backlog p99",
        "backlog max",
        "delay mean",
        "delay p50",
        "delay p99",
    ]
    marks = any(link["marks"] for link in links.values())
    if marks:
        columns.insert(5, "marks")
    rows = [
        [
            name,
            _link_rate(link),
            percent(link["utilization"]),
            percent(link["loss_rate"]),
            number(link["drops"]),
            *([number(link["marks"])] if marks else []),
            number(link["mean_backlog_packets"], 3),
            number(link["p99_backlog_packets"], 3),
            number(link["max_backlog_packets"], 3),
            milliseconds(link["mean_queueing_delay_s"]),
            milliseconds(link["p50_queueing_delay_s"]),
            milliseconds(link["p99_queueing_delay_s"]),
        ]
        for name, link in links.items()
    ]
    return table(
        "Links (backlog in packets, time-weighted; queueing delay in ms)",
        columns,
        rows,
        important=["rate", "utilisation", "loss", "delay mean", "delay p99", "backlog mean"],
    )


def _link_rate(link: dict[str, Any]) -> str:
    """Returns the rate of a link; links that only delay have none."""
    unlimited = "rate_bps" in link and link["rate_bps"] is None
    return "unlimited" if unlimited else rate(link.get("rate_bps"))


def _buffers(links: dict[str, Any]) -> str:
    limits = [
        f"{name} {link['queue']} {_limit(link['limit'])}"
        for name, link in links.items()
        if link["limit"] and link["limit"]["packets"] is not None
    ]
    counts = next((link["limit"]["counts"] for link in links.values() if link["limit"]), "")
    return f"Limits: {'; '.join(limits) or 'none'} ({counts})."


def _bursts(links: dict[str, Any]) -> list[str]:
    lines = []
    for name, link in links.items():
        if not link["loss_bursts"]:
            continue
        longest = link["p99_loss_burst_packets"]
        p99 = "" if longest is None else f"p99 {number(longest, 3)}, "
        lines.append(
            f"Losses at {name} come in bursts of "
            f"{counted(link['mean_loss_burst_packets'], 'packet')} "
            f"({p99}{counted(link['loss_bursts'], 'burst', 4)}) that hit "
            f"{counted(link['mean_flows_hit'], 'flow')} on average."
        )
    return lines


def _limit(limit: dict[str, Any]) -> str:
    text = f"{packets(limit['packets'])} = {size_of(limit['bytes'])} = {number(limit['ms'], 3)} ms"
    return text if limit["bdp"] is None else f"{text} = {number(limit['bdp'], 3)} BDP"


def _limited_by(flow: dict[str, Any]) -> str:
    """Returns the link, the window or the size that limited a TCP flow."""
    if flow["class"] == "congestion":
        return str(flow["bottleneck"] or "congestion")
    return flow["class"] or "-"


def _lost(flow: dict[str, Any]) -> float | None:
    """Returns the packets that were lost: of both hosts if the server sends data, too.

    `packets_lost` counts those of the client. It would be 0 for downloads, however many timeouts
    they have.
    """
    if flow["reverse_data_span_s"] is None:
        lost: float | None = flow["packets_lost"]
        return lost
    lost_at: dict[str, int] = flow["losses_at"]
    return sum(lost_at.values())


def _flows(flows: dict[str, Any]) -> object:
    limited = any(flow["class"] for flow in flows.values())
    columns = [
        "flow",
        "goodput",
        "throughput (IP)",
        *(["limited by"] if limited else []),
        "RTT mean",
        "RTT p50",
        "RTT p99",
        "RTT max",
        "lost",
        "retransmitted",
        "timeouts",
        "completion, s",
    ]
    rows = [
        [
            name,
            rate(flow["goodput_bps"]),
            rate(flow["throughput_bps"]),
            *([_limited_by(flow)] if limited else []),
            milliseconds(flow["mean_rtt_s"]),
            milliseconds(flow["p50_rtt_s"]),
            milliseconds(flow["p99_rtt_s"]),
            milliseconds(flow["max_rtt_s"]),
            number(_lost(flow)),
            number(flow["retransmissions"]),
            number(flow["timeouts"]),
            number(flow["completion_time_s"]),
        ]
        for name, flow in flows.items()
    ]
    return table(
        "Flows (round-trip times in ms)",
        columns,
        rows,
        important=["goodput", "RTT mean", "RTT p99", "lost", "limited by"],
    )


GROUP_FIGURES: list[tuple[str, str, Callable[[float | None], str]]] = [
    ("goodput", "goodput_bps", rate),
    ("RTT mean, ms", "mean_rtt_s", milliseconds),
    ("RTT p99, ms", "p99_rtt_s", milliseconds),
    ("lost", "packets_lost", number),
    ("retransmitted", "retransmissions", number),
    ("timeouts", "timeouts", number),
    ("completion, s", "completion_time_s", number),
]
"""Figures of large groups that are printed: title, key, and format."""


def _groups(groups: dict[str, Any]) -> object:
    statistics = ["mean", "min", "p5", "p50", "p95", "max"]
    rows = [
        [
            f"{name} ({counted(group['flows'], 'flow')})",
            title,
            *(shown(group[key][statistic]) for statistic in statistics),
            number(group[key].get("jain_index"), 3),
        ]
        for name, group in groups.items()
        for title, key, shown in GROUP_FIGURES
        if group[key]["flows"]
    ]
    return table(
        "Groups of flows (distributions over their flows)",
        ["group", "figure", *statistics, "Jain's index"],
        rows,
        important=["figure", "p5", "p50", "p95"],
    )


def write_result(
    result: Result, directory: Path, pictured: Drawing, more: Mapping[str, object] | None = None
) -> None:
    """Writes the tables, the pictures and the figures of a run.

    Args:
        result: the run.
        directory: an existing directory.
        pictured: options for the pictures.
        more: figures besides those of the run's summary, by key.
    """
    from goodqueue.plots.runs import pictures
    from goodqueue.plots.style import save_all

    write_scenario(directory, result.scenario)
    if result.series is not None:
        result.series.backlog.write_parquet(directory / "backlog.parquet")
        result.series.windows.write_parquet(directory / "windows.parquet")
        result.series.rtt.write_parquet(directory / "rtt.parquet")
        result.series.limits.write_parquet(directory / "limits.parquet")
    if result.throughput is not None:
        result.throughput.write_parquet(directory / "throughput.parquet")
    if result.waits is not None:
        result.waits.write_parquet(directory / "delays.parquet")
    result.delays.write_parquet(directory / "queueing-delays.parquet")
    save_all(pictures(result, _drawn(result.summary["links"])), directory, pictured)
    write_json(directory, {**result.summary, **(more or {})})
