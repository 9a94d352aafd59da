"""Columns that the core hands over, as polars frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodqueue._core import Table


def frame(table: Table, names: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """The columns as a frame, with nulls for what is absent and names for numbers.

    Args:
        table: numpy type and bytes of each column; -1 and NaN stand for what is absent.
        names: what the numbers of a column stand for, in order, by column.
    """
    columns = {}
    for column, (kind, data) in table.items():
        values = pl.Series(column, np.frombuffer(data, kind))
        columns[column] = values.fill_nan(None) if kind == "<f8" else _present(values)
        if column in names:
            columns[column] = columns[column].cast(pl.UInt32).cat.to(pl.Enum(names[column]))
    return pl.DataFrame(columns)


def _present(values: pl.Series) -> pl.Series:
    """Whole numbers with nulls for what is absent."""
    return values if not values.len() or values.min() != -1 else values.set(values == -1, None)
