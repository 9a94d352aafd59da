"""Damage of a study's folder: detection, listing, and removal, for a repeat by the next sweep."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.core.files.unfinished import clear_leftovers, unfinished_file
from goodqueue.errors import RequestError
from goodqueue.study.record.ledger import (
    FORMAT,
    INSERT,
    LEDGER,
    TABLES,
    Fault,
    Reading,
    Row,
    create,
    format_of,
    open_to_read,
    parameters,
    read_table,
    readable_errors,
    structure_faults,
    write_names,
)

if TYPE_CHECKING:
    from pathlib import Path

KEPT_BY = {"queueing-delays": 2, "flows": 4}
"""Bit of `kept` that requests a table; all other tables are series."""


@dataclass(frozen=True, slots=True)
class Findings:
    """Contents of a study's folder, and the faults that were found in it.

    Attributes:
        format: version of the ledger's own tables; 0 if they cannot be read.
        rows: number of intact rows.
        tables: number of intact tables.
        faults: the damage.
    """

    format: int
    rows: int
    tables: int
    faults: list[Fault]


@dataclass(frozen=True, slots=True)
class _Sound:
    """Intact rows and tables of a study's folder."""

    format: int
    rows: list[Row]
    reading: Reading | None
    tables: int
    faults: list[Fault]
    files: list[Path]


def verify(folder: Path) -> Findings:
    """Checks every row and every table.

    Raises:
        RequestError: if the folder has no ledger, or one that this version cannot read.
    """
    found = _look(folder)
    return Findings(found.format, len(found.rows), found.tables, found.faults)


def repair(folder: Path) -> Findings:
    """Removes damaged parts, keeps the others, and returns the findings.

    The ledger is written anew from its intact rows, and replaces the old one when it is whole.

    Raises:
        RequestError: if nothing of the ledger can be read, or another process has it open.
    """
    found = _look(folder)
    if found.faults:
        with readable_errors(folder):
            _write_anew(folder, found)
            for path in found.files:
                path.unlink(missing_ok=True)
    return Findings(found.format, len(found.rows), found.tables, found.faults)


def _look(folder: Path) -> _Sound:
    with closing(open_to_read(folder, whole=False)) as connection:
        faults = _structure(connection)
        try:
            reading = Reading(folder, connection)
        except sqlite3.Error:
            return _Sound(0, [], None, 0, faults, [])
        rows = _sound_rows(reading)
    faults += dict.fromkeys(reading.faults)
    rows, tables, table_faults, files = _sound_tables(folder, rows)
    return _Sound(FORMAT, rows, reading, tables, faults + table_faults, files)


def _structure(connection: sqlite3.Connection) -> list[Fault]:
    """Returns damage of the file that is not that of a single row."""
    try:
        found = structure_faults(connection)
        if not found and format_of(connection) != FORMAT:
            found = [Fault("the file's structure", "the number of its format is wrong")]
    except sqlite3.Error as error:
        return [Fault("the file's structure", str(error))]
    return found


def _sound_rows(reading: Reading) -> list[Row]:
    """Returns the rows that can be read, from the first on and backward from the last."""
    rows: dict[bytes, Row] = {}
    for order in (" ORDER BY rowid", " ORDER BY rowid DESC"):
        with suppress(sqlite3.Error):
            rows |= {row.identity: row for row in reading.rows(order) if row.identity not in rows}
            break
    return list(rows.values())


def _sound_tables(folder: Path, rows: list[Row]) -> tuple[list[Row], int, list[Fault], list[Path]]:
    """Returns rows without damaged tables, the number of intact ones, faults, and files."""
    kept, sound, faults, files = [], 0, [], []
    for row in rows:
        known = row.checksums()
        mask = row.kept
        for name in list(known):
            path = folder / TABLES / f"{row.identity.hex()}.{name}.parquet"
            _, fault = read_table(path, known[name])
            if fault is None:
                sound += 1
                continue
            faults.append(fault)
            files.append(path)
            mask &= ~KEPT_BY.get(name, 1)
            del known[name]
        changed = row._replace(kept=mask, tables=parameters(known))
        kept.append(changed.sealed() if mask != row.kept else row)
    return kept, sound, faults, files


def _write_anew(folder: Path, found: _Sound) -> None:
    if found.reading is None:
        raise RequestError(
            f"{folder / LEDGER} cannot be repaired, because none of its rows can be read; "
            "move it away, and the next sweep repeats all runs"
        )
    _check_alone(folder)
    clear_leftovers(folder)
    with unfinished_file(folder / LEDGER) as path:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = MEMORY").fetchall()
            connection.execute("BEGIN")
            create(connection)
            write_names(connection, found.reading.packings.values())
            connection.executemany(INSERT, (row.sealed() for row in found.rows))
            connection.execute("COMMIT")
        for ending in ("-wal", "-shm", "-journal"):
            (folder / f"{LEDGER}{ending}").unlink(missing_ok=True)


def _check_alone(folder: Path) -> None:
    """Refuses to replace a ledger that another process has open."""
    with closing(sqlite3.connect(folder / LEDGER, timeout=0, isolation_level=None)) as connection:
        try:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
            connection.execute("PRAGMA journal_mode = DELETE").fetchall()
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in {
                sqlite3.SQLITE_BUSY,
                sqlite3.SQLITE_LOCKED,
            }:
                raise
