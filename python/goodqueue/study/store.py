"""The folder of a study: a ledger of runs, and the tables kept of them.

    study.toml          the study as resolved
    ledger.sqlite       a row per run
    tables/             <identity>.<table>.parquet, only if the study keeps tables

A run is recorded once `record` has returned: killing the process loses none, and a power cut at
most those of the last second (the ledger is synced that often). A file of a table appears whole.
"""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
import time
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.errors import RequestError
from goodqueue.outdir import check_links, whole_file
from goodqueue.study.model import Keep
from goodqueue.study.packing import Packing

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
CREATE TABLE IF NOT EXISTS names (
    id INTEGER PRIMARY KEY,
    names TEXT NOT NULL UNIQUE,     -- of metrics, a line each
    sample BLOB NOT NULL            -- metrics of the first run that has these
);
CREATE TABLE IF NOT EXISTS runs (
    identity BLOB PRIMARY KEY,      -- SHA-256 over scenario, seed and results version
    variant INTEGER NOT NULL,       -- place in the grid, for the order of rows only
    parameters TEXT NOT NULL,       -- JSON: the value of each axis, by column
    seed INTEGER NOT NULL,
    version INTEGER NOT NULL,       -- results version of the engine
    names INTEGER REFERENCES names, -- what the metrics are called
    metrics BLOB,                   -- as packing.py has them; NULL if it failed
    kept INTEGER NOT NULL,          -- tables beside: 1 series, 2 histograms, 4 flows
    wall_s REAL NOT NULL,
    host TEXT NOT NULL,
    error TEXT
);
"""

PACKINGS = "SELECT id, names, sample FROM names"
FIGURES = "SELECT names, metrics FROM runs WHERE identity = ?"
INSERT = "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class Store:
    """The folder of a study, open for writing by one thread.

    Attributes:
        folder: the folder.
        lasting: whether it outlasts the call.
    """

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.folder = folder
        self.lasting = True
        self._connection = connection
        self._synced = time.monotonic()
        self._packings = self._read_packings()
        one: dict[str, str] = {}  # a text for all runs of a variant
        self._done: dict[bytes, tuple[int, str | None, str]] = {
            identity: (kept, error, one.setdefault(parameters, parameters))
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
        run, packing = result.run, None
        if result.error is None:
            packing = self._packing(connection, "\n".join(result.names), result.values)
        return (
            run.identity,
            run.variant.index,
            _parameters(run),
            run.seed,
            version,
            None if packing is None else packing.id,
            None if packing is None else packing.pack(result.values),
            mask if packing else 0,
            round(result.wall_s, 6),
            result.host,
            result.error,
        )

    def _read_packings(self) -> dict[str, Packing]:
        return {row[1]: Packing(*row) for row in self._rows(PACKINGS)}

    def _packing(self, connection: sqlite3.Connection, names: str, values: bytes) -> Packing:
        """How metrics of these names are written; these values are the sample at first sight."""
        if names not in self._packings:
            insert = "INSERT OR IGNORE INTO names (names, sample) VALUES (?, ?)"
            connection.execute(insert, (names, values))
            (row,) = connection.execute(f"{PACKINGS} WHERE names = ?", (names,)).fetchall()
            self._packings[names] = Packing(*row)
        return self._packings[names]

    def _write_table(self, identity: bytes, name: str, table: pl.DataFrame) -> None:
        with _told(self.folder):
            tables = self.folder / TABLES
            tables.mkdir(exist_ok=True)
            target = tables / f"{identity.hex()}.{name}.parquet"
            with whole_file(target) as path:
                table.write_parquet(path)

    def values(
        self, identities: Iterable[bytes], metrics: Sequence[str]
    ) -> Iterator[tuple[bytes, list[float]]]:
        """Some metrics of some runs; NaN for those that failed or have no such metric.

        Runs are looked up by their identity: who asks often asks for a few each time.
        """
        packings = {packing.id: packing for packing in self._packings.values()}
        places: dict[int, list[int | None]] = {}
        for identity in identities:
            for number, blob in self._rows(FIGURES, identity):
                if blob is None:
                    yield identity, [math.nan] * len(metrics)
                    continue
                if number not in places:
                    places[number] = packings[number].places(metrics)
                yield identity, packings[number].at(places[number], blob)

    def seconds(self, identities: Iterable[bytes]) -> float:
        """How long these runs took, one after the other."""
        query = "SELECT wall_s FROM runs WHERE identity = ?"
        found = (row for identity in identities for row in self._rows(query, identity))
        return sum((float(took) for (took,) in found), 0.0)

    def merge(self, other: Path) -> int:
        """Takes over the runs of another folder that this one has not; returns how many.

        A run that failed here and not there is taken too.
        """
        if not (other / LEDGER).is_file():
            raise RequestError(f"{other} holds no {LEDGER}; name the folder of a study")
        with _told(other), closing(_connect(other)) as connection:
            packings = {row[0]: Packing(*row) for row in connection.execute(PACKINGS)}
            rows = connection.execute("SELECT * FROM runs ORDER BY rowid")
            wanted = [row for row in rows if self._lacks(row[0], row[10])]
        for row in wanted:
            self._copy_tables(other, row[0])
        with self._transaction() as connection:
            for row in wanted:
                number, blob = row[5:7]
                if number is not None:
                    theirs = packings[number]
                    values = theirs.unpack(blob)
                    ours = self._packing(connection, theirs.names, values)
                    number, blob = ours.id, ours.pack(values)
                connection.execute(INSERT, (*row[:5], number, blob, *row[7:]))
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
                with whole_file(self.folder / TABLES / table.name) as path:
                    shutil.copyfile(table, path)

    def sync(self) -> None:
        """Brings what is recorded onto the disk."""
        with _told(self.folder):
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        self._synced = time.monotonic()

    def close(self) -> None:
        """Syncs and closes.

        Unless another process has it open, the ledger is then a single file, which can be copied
        and read from where nothing can be written.
        """
        with suppress(sqlite3.Error):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            self._connection.execute("PRAGMA journal_mode = DELETE").fetchall()
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
                self._packings = self._read_packings()
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
    check_links(folder)
    check_links(folder / TABLES)


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


def _write_whole(target: Path, content: bytes) -> None:
    if target.exists() and target.read_bytes() == content:
        return
    with whole_file(target) as path:
        path.write_bytes(content)
