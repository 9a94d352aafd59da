"""`goodqueue sweep` and `goodqueue results` as they are typed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from goodqueue.cli.commands.options import (
    CaptionOption,
    FormatOption,
    JobsOption,
    JsonOption,
    MemoryOption,
    SetOption,
    overrides,
    pair,
)


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
    from goodqueue.drawing import FORMATS, drawing_of

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
    verify: Annotated[
        bool, typer.Option("--verify", help="List what is damaged; exit code 5 if anything is.")
    ] = False,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Drop what is damaged; the next sweep runs it again."),
    ] = False,
    json: JsonOption = False,
) -> int:
    """List, filter, export, merge and check what studies recorded."""
    from goodqueue.cli.results import ResultsRequest, show_results

    request = ResultsRequest(
        metrics=metric,
        where=dict(pair("--where", "COLUMN=VALUE", entry) for entry in where or []),
        runs=runs or long,
        long=long,
        failed=failed,
        export=export,
        merge=merge or [],
        json=json,
        verify=verify,
        repair=repair,
    )
    return show_results(folder, request)
