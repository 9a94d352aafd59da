"""Mistakes on the command line and in files give one message and exit code 2, and run nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conftest import LONG, SMALL, goodqueue, refused
from goodqueue.cli import run_command
from goodqueue.study import runner

if TYPE_CHECKING:
    from pathlib import Path

MISTAKES = [
    ('rate = "1Mbps"', 'rate = "1mbps"', 8, 'topology.bottleneck.rate: "1mbps" is ambiguous'),
    ('rate = "1Mbps"', "rate = 1", 8, 'help: write "1Mbps"'),
    ('rate = "1Mbps"', 'rate = "0Mbps"', 8, "help: write a rate from 1bps"),
    ('delay = "10ms"', 'delay = "-10ms"', 9, "negative"),
    ('delay = "10ms"', "delay = nan", 9, 'help: write a time with its unit, as in "10ms"'),
    ('limit = "20p"', 'limt = "20p"', 31, 'help: did you mean "limit"?'),
    ('duration = "20s"', 'duration = "1e30s"', 12, "help:"),
    ('kind = "bulk"', 'kind = "bulkk"', 21, 'help: did you mean "bulk"?'),
    ("schema_version = 1", "schema_version = 3", 18, "help:"),
    ("[[flow]]", "[[flow", 7, "help: close what the line opens"),
]


@pytest.mark.parametrize(("good", "bad", "column", "part"), MISTAKES)
def test_a_mistake_in_a_file_is_located_and_explained(
    small: Path, good: str, bad: str, column: int, part: str
) -> None:
    assert good in SMALL
    small.write_text(SMALL.replace(good, bad, 1))
    line = SMALL[: SMALL.index(good)].count("\n") + 1
    for command in ("run", "size"):
        message = refused(goodqueue(command, small))
        assert message.startswith(f"error: {small}:{line}:{column}:")
        assert part in message


def test_a_missing_key_is_named(small: Path) -> None:
    small.write_text(SMALL.replace('duration = "20s"\n', ""))
    assert "duration" in refused(goodqueue("run", small))


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe\x00", b"[" * 10_000_000, b"a = " * 1000, b"\x00" * 10, b"", b"{}", b"=" * 500],
    ids=["utf-16", "brackets", "chain", "nul", "empty", "braces", "equals"],
)
def test_a_file_that_is_no_scenario_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    assert "bad.toml" in refused(goodqueue("run", path))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert "nowhere.toml" in refused(goodqueue("run", tmp_path / "nowhere.toml"))
    assert "directory" in refused(goodqueue("run", tmp_path)).lower()


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--set", "topology.bottleneck.rate=1mbps"], "--set topology.bottleneck.rate=1mbps"),
        (["--set", "topology.bottleneck.queue"], "PATH=VALUE"),
        (["--set", "nothing.here=1"], "nothing"),
        (["--seed", "-1"], "--seed"),
        (["--seed", "99999999999999999999"], "--seed"),
        (["--nonsense"], "--nonsense"),
        (["--series"], "--out"),
    ],
)
def test_a_mistake_in_an_option_is_refused_with_the_option(
    small: Path, arguments: list[str], part: str
) -> None:
    assert part in refused(goodqueue("run", small, *arguments))


@pytest.mark.parametrize("arguments", [["nonsense"], ["run"]])
def test_an_unknown_command_and_a_missing_argument_are_refused(arguments: list[str]) -> None:
    refused(goodqueue(*arguments))


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--target", "120%"], "--min-utilization"),
        (["--min-utilization", "1.2"], "--min-utilization"),
        (["--target", "0%"], "0%"),
        (["--target", "98"], "98%"),
        (["--max-loss", "120%"], "--max-loss"),
        (["--max-delay", "50"], "--max-delay"),
        (["--max-loss", "0%"], "loss of 0%"),
        (["--max-delay", "0s"], "no packet to wait"),
        (["--replicates", "2"], "--replicates"),
        (["--jobs", "0"], "--jobs"),
        (["--link", "bottelneck"], "did you mean 'bottleneck'"),
    ],
)
def test_impossible_questions_are_refused_before_any_run(
    small: Path, arguments: list[str], part: str
) -> None:
    # A run of this length would take hours.
    assert part in refused(goodqueue("size", small, *LONG, *arguments))


@pytest.mark.parametrize(
    "command",
    [
        ("size", "--rate", "2Mbps", "--rtt", "40ms", "--flows", "1", "--report"),
        ("reproduce", "gijsbers2011", "table1", "--report"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_any_run(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner.Runner, "figures", lambda *_arguments: pytest.fail("it ran"))
    assert run_command([*command, str(tmp_path)]) == 2
    assert run_command([*command, str(tmp_path / "none" / "page.html")]) == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["size", "--quick", "--aqm", "pie"], "--aqm applies to runs"),
        (["size", "--quick", "--replicates", "5"], "--replicates applies to runs"),
        (["size", "--quick", "--store", "x"], "--store applies to runs"),
        (["size", "--quick", "--jobs", "3"], "--jobs applies to runs"),
        (["reproduce", "--list", "gijsbers2011", "table4"], "TABLE cannot be combined with --list"),
        (["reproduce", "--list", "--all"], "--all cannot be combined with --list"),
        (["reproduce", "--list", "--report", "x"], "--report cannot be combined with --list"),
        (["reproduce", "gijsbers2012"], "did you mean 'gijsbers2011'?"),
        (["reproduce", "gijsbers2011", "tabel4"], "did you mean 'table4'?"),
        (["size", "--seed", "-1"], "--seed': -1: write a number from 0 to"),
        (["size", "--seed", "9" * 20], "write a number from 0 to 9223372036854775807"),
    ],
)
def test_options_that_would_be_ignored_and_names_misspelt_are_refused(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    link = ["--rate", "2Mbps", "--rtt", "40ms", "--flows", "1"]
    assert run_command([*arguments, *(link if arguments[0] == "size" else [])]) == 2
    assert says in capsys.readouterr().err


STUDY = """\
schema_version = 1
scenario = "small.toml"

[sweep]
topology.bottleneck.queue.limit = ["7p", "23p"]
"""


def test_a_scenario_in_place_of_a_study_is_called_by_its_name(small: Path) -> None:
    message = refused(goodqueue("sweep", small))
    assert message.startswith(f"error: {small}: this is a scenario, and no study\n")
    assert f"goodqueue run {small}" in message
    assert 'scenario = "small.toml"' in message
    assert "[sweep]" in message


@pytest.mark.parametrize("command", ["run", "size", "lab"])
def test_a_study_in_place_of_a_scenario_is_called_by_its_name(small: Path, command: str) -> None:
    study = small.with_name("study.toml")
    study.write_text(STUDY)
    message = refused(goodqueue(command, study))
    assert message.startswith(f"error: {study}: this is a study, and no scenario\n")
    assert f"goodqueue sweep {study}" in message


def test_a_mistake_of_a_study_is_still_located(small: Path) -> None:
    study = small.with_name("study.toml")
    study.write_text(STUDY + "seds = 2\n")
    assert f"{study}:6:" in refused(goodqueue("sweep", study))


def test_a_number_without_unit_gets_a_hint(small: Path) -> None:
    message = refused(goodqueue("run", small, "--set", "duration=10"))
    assert message.startswith("error: --set duration=10: duration: 10 has no unit\n")
    assert "units: ps, ns, us, ms, s, min, h" in message
