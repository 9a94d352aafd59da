"""Writes a manual page for each command: `python tools/site/man.py FOLDER`.

The pages come from the options of the commands, as `--help` does.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.cli.app import command_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def pages() -> Iterator[tuple[str, str]]:
    """Yields the name of each page, such as `goodqueue-run`, and its text."""
    whole = command_of([])
    yield "goodqueue", page("goodqueue", whole)
    for name, command in whole.commands.items():
        yield f"goodqueue-{name}", page(f"goodqueue {name}", command)
        for part, inner in getattr(command, "commands", {}).items():
            yield f"goodqueue-{name}-{part}", page(f"goodqueue {name} {part}", inner)


def page(name: str, command: Any) -> str:  # noqa: ANN401 - typer's classes have no public names
    """Returns the manual page of a command in the language of man(7)."""
    context = command.make_context(name, [], resilient_parsing=True)
    title = name.replace(" ", "-")
    purpose, _, rest = command.help.partition("\n")
    lines = [
        f'.TH "{title.upper()}" 1 "" "goodqueue {_core.version()}" "User commands"',
        ".SH NAME",
        f"{literal(title)} \\- {literal(purpose.rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {literal(name)}",
        literal(" ".join(command.collect_usage_pieces(context))),
        ".SH DESCRIPTION",
        literal(" ".join(command.help.split()) if rest else purpose),
    ]
    lines += section(
        "OPTIONS", [one.get_help_record(context) for one in command.get_params(context)]
    )
    inner = getattr(command, "commands", {})
    lines += section("COMMANDS", [(part, one.help) for part, one in inner.items()])
    if command.epilog:
        lines += [".SH EXIT STATUS", literal(" ".join(command.epilog.split()))]
    see = "goodqueue(1)" if name != "goodqueue" else "goodqueue-run(1), goodqueue-size(1)"
    return "\n".join([*lines, ".SH SEE ALSO", see, ""])


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
