"""`goodqueue emulate`: real programs behind an emulated link, with figures of the link."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.cli.exits import EXIT_INTERRUPTED, EXIT_NOT_TRUSTED
from goodqueue.cli.run import print_summary
from goodqueue.live.emulation import Program, emulate, link_settings
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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.live.emulation import Emulation

COLOURS = {"trusted": "green", "doubtful": "yellow", "not trusted": "red"}


def emulate_link(  # noqa: PLR0913, PLR0917
    command: Sequence[str],
    rate: str,
    rtt: str,
    queue: str | None,
    servers: Sequence[str],
    control: str | None,
    duration: str,
    *,
    json: bool,
) -> int:
    """Runs programs behind one link and prints what the link did."""
    settings = link_settings(rate, _core.parse_span("--rtt", rtt), queue, duration)
    programs = [Program(tuple(shlex.split(text)), server=True) for text in servers]
    emulation = emulate(settings, [*programs, Program(tuple(command))], control)
    if json:
        print_json(as_json(emulation))
    else:
        print_summary(emulation.summary)
        _print_fidelity(emulation.fidelity)
        _print_programs(emulation)
    return exit_code(emulation)


def as_json(emulation: Emulation) -> dict[str, Any]:
    """Returns the figures of a run, the fidelity report and the ends of its programs."""
    return {
        **emulation.summary,
        "fidelity": emulation.fidelity,
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
