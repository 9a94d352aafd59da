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
from goodqueue.output.progress import run_progress
from goodqueue.output.runs.summary import print_summary
from goodqueue.output.terminal import plain, print_json, say, size_of, stderr
from goodqueue.runs.api import HEADERS, load, run, void_settings
from goodqueue.runs.engines import choice_of, engine_of_run, unproved
from goodqueue.runs.results.traces import OURS, files_of, files_read
from goodqueue.runs.settings import records_packets

if TYPE_CHECKING:
    from pathlib import Path

    from goodqueue.cli.commands.runs.run import Run
    from goodqueue.core.drawing import Drawing
    from goodqueue.runs.results.result import Result


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


def _drawn(links: dict[str, Any]) -> str:
    """Returns the link for the pictures: the bottleneck of a dumbbell, else the longest queue.

    Links that only delay are not drawn.
    """
    queues = [name for name, link in links.items() if link["rate_bps"] is not None] or list(links)
    if "bottleneck" in queues:
        return "bottleneck"
    return max(queues, key=lambda name: links[name]["mean_queueing_delay_s"] or 0)


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
