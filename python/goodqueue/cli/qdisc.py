"""`goodqueue qdisc`: converts queues of Linux's `tc` to scenario tables, and back to commands."""

from __future__ import annotations

import sys
import tomllib

from goodqueue import _core
from goodqueue.cli.files import source_of
from goodqueue.output.terminal import print_json, say, stdout
from goodqueue.runs.api import load


def parse_line(line: str, *, json: bool) -> int:
    """Prints a line of `tc qdisc show`, or `-` for standard input, as the table of a queue."""
    table, commands, notes = _core.parse_qdisc(sys.stdin.read() if line == "-" else line)
    if json:
        queue = tomllib.loads(f"queue = {table}")["queue"]
        print_json({"queue": queue, "tc": commands, "notes": notes})
        return 0
    say(f"queue = {table}")
    console = stdout()
    console.print('Bytes are those of a link with framing = "14B": tc counts the Ethernet header.')
    for note in notes:
        console.print(f"Note: {note}.", markup=False)
    return 0


def print_commands(file: str, overrides: list[tuple[str, str]], link: str, *, json: bool) -> int:
    """Prints the commands that give a Linux device the queue of a link."""
    commands = load(source_of(file), set=overrides).qdisc(link)
    if json:
        print_json({"link": link, "tc": commands})
        return 0
    say(*commands)
    return 0
