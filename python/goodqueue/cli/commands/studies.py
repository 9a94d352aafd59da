"""Options of `goodqueue sweep` and `goodqueue results`."""

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
            metavar="STUDY", help="Study file (TOML; see docs/studies.md); - for standard input."
        ),
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of the study; runs that it contains are not run again. By "
            "default the study's name with -runs.",
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
            metavar="K/N", help="Run only the K-th of N parts; `goodqueue results` merges them."
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print the runs and their estimated cost, and run nothing."),
    ] = False,
    metrics: Annotated[
        bool, typer.Option("--metrics", help="Print the names of the metrics, and run nothing.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run failed runs again.")
    ] = False,
    keep_both: Annotated[
        bool,
        typer.Option(
            "--keep-both", help="Keep results of another version of the engine beside the new ones."
        ),
    ] = False,
    json_lines: Annotated[
        bool, typer.Option("--json-lines", help="Print progress as one JSON object per line.")
    ] = False,
    format_: FormatOption = None,
    caption: CaptionOption = True,
    memory: MemoryOption = None,
    set_: SetOption = None,
    json: JsonOption = False,
) -> int:
    """Run a study: the points of a grid, each with many seeds.

    Ctrl-C finishes the current runs, and a second one stops them. The same command continues later.
    """
    from goodqueue.cli.studies.sweep import SweepRequest, sweep_study
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
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a study.")],
    *,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Metric to show; may be given several times."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=VALUE",
            help="Select runs with this parameter, seed or host, such as rate=10Mbps; may "
            "be given several times.",
        ),
    ] = None,
    runs: Annotated[
        bool, typer.Option("--runs", help="Print one row per run and not the means over the seeds.")
    ] = False,
    long: Annotated[
        bool, typer.Option("--long", help="Print one row per run and metric; implies --runs.")
    ] = False,
    failed: Annotated[
        bool, typer.Option("--failed", help="Print the failed runs with their errors.")
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the rows as .csv, .parquet or .json."),
    ] = None,
    merge: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="OTHER",
            help="Copy the runs of this folder first; may be given several times.",
        ),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="List damaged parts; exit code 5 if there are any.")
    ] = False,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Remove damaged parts; the next sweep runs them again."),
    ] = False,
    draw: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw one picture of the runs as .png, .svg or .pdf. --metric selects "
            "what is drawn; the options below correspond to the keys of a study's "
            "[[plot]].",
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="Kind of picture: lines, heatmap, cdf, box or pareto.",
        ),
    ] = None,
    x: Annotated[
        str | None,
        typer.Option("--x", metavar="NAME", help="Axis or metric along x."),
    ] = None,
    series: Annotated[
        str | None,
        typer.Option(metavar="AXIS", help="Axis with a line for each value."),
    ] = None,
    facet: Annotated[
        list[str] | None,
        typer.Option(
            metavar="AXIS",
            help="Axis with a panel for each value; if given twice, those of the rows and "
            "of the columns.",
        ),
    ] = None,
    band: Annotated[
        str | None,
        typer.Option(metavar="BAND", help="Band around means: interval, range or none."),
    ] = None,
    x_scale: Annotated[
        str | None,
        typer.Option(metavar="SCALE", help="Scale along x: linear or log."),
    ] = None,
    y_scale: Annotated[
        str | None,
        typer.Option(metavar="SCALE", help="Scale along y: linear or log."),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Title above the picture."),
    ] = None,
    caption: CaptionOption = True,
    json: JsonOption = False,
) -> int:
    """List, filter, export, draw, merge and check the results of studies."""
    from goodqueue.cli.studies.draw import DrawRequest
    from goodqueue.cli.studies.results import ResultsRequest, show_results

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
            "applies to a picture: name its file with --draw FILE",
        )
    else:
        refuse_stray(
            {
                "--export": export is not None,
                "--runs": runs,
                "--long": long,
                "--failed": failed,
            },
            "lists runs, and --draw draws them; omit one of them",
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
