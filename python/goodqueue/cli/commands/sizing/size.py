"""Options of `goodqueue size` for a file, a capture, or a description."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from goodqueue.cli.commands.options import (
    CaptionOption,
    FormatOption,
    JobsOption,
    JsonOption,
    MemoryOption,
    OutOption,
    SeedOption,
    TablesOption,
    drawing,
    given,
    in_panel,
    refuse_stray,
)

SYNTAXES = ("linux", "ios", "junos", "sonic", "openwrt", "mikrotik")
"""Devices whose lines can be printed (`goodqueue.output.sizing.screen`)."""

without_file = in_panel("Instead of a scenario file")
with_file = in_panel("Of a scenario file")
measured = in_panel("What was measured of the traffic, where there is no scenario file")


OF_FILE = ("--link", "--set", "--allow-python", "--jitter")
OF_CAPTURE = ("--from", "--after")
OF_LINK = (
    *("--rate", "--rtt", "--flows", "--packet", "--control", "--profile", "--as-in-theory"),
    *("--input-rate", "--access-rate", "--max-window", "--paced", "--device"),
    *("--flows-from", "--sampling"),
)
OF_TRAFFIC = (
    *("--synchronization", "--loss-burst", "--effective-rtt", "--ack-every", "--byte-counting"),
)
OF_RUNS = (
    *("--aqm", "--replicates", "--budget", "--time", "--only", "--engine", "--jobs", "--store"),
    *("--memory",),
)


@dataclass(frozen=True)
class Size:
    """Find the smallest buffer that keeps a link busy, for a scenario, a capture or a description.

    Loss and delay can be bounded too. Every published rule is judged and simulated for comparison;
    docs/sizing.md describes the steps.
    """

    context: typer.Context
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="A scenario file (- for standard input), in place of --rate, --rtt and --flows.",
        ),
    ] = None
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="CAPTURE",
            help="A packet capture of the link, in place of --rate, --rtt and --flows; see "
            "`goodqueue analyze`.",
        ),
    ] = None
    after: Annotated[
        Path | None,
        typer.Option(
            metavar="CAPTURE", help="With --from: the same packets captured behind the queue."
        ),
    ] = None
    rate: Annotated[
        str | None, without_file(metavar="RATE", help="The link's rate, such as 50Mbps.")
    ] = None
    rtt: Annotated[
        str | None,
        without_file(
            metavar="TIME",
            help="Base round-trip times: 40ms, 20ms,80ms, or 20ms..534ms for 18 even steps.",
        ),
    ] = None
    flows: Annotated[
        int | None, without_file(metavar="N", help="Number of long flows that this link limits.")
    ] = None
    flows_from: Annotated[
        Path | None,
        without_file(
            metavar="RECORDS",
            help="Flow records in place of --flows: output of `nfdump -o csv` or `nfdump -o json` "
            "for one direction of the link. They show no round-trip time: give --rtt.",
        ),
    ] = None
    sampling: Annotated[
        int | None,
        without_file(metavar="N", help="With --flows-from: the exporter sampled 1 of N packets."),
    ] = None
    packet: Annotated[
        str | None, without_file(metavar="SIZE", help="Size of a full IP packet; by default 1500B.")
    ] = None
    control: Annotated[
        str | None,
        without_file(
            metavar="NAME",
            help="Congestion control: cubic (default), reno, abe, scalable, bbr, bbr3, prague, "
            "dctcp; or several with their shares of the flows, as in cubic:70%,bbr3:30%.",
        ),
    ] = None
    profile: Annotated[
        str | None,
        without_file(metavar="NAME", help="TCP profile of the hosts: linux (default) or rfc."),
    ] = None
    as_in_theory: Annotated[
        bool,
        without_file(
            "--as-in-theory",
            help="Use the TCP that the rules assume: Reno of the RFCs, whose window grows "
            "by one step per ACK.",
        ),
    ] = False
    input_rate: Annotated[
        str | None, without_file(metavar="RATE", help="Sum of the capacities that feed the link.")
    ] = None
    mark_at: Annotated[
        str | None,
        without_file(
            metavar="PACKETS",
            help="With --control dctcp: threshold of the marking queue, such as 65p; by default "
            "C x T / 7 and a burst of offload.",
        ),
    ] = None
    access_rate: Annotated[
        str | None, without_file(metavar="RATE", help="Rate of one flow's own access link.")
    ] = None
    max_window: Annotated[
        str | None, without_file(metavar="SIZE", help="Receivers' window, if it limits flows.")
    ] = None
    paced: Annotated[bool, without_file("--paced", help="Senders pace their packets.")] = False
    device: Annotated[
        str | None,
        without_file(
            metavar="FILE[:NAME]",
            help="Output of `tc -s -j qdisc show`, or config_db.json of SONiC: the buffer of today "
            "is judged, too. NAME is the device, or the switch's queue, as in Ethernet0|3.",
        ),
    ] = None
    link: Annotated[
        str | None,
        with_file(
            metavar="NAME", help="Link whose buffer is sized; by default the one called bottleneck."
        ),
    ] = None
    jitter: Annotated[
        str | None,
        with_file(
            metavar="TIME",
            help="Largest random delay of the start of flows without start_jitter, so "
            "that replicates differ; by default one base round-trip time of the "
            "link.",
        ),
    ] = None
    set_: Annotated[
        list[str] | None,
        with_file(
            "--set",
            metavar="PATH=VALUE",
            help="Replace one value of the scenario; may be given several times.",
        ),
    ] = None
    allow_python: Annotated[
        bool,
        with_file(
            "--allow-python",
            help="Import the classes that the file names as congestion controls, which runs their "
            "modules' code.",
        ),
    ] = False
    min_utilization: Annotated[
        str,
        typer.Option(
            "--min-utilization",
            "--target",
            metavar="SHARE",
            help="Smallest utilisation of the link.",
        ),
    ] = "98%"
    max_loss: Annotated[
        str | None, typer.Option(metavar="SHARE", help="Largest loss rate, such as 1%.")
    ] = None
    max_delay: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Largest 99th percentile of the queueing delay, such as 50ms."
        ),
    ] = None
    mix: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Share of the capacity of the long flows; by default 100%. For a file it "
            "affects only the rules.",
        ),
    ] = None
    synchronization: Annotated[
        float | None,
        measured(
            metavar="ALPHA",
            help="Packets of a loss burst over the number of flows (alpha of BSCL); by "
            "default 0.55, for a capture as measured.",
        ),
    ] = None
    loss_burst: Annotated[
        float | None,
        measured(
            metavar="PACKETS",
            help="Mean length of a loss burst (L of BSCL), in place of --synchronization.",
        ),
    ] = None
    effective_rtt: Annotated[
        str | None,
        measured(
            metavar="TIME",
            help="Effective round-trip time (T_e of BSCL), by default the harmonic mean.",
        ),
    ] = None
    ack_every: Annotated[
        int | None,
        measured(
            metavar="N",
            min=1,
            max=16,
            help="Segments per ACK; by default 2 (delayed ACKs), for a capture as measured.",
        ),
    ] = None
    byte_counting: Annotated[
        bool | None,
        measured(
            "--byte-counting/--step-per-ack",
            help="Windows grow by the bytes acknowledged (RFC 3465), or by one step per ACK.",
        ),
    ] = None
    quick: Annotated[
        bool, typer.Option("--quick", help="Answer by theory alone, without simulation.")
    ] = False
    aqm: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND",
            help="Queue to try in place of the link's, with its defaults; may be given "
            "several times; by default codel, fq_codel and pie.",
        ),
    ] = None
    replicates: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=3,
            max=10_000,
            help="Largest number of runs per limit, each with its own seed; by default "
            "64. Fewer are run if they suffice for a decision.",
        ),
    ] = None
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="PACKETS",
            help="Packets that all runs may simulate; by default 120M, about a minute of one "
            "processor. Replicates are shortened so that the budget suffices. The exit code is 6 "
            "if it ends before the answer is shown.",
        ),
    ] = None
    time: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Largest wall-clock time; by default none. The answer then depends on the load "
            "of the machine.",
        ),
    ] = None
    hosts: Annotated[
        str | None,
        typer.Option(
            metavar="exact",
            help="exact: the hosts are as described; do not ask how the answer changes for hosts "
            "that the description does not exclude.",
        ),
    ] = None
    syntax: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Device whose lines are printed: linux (default), ios, junos, sonic, openwrt or "
            "mikrotik; --explain prints all of them.",
        ),
    ] = None
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Print everything: each rule, every buffer that was run, other queues, changes.",
        ),
    ] = False
    only: Annotated[
        str | None,
        typer.Option(
            metavar="PART",
            help="answer: omit the rules' buffers, other queues and changes of the link.",
        ),
    ] = None
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="packets, hybrid (windows and queue change continuously between losses), "
            "or auto (default): hybrid if packets take longer than the budget.",
        ),
    ] = None
    jobs: JobsOption = None
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder that stores every run, so that no run is repeated; by "
            "default one in the user's cache.",
        ),
    ] = None
    memory: MemoryOption = None
    seed: SeedOption = None
    json: JsonOption = False
    tables: TablesOption = None
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write the answer as a self-contained HTML page."),
    ] = None
    out: OutOption = None
    format_: FormatOption = None
    caption: CaptionOption = True

    def __post_init__(self) -> None:
        """Refuses options that would be ignored, and an incomplete description of a link."""
        drawing(self)
        if self.quick:
            refuse_stray(given(self, *OF_RUNS), "applies to runs, and --quick makes none")
        self._check_words()
        if self.only:
            why = "tries other queues, and --only answer omits them"
            refuse_stray(given(self, "--aqm"), why)
        if self.file is not None:
            stray = given(self, *OF_LINK, *OF_CAPTURE, *OF_TRAFFIC)
            refuse_stray(stray, f"describes a link, but {self.file} describes its own")
            return
        refuse_stray(given(self, *OF_FILE), "belongs to a scenario file, but none is named")
        if self.from_ is not None:
            kept = {"--rate", "--control"}  # the rest is in the capture
            stray = given(self, *(option for option in OF_LINK if option not in kept))
            refuse_stray(stray, f"is estimated from {self.from_}")
            return
        refuse_stray(given(self, "--after"), "belongs to a capture: name it with --from")
        if self.flows_from is None:
            refuse_stray(given(self, "--sampling"), "belongs to flow records: --flows-from")
        else:
            refuse_stray(given(self, "--flows"), f"is read from {self.flows_from}")
            if self.rate is None or self.rtt is None:
                raise typer.BadParameter(
                    "flow records show neither the rate of the link nor round-trip times: add "
                    "--rate and --rtt, as in goodqueue size --flows-from flows.csv --rate 1Gbps "
                    "--rtt 40ms"
                )
            return
        if self.rate is None or self.rtt is None or self.flows is None:
            raise typer.BadParameter(
                "name a scenario file, or a capture with --from, or describe the link with --rate, "
                "--rtt and --flows, as in goodqueue size --rate 50Mbps --rtt 40ms --flows 100"
            )

    def _check_words(self) -> None:
        """Refuses words that an option does not know."""
        if self.only not in {None, "answer"}:
            raise typer.BadParameter(f"--only {self.only}: write --only answer")
        if self.hosts not in {None, "exact"}:
            raise typer.BadParameter(f"--hosts {self.hosts}: write --hosts exact")
        if self.explain and self.json:
            raise typer.BadParameter("--explain prints tables, and --json has all of them")
        if self.syntax not in {None, *SYNTAXES}:
            raise typer.BadParameter(f"--syntax {self.syntax}: write {', '.join(SYNTAXES)}")
