"""`goodqueue schema`, `export`, `import` and `qdisc`: scenarios and queues of other tools.

The schema is printed without the libraries that the other commands need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue import _core

if TYPE_CHECKING:
    from goodqueue.cli.commands.formats import Export, Import, Parse, Print, Schema


def print_schema(_asked: Schema) -> int:
    """Prints the JSON Schema of scenario files."""
    print(_core.schema())
    return 0


def export_scenario(asked: Export) -> int:
    """Prints a scenario as a script for another tool, and its differences on standard error."""
    from goodqueue.cli.commands.options import overrides
    from goodqueue.cli.files import source_of
    from goodqueue.exchange import export
    from goodqueue.output.terminal import print_json, stderr
    from goodqueue.runs.api import load

    source = source_of(asked.file)
    scenario = load(source, set=overrides(asked.set_), seed=asked.seed)
    name = asked.file if asked.file != "-" else "<stdin>"
    script = export(scenario, asked.to, name)
    if asked.json:
        keys = ("text", "notes", "commands")
        print_json({"tool": asked.to, **{key: getattr(script, key) for key in keys}})
        return 0
    print(script.text, end="")
    for note in script.notes:
        stderr().print(f"Note: {note}.", markup=False)
    return 0


def import_script(asked: Import) -> int:
    """Prints or writes a script as a scenario, and its differences on standard error."""
    from goodqueue.cli.files import print_wrote
    from goodqueue.core.files.outdir import check_apart, check_file, write_whole
    from goodqueue.exchange import import_ns2
    from goodqueue.output.terminal import print_json, stderr

    if asked.output is not None:
        check_file(asked.output)
        check_apart([asked.file], {"--output": asked.output})
    imported = import_ns2(asked.file, asked.arguments or ())
    if asked.output is not None:
        write_whole(asked.output, imported.toml)
        print_wrote(asked.output)
    if asked.json:
        print_json({"scenario": imported.toml, "notes": imported.notes})
        return 0
    if asked.output is None:
        print(imported.toml, end="")
    for note in imported.notes:
        stderr().print(f"Note: {note}.", markup=False)
    return 0


def parse_line(asked: Parse) -> int:
    """Prints a line of `tc qdisc show`, or `-` for standard input, as the table of a queue."""
    from goodqueue.core.files.reading import read_standard_input
    from goodqueue.output.terminal import print_json, say, stdout
    from goodqueue.runs.settings import inline_table

    line = read_standard_input() if asked.line == "-" else asked.line
    table, commands, notes = _core.parse_qdisc(line)
    if asked.json:
        print_json({"queue": inline_table(table, "the queue"), "tc": commands, "notes": notes})
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
