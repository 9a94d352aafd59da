"""The ledger of a study: an SQLite file with a row per run and a checksum in every row.

An SQLite file has no checksums of its own. Each row therefore ends with its own checksum, and
contains the checksums of the run's tables. SQLite's own check finds faults of the file's structure.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from goodqueue.errors import DamageError, ForeignError, RequestError, os_error
from goodqueue.study.record.packing import Packing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

LEDGER = "ledger.sqlite"
TABLES = "tables"

FORMAT = 2
"""Version of the ledger's own tables."""

PATIENCE_S = 60.0
"""Time for which another process may lock a ledger."""

PAGE_SIZE = 8192
"""Bytes in a page of a new ledger. Ten rows fill such a page; SQLite's default of 4096 bytes leaves
a tenth of each page empty."""

NAMES_TABLE = (
    "CREATE TABLE names (id INTEGER PRIMARY KEY, names TEXT NOT NULL UNIQUE, "
    "sample BLOB NOT NULL, checksum BLOB NOT NULL)"
)
RUNS_TABLE = (
    "CREATE TABLE runs (identity BLOB PRIMARY KEY, variant INTEGER NOT NULL, "
    "parameters TEXT NOT NULL, seed INTEGER NOT NULL, version INTEGER NOT NULL, "
    "names INTEGER REFERENCES names, metrics BLOB, kept INTEGER NOT NULL, tables TEXT NOT NULL, "
    "wall_s REAL NOT NULL, host TEXT NOT NULL, error TEXT, checksum BLOB NOT NULL)"
)
SCHEMA = (NAMES_TABLE, RUNS_TABLE)
"""The schema, which SQLite stores word for word: another text means another format."""

OURS = {"names", "runs"}
FIRST_BYTES = b"SQLite format 3\0"
LITTLE = 128 * 1024
"""Size of SQLite's index of the log in bytes. Without space for it SQLite reports an I/O error."""

NAMES = "SELECT id, names, sample, checksum FROM names"
ROWS = (
    "SELECT identity, variant, parameters, seed, version, names, metrics, kept, tables, wall_s, "
    "host, error, checksum FROM runs"
)
INSERT = "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
INSERT_NAMES = "INSERT INTO names VALUES (?, ?, ?, ?)"


class Row(NamedTuple):
    """A run as a row of the ledger.

    Attributes:
        identity: SHA-256 over scenario, seed and results version.
        variant: index in the grid, only for the order of rows.
        parameters: JSON of the value of each axis, by column.
        seed: the seed.
        version: results version of the engine.
        names: number of the row in `names` with the names of the metrics; None if the run failed.
        metrics: their values as encoded by `Packing`; None if the run failed.
        kept: kinds of stored tables: 1 series, 2 histograms, 4 flows.
        tables: JSON of the checksum of each stored table, by name.
        wall_s: wall-clock time of the run.
        host: host on which it ran.
        error: reason why it failed, or None.
        checksum: checksum of all other fields.
    """

    identity: bytes
    variant: int
    parameters: str
    seed: int
    version: int
    names: int | None
    metrics: bytes | None
    kept: int
    tables: str
    wall_s: float
    host: str
    error: str | None
    checksum: bytes = b""

    def sealed(self) -> Row:
        """Returns the row with its checksum."""
        return self._replace(checksum=_row_checksum(self))

    def checksums(self) -> dict[str, str]:
        """Checksums of the stored tables, by name."""
        found: dict[str, str] = json.loads(self.tables)
        return found


@dataclass(frozen=True, slots=True)
class Fault:
    """Damaged part of a store.

    Attributes:
        what: the part.
        why: the fault.
    """

    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what}: {self.why}"


def checksum(content: bytes) -> str:
    """Returns the checksum of a file's bytes: BLAKE2b, 64 bits, in hexadecimal digits."""
    return blake2b(content, digest_size=8).hexdigest()


def read_table(path: Path, known: str) -> tuple[bytes, Fault | None]:
    """Returns the bytes of a table's file, and its fault if it is damaged.

    Args:
        path: the file.
        known: its checksum.
    """
    what = f"{TABLES}/{path.name}"
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return b"", Fault(what, "the file is missing")
    except OSError as error:
        return b"", Fault(what, f"it cannot be read ({error.strerror})")
    if checksum(content) != known:
        return content, Fault(what, "the checksum differs")
    return content, None


def _seal(blob: object, *others: object) -> bytes:
    # `ascii` writes every value in the same form in all versions of Python.
    found = blake2b(ascii(others).encode(), digest_size=8)
    found.update(blob if isinstance(blob, bytes) else b"")
    return found.digest()


def _length(blob: object) -> object:
    return len(blob) if isinstance(blob, bytes) else blob


def _row_checksum(row: tuple[Any, ...]) -> bytes:
    return _seal(row[6], *row[:6], _length(row[6]), *row[7:12])


def names_checksum(number: int, names: str, sample: bytes) -> bytes:
    """Returns the checksum of a row of `names`."""
    return _seal(sample, number, names, _length(sample))


def parameters(mapping: object) -> str:
    """Returns parameters as stored in a ledger."""
    return json.dumps(mapping, separators=(",", ":"), ensure_ascii=False)


class Reading:
    """The intact rows of a ledger, and its faults.

    Attributes:
        packings: encodings of metrics, by number.
        faults: the faults found so far; all faults of rows once `rows` has ended.
    """

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        """Reads the names of metrics."""
        self._folder = folder
        self._connection = connection
        self.faults: list[Fault] = []
        self.packings: dict[int, Packing] = {}
        for number, names, sample, found in connection.execute(NAMES):
            if found == names_checksum(number, names, sample):
                self.packings[number] = Packing(number, names, sample)
            else:
                self.faults.append(Fault(f"names of metrics {number}", "the checksum differs"))

    def rows(self, order: str = "") -> Iterator[Row]:
        """Yields the intact rows, and records the damaged ones as faults."""
        for row in self._connection.execute(ROWS + order):
            why = self._fault(row)
            if why is None:
                yield Row._make(row)
            else:
                self.faults.append(Fault(_called(row), why))

    def _fault(self, row: tuple[Any, ...]) -> str | None:
        if row[12] != _row_checksum(row):
            return "the checksum differs"
        if row[5] is not None and row[5] not in self.packings:
            return f"the names of its metrics ({row[5]}) are damaged"
        return None

    def refuse(self) -> None:
        """Raises the damage that was found, if any."""
        if self.faults:
            raise damaged(self._folder, self.faults)


def _called(row: tuple[Any, ...]) -> str:
    identity = row[0].hex()[:12] if isinstance(row[0], bytes) else "unknown"
    return f"run {identity} (seed {row[3]})"


def damaged(folder: Path, faults: list[Fault]) -> DamageError:
    """Returns the error that refuses a damaged ledger where whole results are needed."""
    more = f" (and {len(faults) - 1:,} more)" if len(faults) > 1 else ""
    return DamageError(
        f"{folder / LEDGER} is damaged: {faults[0]}{more}. `goodqueue results {folder} "
        "--verify` lists the damage; --repair removes it, and the next sweep repeats "
        "those runs"
    )


def format_of(connection: sqlite3.Connection) -> int:
    """Returns the format of a ledger; 0 for an empty file."""
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    return int(found)


def open_to_write(folder: Path, patience_s: float = PATIENCE_S) -> sqlite3.Connection:
    """Opens the ledger of a folder. Creates it if missing.

    Args:
        folder: the study's folder.
        patience_s: time for which another process may lock the ledger.

    Raises:
        RequestError: if the file is not a ledger, or one of a newer goodqueue.
        DamageError: if the structure of the ledger is damaged.
    """
    connection = _connect(folder, folder / LEDGER, uri=False, patience_s=patience_s)
    try:
        with readable_errors(folder):
            connection.execute(
                f"PRAGMA page_size = {PAGE_SIZE}"
            )  # has an effect on a new file only
        with readable_errors(folder), immediately(connection):
            if check_format(folder, connection) == 0:
                create(connection)
        with readable_errors(folder):
            _check_structure(folder, connection)
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def open_to_read(folder: Path, *, whole: bool = True) -> sqlite3.Connection:
    """Opens the ledger of a folder without changing it.

    Args:
        folder: the study's folder.
        whole: True to refuse a ledger whose structure is damaged.

    Raises:
        RequestError: if there is no ledger, or one that this version cannot read.
        DamageError: if the structure of the ledger is damaged.
    """
    path = folder / LEDGER
    if not path.is_file():
        raise RequestError(
            f"{folder} contains no {LEDGER}; name the folder that `goodqueue sweep` wrote"
        )
    connection = _connect(folder, f"{path.resolve().as_uri()}?mode=ro", uri=True)
    try:
        with readable_errors(folder):
            if check_format(folder, connection) == 0:
                _refuse_empty(path)
            if whole:
                _check_structure(folder, connection)
    except BaseException as error:
        if whole or not isinstance(error, DamageError):
            connection.close()
            raise
    return connection


def _refuse_empty(path: Path) -> NoReturn:
    raise RequestError(f"{path} is empty: no sweep has recorded a run in it")


def _connect(
    folder: Path, where: Path | str, *, uri: bool, patience_s: float = PATIENCE_S
) -> sqlite3.Connection:
    path = folder / LEDGER
    with readable_errors(folder):
        if path.is_file():
            with path.open("rb") as file:
                start = file.read(len(FIRST_BYTES))
            if start and start != FIRST_BYTES:
                raise ForeignError(
                    f"{path} is not a ledger of a study (it is not an SQLite database); "
                    "name another folder, or move the file away and run the study again"
                )
        connection = sqlite3.connect(where, timeout=patience_s, isolation_level=None, uri=uri)
    # A damaged text must not end the reading of all rows; its checksum differs.
    connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    return connection


@contextmanager
def immediately(connection: sqlite3.Connection) -> Iterator[None]:
    """Opens one transaction, so that a change is made whole or not at all."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def check_format(folder: Path, connection: sqlite3.Connection) -> int:
    """Returns the format of a ledger that can be read; 0 for an empty file.

    Raises:
        RequestError: if it is a foreign database, or a ledger of a newer goodqueue.
        DamageError: if its tables are not those of the format.
    """
    path = folder / LEDGER
    found = format_of(connection)
    tables = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
    if found == 0 and not tables:
        return 0
    if not tables.keys() >= OURS:
        raise ForeignError(f"{path} is not a database of goodqueue; name another folder")
    if found > FORMAT:
        raise RequestError(
            f"{path} was written by a newer goodqueue (format {found}, this one reads {FORMAT}); "
            "use that version, or name another folder"
        )
    if found != FORMAT or set(tables.values()) != set(SCHEMA):
        raise damaged(folder, [Fault("the file's structure", "its tables are not as written")])
    return found


def create(connection: sqlite3.Connection) -> None:
    """Makes the tables of an empty ledger."""
    for statement in SCHEMA:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def structure_faults(connection: sqlite3.Connection) -> list[Fault]:
    """Returns the faults that SQLite's `integrity_check` finds in tables and indices."""
    found = [str(text) for (text,) in connection.execute("PRAGMA integrity_check(20)")]
    if found == ["ok"]:
        return []
    return [Fault("the file's structure", " ".join(text.split())) for text in found]


def _check_structure(folder: Path, connection: sqlite3.Connection) -> None:
    faults = structure_faults(connection)
    if faults:
        raise damaged(folder, faults)


def write_names(connection: sqlite3.Connection, packings: Iterable[Packing]) -> None:
    """Writes rows of `names`."""
    for one in packings:
        row = (one.id, one.names, one.sample, names_checksum(one.id, one.names, one.sample))
        connection.execute(INSERT_NAMES, row)


@contextmanager
def readable_errors(folder: Path) -> Iterator[None]:
    """Converts errors of the disk or the ledger to a sentence."""
    try:
        yield
    except sqlite3.Error as error:
        raise _refusal(folder, error) from error
    except OSError as error:
        raise RequestError(_sentence(folder, error.strerror or str(error))) from error
    except Exception as error:
        found = os_error(error)
        if found is None:
            raise
        raise RequestError(_sentence(folder, found.strerror or str(found))) from error


def _refusal(folder: Path, error: sqlite3.Error) -> RequestError:
    reason = str(error)
    if getattr(error, "sqlite_errorname", "").startswith("SQLITE_IOERR") and _is_full(folder):
        reason = "the disk is full"
    broken = ("malformed", "not a database", "decode", "no such", "corrupt", "unsupported")
    if any(word in reason.lower() for word in broken) or isinstance(
        error, sqlite3.InterfaceError | sqlite3.DataError
    ):
        return damaged(folder, [Fault("the file's structure", reason)])
    return RequestError(_sentence(folder, reason))


def _is_full(folder: Path) -> bool:
    with suppress(OSError):
        return shutil.disk_usage(folder).free < LITTLE
    return False


def _sentence(folder: Path, reason: str) -> str:
    lower = reason.lower()
    if "full" in lower or "no space" in lower or "quota" in lower:
        return (
            f"{folder}: the disk is full; runs recorded before are whole. Free some space, "
            "and the same command continues"
        )
    if "locked" in lower or "busy" in lower:
        return f"{folder / LEDGER} is in use by another process; try again when it has ended"
    return f"{folder} cannot be written ({reason}); name another folder with --out"
