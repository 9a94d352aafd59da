"""Conversion of the core's tables to polars frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goodqueue.core.polars import pl
from goodqueue.core.text import cell

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from goodqueue._core import Table


def frame(table: Table, names: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Returns a table of the core as a frame.

    Missing values become nulls, and numbers that stand for names become these names.

    Args:
        table: numpy type and bytes of each column; -1 and NaN mark missing values.
        names: the names that 0, 1, 2, … stand for, by the name of their column.
    """
    columns = {}
    for column, (kind, data) in table.items():
        values = pl.Series(column, np.frombuffer(data, kind))
        columns[column] = values.fill_nan(None) if kind == "<f8" else _present(values)
        if column in names:
            columns[column] = columns[column].cast(pl.UInt32).cat.to(pl.Enum(names[column]))
    return pl.DataFrame(columns)


def write_csv(table: pl.DataFrame, file: Path) -> None:
    """Writes a table as CSV. Texts that a spreadsheet would compute begin with an apostrophe."""
    texts = pl.selectors.string() | pl.selectors.categorical() | pl.selectors.enum()
    safe = table.with_columns(texts.cast(pl.String).map_elements(cell, pl.String))
    safe.rename({name: cell(name) for name in safe.columns}).write_csv(file)


def _present(values: pl.Series) -> pl.Series:
    """Returns a column of integers with nulls in place of -1."""
    return values if not values.len() or values.min() != -1 else values.set(values == -1, None)
