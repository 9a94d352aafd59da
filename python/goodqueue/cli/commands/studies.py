"""`goodqueue sweep` and `goodqueue results` as they are typed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from goodqueue.cli.commands.options import (
    CaptionOption,
    FormatOption,
    JobsOption,
    JsonOption,
    MemoryOption,
    SetOption,
    conditions,
    overrides,
    refuse_stray,
)


def sweep(  # noqa: PLR0913
    file: Annotated[
        str,
        typer.Argument(
            metavar="STUDY", help="Study file (TOML; see docs/studies.md); - for stdin."
        ),
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
    format_: FormatOption = None,
    caption: CaptionOption = True,
    memory: MemoryOption = None,
    set_: SetOption = None,
    json: JsonOption = False,
) -> int:
    """Run a study: the points of a grid, each under many seeds.

    Ctrl-C finishes what is running, a second one stops it; the same command does the rest.
    """
    from goodqueue.cli.sweep import SweepRequest, sweep_study
    from goodqueue.core.drawing import FORMATS, drawing_of

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
        memory=memory,
        retry_failed=retry_failed,
        drawing=drawing_of(format_, caption=caption, usual=FORMATS),
    )
    return sweep_study(file, overrides(set_), request)


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
            help="Only runs whose parameter, seed or host is this, as in rate=10Mbps; may be given "
            "several times.",
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
    verify: Annotated[
        bool, typer.Option("--verify", help="List what is damaged; exit code 5 if anything is.")
    ] = False,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Drop what is damaged; the next sweep runs it again."),
    ] = False,
    draw: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw one picture of the runs as .png, .svg or .pdf: --metric says of what, the "
            "options below say how, as the keys of a study's [[plot]] do.",
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="lines, heatmap, cdf, box or pareto.",
        ),
    ] = None,
    x: Annotated[
        str | None,
        typer.Option("--x", metavar="NAME", help="The axis or metric along x."),
    ] = None,
    series: Annotated[
        str | None,
        typer.Option(metavar="AXIS", help="The axis with a line for each value."),
    ] = None,
    facet: Annotated[
        list[str] | None,
        typer.Option(
            metavar="AXIS",
            help="The axis with a panel for each value; given twice, that of the rows and that of "
            "the columns.",
        ),
    ] = None,
    band: Annotated[
        str | None,
        typer.Option(metavar="BAND", help="interval, range or none."),
    ] = None,
    x_scale: Annotated[
        str | None,
        typer.Option(metavar="SCALE", help="linear or log."),
    ] = None,
    y_scale: Annotated[
        str | None,
        typer.Option(metavar="SCALE", help="linear or log."),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Stands above the picture."),
    ] = None,
    caption: CaptionOption = True,
    json: JsonOption = False,
) -> int:
    """List, filter, export, draw, merge and check what studies recorded."""
    from goodqueue.cli.draw import DrawRequest
    from goodqueue.cli.results import ResultsRequest, show_results

    how: dict[str, Any] = {
        "kind": kind,
        "x": x,
        "series": series,
        "band": band,
        "x_scale": x_scale,
        "y_scale": y_scale,
        "title": title,
    }
    if draw is None:
        stray = {f"--{name.replace('_', '-')}": given is not None for name, given in how.items()}
        refuse_stray(
            {**stray, "--facet": bool(facet), "--no-caption": not caption},
            "is about a picture: say where it goes with --draw FILE",
        )
    else:
        refuse_stray(
            {
                "--export": export is not None,
                "--runs": runs,
                "--long": long,
                "--failed": failed,
            },
            "lists runs, and --draw draws them: leave one of both out",
        )
    request = ResultsRequest(
        metrics=metric,
        where=conditions(where),
        runs=runs or long,
        long=long,
        failed=failed,
        export=export,
        merge=merge or [],
        json=json,
        draw=None
        if draw is None
        else DrawRequest(draw, facets=facet or (), caption=caption, **how),
        verify=verify,
        repair=repair,
    )
    return show_results(folder, request)
