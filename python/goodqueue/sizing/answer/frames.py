"""Answers as polars frames; every column has its unit in its name.

A figure has three columns: its mean, and with the suffixes `_low` and `_high` the ends of its 95 %
interval. An end is null if there were too few replicates for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodqueue.core.polars import pl
from goodqueue.sizing.answer.parts import FIGURES, buffer_dict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.core.intervals import Interval
    from goodqueue.runs.engines import Engine
    from goodqueue.sizing.answer.parts import Alternative, RuleAnswer
    from goodqueue.sizing.link import Link

BUFFER = {"packets": pl.Int64, "bytes": pl.Int64, "seconds": pl.Float64, "bdp": pl.Float64}
FIGURE = {
    column: pl.Float64
    for name in FIGURES
    for column in (name, f"{name}_low", f"{name}_high")
}  # fmt: skip
BETWEEN = "; "
"""Separator of the sentences in a column, which a CSV file can contain."""


def rules_frame(link: Link, by_rule: Sequence[RuleAnswer]) -> pl.DataFrame:
    """Returns one row per rule.

    The columns are `rule`, `title`, `kind`, `bound`, the buffer, `holds` (its assumptions hold and
    calibrated theory does not doubt its promise), `keeps_bounds` (the requested ones; null if that
    is not known), `broken_assumptions`, the figures, `unmet` (the bounds that it breaks), `engine`
    (null if it was not simulated) and `source`.
    """
    rows = [
        {
            "rule": one.rule.name,
            "title": one.rule.title,
            "kind": one.rule.kind,
            "bound": one.rule.bound,
            **buffer_dict(link, one.advice.whole_packets),
            "holds": one.holds,
            "keeps_bounds": one.keeps_bounds,
            "broken_assumptions": BETWEEN.join(one.advice.broken),
            **_columns(one.simulated),
            "unmet": None if one.keeps_bounds is None else BETWEEN.join(one.unmet),
            "engine": one.engine,
            "source": one.rule.source,
        }
        for one in by_rule
    ]
    text = dict.fromkeys(("rule", "title", "kind", "bound"), pl.String)
    verdict = {"holds": pl.Boolean, "keeps_bounds": pl.Boolean, "broken_assumptions": pl.String}
    end = dict.fromkeys(("unmet", "engine", "source"), pl.String)
    return _frame(rows, {**text, **BUFFER, **verdict, **FIGURE, **end})


def curve_frame(
    link: Link, points: Sequence[tuple[int, int, dict[str, Interval]]], engine: Engine | None
) -> pl.DataFrame:
    """Returns one row per limit: the buffer, `replicates`, the figures and `engine`.

    Args:
        link: the link.
        points: each limit with its number of replicates and its figures.
        engine: the engine that ran them.
    """
    rows = [
        {
            **buffer_dict(link, limit),
            "replicates": replicates,
            **_columns(figures),
            "engine": engine,
        }
        for limit, replicates, figures in points
    ]
    return _frame(rows, {**BUFFER, "replicates": pl.Int64, **FIGURE, "engine": pl.String})


def queues_frame(alternatives: Sequence[Alternative]) -> pl.DataFrame:
    """Returns one row per queue: `queue`, the figures, `unmet`, `engine` (null if not run)."""
    rows = [
        {
            "queue": one.queue,
            **_columns(one.figures),
            "unmet": BETWEEN.join(one.unmet) if one.figures else None,
            "engine": one.engine,
        }
        for one in alternatives
    ]
    text = dict.fromkeys(("unmet", "engine"), pl.String)
    return _frame(rows, {"queue": pl.String, **FIGURE, **text})


def _columns(figures: dict[str, Interval]) -> dict[str, float | None]:
    columns: dict[str, float | None] = {}
    for name, one in figures.items():
        columns[name] = one.mean
        columns[f"{name}_low"], columns[f"{name}_high"] = one.ends
    return columns


def _frame(rows: list[dict[str, Any]], schema: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema=schema)
