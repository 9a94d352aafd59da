"""The folder of a study: a ledger of runs, and their stored tables.

    study.toml          the study as resolved
    ledger.sqlite       a row per run (ledger.py)
    tables/             <identity>.<table>.parquet, only if the study keeps tables

A run is recorded once `record` has returned. Killing the process loses no recorded run, and a power
cut at most those of the last second (the ledger is synced that often). A table's file is written
whole or not at all.
"""

from __future__ import annotations

import io
import math
import sqlite3
import time
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from goodqueue import _core
from goodqueue.core.files.outdir import check_links, whole_file
from goodqueue.core.files.reading import has_bytes
from goodqueue.core.files.unfinished import clear_leftovers, unfinished_file
from goodqueue.errors import RequestError
from goodqueue.study.model import Keep
from goodqueue.study.record.ledger import (
    INSERT,
    LEDGER,
    PATIENCE_S,
    ROWS,
    TABLES,
    Reading,
    Row,
    checksum,
    damaged,
    immediately,
    open_to_read,
    open_to_write,
    parameters,
    read_table,
    readable_errors,
    write_names,
)
from goodqueue.study.record.packing import Packing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from goodqueue.study.model import Run, RunResult

__all__ = ["LEDGER", "STUDY", "TABLES", "Store"]

STUDY = "study.toml"

SYNC_S = 1.0
"""Time between syncs in seconds, which bounds the loss at a power cut."""

NO_TABLES = parameters({})

FIGURES = "SELECT names, metrics FROM runs WHERE identity = ?"


class Store:
    """The folder of a study, open for writing by one thread.

    Attributes:
        folder: the folder.
        lasting: True if it still exists after the call.
    """

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.folder = folder
        self.lasting = True
        self._connection = connection
        self._synced = time.monotonic()
        reading = Reading(folder, connection)
        self._packings = {packing.names: packing for packing in reading.packings.values()}
        one: dict[str, str] = {}  # a text for all runs of a variant
        self._done: dict[bytes, tuple[int, str | None, str]] = {
            row.identity: (row.kept, row.error, one.setdefault(row.parameters, row.parameters))
            for row in reading.rows()
        }
        reading.refuse()

    @classmethod
    def open(
        cls,
        folder: Path | str,
        text: str | None = None,
        *,
        keep_both: bool = False,
        patience_s: float = PATIENCE_S,
    ) -> Self:
        """Opens a folder, made if missing, and writes the study's text into it.

        Args:
            folder: the study's folder.
            text: the study file as resolved; None keeps the file that is in the folder.
            keep_both: True to keep results of other versions of the engine beside new ones.
            patience_s: time for which another process may lock the ledger.

        Raises:
            RequestError: if the folder holds something else, results of another version, or
                cannot be written.
            DamageError: if the ledger is damaged.
        """
        folder = Path(folder)
        with readable_errors(folder):
            _check_folder(folder, text)
            folder.mkdir(parents=True, exist_ok=True)
        connection = open_to_write(folder, patience_s)
        try:
            with readable_errors(folder):
                store = cls(folder, connection)
        except BaseException:
            connection.close()
            raise
        for place in (folder, folder / TABLES):
            clear_leftovers(place)
        try:
            if not keep_both:
                store.check_versions()
            if text is not None:
                with readable_errors(folder):
                    _write_whole(folder / STUDY, text.encode())
        except RequestError:
            store.close()
            raise
        return store

    def check_versions(self) -> None:
        """Refuses results of another version of the engine."""
        now = _core.results_version()
        query = "SELECT version, count(*) FROM runs WHERE version != ? GROUP BY version"
        for version, count in self._rows(query, now):
            raise RequestError(
                f"{self.folder} contains runs of results version {version} ({count:,} in "
                f"all), but this is version {now}, whose runs give other figures. Keep "
                "both side by side with --keep-both, or name another folder with --out"
            )

    def __len__(self) -> int:
        return len(self._done)

    def has(self, identity: bytes, keep: Keep = Keep()) -> bool:  # noqa: B008 - it is frozen
        """Returns True if a run is recorded without an error, with these tables."""
        found = self._done.get(identity)
        return found is not None and found[1] is None and _mask(keep) & ~found[0] == 0

    def failed(self, identity: bytes) -> bool:
        """Returns True if a run is recorded with an error."""
        found = self._done.get(identity)
        return found is not None and found[1] is not None

    def adopt(self, runs: Sequence[Run]) -> None:
        """Gives runs that are already recorded their parameters in this study."""
        changes, texts = [], _parameters(runs)
        for run in runs:
            found = self._done.get(run.identity)
            parameters = texts[id(run.variant)]
            if found is not None and found[2] != parameters:
                changes.append((run.identity, run.variant.index, parameters))
                self._done[run.identity] = (found[0], found[1], parameters)
        if not changes:
            return
        with self._transaction() as connection:
            for identity, variant, parameters in changes:
                for row in connection.execute(f"{ROWS} WHERE identity = ?", (identity,)).fetchall():
                    changed = Row._make(row)._replace(variant=variant, parameters=parameters)
                    connection.execute(INSERT, changed.sealed())

    def record(self, results: Sequence[RunResult], keep: Keep = Keep()) -> None:  # noqa: B008
        """Records runs in one transaction. Once it has returned, they survive the process.

        Raises:
            RequestError: if the disk is full; what was recorded before is whole.
        """
        checksums = [
            {
                name: self._write_table(result.run.identity, name, table)
                for name, table in result.tables.items()
            }
            for result in results
        ]
        mask, texts = _mask(keep), _parameters([result.run for result in results])
        with self._transaction() as connection:
            rows = [
                self._row(connection, result, texts[id(result.run.variant)], mask, tables)
                for result, tables in zip(results, checksums, strict=True)
            ]
            connection.executemany(INSERT, rows)
        for row in rows:
            self._done[row.identity] = (row.kept, row.error, row.parameters)
        if time.monotonic() - self._synced >= SYNC_S:
            self.sync()

    def _row(
        self,
        connection: sqlite3.Connection,
        result: RunResult,
        text: str,
        mask: int,
        tables: Mapping[str, str],
    ) -> Row:
        run, packing = result.run, None
        if result.error is None:
            packing = self._packing(connection, _joined(result.names), result.values)
        return Row(
            identity=run.identity,
            variant=run.variant.index,
            parameters=text,
            seed=run.seed,
            version=_core.results_version(),
            names=None if packing is None else packing.id,
            metrics=None if packing is None else packing.pack(result.values),
            kept=mask if packing else 0,
            tables=parameters(tables) if tables else NO_TABLES,
            wall_s=round(float(result.wall_s), 6),
            host=result.host,
            error=result.error,
        ).sealed()

    def _packing(self, connection: sqlite3.Connection, names: str, values: bytes) -> Packing:
        """Returns the encoding of metrics with these names; a new one has the values as sample.

        The current transaction keeps other processes from taking the same number.
        """
        if names not in self._packings:
            query = "SELECT id, names, sample FROM names WHERE names = ?"
            found = connection.execute(query, (names,)).fetchone()
            if found is None:
                query = "SELECT coalesce(max(id), 0) + 1 FROM names"
                (number,) = connection.execute(query).fetchone()
                found = (number, names, values)
                write_names(connection, [Packing(*found)])
            self._packings[names] = Packing(*found)
        return self._packings[names]

    def _write_table(self, identity: bytes, name: str, table: pl.DataFrame) -> str:
        """Writes a table and returns its checksum."""
        content = io.BytesIO()
        table.write_parquet(content)
        self._write_file(f"{identity.hex()}.{name}.parquet", content.getvalue())
        return checksum(content.getvalue())

    def _write_file(self, name: str, content: bytes) -> None:
        with readable_errors(self.folder):
            tables = self.folder / TABLES
            tables.mkdir(exist_ok=True)
            with unfinished_file(tables / name) as path:
                path.write_bytes(content)

    def values(
        self, identities: Iterable[bytes], metrics: Sequence[str]
    ) -> Iterator[tuple[bytes, list[float]]]:
        """Returns some metrics of some runs; NaN for runs that failed or have no such metric.

        Runs are looked up by their identity, because most callers ask for a few at a time.
        """
        packings = {packing.id: packing for packing in self._packings.values()}
        places: dict[int, list[int | None]] = {}
        for identity in identities:
            with readable_errors(self.folder):
                found = list(self._rows(FIGURES, identity))
            for number, blob in found:
                if blob is None:
                    yield identity, [math.nan] * len(metrics)
                    continue
                if number not in packings:  # written by another process since
                    reading = Reading(self.folder, self._connection)
                    packings |= reading.packings
                if number not in places:
                    places[number] = packings[number].places(metrics)
                yield identity, packings[number].at(places[number], blob)

    def seconds(self, identities: Iterable[bytes]) -> float:
        """Returns the sum of the wall-clock times of these runs, in seconds."""
        query = "SELECT wall_s FROM runs WHERE identity = ?"
        found = (row for identity in identities for row in self._rows(query, identity))
        return sum((float(took) for (took,) in found), 0.0)

    def merge(self, other: Path) -> int:
        """Copies the runs of another folder that this one lacks, and returns their number.

        A run that failed in this folder and succeeded in the other one is copied too.
        """
        if not (other / LEDGER).is_file():
            raise RequestError(f"{other} contains no {LEDGER}; name the folder of a study")
        with closing(open_to_read(other)) as connection, readable_errors(other):
            reading = Reading(other, connection)
            rows = reading.rows(" ORDER BY rowid")
            wanted = [row for row in rows if self._lacks(row.identity, row.error)]
        reading.refuse()
        for row in wanted:
            self._copy_tables(other, row)
        with self._transaction() as connection:
            for place, row in enumerate(wanted):
                taken = row
                if row.names is not None and row.metrics is not None:
                    theirs = reading.packings[row.names]
                    values = theirs.unpack(row.metrics)
                    ours = self._packing(connection, theirs.names, values)
                    taken = row._replace(names=ours.id, metrics=ours.pack(values))
                wanted[place] = taken.sealed()
                connection.execute(INSERT, wanted[place])
        for row in wanted:
            self._done[row.identity] = (row.kept, row.error, row.parameters)
        return len(wanted)

    def _lacks(self, identity: bytes, error: str | None) -> bool:
        found = self._done.get(identity)
        return found is None or (found[1] is not None and error is None)

    def _copy_tables(self, other: Path, row: Row) -> None:
        """Copies the tables of a run."""
        for name, known in row.checksums().items():
            file = f"{row.identity.hex()}.{name}.parquet"
            content, fault = read_table(other / TABLES / file, known)
            if fault is not None:
                raise damaged(other, [fault])
            self._write_file(file, content)

    def sync(self) -> None:
        """Writes the recorded runs to the disk."""
        with readable_errors(self.folder):
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        self._synced = time.monotonic()

    def close(self) -> None:
        """Syncs and closes the ledger.

        Unless another process has it open, the ledger is then a single file, which can be copied
        and read from a read-only place.
        """
        with suppress(sqlite3.Error):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            self._connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        self._connection.close()

    def _rows(self, query: str, *arguments: object) -> Iterator[tuple[Any, ...]]:
        return self._connection.execute(query, arguments)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with readable_errors(self.folder):
            try:
                with immediately(self._connection):
                    yield self._connection
            except BaseException:
                with suppress(sqlite3.Error):
                    found = Reading(self.folder, self._connection).packings.values()
                    self._packings = {packing.names: packing for packing in found}
                raise


@lru_cache(maxsize=256)
def _joined(names: tuple[str, ...]) -> str:
    return "\n".join(names)


def _parameters(runs: Iterable[Run]) -> dict[int, str]:
    """Returns the parameters of the variants of some runs as stored, by the variant's `id`."""
    variants = {id(run.variant): run.variant for run in runs}
    return {place: parameters(variant.parameters) for place, variant in variants.items()}


def _mask(keep: Keep) -> int:
    return keep.series | keep.histograms << 1 | keep.flows << 2


def _check_folder(folder: Path, text: str | None) -> None:
    if folder.exists() and not folder.is_dir():
        raise RequestError(f"{folder} is not a directory; name a new one")
    check_links(folder)
    check_links(folder / TABLES)
    if folder.is_dir() and not (folder / LEDGER).exists():
        foreign = min((path.name for path in folder.iterdir()), default=None)
        is_same = text is None or has_bytes(folder / STUDY, text.encode())
        if foreign is not None and not (foreign == STUDY and is_same):
            raise RequestError(
                f"{folder} contains {foreign} and no ledger of a study; name a new directory"
            )


def _write_whole(target: Path, content: bytes) -> None:
    if has_bytes(target, content):
        return
    with whole_file(target) as path:
        path.write_bytes(content)
