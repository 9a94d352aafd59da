"""Options of `goodqueue size` for a file, a capture, or a description."""

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
    OutOption,
    SeedOption,
    drawing,
    in_panel,
    overrides,
    refuse_stray,
    typed,
)

without_file = in_panel("Instead of a scenario file")
with_file = in_panel("Of a scenario file")
measured = in_panel("What was measured of the traffic, where there is no scenario file")


def size(  # noqa: PLR0913
    context: typer.Context,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]",
            help="A scenario file (- for standard input), in place of --rate, --rtt and --flows.",
        ),
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
        str | None, without_file(metavar="RATE", help="The link's rate, such as 50Mbps.")
    ] = None,
    rtt: Annotated[
        str | None,
        without_file(
            metavar="TIME",
            help="Base round-trip times: 40ms, 20ms,80ms, or 20ms..534ms for 18 even steps.",
        ),
    ] = None,
    flows: Annotated[
        int | None, without_file(metavar="N", help="Number of long flows that this link limits.")
    ] = None,
    packet: Annotated[
        str | None, without_file(metavar="SIZE", help="Size of a full IP packet; by default 1500B.")
    ] = None,
    control: Annotated[
        str | None,
        without_file(
            metavar="NAME", help="Congestion control: cubic (default), reno, abe, scalable, bbr."
        ),
    ] = None,
    profile: Annotated[
        str | None,
        without_file(metavar="NAME", help="TCP profile of the hosts: linux (default) or rfc."),
    ] = None,
    as_in_theory: Annotated[
        bool,
        without_file(
            "--as-in-theory",
            help="Use the TCP that the rules assume: Reno of the RFCs, whose window grows "
            "by one step per ACK.",
        ),
    ] = False,
    input_rate: Annotated[
        str | None, without_file(metavar="RATE", help="Sum of the capacities that feed the link.")
    ] = None,
    access_rate: Annotated[
        str | None, without_file(metavar="RATE", help="Rate of one flow's own access link.")
    ] = None,
    max_window: Annotated[
        str | None, without_file(metavar="SIZE", help="Receivers' window, if it limits flows.")
    ] = None,
    paced: Annotated[bool, without_file("--paced", help="Senders pace their packets.")] = False,
    link: Annotated[
        str | None,
        with_file(
            metavar="NAME", help="Link whose buffer is sized; by default the one called bottleneck."
        ),
    ] = None,
    jitter: Annotated[
        str | None,
        with_file(
            metavar="TIME",
            help="Largest random delay of the start of flows without start_jitter, so "
            "that replicates differ; by default one base round-trip time of the "
            "link.",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        with_file(
            "--set",
            metavar="PATH=VALUE",
            help="Replace one value of the scenario; may be given several times.",
        ),
    ] = None,
    target: Annotated[
        str,
        typer.Option(
            "--min-utilization",
            "--target",
            metavar="SHARE",
            help="Smallest utilisation of the link.",
        ),
    ] = "98%",
    max_loss: Annotated[
        str | None, typer.Option(metavar="SHARE", help="Largest loss rate, such as 1%.")
    ] = None,
    max_delay: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Largest 99th percentile of the queueing delay, such as 50ms."
        ),
    ] = None,
    mix: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Share of the capacity of the long flows; by default 100%. For a file it "
            "affects only the rules.",
        ),
    ] = None,
    synchronization: Annotated[
        float | None,
        measured(
            metavar="ALPHA",
            help="Packets of a loss burst over the number of flows (alpha of BSCL); by "
            "default 0.55, for a capture as measured.",
        ),
    ] = None,
    loss_burst: Annotated[
        float | None,
        measured(
            metavar="PACKETS",
            help="Mean length of a loss burst (L of BSCL), in place of --synchronization.",
        ),
    ] = None,
    effective_rtt: Annotated[
        str | None,
        measured(
            metavar="TIME",
            help="Effective round-trip time (T_e of BSCL), by default the harmonic mean.",
        ),
    ] = None,
    ack_every: Annotated[
        int | None,
        measured(
            metavar="N",
            min=1,
            max=16,
            help="Segments per ACK; by default 2 (delayed ACKs), for a capture as measured.",
        ),
    ] = None,
    byte_counting: Annotated[
        bool | None,
        measured(
            "--byte-counting/--step-per-ack",
            help="Windows grow by the bytes acknowledged (RFC 3465), or by one step per ACK.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Answer by theory alone, without simulation.")
    ] = False,
    aqm: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND",
            help="Queue to try in place of the link's, with its defaults; may be given "
            "several times; by default codel, fq_codel and pie.",
        ),
    ] = None,
    replicates: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=3,
            max=10_000,
            help="Largest number of runs per limit, each with its own seed; by default "
            "64. Fewer are run if they suffice for a decision.",
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Largest wall-clock time; by default 60s. Replicates are shortened so "
            "that it suffices; exit code 6 if it ends before the answer is proved.",
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            metavar="PART",
            help="answer: omit the rules' buffers, other queues and changes of the link.",
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="packets, hybrid (windows and queue change continuously between losses), "
            "or auto (default): hybrid if packets take longer than the budget.",
        ),
    ] = None,
    jobs: JobsOption = None,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of a study that stores every run and returns stored ones; by "
            "default one in the user's cache.",
        ),
    ] = None,
    memory: MemoryOption = None,
    seed: SeedOption = None,
    json: JsonOption = False,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write the answer as a self-contained HTML page."),
    ] = None,
    out: OutOption = None,
    format_: FormatOption = None,
    caption: CaptionOption = True,
) -> int:
    """Find the smallest buffer that keeps a link busy, for a scenario, a capture or a description.

    Loss and delay can be bounded too. Every published rule is judged and simulated for comparison;
    docs/sizing.md explains how.
    """
    from goodqueue import _core
    from goodqueue.cli.capture import Capture
    from goodqueue.cli.size import File, Output, size_capture, size_described, size_file
    from goodqueue.runs.engines import choice_of
    from goodqueue.sizing.answer.effort import MOST_REPLICATES, QUEUES, Effort
    from goodqueue.sizing.known import Known
    from goodqueue.sizing.question import Bounds, Question
    from goodqueue.sizing.search.budget import BUDGET_S

    known_besides = Known(synchronization, loss_burst, effective_rtt, ack_every, byte_counting)
    of_capture = typed(context, "--from", "--after")
    of_file = typed(context, "--link", "--set", "--jitter")
    of_link = typed(
        context,
        *("--rate", "--rtt", "--flows", "--packet", "--control", "--profile", "--as-in-theory"),
        *("--input-rate", "--access-rate", "--max-window", "--paced"),
    )
    of_traffic = typed(
        context,
        *("--synchronization", "--loss-burst", "--effective-rtt", "--ack-every"),
        "--byte-counting",
    )
    bounds = Bounds(min_utilization=target, max_loss=max_loss, max_delay=max_delay, mix=mix)
    if quick:
        of_runs = typed(
            context,
            *("--aqm", "--replicates", "--budget", "--only", "--engine", "--jobs", "--store"),
            "--memory",
        )
        refuse_stray(of_runs, "applies to runs, and --quick makes none")
    if only not in {None, "answer"}:
        raise typer.BadParameter(f"--only {only}: write --only answer")
    if only:
        refuse_stray(typed(context, "--aqm"), "tries other queues, and --only answer omits them")
    queues = () if only else QUEUES
    effort = Effort(
        replicates=replicates or MOST_REPLICATES,
        queues=queues if aqm is None else tuple(dict.fromkeys(aqm)),
        changes=not only,
        rules=not only,
        budget_s=BUDGET_S if budget is None else _core.parse_span("--budget", budget),
        jobs=jobs,
        store=store,
        memory=memory,
        engine=choice_of(engine or "auto"),
    )
    output = Output(
        quick=quick,
        json=json,
        out=out,
        drawing=drawing(format_, caption, out),
        report=report,
        command=context.obj,
    )
    if file is not None:
        refuse_stray(
            of_link | of_capture | of_traffic,
            f"describes a link, but {file} describes its own",
        )
        which = File(path=file, overrides=overrides(set_), link=link, jitter=jitter)
        return size_file(which, bounds, effort, seed, output)
    refuse_stray(of_file, "belongs to a scenario file, but none is named")
    if from_ is not None:
        known = {"--rate", "--control"}  # the rest is in the capture
        stray = {flag: given for flag, given in of_link.items() if flag not in known}
        refuse_stray(stray, f"is estimated from {from_}")
        capture = Capture(from_, after=after, rate=rate, rate_flag="--rate", seed=seed)
        return size_capture(capture, control, known_besides, bounds, effort, output)
    refuse_stray(typed(context, "--after"), "belongs to a capture: name it with --from")
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
        control=control,
        profile=profile,
        as_in_theory=as_in_theory,
        max_window=max_window,
        input_rate=input_rate,
        access_rate=access_rate,
        paced=paced,
        bounds=bounds,
    )
    return size_described(question, known_besides, effort, seed, output)
