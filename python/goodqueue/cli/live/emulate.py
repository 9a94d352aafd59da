"""`goodqueue emulate`: real programs behind an emulated link, with figures of the link."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.cli.commands.options import drawing, overrides
from goodqueue.cli.exits import EXIT_INTERRUPTED, EXIT_NOT_TRUSTED, EXIT_PROGRAM_FAILED
from goodqueue.cli.files import print_written, source_of
from goodqueue.cli.runs.run import print_traces, write_result
from goodqueue.core.extras import require
from goodqueue.core.files.outdir import check_apart, check_output, whole_directory
from goodqueue.core.text import for_terminal
from goodqueue.errors import RequestError
from goodqueue.live.emulation import (
    WHOLE_FRAMES,
    Program,
    Records,
    emulate,
    kernel_line,
    link_settings,
    programs_of,
)
from goodqueue.output.runs.summary import print_summary
from goodqueue.output.terminal import (
    counted,
    milliseconds,
    number,
    percent,
    plain,
    print_json,
    stderr,
    stdout,
)
from goodqueue.output.terminal import rate as rate_text
from goodqueue.runs.api import load
from goodqueue.runs.results.traces import files_read
from goodqueue.runs.settings import queue_notes, scenario_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue._core import Scenario
    from goodqueue.cli.commands.live.emulate import Emulate
    from goodqueue.live.emulation import Emulation

STANDARD_ERROR = 2
"""Number of the file to which programs print beside JSON."""

LONGEST = "1h"
"""Largest duration of a run without a stated one."""

COLOURS = {"trusted": "green", "doubtful": "yellow", "not trusted": "red"}


def emulate_programs(asked: Emulate) -> int:
    """Runs programs behind the links of a file, or behind one link."""
    return _emulate_file(asked) if asked.has_file else _emulate_link(asked)


def _emulate_link(asked: Emulate) -> int:
    """Runs programs behind one link and prints what the link did."""
    assert asked.rate is not None
    assert asked.rtt is not None
    rtt_s = _core.parse_span("--rtt", asked.rtt)
    settings = link_settings(asked.rate, rtt_s, asked.queue, asked.duration or LONGEST)
    for note in queue_notes(asked.queue) if asked.queue else []:
        stderr().print(f"Note: {note}.", markup=False)
    programs = [Program(_words(text), server=True) for text in asked.server or []]
    scenario = scenario_of(settings, "the emulated link")
    return _emulate(asked, scenario, [*programs, Program(tuple(asked.command))], [])


def _words(command: str) -> tuple[str, ...]:
    """Returns the words of a command, as a shell divides it."""
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise RequestError(f"--server {command}: {error}") from None


def _emulate_file(asked: Emulate) -> int:
    """Runs the programs of a scenario file behind its links, if the user allows them.

    Raises:
        RequestError: if the user has not allowed them; the message lists them.
    """
    (file,) = asked.command
    pairs = overrides(asked.set_)
    if asked.duration is not None:
        pairs.append(("duration", asked.duration))
    scenario = load(source_of(file), set=pairs, seed=asked.seed)
    programs = programs_of(scenario)
    names = [name for name, _, _ in scenario.flows()]
    lines = [
        f"  {names[program.flow]}, {'server' if program.server else 'client'}: "
        f"{shlex.join(program.command)}"
        for program in programs
    ]
    if not asked.allow_commands:
        listed = "\n".join(map(for_terminal, lines))
        raise RequestError(
            f"{file} starts these programs on this machine, with your permissions and your files:"
            f"\n{listed}\n  help: if you trust them, repeat the command with --allow-commands"
        )
    for line in lines:
        stderr().print(f"runs{line[1:]}", soft_wrap=True, markup=False)
    return _emulate(asked, scenario, programs, [file, *files_read(scenario)])


def _emulate(
    asked: Emulate, scenario: Scenario, programs: Sequence[Program], read: Sequence[str]
) -> int:
    """Runs programs, prints what the links did and writes the requested files."""
    pictured, traces = drawing(asked), asked.traces
    if asked.out is not None:
        require("polars", "matplotlib")
        check_output(asked.out)
    outputs = {f"--pcap {name}": path for name, path in traces.items()}
    check_apart(read, {"--out/": asked.out, **outputs})
    meter = sys.stderr.isatty() if asked.meter is None else asked.meter
    records = Records(
        over_time=asked.out is not None,
        traces=traces,
        snap=asked.snap or WHOLE_FRAMES,
    )
    emulation = emulate(
        scenario,
        programs,
        asked.control,
        records=records,
        watch=print_activity if meter else None,
        uplink=None if asked.uplink is None else asked.uplink.value,
        output=STANDARD_ERROR if asked.json else None,
    )
    figures = as_json(emulation)
    if asked.json:
        print_json(figures)
    else:
        print_summary(emulation.summary)
        stdout().print(f"\n{plain(kernel_line(emulation.kernel))}.", soft_wrap=True)
        _print_uplink(emulation.uplink)
        _print_fidelity(emulation.fidelity)
        print_traces(traces)
    _print_failures(emulation)
    if asked.out is not None and emulation.result is not None:
        with whole_directory(asked.out) as directory:
            write_result(emulation.result, directory, pictured, figures)
        if not asked.json:
            print_written(asked.out)
    return exit_code(emulation)


MAX_METERED = 4
"""Largest number of links of which the meter prints a line each second."""


def print_activity(activity: dict[str, Any]) -> None:
    """Prints the activity of the busiest links in the last second, a line for each."""
    links = activity["links"]
    busiest = sorted(links, key=lambda name: -links[name]["bytes"])[:MAX_METERED]
    width = max(map(len, busiest), default=0)
    for name in (name for name in links if name in busiest):
        link = links[name]
        delay_s = link["waited_s"] / link["packets"] if link["packets"] else None
        line = (
            f"{activity['time_s']:3.0f} s  {name:{width}}  {rate_text(8 * link['bytes']):>10}"
            f"{number(link['backlog_packets']):>6} waiting {milliseconds(delay_s):>6} ms"
            f"{number(link['drops']):>5} drops"
        )
        stderr().print(line, soft_wrap=True, markup=False, highlight=False)


def _print_uplink(uplink: dict[str, Any] | None) -> None:
    """Prints what the connection with the outside carried, or how it works."""
    if uplink is None:
        return
    if uplink["kind"] == "nat":
        servers = ", ".join(uplink["name_servers"])
        names = f"asked {servers} for names" if servers else "had no name server"
        stdout().print(
            f"Uplink: addresses were translated behind the far host; programs {names}.",
            soft_wrap=True,
        )
    else:
        carried = counted(uplink["connections"], "connection")
        stdout().print(
            f"Uplink: the SOCKS relay at {uplink['address']} carried {carried} and refused "
            f"{uplink['refused']}. TCP was split: the emulated link had only the part between "
            "programs and relay.",
            soft_wrap=True,
        )


def as_json(emulation: Emulation) -> dict[str, Any]:
    """Returns the figures of a run, the fidelity report and the ends of its programs."""
    return {
        **emulation.summary,
        "fidelity": emulation.fidelity,
        "kernel": emulation.kernel,
        "programs": emulation.programs,
        "interrupted": emulation.interrupted,
        **({} if emulation.uplink is None else {"uplink": emulation.uplink}),
    }


def exit_code(emulation: Emulation) -> int:
    """Returns the exit code of `emulate`."""
    if emulation.interrupted:
        return EXIT_INTERRUPTED
    if emulation.failed:
        return EXIT_PROGRAM_FAILED
    return EXIT_NOT_TRUSTED if emulation.fidelity["verdict"] == "not trusted" else 0


def _print_fidelity(fidelity: dict[str, Any]) -> None:
    """Prints the verdict, its reasons, and the lateness of packets."""
    verdict = fidelity["verdict"]
    lines = [f"[{COLOURS[verdict]}]The emulation is {verdict}.[/]"]
    lines += [f"  {plain(reason)}" for reason in fidelity["reasons"]]
    lines.append(
        f"Lateness of {counted(fidelity['packets'], 'packet')} in ms: "
        f"p50 {milliseconds(fidelity['p50_lateness_s'])}, "
        f"p99 {milliseconds(fidelity['p99_lateness_s'])}, "
        f"p99.9 {milliseconds(fidelity['p999_lateness_s'])}, "
        f"max {milliseconds(fidelity['max_lateness_s'])}; "
        f"{percent(fidelity['later_than_packet_share'])} later than the time of a packet."
    )
    if fidelity["p50_ack_delay_s"] is not None:
        lines.append(
            f"ACKs were due in ms: p50 {milliseconds(fidelity['p50_ack_delay_s'])}, "
            f"p99 {milliseconds(fidelity['p99_ack_delay_s'])}; "
            f"{percent(fidelity['late_ack_share'])} late because programs had not read."
        )
    held = fidelity["holds_up_to_bps"]
    if held is not None:
        lines.append(f"Lateness stays below a packet's time up to {rate_text(held)}.")
    stdout().print("")
    for line in lines:
        stdout().print(line, soft_wrap=True)


def _print_failures(emulation: Emulation) -> None:
    """Prints the programs that failed or did not end, on standard error."""
    for program in emulation.programs:
        if program["server"] or emulation.interrupted:
            continue
        if program["exit_code"] is program["signal"] is None:
            name = plain(shlex.join(program["command"]))
            stderr().print(f"[yellow]{name} did not end[/]", soft_wrap=True)
    for program in emulation.failed:
        name = plain(shlex.join(program["command"]))
        code, signal = program["exit_code"], program["signal"]
        how = f"exited with {code}" if signal is None else f"was ended by signal {signal}"
        host = "server" if program["server"] else "client"
        stderr().print(f"[red]error: {host}: {name} {how}[/]", soft_wrap=True)
