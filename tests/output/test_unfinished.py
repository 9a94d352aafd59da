"""Leftovers of killed writers are removed, and files that are being written are kept."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from goodqueue.core.files.outdir import whole_directory, whole_file, whole_files, write_whole
from goodqueue.core.files.unfinished import (
    ENDING,
    OLD,
    REPLACED,
    clear_leftovers,
    scratch,
    unfinished_file,
)
from goodqueue.study.record.store import TABLES, Store
from helpers.processes import started

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WRITER = """\
import sys
from pathlib import Path
from goodqueue.core.files import outdir, unfinished
target = Path(sys.argv[2])
with getattr(outdir, sys.argv[1])(target) as path:
    (path / "summary.json" if path.is_dir() else path).write_text("from the other")
    print("writing", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def writer(how: str, target: Path) -> Iterator[subprocess.Popen[str]]:
    """Yields another process that is writing; it continues when it reads a line."""
    command = [sys.executable, "-c", WRITER, how, str(target)]
    with started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        yield process


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def fill(path: Path) -> None:
    """Fails as if the disk were full."""
    path.write_text("half")
    raise OSError(28, "No space left on device", str(path))


def test_the_next_writer_clears_a_file_that_a_killed_one_left(tmp_path: Path) -> None:
    target = tmp_path / "page[1].html"
    with writer("whole_file", target) as process:
        process.kill()
    (left,) = names(tmp_path)
    assert left.startswith(".page[1].html-")
    assert left.endswith(ENDING)
    write_whole(target, "whole")
    assert names(tmp_path) == [target.name]
    assert target.read_text() == "whole"


def test_the_next_writer_clears_a_directory_that_a_killed_one_left(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with writer("whole_directory", target) as process:
        process.kill()
    assert len(names(tmp_path)) == 1
    with whole_directory(target) as directory:
        (directory / "summary.json").write_text("whole")
    assert names(tmp_path) == ["out"]
    assert (target / "summary.json").read_text() == "whole"


@pytest.mark.parametrize("how", ["whole_file", "whole_directory"])
def test_two_writers_at_once_leave_each_other_alone(tmp_path: Path, how: str) -> None:
    target = tmp_path / "out"
    with writer(how, target) as process:
        if how == "whole_file":
            write_whole(target, "from here")
        else:
            with whole_directory(target) as directory:
                (directory / "summary.json").write_text("from here")
        assert len(names(tmp_path)) == 2
        assert (target if target.is_file() else target / "summary.json").read_text() == "from here"
        process.communicate("go on\n")
        assert process.returncode == 0
    assert names(tmp_path) == ["out"]
    assert (target if target.is_file() else target / "summary.json").read_text() == "from the other"


def test_constant_clearing_removes_nothing_of_a_live_writer(tmp_path: Path) -> None:
    ended = threading.Event()

    def clear() -> None:
        while not ended.is_set():
            clear_leftovers(tmp_path)

    thread = threading.Thread(target=clear)
    thread.start()
    try:
        for number in range(200):
            with unfinished_file(tmp_path / f"{number}.txt") as path:
                path.write_text(str(number))
    finally:
        ended.set()
        thread.join()
    assert len(names(tmp_path)) == 200
    assert all((tmp_path / f"{number}.txt").read_text() == str(number) for number in range(200))


def test_results_that_a_killed_writer_moved_away_are_restored(tmp_path: Path) -> None:
    # The writer was killed after it moved the old results away and before it moved the new ones in.
    gone = tmp_path / f".out-abcd1234{REPLACED}"
    (gone / OLD).mkdir(parents=True)
    (gone / OLD / "summary.json").write_text("old")
    clear_leftovers(tmp_path)
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out" / "summary.json").read_text() == "old"


def test_files_with_similar_names_are_kept(tmp_path: Path) -> None:
    for name in (f"notes-abcd1234{ENDING}", f".notes{ENDING}", ".notes-abcd1234"):
        (tmp_path / name).write_text("mine")
    before = names(tmp_path)
    clear_leftovers(tmp_path)
    assert names(tmp_path) == before


def test_a_store_removes_files_of_a_killed_sweep(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    Store.open(folder).close()
    (folder / TABLES).mkdir()
    for place in (folder / "study.toml", folder / TABLES / "00ff.flows.parquet"):
        with writer("whole_file", place) as process:
            process.kill()
    with writer("whole_file", folder / TABLES / "11ff.flows.parquet"):
        Store.open(folder).close()
        (alive,) = names(folder / TABLES)
        assert alive.startswith(".11ff.flows.parquet-")
    assert names(folder) == ["ledger.sqlite", "tables"]


def test_several_files_appear_together_or_not_at_all(tmp_path: Path) -> None:
    with whole_files(tmp_path) as directory:
        (directory / "one").write_text("1")
        (directory / "two").write_text("2")
    assert names(tmp_path) == ["one", "two"]
    with pytest.raises(OSError, match="No space") as raised, whole_files(tmp_path) as directory:
        fill(directory / "three")
    assert raised.value.filename == str(tmp_path)
    assert names(tmp_path) == ["one", "two"]


def test_a_failure_names_the_target_and_keeps_its_content(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    target.write_text("before")
    with pytest.raises(OSError, match="No space") as raised, whole_file(target) as path:
        fill(path)
    assert raised.value.filename == str(target)
    assert target.read_text() == "before"
    assert names(tmp_path) == ["page.html"]


def test_scratch_directories_of_killed_processes_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left = tmp_path / f".goodqueue-scratch-abcd1234{ENDING}"
    left.mkdir()
    with scratch() as folder:
        assert not left.exists()
        assert folder.parent == tmp_path
    assert names(tmp_path) == []
