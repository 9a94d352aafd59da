"""Options of `goodqueue run`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from goodqueue.cli.commands.options import (
    AllowPythonOption,
    CaptionOption,
    FormatOption,
    JsonOption,
    MemoryOption,
    OutOption,
    ScenarioFile,
    SeedOption,
    SetOption,
    captures,
    given,
    logs,
    refuse_stray,
)


@dataclass(frozen=True)
class Run:
    """Run a scenario once and print the results of every link and flow."""

    file: ScenarioFile
    set_: SetOption = None
    allow_python: AllowPythonOption = False
    seed: SeedOption = None
    json: JsonOption = False
    out: OutOption = None
    format_: FormatOption = None
    caption: CaptionOption = True
    memory: MemoryOption = None
    series: Annotated[
        bool | None,
        typer.Option(
            "--series/--no-series",
            help="Write the time series (Parquet) and their pictures to DIR.",
            show_default="--series",
        ),
    ] = None
    pcap: Annotated[
        list[str] | None,
        typer.Option(
            "--pcap",
            metavar="POINT=FILE",
            help="Also write a capture (pcapng) of the packets at a point: sender, "
            "receiver, or before or after the bottleneck's queue. A colon selects a "
            "flow or another link, as in before:bottleneck.reverse=acks.pcapng. May "
            "be given several times.",
        ),
    ] = None
    qlog: Annotated[
        list[str] | None,
        typer.Option(
            "--qlog",
            metavar="[FLOW=]FILE",
            help="Also write the log of a flow's TCP sender, or of all, in qlog (.sqlog). May be "
            "given several times.",
        ),
    ] = None
    trace: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Also write all traces to this directory: captures, ns-2's .tr, nam's "
            ".nam, a data file of Flent, and windows and queue as columns for "
            "gnuplot.",
        ),
    ] = None
    snap: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Largest captured part of a frame in bytes; by default the headers.",
        ),
    ] = None
    engine: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="packets; hybrid, in which windows and queue change continuously between "
            "losses; or auto: hybrid if packets take more than a minute and both "
            "engines agree.",
        ),
    ] = "packets"
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="FLOW",
            help="In place of the figures, print the life of one flow: the packets sent, "
            "acknowledged, dropped or marked, with times and reasons, and the changes of its "
            "window.",
        ),
    ] = None
    from_: Annotated[
        str | None,
        typer.Option("--from", metavar="TIME", help="With --explain: begin at this time."),
    ] = None
    to: Annotated[
        str | None, typer.Option(metavar="TIME", help="With --explain: end at this time.")
    ] = None
    lines: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="With --explain: the most lines to print; by default 60."
        ),
    ] = None

    def __post_init__(self) -> None:
        """Refuses options that would be ignored."""
        if self.explain is not None:
            of_runs = given(self, "--out", "--series", "--pcap", "--qlog", "--trace", "--engine")
            why = "does not go with --explain, which only prints the packets of one flow"
            refuse_stray(of_runs, why)
            return
        of_a_flow = given(self, "--from", "--to", "--lines")
        refuse_stray(of_a_flow, "is about one flow: name it with --explain FLOW")
        if self.snap is not None and not self.pcap and self.trace is None:
            raise typer.BadParameter("--snap needs --pcap or --trace")
        if self.pcap and self.trace is not None:
            raise typer.BadParameter(
                "--trace includes the captures of --pcap; give only one of them"
            )
        if self.qlog and self.trace is not None:
            raise typer.BadParameter("--qlog does not go with --trace; use two runs")

    @property
    def traces(self) -> dict[str, Path] | Path:
        """The file of each capture by its point, or the directory of all traces."""
        if self.trace is not None:
            return self.trace
        return captures(self.pcap) | logs(self.qlog)
