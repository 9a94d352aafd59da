"""Options of `goodqueue sweep` and `goodqueue results`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from goodqueue.cli.commands.options import (
    AllowPythonOption,
    CaptionOption,
    FormatOption,
    JobsOption,
    JsonOption,
    MemoryOption,
    SetOption,
    TablesOption,
    given,
    refuse_stray,
)


@dataclass(frozen=True)
class Sweep:
    """Run a study: the points of a grid, each with many seeds.

    Ctrl-C finishes the current runs, and a second one stops them. The same command continues later.
    """

    file: Annotated[
        str,
        typer.Argument(
            metavar="STUDY", help="Study file (TOML; see docs/studies.md); - for standard input."
        ),
    ]
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of the study; runs that it contains are not run again. By "
            "default the study's name with -runs.",
        ),
    ] = None
    jobs: JobsOption = None
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="tcp://HOST:8786", help="Run on the workers of this Dask scheduler instead."
        ),
    ] = None
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="K/N", help="Run only the K-th of N parts; `goodqueue results` merges them."
        ),
    ] = None
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print the runs and their estimated cost, and run nothing."),
    ] = False
    metrics: Annotated[
        bool, typer.Option("--metrics", help="Print the names of the metrics, and run nothing.")
    ] = False
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run failed runs again.")] = (
        False
    )
    keep_both: Annotated[
        bool,
        typer.Option(
            "--keep-both", help="Keep results of another version of the engine beside the new ones."
        ),
    ] = False
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write the results as a self-contained HTML page."),
    ] = None
    json_lines: Annotated[
        bool, typer.Option("--json-lines", help="Print progress as one JSON object per line.")
    ] = False
    format_: FormatOption = None
    caption: CaptionOption = True
    memory: MemoryOption = None
    set_: SetOption = None
    allow_python: AllowPythonOption = False
    json: JsonOption = False

    def __post_init__(self) -> None:
        """Refuses a page of runs that are not made."""
        if self.report is not None:
            of_none = {
                **given(self, "--dry-run", "--metrics"),
                "--shard": self.shard is not None,
            }
            refuse_stray(of_none, "leaves runs of the study out: write the page with results")


@dataclass(frozen=True)
class ShowResults:
    """List, filter, export, draw, merge and check the results of studies."""

    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a study.")]
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Metric to show; may be given several times."),
    ] = None
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=VALUE",
            help="Select runs with this parameter, seed or host, such as rate=10Mbps; may "
            "be given several times.",
        ),
    ] = None
    runs: Annotated[
        bool, typer.Option("--runs", help="Print one row per run and not the means over the seeds.")
    ] = False
    long: Annotated[
        bool, typer.Option("--long", help="Print one row per run and metric; implies --runs.")
    ] = False
    failed: Annotated[
        bool, typer.Option("--failed", help="Print the failed runs with their errors.")
    ] = False
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the rows as .csv, .parquet or .json."),
    ] = None
    merge: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="OTHER",
            help="Copy the runs of this folder first; may be given several times.",
        ),
    ] = None
    verify: Annotated[
        bool, typer.Option("--verify", help="List damaged parts; exit code 5 if there are any.")
    ] = False
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Remove damaged parts; the next sweep runs them again."),
    ] = False
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the results as a self-contained HTML page: the best variant, the "
            "study's pictures and all means.",
        ),
    ] = None
    draw: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw one picture of the runs as .png, .svg or .pdf. --metric selects "
            "what is drawn; the options below correspond to the keys of a study's "
            "[[plot]].",
        ),
    ] = None
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="Kind of picture: lines, heatmap, cdf, box or pareto.",
        ),
    ] = None
    x: Annotated[
        str | None,
        typer.Option("--x", metavar="NAME", help="Axis or metric along x."),
    ] = None
    series: Annotated[
        str | None,
        typer.Option(metavar="AXIS", help="Axis with a line for each value."),
    ] = None
    facet: Annotated[
        list[str] | None,
        typer.Option(
            metavar="AXIS",
            help="Axis with a panel for each value; if given twice, first the axis of the rows "
            "and then that of the columns.",
        ),
    ] = None
    band: Annotated[
        str | None,
        typer.Option(metavar="BAND", help="Band around means: interval, range or none."),
    ] = None
    x_scale: Annotated[
        str | None,
        typer.Option(metavar="SCALE", help="Scale along x: linear or log."),
    ] = None
    y_scale: Annotated[
        str | None,
        typer.Option(metavar="SCALE", help="Scale along y: linear or log."),
    ] = None
    title: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Title above the picture."),
    ] = None
    caption: CaptionOption = True
    json: JsonOption = False
    tables: TablesOption = None

    def __post_init__(self) -> None:
        """Refuses options that would be ignored."""
        how = ("--kind", "--x", "--series", "--facet", "--band", "--x-scale", "--y-scale")
        if self.draw is None:
            stray = given(self, *how, "--title") | {"--no-caption": not self.caption}
            refuse_stray(stray, "applies to a picture: name its file with --draw FILE")
        else:
            of_lists = given(self, "--export", "--runs", "--long", "--failed", "--report")
            why = "lists runs, and --draw draws them; omit one of them"
            refuse_stray(of_lists, why)
        if self.report is not None:
            of_runs = given(self, "--export", "--runs", "--long", "--failed")
            refuse_stray(of_runs, "lists runs, and --report writes a page; omit one of them")
