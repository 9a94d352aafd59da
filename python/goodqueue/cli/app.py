"""The commands and their options. What they do is imported when they are called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="How much buffer does a link need? Packet-level simulation of TCP and router queues.",
    rich_markup_mode=None,  # plain text, which pipes and screen readers can use
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 answered; 2 bad input or usage; 3 no buffer keeps the bounds of `size`; "
    "4 runs of `sweep` failed; 130 interrupted.",
)

ScenarioFile = Annotated[
    str, typer.Argument(metavar="FILE", help="Scenario file (TOML; see `goodqueue schema`).")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Replace one value of the scenario, as in topology.bottleneck.queue.limit=50p; "
        "may be given several times.",
    ),
]
SeedOption = Annotated[
    int | None, typer.Option("--seed", metavar="N", help="Replace the scenario's seed.")
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print the answer as JSON on standard output.")
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Also write the resolved scenario, the figures and the pictures to this directory, "
        "in place of earlier results there.",
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option("--jobs", metavar="N", min=1, help="Threads; by default one per processor."),
]


WITHOUT_FILE = "Instead of a scenario file"
WITH_FILE = "Of a scenario file"


def _refuse_stray(stray: dict[str, bool], why: str) -> None:
    """Refuses options that would be ignored."""
    for option, is_given in stray.items():
        if is_given:
            raise typer.BadParameter(f"{option} {why}")


def _show_version(wanted: bool) -> None:
    if wanted:
        from goodqueue import _core

        print(f"goodqueue {_core.version()}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    pass


@app.command("run")
def run(  # noqa: PLR0913
    file: ScenarioFile,
    *,
    set_: SetOption = None,
    seed: SeedOption = None,
    json: JsonOption = False,
    out: OutOption = None,
    series: Annotated[
        bool | None,
        typer.Option(
            "--series/--no-series",
            help="Whether DIR gets the time series (Parquet) and the pictures made of them.",
            show_default="--series",
        ),
    ] = None,
    pcap: Annotated[
        list[str] | None,
        typer.Option(
            "--pcap",
            metavar="POINT=FILE",
            help="Also write a capture (pcapng) of what passes a point: sender, receiver, before "
            "or after the bottleneck's queue; with a colon of one flow or another link, as in "
            "before:bottleneck.reverse=acks.pcapng; may be given several times.",
        ),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Also write every trace there is to this directory: captures, ns-2's .tr, nam's "
            ".nam, a data file of Flent, and windows and queue as columns for gnuplot.",
        ),
    ] = None,
    snap: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Cut the frames of captures to this; by default to their headers."
        ),
    ] = None,
) -> int:
    """Run a scenario once and print what every link and flow did."""
    from goodqueue.cli.run import run_scenario

    if snap is not None and not pcap and trace is None:
        raise typer.BadParameter("--snap needs --pcap or --trace")
    if pcap and trace is not None:
        raise typer.BadParameter("--trace holds what --pcap asks for: give one of them")
    return run_scenario(
        file,
        _overrides(set_),
        seed,
        json=json,
        out=out,
        series=series,
        trace=_captures(pcap) if trace is None else trace,
        snap=snap,
    )


def _captures(given: list[str] | None) -> dict[str, Path]:
    """Files by the points that they are taken at."""
    captures: dict[str, Path] = {}
    for text in given or []:
        point, separator, file = text.partition("=")
        if not separator or not point or not file:
            raise typer.BadParameter(f"--pcap {text}: write POINT=FILE, as in before=in.pcapng")
        if point in captures:
            raise typer.BadParameter(f"--pcap {text}: {point} is captured already")
        if Path(file) in captures.values():
            raise typer.BadParameter(f"--pcap {text}: {file} is written already")
        captures[point] = Path(file)
    return captures


@app.command("analyze")
def analyze(  # noqa: PLR0913
    file: Annotated[
        Path,
        typer.Argument(
            metavar="CAPTURE",
            help="pcap or pcapng file, or an ns-2 trace: at the link, before its queue if "
            "there is a second one.",
        ),
    ],
    *,
    link: Annotated[
        str | None,
        typer.Option(
            metavar="RATE", help="The link's rate in IP packets, as in 50Mbps; else estimated."
        ),
    ] = None,
    after: Annotated[
        Path | None,
        typer.Option(metavar="CAPTURE", help="A capture of the same packets behind the queue."),
    ] = None,
    drops: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV",
            help="When the link dropped packets: a column time_s, seconds on the capture's clock.",
        ),
    ] = None,
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Replace a threshold (docs/traces.md lists them); may be given several times.",
        ),
    ] = None,
    to_scenario: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a scenario of this link and its flows."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Of the intervals' bootstrap; by default 1.")
    ] = None,
    json: JsonOption = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Also write the figures, tables and pictures to this directory, in place of "
            "earlier results there.",
        ),
    ] = None,
) -> int:
    """Tell from a packet capture what limits its flows and what the sizing rules need."""
    from goodqueue.cli.analyze import analyze_capture
    from goodqueue.cli.capture import Capture

    capture = Capture(
        file,
        after=after,
        rate=link,
        drops=drops,
        thresholds=tuple(_pair("--threshold", "NAME=VALUE", each) for each in threshold or []),
        seed=seed,
    )
    return analyze_capture(capture, json=json, out=out, to_scenario=to_scenario)


@app.command("size")
def size(  # noqa: PLR0913
    context: typer.Context,
    file: Annotated[
        str | None,
        typer.Argument(metavar="[FILE]", help="A scenario, in place of --rate, --rtt and --flows."),
    ] = None,
    *,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="CAPTURE",
            help="A packet capture of the link, in place of --rate, --rtt and --flows; see "
            "`goodqueue analyze`.",
        ),
    ] = None,
    after: Annotated[
        Path | None,
        typer.Option(
            metavar="CAPTURE", help="With --from: the same packets captured behind the queue."
        ),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            metavar="RATE", help="The link's rate, as in 50Mbps.", rich_help_panel=WITHOUT_FILE
        ),
    ] = None,
    rtt: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Base round-trip times: 40ms, 20ms,80ms, or 20ms..534ms for 18 even steps.",
            rich_help_panel=WITHOUT_FILE,
        ),
    ] = None,
    flows: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Long flows that this link holds back.",
            rich_help_panel=WITHOUT_FILE,
        ),
    ] = None,
    packet: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="A full IP packet; by default 1500B.", rich_help_panel=WITHOUT_FILE
        ),
    ] = None,
    control: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Congestion control: reno (if left out), cubic, abe, scalable, bbr.",
            rich_help_panel=WITHOUT_FILE,
        ),
    ] = None,
    input_rate: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help="Sum of the capacities that feed the link.",
            rich_help_panel=WITHOUT_FILE,
        ),
    ] = None,
    access_rate: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help="What one flow's own access link lets through.",
            rich_help_panel=WITHOUT_FILE,
        ),
    ] = None,
    max_window: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="What receivers' windows allow, if that binds.",
            rich_help_panel=WITHOUT_FILE,
        ),
    ] = None,
    paced: Annotated[
        bool,
        typer.Option("--paced", help="Senders pace.", rich_help_panel=WITHOUT_FILE),
    ] = False,
    link: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The link whose buffer is sized; by default the one called bottleneck.",
            rich_help_panel=WITH_FILE,
        ),
    ] = None,
    jitter: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Start every flow that has no start_jitter up to this much later, by the "
            "seed, so that replicates differ; by default one base round-trip time of the link.",
            rich_help_panel=WITH_FILE,
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PATH=VALUE",
            help="Replace one value of the scenario; may be given several times.",
            rich_help_panel=WITH_FILE,
        ),
    ] = None,
    target: Annotated[
        str,
        typer.Option(
            "--min-utilization",
            "--target",
            metavar="SHARE",
            help="Least utilisation of the link.",
        ),
    ] = "98%",
    max_loss: Annotated[
        str | None, typer.Option(metavar="SHARE", help="Largest loss rate, as in 1%.")
    ] = None,
    max_delay: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Largest 99th percentile of the queueing delay, as in 50ms."
        ),
    ] = None,
    mix: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Share of the capacity that the long flows have; by default 100%. Of a file only "
            "the rules heed it: its traffic is what it is.",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Theory only, at once.")] = False,
    aqm: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND",
            help="A queue to try in place of the link's, with its defaults; may be given several "
            "times, by default codel, fq_codel and pie.",
        ),
    ] = None,
    replicates: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=3,
            max=10_000,
            help="Most runs of a limit, each under its own seed; they are used where they decide.",
        ),
    ] = 64,
    jobs: JobsOption = None,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Keep every run in this folder of a study, and run none that it holds; by default "
            "in the user's cache.",
        ),
    ] = None,
    seed: SeedOption = None,
    json: JsonOption = False,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Also write the answer as one self-contained page of HTML."
        ),
    ] = None,
    out: OutOption = None,
) -> int:
    """Find the smallest buffer that keeps a link busy: of a scenario, a capture, a description.

    Optionally within bounds on loss and delay. Every published rule is judged and simulated beside
    the answer; docs/sizing.md says how.
    """
    from goodqueue.cli.capture import Capture
    from goodqueue.cli.size import File, Output, size_capture, size_described, size_file
    from goodqueue.sizing.answer import QUEUES
    from goodqueue.sizing.api import Effort
    from goodqueue.sizing.question import Bounds, Question

    of_capture = {"--from": from_ is not None, "--after": after is not None}
    of_file = {"--link": link is not None, "--set": bool(set_), "--jitter": jitter is not None}
    of_link = {
        "--rate": rate is not None,
        "--rtt": rtt is not None,
        "--flows": flows is not None,
        "--packet": packet is not None,
        "--control": control is not None,
        "--input-rate": input_rate is not None,
        "--access-rate": access_rate is not None,
        "--max-window": max_window is not None,
        "--paced": paced,
    }
    bounds = Bounds(min_utilization=target, max_loss=max_loss, max_delay=max_delay, mix=mix)
    queues = QUEUES if aqm is None else tuple(dict.fromkeys(aqm))
    effort = Effort(replicates=replicates, queues=queues, jobs=jobs, store=store)
    output = Output(quick=quick, json=json, out=out, report=report, command=context.obj)
    if file is not None:
        _refuse_stray(
            of_link | of_capture,
            f"describes a link without a file, and {file} describes its own",
        )
        which = File(path=file, overrides=_overrides(set_), link=link, jitter=jitter)
        return size_file(which, bounds, effort, seed, output)
    _refuse_stray(of_file, "belongs to a scenario file, and none is named")
    if from_ is not None:
        known = {"--rate", "--control"}  # the rest is in the capture
        told = {flag: given for flag, given in of_link.items() if flag not in known}
        _refuse_stray(told, f"is estimated from {from_}")
        capture = Capture(from_, after=after, rate=rate, rate_flag="--rate", seed=seed)
        return size_capture(capture, control, bounds, effort, output)
    _refuse_stray({"--after": after is not None}, "belongs to a capture: name it with --from")
    if rate is None or rtt is None or flows is None:
        raise typer.BadParameter(
            "name a scenario file, or a capture with --from, or describe the link with --rate, "
            "--rtt and --flows, as in goodqueue size --rate 50Mbps --rtt 40ms --flows 100"
        )
    question = Question(
        rate=rate,
        rtt=rtt,
        flows=flows,
        packet=packet or "1500B",
        control=control or "reno",
        max_window=max_window,
        input_rate=input_rate,
        access_rate=access_rate,
        paced=paced,
        bounds=bounds,
    )
    return size_described(question, effort, seed, output)


qdisc = typer.Typer(
    help="Queues of Linux's tc as queues of a scenario, and the other way.",
    rich_markup_mode=None,
)
app.add_typer(qdisc, name="qdisc")


@qdisc.command("parse")
def qdisc_parse(
    line: Annotated[
        str,
        typer.Argument(
            metavar="LINE", help='What `tc qdisc show` prints, as in "qdisc codel 8001: root".'
        ),
    ],
    *,
    json: JsonOption = False,
) -> int:
    """Read a line of `tc qdisc show` and print the queue for a scenario."""
    from goodqueue.cli.qdisc import parse_line

    return parse_line(line, json=json)


@qdisc.command("print")
def qdisc_print(
    file: ScenarioFile,
    *,
    link: Annotated[
        str, typer.Option(metavar="NAME", help="The link whose queue is printed.")
    ] = "bottleneck",
    set_: SetOption = None,
    json: JsonOption = False,
) -> int:
    """Print the queue of a scenario's link as tc commands."""
    from goodqueue.cli.qdisc import print_commands

    return print_commands(file, _overrides(set_), link, json=json)


@app.command("sweep")
def sweep(  # noqa: PLR0913
    file: Annotated[
        str, typer.Argument(metavar="STUDY", help="Study file (TOML; see docs/studies.md).")
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The study's folder; what it holds already is not run again. By default the "
            "study's name with -runs.",
        ),
    ] = None,
    jobs: JobsOption = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="tcp://HOST:8786", help="Run on the workers of this Dask scheduler instead."
        ),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="K/N", help="Only the K-th of N parts; `goodqueue results` merges them."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the runs and what they cost, run none.")
    ] = False,
    metrics: Annotated[
        bool, typer.Option("--metrics", help="Print the names of the metrics, run nothing.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run again what failed before.")
    ] = False,
    keep_both: Annotated[
        bool,
        typer.Option(
            "--keep-both", help="Keep results of another version of the engine beside the new."
        ),
    ] = False,
    json_lines: Annotated[
        bool, typer.Option("--json-lines", help="Print progress as one JSON object a line.")
    ] = False,
    set_: SetOption = None,
    json: JsonOption = False,
) -> int:
    """Run a study: the points of a grid, each under many seeds.

    Ctrl-C finishes what is running, a second one stops it; the same command does the rest.
    """
    from goodqueue.cli.sweep import SweepRequest, sweep_study

    request = SweepRequest(
        out=out,
        jobs=jobs,
        cluster=cluster,
        shard=shard,
        dry_run=dry_run,
        metrics=metrics,
        json=json,
        json_lines=json_lines,
        keep_both=keep_both,
        retry_failed=retry_failed,
    )
    return sweep_study(file, _overrides(set_), request)


@app.command("results")
def results(  # noqa: PLR0913
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a study.")],
    *,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this metric; may be given several times."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=VALUE",
            help="Only runs whose parameter, seed or host is this; may be given several times.",
        ),
    ] = None,
    runs: Annotated[
        bool, typer.Option("--runs", help="A row per run, not the means over the seeds.")
    ] = False,
    long: Annotated[
        bool, typer.Option("--long", help="A row per run and metric; implies --runs.")
    ] = False,
    failed: Annotated[
        bool, typer.Option("--failed", help="The runs that failed, with their errors.")
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the rows as .csv, .parquet or .json."),
    ] = None,
    merge: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="OTHER",
            help="First take over the runs of this folder; may be given several times.",
        ),
    ] = None,
    json: JsonOption = False,
) -> int:
    """List, filter, export and merge what studies recorded."""
    from goodqueue.cli.results import ResultsRequest, show_results

    request = ResultsRequest(
        metrics=metric,
        where=dict(_pair("--where", "COLUMN=VALUE", entry) for entry in where or []),
        runs=runs or long,
        long=long,
        failed=failed,
        export=export,
        merge=merge or [],
        json=json,
    )
    return show_results(folder, request)


@app.command("schema")
def schema() -> None:
    """Print the JSON Schema of scenario files."""
    from goodqueue import _core

    print(_core.schema())


@app.command("reproduce")
def reproduce(  # noqa: PLR0913 - options of one command
    paper: Annotated[
        str | None, typer.Argument(metavar="PAPER", help="Such as gijsbers2011.")
    ] = None,
    table: Annotated[
        str | None, typer.Argument(metavar="TABLE", help="Such as table4; all by default.")
    ] = None,
    *,
    listing: Annotated[
        bool, typer.Option("--list", help="Show the papers, tables and figures, and their cost.")
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="Every paper.")] = False,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a page with tables and pictures (HTML)."),
    ] = None,
    traces: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Instead, write what the authors worked with of one cell of the table: ns-2's "
            "out.tr, nam's out.nam, the window file.",
        ),
    ] = None,
    jobs: JobsOption = None,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Where runs are kept; by default ~/.cache/goodqueue/papers."
        ),
    ] = None,
    json: JsonOption = False,
) -> int:
    """Run published experiments and set the figures beside the papers'."""
    from goodqueue.cli.reproduce import (
        ReproduceRequest,
        list_papers,
        reproduce_papers,
        write_traces,
    )

    if listing:
        return list_papers(paper, json=json)
    if traces is not None:
        _refuse_stray(
            {"--all": everything, "--report": report is not None, "--store": store is not None},
            "goes without --traces",
        )
        return write_traces(paper, table, traces, json=json)
    return reproduce_papers(ReproduceRequest(paper, table, everything, jobs, store, report, json))


def _overrides(entries: list[str] | None) -> list[tuple[str, str]]:
    """Splits `path=value`; what is wrong with either is the scenario parser's to say."""
    return [_pair("--set", "PATH=VALUE", entry) for entry in entries or []]


def _pair(option: str, form: str, entry: str) -> tuple[str, str]:
    name, equals, value = entry.partition("=")
    if not equals:
        raise typer.BadParameter(f"{option} {entry}: write {option} {form}")
    return name, value
