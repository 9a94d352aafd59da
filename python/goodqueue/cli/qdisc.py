"""`goodqueue qdisc`: converts queues of Linux's `tc` to scenario tables, and back to commands."""

from __future__ import annotations

import sys
import tomllib
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.cli.commands.options import overrides
from goodqueue.cli.files import source_of
from goodqueue.output.terminal import print_json, say, stdout
from goodqueue.runs.api import load

if TYPE_CHECKING:
    from goodqueue.cli.commands.qdisc import Parse, Print


def parse_line(asked: Parse) -> int:
    """Prints a line of `tc qdisc show`, or `-` for standard input, as the table of a queue."""
    line = sys.stdin.read() if asked.line == "-" else asked.line
    table, commands, notes = _core.parse_qdisc(line)
    if asked.json:
        queue = tomllib.loads(f"queue = {table}")["queue"]
        print_json({"queue": queue, "tc": commands, "notes": notes})
        return 0
    say(f"queue = {table}")
    console = stdout()
    console.print('Bytes are those of a link with framing = "14B": tc counts the Ethernet header.')
    for note in notes:
        console.print(f"Note: {note}.", markup=False)
    return 0


def print_commands(asked: Print) -> int:
    """Prints the commands that give a Linux device the queue of a link."""
    commands = load(source_of(asked.file), set=overrides(asked.set_)).qdisc(asked.link)
    if asked.json:
        print_json({"link": asked.link, "tc": commands})
        return 0
    say(*commands)
    return 0
