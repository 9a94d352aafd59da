"""Collects the pages of the site in a folder, with the references that are made from the code.

`python tools/site/stage.py FOLDER [--lab]` writes them. The folder has the layout of the
repository, so that links between pages work on the site as they do in the checkout.
"""

from __future__ import annotations

import os.path
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import goodqueue
from goodqueue import _HOMES
from goodqueue.cli.app import command_of

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]

SHOWN = (":(glob)*.md", "LICENSE", "docs", "examples", "scenarios/*", "studies/*")
"""Patterns of git for the files that the site contains."""

LAB = re.compile(r"<!-- lab(?P<part>\?embed)?: (?P<settings>\S+) -->\n")
"""Place of a page at which the site shows the lab, or the part of it that is made for other pages,
with settings as in the lab's address."""

FRAME = (
    r'<iframe class="lab" src="UP/lab/index.html\g<part>#\g<settings>" title="The lab"></iframe>'
    "\n"
)

LINK = re.compile(r"\[[\w./-]+\.md\]\((?P<page>[\w./-]+\.md)(?P<anchor>#[^)]*)?\)")
"""A link whose text is the name of a page's file."""

PYTHON_HEAD = """\
# Python

The public names of the package `goodqueue`, from its docstrings. [results.md](../docs/results.md)
explains every figure, and [sizing.md](../docs/sizing.md#from-python) shows how to size a link.
"""

COMMANDS_HEAD = """\
# Commands and options

Every option of every command, from the code. [cli.md](../docs/cli.md) explains what the commands
do.
"""


def stage(folder: Path, *, lab: bool) -> None:
    """Writes the pages and static files of the site into an empty folder.

    Args:
        folder: the folder.
        lab: True if the site contains the lab with an engine of its own.
    """
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *SHOWN]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(os.path.isfile, (ROOT / line for line in listed.stdout.splitlines())):
        target = folder / name.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(name, target)
    shutil.copyfile(Path(__file__).with_name("site.css"), folder / "site.css")
    reference = folder / "reference"
    reference.mkdir()
    (reference / "python.md").write_text(PYTHON_HEAD + "".join(python()), encoding="utf-8")
    (reference / "commands.md").write_text(COMMANDS_HEAD + "".join(commands()), encoding="utf-8")
    for page in folder.rglob("*.md"):
        up = "../" * (len(page.relative_to(folder).parts) - 1)
        text = with_titles(page.read_text(encoding="utf-8"), page)
        page.write_text(LAB.sub(FRAME.replace("UP/", up) if lab else "", text), "utf-8")


def with_titles(text: str, page: Path) -> str:
    """Returns the text of a page, whose links show the title of a page in place of its file."""

    def titled(link: re.Match[str]) -> str:
        heading = (page.parent / link["page"]).read_text(encoding="utf-8").partition("\n")[0]
        return f"[{heading.removeprefix('# ')}]({link['page']}{link['anchor'] or ''})"

    return LINK.sub(titled, text)


def python() -> Iterator[str]:
    """Yields a directive of mkdocstrings for each public name of the package."""
    for name in goodqueue.__all__:
        home = _HOMES.get(name, "goodqueue.errors")
        yield f"\n::: {home}.{name}\n    options:\n"
        yield f"      heading: goodqueue.{name}\n      toc_label: {name}\n"


def commands() -> Iterator[str]:
    """Yields a section for each command."""
    for name, command in command_of([]).commands.items():
        for part, subcommand in getattr(command, "commands", {"": command}).items():
            yield from section(f"goodqueue {name} {part}".rstrip(), subcommand)


def section(name: str, command: Any) -> Iterator[str]:  # noqa: ANN401 - typer's classes have no public names
    """Yields the section of a command: its purpose, its arguments and its options."""
    context = command.make_context(name, [], resilient_parsing=True)
    usage = re.sub(r"[{}]", "", " ".join(command.collect_usage_pieces(context)))
    yield f"\n## `{name}`\n\n{command.help}\n\n    {name} {usage}\n"
    rows = [found for one in command.get_params(context) if (found := row(one, context))]
    if rows:
        yield "\n| argument or option | meaning |\n| --- | --- |\n"
        yield from rows


def row(parameter: Any, context: Any) -> str:  # noqa: ANN401
    """Returns the row of an argument or option; none for `--help`."""
    if "--help" in parameter.opts:
        return ""
    names, meaning = parameter.get_help_record(context)
    names = re.sub(r" <.*>$", "", names)  # the type of an argument
    return "| `{}` | {} |\n".format(
        names.replace("|", "\\|"),
        " ".join(meaning.split()).replace("|", "\\|").replace("<", "&lt;"),
    )


if __name__ == "__main__":
    stage(Path(sys.argv[1]), lab="--lab" in sys.argv[2:])
