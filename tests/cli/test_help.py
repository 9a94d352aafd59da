"""Pages of help: each fits a screen of 40 lines and 80 columns, and has two examples that work."""

from __future__ import annotations

import re
import shlex
from dataclasses import fields
from typing import TYPE_CHECKING

import pytest

from goodqueue.cli import run_command
from goodqueue.cli.app import COMMANDS, GROUPS, command_of
from goodqueue.cli.examples import EXAMPLES, FIRST
from goodqueue.cli.help import ALL, SCREEN_COLUMNS, SCREEN_LINES

if TYPE_CHECKING:
    from collections.abc import Iterator

PARTS = {f"{group} {part}": made for group, inner in GROUPS.items() for part, made in inner.items()}
MADE = {**COMMANDS, **PARTS}
NAMES = ["", *COMMANDS, *GROUPS, *PARTS]


def page(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run_command([*words]) == 0
    return capsys.readouterr().out


def commands(name: str) -> Iterator[list[str]]:
    """Yields the words of the examples of a command, without pipes."""
    for example in EXAMPLES[name]:
        words = shlex.split(example.replace("\\\n", ""))
        start = words.index("goodqueue")
        yield words[start + 1 : words.index(">") if ">" in words else None]


@pytest.mark.parametrize("name", NAMES)
def test_a_page_fits_a_screen_and_has_two_examples(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = page(capsys, *name.split(), "--help").splitlines()
    assert len(lines) <= SCREEN_LINES <= 40
    assert max(map(len, lines)) <= SCREEN_COLUMNS <= 80
    at = lines.index("Examples:")
    shown = lines[at + 1 : lines.index("", at)]
    assert len([line for line in shown if not line.startswith("      ")]) == 2
    assert shown == [f"  {line}" for one in EXAMPLES[name] for line in one.split("\n")]


@pytest.mark.parametrize("name", NAMES)
def test_the_whole_page_describes_every_option(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if name not in MADE:
        return
    short, whole = (page(capsys, *name.split(), option) for option in ("--help", ALL))
    options = set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", whole, re.MULTILINE))
    for field in fields(MADE[name][0]):
        option = "--" + field.name.strip("_").replace("_", "-")
        if re.search(rf"(?<![\w-]){option}(?![\w-])", whole):
            assert option in short
    assert options <= set(re.findall(r"--[\w-]+", short))
    assert ("More options" in short) == (short != whole)


@pytest.mark.parametrize("name", MADE)
def test_examples_are_accepted(name: str) -> None:
    """They are read, and their options go together."""
    for words in commands(name):
        depth = len(name.split())
        assert words[:depth] == name.split()
        if ALL in words:
            continue
        found = command_of(words)
        for part in name.split():
            found = found.commands[part]
        context = found.make_context(name, words[depth:])
        own = {field.name for field in fields(MADE[name][0])}
        values = {key: value for key, value in context.params.items() if key in own}
        MADE[name][0](**values, **({"context": context} if "context" in own else {}))


def test_examples_of_groups_are_those_of_their_commands() -> None:
    every = {tuple(words) for name in MADE for words in commands(name)}
    for name in ("", *GROUPS):
        for words in commands(name):
            assert words[0] in {*COMMANDS, *GROUPS}
            if name:
                assert tuple(words) in every


def test_the_whole_page_of_the_program_has_the_exit_codes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole = page(capsys, ALL)
    assert "Exit codes: 0 answered" in whole
    assert "--install-completion" in whole
    short = page(capsys, "--help")
    assert re.search(r"--help-all +Show completion and the exit codes", short)


def test_the_first_options_exist() -> None:
    for name, options in FIRST.items():
        known = {option for one in command_of([name]).commands[name].params for option in one.opts}
        assert set(options) <= known, name


def test_a_program_may_have_an_option_of_this_name() -> None:
    words = ["emulate", "--rate", "1Mbps", "--rtt", "1ms", "--", "program", ALL]
    context = command_of(words).commands["emulate"].make_context("emulate", words[1:])
    assert context.params["command"] == ["program", ALL]
