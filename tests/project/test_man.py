"""Every command has a manual page, which groff accepts."""

from __future__ import annotations

import shutil
import subprocess

import pytest

import man  # tools/site is on the path
from goodqueue.cli.app import COMMANDS, GROUPS, command_of

PAGES = dict(man.pages())


def test_every_command_has_a_page() -> None:
    names = {f"goodqueue-{name}" for name in [*COMMANDS, *GROUPS]}
    parts = {f"goodqueue-{group}-{part}" for group, inner in GROUPS.items() for part in inner}
    assert set(PAGES) == {"goodqueue", *names, *parts}


def test_a_page_has_the_options_of_its_command() -> None:
    assert "\n.B \\-\\-to TOOL\n" in PAGES["goodqueue-export"]
    assert "Exit codes: 0 answered" in PAGES["goodqueue"]


def test_a_synopsis_has_arguments_as_in_other_manual_pages() -> None:
    assert synopsis("goodqueue-run") == "[OPTIONS] FILE"
    assert synopsis("goodqueue-size") == "[OPTIONS] [FILE]"
    assert synopsis("goodqueue-emulate") == "[OPTIONS] {FILE | \\-\\- COMMAND ...}..."


def synopsis(page: str) -> str:
    lines = PAGES[page].splitlines()
    return lines[lines.index(".SH SYNOPSIS") + 2]


def test_every_page_has_the_exit_codes_and_names_the_pages_of_its_parts() -> None:
    assert all("\n.SH EXIT STATUS\n" in text for text in PAGES.values())
    whole = PAGES["goodqueue"].partition(".SH SEE ALSO")[2]
    assert all(f"{man.literal(f'goodqueue-{name}')}(1)" in whole for name in [*COMMANDS, *GROUPS])
    assert "goodqueue\\-qdisc\\-parse(1)" in PAGES["goodqueue-qdisc"]
    assert "goodqueue(1)" in PAGES["goodqueue-qdisc-parse"]


@pytest.mark.parametrize("example", man.EXAMPLES.values())
def test_examples_have_options_that_exist(example: str) -> None:
    program, name, *arguments = example.split()
    assert program == "goodqueue"
    command_of([name]).commands[name].make_context(name, arguments)


def test_every_page_has_examples() -> None:
    for name, text in PAGES.items():
        examples = text.partition(".SH EXAMPLES")[2].partition(".SH EXIT STATUS")[0]
        assert examples.count(".nf\n") >= 2, name


@pytest.mark.parametrize("name", PAGES)
def test_groff_accepts_a_page(name: str) -> None:
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("NO GROFF ON THIS MACHINE: manual pages were not checked (Debian: groff)")
    command = [groff, "-man", "-Tutf8", "-ww", "-z"]
    done = subprocess.run(
        command, input=PAGES[name], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert not done.stderr


def test_a_leading_dot_is_text() -> None:
    assert man.literal(".TH") == "\\&.TH"
