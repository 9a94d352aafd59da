"""Writes a manual page for each command: `python tools/site/man.py FOLDER`.

The pages come from the options of the commands, as `--help` does.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.cli.app import command_of
from goodqueue.cli.examples import EXAMPLES as OF_COMMANDS

if TYPE_CHECKING:
    from collections.abc import Iterator


EXAMPLES = {
    "Size the buffer of a link by calibrated theory:": (
        "goodqueue size --rate 20Mbps --rtt 30ms --flows 4 --max-delay 50ms --quick"
    ),
    "Find the same buffer by simulation, and write the answer as a page:": (
        "goodqueue size --rate 20Mbps --rtt 30ms --flows 4 --max-delay 50ms --report answer.html"
    ),
    "Change a link in the browser, and see each change simulated:": "goodqueue lab",
}
"""Examples of the page of the whole program: the purpose of each, and its command."""


def pages() -> Iterator[tuple[str, str]]:
    """Yields the name of each page, such as `goodqueue-run`, and its text."""
    whole = command_of([])
    codes = whole.epilog
    names = [f"goodqueue-{name}" for name in whole.commands]
    yield "goodqueue", page("goodqueue", whole, codes, see=names)
    for name, command in whole.commands.items():
        inner = getattr(command, "commands", {})
        parts = [f"goodqueue-{name}-{part}" for part in inner]
        yield f"goodqueue-{name}", page(f"goodqueue {name}", command, codes, ["goodqueue", *parts])
        for part, one in inner.items():
            above = ["goodqueue", f"goodqueue-{name}"]
            yield f"goodqueue-{name}-{part}", page(f"goodqueue {name} {part}", one, codes, above)


def page(name: str, command: Any, codes: str, see: list[str]) -> str:  # noqa: ANN401 - typer's classes have no public names
    """Returns the manual page of a command in the language of man(7).

    `codes` describes the exit codes, and `see` has the names of related pages.
    """
    context = command.make_context(name, [], resilient_parsing=True)
    title = name.replace(" ", "-")
    purpose, _, rest = command.help.partition("\n")
    # typer writes a required argument in braces, which manual pages have only around alternatives.
    synopsis = re.sub(r"{([^{}|]+)}", r"\1", " ".join(command.collect_usage_pieces(context)))
    lines = [
        f'.TH "{title.upper()}" 1 "" "goodqueue {_core.version()}" "User commands"',
        ".SH NAME",
        f"{literal(title)} \\- {literal(purpose.rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {literal(name)}",
        literal(synopsis),
        ".SH DESCRIPTION",
        literal(" ".join(command.help.split()) if rest else purpose),
    ]
    lines += section(
        "OPTIONS", [one.get_help_record(context) for one in command.get_params(context)]
    )
    inner = getattr(command, "commands", {})
    lines += section("COMMANDS", [(part, one.help) for part, one in inner.items()])
    own = [("", example) for example in OF_COMMANDS[name.partition(" ")[2]]]
    lines += examples(list(EXAMPLES.items()) if name == "goodqueue" else own)
    lines += [".SH EXIT STATUS", literal(" ".join(codes.split()))]
    # \\% keeps a name on one line.
    lines += [".SH SEE ALSO", ", ".join(f"\\%{literal(one)}(1)" for one in see)]
    return "\n".join([*lines, ""])


def examples(known: list[tuple[str, str]]) -> Iterator[str]:
    """Yields the section of examples, each with its purpose, which may be empty."""
    yield ".SH EXAMPLES"
    for purpose, example in known:
        yield from (".PP", literal(purpose)) if purpose else ()
        yield from (".PP", ".nf", ".RS 4", *map(literal, example.split("\n")), ".RE", ".fi")


def section(title: str, records: list[Any]) -> Iterator[str]:
    """Yields a section of names with their meanings; nothing if there are none."""
    found = [record for record in records if record]
    if found:
        yield f".SH {title}"
    for name, meaning in found:
        bare = name.partition(" <")[0]  # without the type of an argument
        yield from (".TP", f".B {literal(bare)}", literal(" ".join((meaning or "").split())))


def literal(text: str) -> str:
    """Returns a text without letters that have a meaning in man(7)."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped[:1] in {".", "'"} else escaped


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages():
        (folder / f"{name}.1").write_text(text, encoding="utf-8")
