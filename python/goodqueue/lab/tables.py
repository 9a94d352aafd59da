"""Series of the page as a table in Parquet."""

from __future__ import annotations

import io
import json

from goodqueue.core.extras import is_installed

MAX_COLUMNS = 1_000
"""Most columns of a table."""


def can_write() -> bool:
    """Returns True if the library that writes Parquet is installed."""
    return is_installed("polars")


def parquet(body: str) -> bytes:
    """Returns a table as a file in Parquet.

    Args:
        body: JSON with `columns`, a list of names and values; a value may be null.

    Raises:
        ValueError: the body is no such table.
    """
    from goodqueue.core.polars import pl

    asked = json.loads(body)
    columns = asked.get("columns") if isinstance(asked, dict) else None
    if not isinstance(columns, list) or not 0 < len(columns) <= MAX_COLUMNS:
        raise ValueError(f"a table has a list of 1 to {MAX_COLUMNS} columns")
    try:
        found = {str(name): [_number(value) for value in values] for name, values in columns}
        frame = pl.DataFrame(found, schema=dict.fromkeys(found, pl.Float64))
    except (TypeError, ValueError, pl.exceptions.ShapeError) as error:
        raise ValueError("columns are lists of numbers and have one length") from error
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)
