"""Options of `goodqueue characterize`."""

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
)


@dataclass(frozen=True)
class Characterize:
    """Characterise a queue by RFC 7928, or a congestion control by RFC 9743."""

    queue: Annotated[
        str | None,
        typer.Argument(
            metavar="QUEUE",
            help="The queue, as in tc ('fq_codel limit 1000p') or as in scenario files "
            '(\'{ kind = "codel", target = "5ms" }\').',
        ),
    ] = None
    control: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Characterise this congestion control in place of a queue: a name, or a table "
            "as in scenario files.",
        ),
    ] = None
    stack: Annotated[
        str | None,
        typer.Option(
            metavar="PROGRAM",
            help="Characterise this control of another transport stack: the path of its program, "
            "or quinn for goodqueue-quinn on PATH. Words after it are its options.",
        ),
    ] = None
    against: Annotated[
        str | None,
        typer.Option(
            metavar="QUEUE",
            help="Queue or control to compare with; none for no comparison.",
            show_default="tail drop of one BDP; cubic with --control",
        ),
    ] = None
    section: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LIST", help="Run only these sections, as in 5.1,8.2. May be repeated."
        ),
    ] = None
    seeds: Annotated[
        int | None,
        typer.Option(metavar="N", min=2, help="Seeds of each scenario.", show_default="10"),
    ] = None
    quick: Annotated[
        bool, typer.Option("--quick", help="Two seeds of each scenario, which take seconds.")
    ] = False
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Also write a page, its pictures, the figures and the scenarios to this "
            "directory, in place of earlier results there.",
        ),
    ] = None
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Directory of stored runs.", show_default="in the user's cache"
        ),
    ] = None
    jobs: JobsOption = None
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="tcp://HOST:8786", help="Run on the workers of this Dask scheduler instead."
        ),
    ] = None
    allow_python: AllowPythonOption = False
    json: JsonOption = False
    format_: FormatOption = None
    caption: CaptionOption = True

    def __post_init__(self) -> None:
        """Refuses options that contradict each other."""
        if (self.queue is None) == (self.control is None):
            raise typer.BadParameter(
                "name one queue, as in goodqueue characterize fq_codel, or one control with "
                "--control NAME"
            )
        if self.stack is not None and self.control is None:
            raise typer.BadParameter("--stack needs --control with one of the stack's controls")
        if self.stack is not None and self.cluster is not None:
            raise typer.BadParameter("--stack runs its program here; omit it, or omit --cluster")
        if self.quick and self.seeds is not None:
            raise typer.BadParameter("--quick has two seeds; omit it, or omit --seeds")
