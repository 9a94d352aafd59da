"""One stage of an emulation, run as `python -m goodqueue.live.stage STAGE ...`.

Only a process with one thread can enter a user namespace. A stage therefore imports no library that
may start threads.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from functools import partial
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.core.text import print_message
from goodqueue.live import precedence
from goodqueue.live.tables import save_tables
from goodqueue.live.uplink.nat import hand_over

if TYPE_CHECKING:
    from collections.abc import Callable

EXIT_REFUSED = 71
"""Exit code of a stage that the operating system refused a step."""


def launcher(stage: str) -> list[str]:
    """Returns the command that runs a stage, without its arguments."""
    return [sys.executable, "-m", "goodqueue.live.stage", stage]


def enter(job: str, answer: str) -> int:
    """Makes namespaces and runs the next stage in them.

    Args:
        job: number of the open file from which the next stage reads its job.
        answer: number of the open file to which results, or the reason for a refusal, are written.
    """
    # A terminal sends Ctrl-C to all processes of a run. The next stage ends the run, and this one
    # ends after it.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as of a job in the background
        signal.signal(signal.SIGINT, lambda _number, _frame: None)
    # Only in the user's own namespace can root take precedence over the programs of others.
    niceness = precedence.take()
    try:
        code = _core.emulate_enter([*launcher("route"), job, answer, str(niceness)])
    except RuntimeError as error:
        return refuse(answer, error)
    return EXIT_REFUSED if code is None else code


def route(job: str, answer: str, niceness: str) -> int:
    """Emulates the network of a job and writes the results as JSON.

    Args:
        job: number of the open file from which the job is read.
        answer: number of the open file to which the results are written.
        niceness: niceness of the programs.
    """
    # The starter of the run interrupts it by closing the other end of this file.
    with os.fdopen(int(job), encoding="utf-8", closefd=False) as file:
        wanted = json.loads(file.readline())
    scenario = _core.Scenario.parse(wanted["scenario"].encode(), "the emulated network", [])
    programs = [(p["flow"], p["server"], p["command"]) for p in wanted["programs"]]
    parameters = list(wanted["parameters"].items())
    stop = f"/proc/self/fd/{job}"
    join = None if wanted["join"] is None else partial(hand_over, wanted["join"])
    with os.fdopen(int(answer), "w", encoding="utf-8", closefd=False) as file:

        def watch(activity: str) -> None:
            file.write(activity + "\n")
            file.flush()

        try:
            result, outcome, waits = _core.emulate_route(
                scenario,
                programs,
                parameters,
                [*launcher("program"), niceness, wanted["resolver"]],
                wanted["user"],
                stop,
                wanted["tables"] is not None,
                [(name, path) for name, path in wanted["traces"]],
                wanted["snap"],
                watch if wanted["watched"] else None,
                join,
            )
        except (OSError, RuntimeError) as error:
            return refuse(answer, error)
    if wanted["tables"] is not None:
        save_tables(wanted["tables"], outcome, waits)
    write(answer, result)
    return 0


def refuse(answer: str, error: Exception) -> int:
    """Writes the reason for a refusal. Returns the exit code of the stage."""
    write(answer, json.dumps({"refused": str(error)}))
    return EXIT_REFUSED


def write(answer: str, text: str) -> None:
    """Writes the answer of the stages."""
    with os.fdopen(int(answer), "w", encoding="utf-8") as file:
        file.write(text)


def program(niceness: str, resolver: str, user: str, hosts: str, *command: str) -> int:
    """Becomes a program of the user. Returns only if the operating system refuses."""
    precedence.give_up(int(niceness))
    error = _core.emulate_program(int(user), hosts, resolver, list(command))
    print_message(f"{command[0]}: {error}")
    return EXIT_REFUSED


def main(arguments: list[str]) -> int:
    """Runs the stage that the first argument names, with the other arguments."""
    stages: dict[str, Callable[..., int]] = {"enter": enter, "route": route, "program": program}
    return stages[arguments[0]](*arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
