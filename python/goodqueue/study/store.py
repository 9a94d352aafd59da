"""The folder of a study: a ledger of runs, and the tables kept of them.

    study.toml          the study as resolved
    ledger.sqlite       a row per run
    tables/             <identity>.<table>.parquet, only if the study keeps tables

A run is recorded once `record` has returned: killing the process loses none, and a power cut at
most those of the last second (the ledger is synced that often). A file of a table appears whole.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
import time
import zlib
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.errors import RequestError
from goodqueue.study.model import Keep

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import polars as pl

    from goodqueue.study.model import Run, RunResult

LEDGER = "ledger.sqlite"
STUDY = "study.toml"
TABLES = "tables"

SYNC_S = 1.0
"""What a power cut may lose."""

FORMAT = 1
"""Version of the ledger's own tables."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS names (id INTEGER PRIMARY KEY, names TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS runs (
    identity BLOB PRIMARY KEY,      -- SHA-256 over scenario, seed and results version
    variant INTEGER NOT NULL,       -- place in the grid, for the order of rows only
    parameters TEXT NOT NULL,       -- JSON: the value of each axis, by column
    seed INTEGER NOT NULL,
    version INTEGER NOT NULL,       -- results version of the engine
    names INTEGER REFERENCES names, -- what the metrics are called
    metrics BLOB,                   -- little-endian doubles, zlib; NULL if it failed
    kept INTEGER NOT NULL,          -- tables beside: 1 series, 2 histograms, 4 flows
    wall_s REAL NOT NULL,
    host TEXT NOT NULL,
    error TEXT
);
"""

INSERT = "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class Store:
    """The folder of a study, open for writing by one thread."""

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.folder = folder
        self._connection = connection
        self._synced = time.monotonic()
        self._names: dict[str, int] = self._read_names()
        self._done: dict[bytes, tuple[int, str | None, str]] = {
            identity: (kept, error, parameters)
            for identity, kept, error, parameters in self._rows(
                "SELECT identity, kept, error, parameters FROM runs"
            )
        }

    @classmethod
    def open(cls, folder: Path | str, text: str | None = None, *, keep_both: bool = False) -> Store:
        """Opens a folder, made if missing, and writes the study's text into it.

        Args:
            folder: the study's folder.
            text: the study file as resolved; None leaves what is there.
            keep_both: whether results of other versions of the engine may stay beside new ones.

        Raises:
            RequestError: if the folder holds something else, results of another version, or
                cannot be written.
        """
        folder = Path(folder)
        _check_folder(folder)
        with _told(folder):
            folder.mkdir(parents=True, exist_ok=True)
            connection = _connect(folder)
            store = cls(folder, connection)
        if not keep_both:
            try:
                store.check_versions()
            except RequestError:
                store.close()
                raise
        if text is not None:
            with _told(folder):
                _write_whole(folder / STUDY, text.encode())
        return store

    def check_versions(self) -> None:
        """Refuses results of another version of the engine."""
        now = _core.results_version()
        query = "SELECT version, count(*) FROM runs WHERE version != ? GROUP BY version"
        for version, count in self._rows(query, now):
            raise RequestError(
                f"{self.folder} holds {count:,} runs of results version {version}, and this is "
                f"version {now}: its runs would yield other figures. Keep both side by side with "
                "--keep-both, or name another folder with --out"
            )

    def __len__(self) -> int:
        return len(self._done)

    def has(self, identity: bytes, keep: Keep = Keep()) -> bool:  # noqa: B008 - it is frozen
        """Whether a run is recorded without an error, with these tables."""
        found = self._done.get(identity)
        return found is not None and found[1] is None and _mask(keep) & ~found[0] == 0

    def failed(self, identity: bytes) -> bool:
        """Whether a run is recorded with an error."""
        found = self._done.get(identity)
        return found is not None and found[1] is not None

    def adopt(self, runs: Iterable[Run]) -> None:
        """Gives runs that are recorded already the parameters that they have in this study."""
        changes = []
        for run in runs:
            found = self._done.get(run.identity)
            parameters = _parameters(run)
            if found is not None and found[2] != parameters:
                changes.append((run.variant.index, parameters, run.identity))
                self._done[run.identity] = (found[0], found[1], parameters)
        if changes:
            with self._transaction() as connection:
                connection.executemany(
                    "UPDATE runs SET variant = ?, parameters = ? WHERE identity = ?", changes
                )

    def record(self, results: Sequence[RunResult], keep: Keep = Keep()) -> None:  # noqa: B008
        """Records runs, all in one transaction. When it returns, no end of the process loses them.

        Raises:
            RequestError: if the disk is full; what was recorded before is whole.
        """
        for result in results:
            for name, table in result.tables.items():
                self._write_table(result.run.identity, name, table)
        version, mask = _core.results_version(), _mask(keep)
        with self._transaction() as connection:
            rows = [self._row(connection, result, version, mask) for result in results]
            connection.executemany(INSERT, rows)
        for row in rows:
            self._done[row[0]] = (row[7], row[10], row[2])
        if time.monotonic() - self._synced >= SYNC_S:
            self.sync()

    def _row(
        self, connection: sqlite3.Connection, result: RunResult, version: int, mask: int
    ) -> tuple[bytes, int, str, int, int, int | None, bytes | None, int, float, str, str | None]:
        run, failed = result.run, result.error is not None
        return (
            run.identity,
            run.variant.index,
            _parameters(run),
            run.seed,
            version,
            None if failed else self._names_id(connection, "\n".join(result.names)),
            None if failed else zlib.compress(result.values, 1),
            0 if failed else mask,
            round(result.wall_s, 6),
            result.host,
            result.error,
        )

    def _read_names(self) -> dict[str, int]:
        return dict(self._rows("SELECT names, id FROM names"))

    def _names_id(self, connection: sqlite3.Connection, text: str) -> int:
        """The number of a list of names, written down at first sight."""
        if text not in self._names:
            connection.execute("INSERT OR IGNORE INTO names (names) VALUES (?)", (text,))
            query = "SELECT id FROM names WHERE names = ?"
            ((self._names[text],),) = connection.execute(query, (text,)).fetchall()
        return self._names[text]

    def _write_table(self, identity: bytes, name: str, table: pl.DataFrame) -> None:
        with _told(self.folder):
            tables = self.folder / TABLES
            tables.mkdir(exist_ok=True)
            target = tables / f"{identity.hex()}.{name}.parquet"
            with _whole_file(target) as path:
                table.write_parquet(path)

    def values(
        self, identities: Iterable[bytes], metrics: Sequence[str]
    ) -> Iterator[tuple[bytes, list[float]]]:
        """Some metrics of some runs; NaN for those that failed or have no such metric."""
        from goodqueue.study.results import unpacked

        wanted = set(identities)
        names = {number: text.split("\n") for text, number in self._names.items()}
        query = "SELECT identity, names, metrics FROM runs"
        for identity, number, blob in self._rows(query):
            if identity in wanted:
                found = (
                    {} if blob is None else dict(zip(names[number], unpacked(blob), strict=True))
                )
                yield identity, [found.get(metric, float("nan")) for metric in metrics]

    def merge(self, other: Path) -> int:
        """Takes over the runs of another folder that this one has not; returns how many.

        A run that failed here and not there is taken too.
        """
        if not (other / LEDGER).is_file():
            raise RequestError(f"{other} holds no {LEDGER}; name the folder of a study")
        with _told(other), closing(_connect(other)) as theirs:
            query = (
                "SELECT identity, variant, parameters, seed, version, text, metrics, kept, wall_s, "
                "host, error FROM runs LEFT JOIN (SELECT id, names AS text FROM names) "
                "ON runs.names = id"
            )
            wanted = [row for row in theirs.execute(query) if self._lacks(row[0], row[10])]
        for row in wanted:
            self._copy_tables(other, row[0])
        with self._transaction() as connection:
            for row in wanted:
                number = None if row[5] is None else self._names_id(connection, row[5])
                connection.execute(INSERT, (*row[:5], number, *row[6:]))
        for row in wanted:
            self._done[row[0]] = (row[7], row[10], row[2])
        return len(wanted)

    def _lacks(self, identity: bytes, error: str | None) -> bool:
        found = self._done.get(identity)
        return found is None or (found[1] is not None and error is None)

    def _copy_tables(self, other: Path, identity: bytes) -> None:
        for table in (other / TABLES).glob(f"{identity.hex()}.*.parquet"):
            with _told(self.folder):
                (self.folder / TABLES).mkdir(exist_ok=True)
                with _whole_file(self.folder / TABLES / table.name) as path:
                    shutil.copyfile(table, path)

    def sync(self) -> None:
        """Brings what is recorded onto the disk."""
        with _told(self.folder):
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        self._synced = time.monotonic()

    def close(self) -> None:
        """Syncs and closes."""
        with suppress(sqlite3.Error):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self._connection.close()

    def _rows(self, query: str, *arguments: object) -> Iterator[tuple[Any, ...]]:
        return self._connection.execute(query, arguments)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with _told(self.folder):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                self._names = self._read_names()
                raise


def _parameters(run: Run) -> str:
    return json.dumps(run.variant.parameters, separators=(",", ":"), ensure_ascii=False)


def _mask(keep: Keep) -> int:
    return keep.series | keep.histograms << 1 | keep.flows << 2


def _check_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise RequestError(f"{folder} is not a directory; name a new one")
    if folder.is_dir() and not (folder / LEDGER).exists():
        foreign = min((path.name for path in folder.iterdir()), default=None)
        if foreign is not None and foreign != STUDY:
            raise RequestError(
                f"{folder} holds {foreign} and no ledger of a study; name a new directory"
            )


def _connect(folder: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(folder / LEDGER, timeout=60, isolation_level=None)
    try:
        _check_format(folder, connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.executescript(SCHEMA)
        connection.execute(f"PRAGMA user_version = {FORMAT}")
    except BaseException:
        connection.close()
        raise
    return connection


def _check_format(folder: Path, connection: sqlite3.Connection) -> None:
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found not in {0, FORMAT}:
        raise RequestError(
            f"{folder / LEDGER} was written by another version of goodqueue (format {found}, "
            f"this is {FORMAT}); name another folder"
        )


@contextmanager
def _told(folder: Path) -> Iterator[None]:
    """What the disk or the ledger refuse, in a sentence."""
    try:
        yield
    except sqlite3.Error as error:
        raise RequestError(_sentence(folder, str(error))) from error
    except OSError as error:
        raise RequestError(_sentence(folder, error.strerror or str(error))) from error


def _sentence(folder: Path, reason: str) -> str:
    lower = reason.lower()
    if "full" in lower or "no space" in lower:
        return (
            f"{folder}: the disk is full; what was recorded before is whole. Make room, and the "
            "same command goes on from there"
        )
    if "not a database" in lower or "malformed" in lower:
        return f"{folder / LEDGER} is no ledger of a study ({reason}); name another folder"
    return f"{folder} cannot be written ({reason}); name another folder with --out"


@contextmanager
def _whole_file(target: Path) -> Iterator[Path]:
    """A path to write to, which becomes `target` once it is on the disk."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
    os.close(handle)
    path = Path(name)
    try:
        yield path
        path.chmod(0o644)
        with path.open("rb") as file:
            os.fsync(file.fileno())
        path.replace(target)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _write_whole(target: Path, content: bytes) -> None:
    if target.exists() and target.read_bytes() == content:
        return
    with _whole_file(target) as path:
        path.write_bytes(content)
