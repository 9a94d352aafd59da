"""Tables of an emulation, which its last stage writes to a file for the process that started it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goodqueue._core import Outcome, Table


def save_tables(path: str, outcome: Outcome, waits: Table) -> None:
    """Writes tables to a file: a line of JSON that lists the columns, and then their bytes."""
    tables = {
        "delays": outcome.delays(),
        "backlog": outcome.backlog(),
        "windows": outcome.windows(),
        "rtt": outcome.rtt(),
        "limits": outcome.limits(),
        "waits": waits,
    }
    columns = [
        (table, column, kind, len(data))
        for table, held in tables.items()
        for column, (kind, data) in held.items()
    ]
    head = {"links": outcome.links, "flows": outcome.flows, "columns": columns}
    with Path(path).open("wb") as file:
        file.write(json.dumps(head).encode() + b"\n")
        for held in tables.values():
            file.writelines(data for _, data in held.values())


class Tables:
    """The tables of an emulation, with the interface of the core's `Outcome`.

    Attributes:
        links: names of the links, by the numbers in a column `link`.
        flows: names of the flows, by the numbers in a column `flow`.
        has_series: True, because they hold quantities over time.
        has_packets: False, because they hold no packet events.
    """

    has_series = True
    has_packets = False

    def __init__(self, path: Path, summary: str) -> None:
        """Reads a file of `save_tables`; `summary` holds the figures as JSON."""
        self._summary = summary
        self._tables: dict[str, Table] = {}
        with path.open("rb") as file:
            head = json.loads(file.readline())
            for table, column, kind, length in head["columns"]:
                self._tables.setdefault(table, {})[column] = (kind, file.read(length))
        self.links: list[str] = head["links"]
        self.flows: list[str] = head["flows"]

    def summary_json(self) -> str:
        """Returns the figures as JSON."""
        return self._summary

    def delays(self) -> Table:
        """Returns the distribution of queueing delays, in bins."""
        return self._tables["delays"]

    def backlog(self) -> Table:
        """Returns the backlog of each link, at each change."""
        return self._tables["backlog"]

    def windows(self) -> Table:
        """Returns a table without rows: programs do not report their windows."""
        return self._tables["windows"]

    def rtt(self) -> Table:
        """Returns the round-trip times of pings."""
        return self._tables["rtt"]

    def limits(self) -> Table:
        """Returns a table without rows: programs do not report what limits them."""
        return self._tables["limits"]

    def packets(self) -> Table:
        """Returns no packet events."""
        return {}

    def waits(self) -> Table:
        """Returns the queueing delay of each transmission."""
        return self._tables["waits"]
