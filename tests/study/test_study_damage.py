"""Damaged, newer and foreign folders of studies: one message, never other results."""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from conftest import refused
from evidence.studies.flips import STUDY, Damaged, attempt, content, flip, harm
from evidence.studies.flips import Tally as Inputs
from goodqueue import RequestError, Results, Study
from goodqueue.cli import run_command
from goodqueue.errors import DamageError
from goodqueue.study.record.store import LEDGER, TABLES, Store
from goodqueue.study.record.verify import repair, verify

if TYPE_CHECKING:
    from pathlib import Path

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Damaged:
    """Returns a whole store from which damaged copies are made."""
    return Damaged(tmp_path_factory.mktemp("flips"))


@pytest.fixture
def goodqueue(capsys: pytest.CaptureFixture[str]) -> Command:
    """Returns a function that runs the command line in this process, which saves time."""

    def call(*arguments: object) -> subprocess.CompletedProcess[str]:
        words = [str(argument) for argument in arguments]
        capsys.readouterr()
        code = run_command(words)
        written = capsys.readouterr()
        return subprocess.CompletedProcess(words, code, written.out, written.err)

    return call


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Returns the folder of a study of eight runs, each with a table."""
    folder = tmp_path / "runs"
    Study(STUDY).run(folder, jobs=2)
    return folder


def sql(folder: Path, *statements: str) -> None:
    """Changes a ledger with SQL, bypassing goodqueue."""
    with closing(sqlite3.connect(folder / LEDGER, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def flip_a_table(folder: Path) -> Path:
    """Flips a bit in the middle of one table."""
    table = min((folder / TABLES).iterdir())
    data = bytearray(table.read_bytes())
    data[len(data) // 2] ^= 1
    table.write_bytes(data)
    return table


def test_no_flipped_bit_changes_a_result_silently(damaged: Damaged) -> None:
    draw = random.Random(58)  # noqa: S311 - no secret
    refusals = 0
    for _ in range(400):
        damaged.make(draw, flip)
        refusals += damaged.is_refused()  # raises an error if other results are read
    # The other bits have no meaning: they are in free space, or in counters of SQLite.
    assert refusals > 200


def test_reading_checking_and_repairing_agree_about_damage(damaged: Damaged) -> None:
    draw, inputs = random.Random(7), Inputs()  # noqa: S311 - no secret
    for _ in range(40):
        damaged.make(draw, harm)
        attempt(damaged, inputs)
    assert inputs.refused > 20


def test_a_damaged_row_is_listed_dropped_and_run_again(
    runs: Path, tmp_path: Path, goodqueue: Command
) -> None:
    whole = content(runs)
    study = tmp_path / "study.toml"
    study.write_text(STUDY)
    sql(runs, "UPDATE runs SET seed = seed + 100 WHERE seed = 3")
    for command in (("results", runs), ("sweep", study, "--out", runs)):
        message = refused(goodqueue(*command))
        assert "is damaged" in message
        assert "(seed 103)" in message
        assert "(and 1 more)" in message
        assert "--repair" in message
    listed = goodqueue("results", runs, "--verify")
    assert listed.returncode == 5
    assert listed.stdout.count("the checksum differs") == 2
    assert "6 rows and 6 tables intact" in listed.stdout
    report = json.loads(goodqueue("results", runs, "--verify", "--json").stdout)
    assert (report["rows"], len(report["damage"]), report["repaired"]) == (6, 2, False)
    mended = goodqueue("results", runs, "--repair")
    assert mended.returncode == 0, mended.stderr
    assert "the next sweep runs it again" in mended.stdout
    assert goodqueue("results", runs, "--verify").returncode == 0
    again = goodqueue("sweep", study, "--out", runs)
    assert again.returncode == 0, again.stderr
    assert "2 runs, 6 known before" in again.stdout
    assert content(runs) == whole


def test_a_damaged_table_is_listed_removed_and_made_again(runs: Path) -> None:
    whole = content(runs)
    table = flip_a_table(runs)
    assert Results(runs).means("bottleneck.utilization").height == 2  # the rows are intact
    with pytest.raises(DamageError, match=table.name):
        content(runs)
    found = verify(runs)
    assert (found.rows, found.tables, [fault.what for fault in found.faults]) == (
        8,
        7,
        [f"{TABLES}/{table.name}"],
    )
    repair(runs)
    assert not table.exists()
    assert not verify(runs).faults
    Study(STUDY).run(runs)
    assert content(runs) == whole


def test_a_missing_table_and_lost_names_are_damage(runs: Path) -> None:
    min((runs / TABLES).iterdir()).unlink()
    assert [fault.why for fault in verify(runs).faults] == ["the file is missing"]
    sql(runs, "UPDATE names SET names = replace(names, 'loss_rate', 'less_rate')")
    assert len(verify(runs).faults) == 9
    with pytest.raises(DamageError, match="names of metrics 1"):
        Results(runs)


def test_a_merge_does_not_take_over_damage(runs: Path, tmp_path: Path, goodqueue: Command) -> None:
    table = flip_a_table(runs)
    message = refused(goodqueue("results", tmp_path / "all", "--merge", runs))
    assert table.name in message
    sql(runs, "UPDATE runs SET host = 'elsewhere' WHERE seed = 2")
    message = refused(goodqueue("results", tmp_path / "all", "--merge", runs))
    assert "is damaged: run " in message
    repair(runs)
    taken = goodqueue("results", tmp_path / "all", "--merge", runs)
    assert taken.returncode == 0, taken.stderr
    assert len(Results(tmp_path / "all")) == 6


def test_a_newer_store_is_refused(runs: Path, goodqueue: Command) -> None:
    sql(runs, "PRAGMA user_version = 3")
    for options in ((), ("--verify",), ("--repair",)):
        message = refused(goodqueue("results", runs, *options))
        assert "written by a newer goodqueue (format 3, this one reads 2)" in message


def test_files_that_are_not_ledgers_are_refused_and_unchanged(
    tmp_path: Path, goodqueue: Command
) -> None:
    study = tmp_path / "study.toml"
    study.write_text(STUDY)
    folder = tmp_path / "runs"
    folder.mkdir()
    with closing(sqlite3.connect(folder / LEDGER)) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    foreign = (folder / LEDGER).read_bytes()
    other = "is not a database of goodqueue"
    for text, words in ((foreign, other), (b"notes", "not an SQLite database")):
        (folder / LEDGER).write_bytes(text)
        for command in (
            ("sweep", study, "--out", folder),
            ("results", folder),
            ("results", folder, "--verify"),
            ("results", folder, "--repair"),
            ("results", tmp_path / "all", "--merge", folder),
        ):
            assert words in refused(goodqueue(*command))
            assert (folder / LEDGER).read_bytes() == text
    (folder / LEDGER).write_bytes(b"")
    assert "is empty" in refused(goodqueue("results", folder))


def test_a_ledger_that_another_process_has_open_is_not_replaced(runs: Path) -> None:
    table = flip_a_table(runs)
    store = Store.open(runs)
    with pytest.raises(RequestError, match="in use by another process"):
        repair(runs)
    store.close()
    assert table.exists()
    assert len(repair(runs).faults) == 1


def test_a_damaged_copy_of_the_study_is_reported(runs: Path, goodqueue: Command) -> None:
    (runs / "study.toml").write_bytes(b"\xff = [")
    assert "the next sweep of the study writes it again" in refused(goodqueue("results", runs))


def test_verify_takes_no_other_options(runs: Path, goodqueue: Command) -> None:
    for options in (
        ("--verify", "--runs"),
        ("--repair", "--verify"),
        ("--repair", "--merge", runs),
    ):
        assert "give no other option" in refused(goodqueue("results", runs, *options))
