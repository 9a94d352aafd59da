"""`goodqueue schema` and `goodqueue qdisc`: the keys of scenarios, and queues in Linux's `tc`.

The schema is printed without the libraries that the other commands need.
"""

from __future__ import annotations

import sys
import tomllib
from typing import TYPE_CHECKING

from goodqueue import _core

if TYPE_CHECKING:
    from goodqueue.cli.commands.formats import Parse, Print, Schema


def print_schema(_asked: Schema) -> int:
    """Prints the JSON Schema of scenario files."""
    print(_core.schema())
    return 0


def parse_line(asked: Parse) -> int:
    """Prints a line of `tc qdisc show`, or `-` for standard input, as the table of a queue."""
    from goodqueue.output.terminal import print_json, say, stdout

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
    from goodqueue.cli.commands.options import overrides
    from goodqueue.cli.files import source_of
    from goodqueue.output.terminal import print_json, say
    from goodqueue.runs.api import load

    commands = load(source_of(asked.file), set=overrides(asked.set_)).qdisc(asked.link)
    if asked.json:
        print_json({"link": asked.link, "tc": commands})
        return 0
    say(*commands)
    return 0
