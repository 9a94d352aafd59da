"""No fault of the user's cache ends a command: it is set aside or left, and named in a note."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from conftest import goodqueue
from goodqueue.errors import CacheWarning, RequestError
from goodqueue.study.record import cache as caches
from goodqueue.study.record.ledger import LEDGER
from goodqueue.study.runner import user_store

if TYPE_CHECKING:
    from pathlib import Path

SIZE = ("--replicates", "8", "--target", "90%", "--json", "--budget", "1G", "--jobs", "1")
pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns the folder of the cache of `size`."""
    return tmp_path / "cache" / "goodqueue" / "sizing"


def fill(folder: Path) -> None:
    """Makes a cache as a first command leaves it."""
    with user_store("sizing") as store:
        assert store.lasting
        assert store.folder == folder
        assert len(store) == 0


def as_text(ledger: Path) -> None:
    ledger.write_text("no database")


def with_damaged_pages(ledger: Path) -> None:
    content = bytearray(ledger.read_bytes())
    content[8192:] = b"\xff" * len(content[8192:])
    ledger.write_bytes(content)


def cut(ledger: Path) -> None:
    ledger.write_bytes(ledger.read_bytes()[:9000])


def of_another_program(ledger: Path) -> None:
    ledger.unlink()
    with closing(sqlite3.connect(ledger)) as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")


def with_a_wrong_checksum(ledger: Path) -> None:
    with closing(sqlite3.connect(ledger, isolation_level=None)) as connection:
        connection.execute("INSERT INTO names VALUES (1, 'a', x'00', x'00')")


@pytest.mark.parametrize(
    "damage", [as_text, with_damaged_pages, cut, of_another_program, with_a_wrong_checksum]
)
def test_a_damaged_cache_is_set_aside_and_made_again(damage: object, folder: Path) -> None:
    assert callable(damage)
    aside = folder.with_name("sizing.damaged-1")
    for number in (1, 2):
        fill(folder)
        damage(folder / LEDGER)
        aside = folder.with_name(f"sizing.damaged-{number}")
        with pytest.warns(CacheWarning, match=f"sizing was damaged; it is now {aside}, and a new"):
            fill(folder)
        assert (aside / LEDGER).is_file()
    fill(folder)


def read_only(folder: Path) -> None:
    """Puts a file in place of the folder, because root can write everywhere."""
    shutil.rmtree(folder.parent)
    folder.parent.write_text("")


def locked(folder: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(folder / LEDGER, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    return connection


def newer(folder: Path) -> None:
    with closing(sqlite3.connect(folder / LEDGER)) as connection:
        connection.execute("PRAGMA user_version = 99")


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (read_only, "Not a directory|File exists"),
        (locked, "database is locked"),
        (newer, "written by a newer goodqueue"),
    ],
)
def test_a_cache_that_cannot_be_used_is_left(
    spoil: object, reason: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(spoil)
    monkeypatch.setattr(caches, "PATIENCE_S", 0.1)
    fill(folder)
    held = spoil(folder)
    with (
        pytest.warns(CacheWarning, match=f"the cache {folder} cannot be used .*({reason})"),
        user_store("sizing") as store,
    ):
        assert not store.lasting
    if held is not None:
        held.close()


def test_a_user_without_a_home_needs_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_000)
    with pytest.warns(CacheWarning, match="cannot be used"), user_store("sizing") as store:
        assert not store.lasting


def size(small: Path) -> dict[str, object]:
    done = goodqueue("size", small, *SIZE)
    assert done.returncode == 0, done.stderr
    return {**json.loads(done.stdout)["recommendation"], "notes": done.stderr}


def test_size_goes_on_without_a_cache_that_becomes_locked_or_full(
    small: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first record of a run fails, as with a full disk or a lock of another process."""
    whole = size(small)
    shutil.rmtree(folder)

    def full(*_arguments: object) -> None:
        message = "database or disk is full"
        raise sqlite3.OperationalError(message)

    monkeypatch.setattr("goodqueue.study.record.store.immediately", full)
    without = size(small)
    assert f"Note: the cache {folder} cannot be used (database or disk is full)" in str(
        without.pop("notes")
    )
    assert not whole.pop("notes")
    assert without == whole


def test_size_reads_no_run_of_a_cache_that_cannot_be_read(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = size(small)

    def unreadable(*_arguments: object) -> None:
        message = "database disk image is malformed"
        raise sqlite3.DatabaseError(message)

    monkeypatch.setattr("goodqueue.study.record.store.Store._rows", unreadable)
    again = size(small)
    assert "malformed" in str(again.pop("notes"))
    assert not whole.pop("notes")
    assert again == whole


def test_size_with_a_damaged_cache_prints_a_note_and_the_answer(small: Path, folder: Path) -> None:
    fill(folder)
    as_text(folder / LEDGER)
    assert "sizing was damaged; it is now" in str(size(small)["notes"])
    assert not size(small)["notes"]


def test_a_damaged_store_that_the_user_names_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    as_text(tmp_path / "own" / LEDGER)
    with pytest.raises(RequestError, match="not a ledger"), user_store("sizing", tmp_path / "own"):
        pass
