"""Ledgers whose rows differ from the results of the runs."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from goodqueue.study.record.ledger import INSERT, Reading, Row, open_to_write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def rewrite(folder: Path, change: Callable[[Row], Row]) -> None:
    """Changes every row of a folder's ledger and seals it again."""
    with closing(open_to_write(folder)) as ledger:
        rows = list(Reading(folder, ledger).rows())
        ledger.execute("DELETE FROM runs")
        ledger.executemany(INSERT, (change(row).sealed() for row in rows))
