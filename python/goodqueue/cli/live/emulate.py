"""`goodqueue emulate`: real programs behind an emulated link, with figures of the link."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.cli.commands.options import drawing
from goodqueue.cli.exits import EXIT_INTERRUPTED, EXIT_NOT_TRUSTED
from goodqueue.cli.files import print_written, source_of
from goodqueue.cli.run import print_summary, print_traces, write_result
from goodqueue.core.outdir import check_apart, check_output, whole_directory
from goodqueue.errors import RequestError
from goodqueue.live.emulation import (
    WHOLE_FRAMES,
    Program,
    Records,
    check,
    emulate,
    kernel_line,
    link_settings,
    programs_of,
)
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
from goodqueue.runs.settings import scenario_of
from goodqueue.runs.traces import files_read

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goodqueue._core import Scenario
    from goodqueue.live.emulation import Emulation

LONGEST = "1h"
"""Largest duration of a run without a stated one."""

COLOURS = {"trusted": "green", "doubtful": "yellow", "not trusted": "red"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Outputs of an emulation.

    Attributes:
        json: print the figures as JSON.
        out: directory for tables and pictures; None for none.
        format_: formats of the pictures.
        caption: draw captions into the images.
        traces: file of each trace, by name.
        snap: size to which captured frames are cut; None for whole frames.
        meter: print the activity of links each second; None if standard error is a terminal.
    """

    json: bool
    out: Path | None
    format_: str | None
    caption: bool
    traces: dict[str, Path]
    snap: str | None
    meter: bool | None


def emulate_link(  # noqa: PLR0913, PLR0917
    command: Sequence[str],
    rate: str,
    rtt: str,
    queue: str | None,
    servers: Sequence[str],
    control: str | None,
    duration: str | None,
    wanted: Wanted,
) -> int:
    """Runs programs behind one link and prints what the link did."""
    settings = link_settings(rate, _core.parse_span("--rtt", rtt), queue, duration or LONGEST)
    programs = [Program(tuple(shlex.split(text)), server=True) for text in servers]
    scenario = scenario_of(settings, "the emulated link")
    return _emulate(scenario, [*programs, Program(tuple(command))], control, wanted, [])


def emulate_file(  # noqa: PLR0913
    file: str,
    overrides: list[tuple[str, str]],
    seed: int | None,
    control: str | None,
    wanted: Wanted,
    *,
    allow_commands: bool,
) -> int:
    """Runs the programs of a scenario file behind its links, if the user allows them.

    Raises:
        RequestError: if the user has not allowed them; the message lists them.
    """
    scenario = load(source_of(file), set=overrides, seed=seed)
    programs = programs_of(scenario)
    names = [name for name, _, _ in scenario.flows()]
    lines = [
        f"  {names[program.flow]}, {'server' if program.server else 'client'}: "
        f"{shlex.join(program.command)}"
        for program in programs
    ]
    if not allow_commands:
        listed = "\n".join(map(printable_lines, lines))
        raise RequestError(
            f"{file} starts these programs on this machine, with your permissions and your files:"
            f"\n{listed}\n  help: if you trust them, repeat the command with --allow-commands"
        )
    for line in lines:
        stderr().print(f"runs{line[1:]}", soft_wrap=True, markup=False)
    return _emulate(scenario, programs, control, wanted, [file, *files_read(scenario)])


def printable_lines(text: str) -> str:
    """Returns a text without characters that could hide a part of it on a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _emulate(
    scenario: Scenario,
    programs: Sequence[Program],
    control: str | None,
    wanted: Wanted,
    read: Sequence[str],
) -> int:
    """Runs programs, prints what the links did and writes the requested files."""
    pictured = drawing(wanted)
    if wanted.out is not None:
        check_output(wanted.out)
    outputs = {f"--pcap {name}": path for name, path in wanted.traces.items()}
    check_apart(read, {"--out/": wanted.out, **outputs})
    meter = sys.stderr.isatty() if wanted.meter is None else wanted.meter
    records = Records(
        over_time=wanted.out is not None,
        traces=wanted.traces,
        snap=wanted.snap or WHOLE_FRAMES,
    )
    emulation = emulate(
        scenario, programs, control, records=records, watch=print_activity if meter else None
    )
    figures = as_json(emulation)
    if wanted.json:
        print_json(figures)
    else:
        print_summary(emulation.summary)
        stdout().print(f"\n{plain(kernel_line(emulation.kernel))}.", soft_wrap=True)
        _print_fidelity(emulation.fidelity)
        _print_programs(emulation)
        print_traces(wanted.traces)
    if wanted.out is not None and emulation.result is not None:
        with whole_directory(wanted.out) as directory:
            write_result(emulation.result, directory, pictured, figures)
        if not wanted.json:
            print_written(wanted.out)
    return exit_code(emulation)


MOST_METERED = 4
"""Largest number of links in a line of the meter."""


def print_activity(activity: dict[str, Any]) -> None:
    """Prints the activity of the busiest links in the last second, as one line."""
    links = activity["links"]
    busiest = sorted(links, key=lambda name: -links[name]["bytes"])[:MOST_METERED]
    parts = []
    for name in (name for name in links if name in busiest):
        link = links[name]
        delay_s = link["waited_s"] / link["packets"] if link["packets"] else None
        parts.append(
            f"{name} {rate_text(8 * link['bytes'])}, {counted(link['backlog_packets'], 'packet')} "
            f"waiting, {milliseconds(delay_s)} ms, {counted(link['drops'], 'drop')}"
        )
    line = f"{activity['time_s']:.0f} s: {'; '.join(parts)}"
    stderr().print(line, soft_wrap=True, markup=False, highlight=False)


def check_machine() -> None:
    """Prints in one line that this machine can emulate a network; what it lacks is an error."""
    print(f"`emulate` works here. {check()}.")


def as_json(emulation: Emulation) -> dict[str, Any]:
    """Returns the figures of a run, the fidelity report and the ends of its programs."""
    return {
        **emulation.summary,
        "fidelity": emulation.fidelity,
        "kernel": emulation.kernel,
        "programs": emulation.programs,
        "interrupted": emulation.interrupted,
    }


def exit_code(emulation: Emulation) -> int:
    """Returns the exit code of `emulate`."""
    if emulation.interrupted:
        return EXIT_INTERRUPTED
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
    held = fidelity["holds_up_to_bps"]
    if held is not None:
        lines.append(f"Lateness stays below a packet's time up to {rate_text(held)}.")
    stdout().print("")
    for line in lines:
        stdout().print(line, soft_wrap=True)


def _print_programs(emulation: Emulation) -> None:
    """Prints the programs on near hosts that failed."""
    for program in emulation.programs:
        code = program["exit_code"]
        if not program["server"] and code != 0:
            name = plain(shlex.join(program["command"]))
            how = "did not end" if code is None else f"exited with {number(code)}"
            stderr().print(f"[yellow]{name} {how}[/]", soft_wrap=True)
