"""The contents of a study's folder as polars frames. Every column has its unit in its name."""

from __future__ import annotations

import json
from collections import defaultdict
from contextlib import closing
from copy import copy
from fnmatch import filter as matching
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from goodqueue import _core
from goodqueue.core.columns import column
from goodqueue.core.files.reading import read_bytes
from goodqueue.core.intervals import t_interval
from goodqueue.core.metrics import chosen_first, range_of
from goodqueue.core.shown import axes_of, html_of, words_of
from goodqueue.errors import DamageError, RequestError, ScenarioError
from goodqueue.runs.kind import keys_of
from goodqueue.study.plan import identity
from goodqueue.study.record.ledger import (
    TABLES,
    Reading,
    Row,
    damaged,
    open_to_read,
    read_table,
    readable_errors,
)
from goodqueue.study.record.store import STUDY
from goodqueue.study.stopping import anytime_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    import polars as pl

    from goodqueue.core.shown import Drawn
    from goodqueue.study.model import StudyPlan
    from goodqueue.study.record.packing import Packing

UNITS = ("_bps", "_s", "_bytes", "_packets", "_bdp")
"""Endings of parameters' columns that are units."""

MAX_NAMED = 8
"""Largest number of a column's values that a message lists."""

RUN_COLUMNS = ("identity", "results_version", "wall_s", "host", "error")


class Results:
    """The recorded runs of a folder, by rising index in the grid and seed.

    Attributes:
        folder: the folder.
        axes: the columns of the parameters.
        metrics: the names of the metrics.

    Examples:
        >>> import goodqueue
        >>> from tempfile import mkdtemp
        >>> limits = {"topology.bottleneck.queue.limit": ["10p", "100p"]}
        >>> results = goodqueue.Study(goodqueue.EXAMPLE, sweep=limits, seeds=3).run(mkdtemp())
        >>> results.means("ping.mean_rtt_s").select("count").to_series().to_list()
        [3, 3]
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        """Reads all rows.

        Raises:
            RequestError: if the folder contains no ledger of a study.
            DamageError: if its content is damaged.
        """
        self.folder = Path(folder)
        self._tables: dict[str, dict[str, str]] = {}
        rows, packings = _rows(self.folder)
        for row in rows:
            if row.kept:
                self._tables[row.identity.hex()] = row.checksums()
        self._wide, self.axes, self.metrics = _frame(rows, packings)

    def __len__(self) -> int:
        return self._wide.height

    def __repr__(self) -> str:
        return words_of(self)

    def plot(
        self,
        y: str | tuple[str, ...],
        *,
        x: str | None = None,
        series: str | None = None,
        **options: Any,  # noqa: ANN401 - those of [[plot]]
    ) -> Drawn:
        """Draws metrics of all runs by pyplot, without a caption, and returns the axes.

        Args:
            y: one or more metrics.
            x: axis or metric below; by default the first axis.
            series: axis with a line for each value; by default the next axis, if any.
            options: further keys of `[[plot]]` in a study file, such as `kind="box"`, `facets`,
                `band`, `x_scale` and `y_scale`.

        Raises:
            RequestError: if there is no such metric or axis, or if it cannot be drawn.
        """
        return axes_of(self, y, x=x, series=series, **options)

    def _repr_html_(self) -> str:
        return html_of(self)

    def wide(self) -> pl.DataFrame:
        """One row per run: its parameters, `seed`, every metric, and facts about the execution.

        `identity` (hexadecimal), `results_version`, `wall_s`, `host`, `error` (null if it did not
        fail) come last. Metrics without a sample are null.
        """
        return self._wide

    def long(self, *metrics: str | Sequence[str]) -> pl.DataFrame:
        """Returns one row per run and metric: its parameters, `seed`, `metric`, `value`.

        If there are several versions of the engine, only the newest is used.

        Args:
            metrics: names of metrics, as for `means`.

        Raises:
            RequestError: if no run has one of them.
        """
        wide = self.newest()
        return wide.unpivot(
            on=self.known(_flat(metrics)),
            index=[*self.axes, "seed"],
            variable_name="metric",
            value_name="value",
        )

    def means(self, *metrics: str | Sequence[str]) -> pl.DataFrame:
        """Returns one row per variant and metric: the mean over the seeds and its 95 % interval.

        The columns are the parameters, `metric`, `count` (seeds with a sample), `mean`,
        `half_width` (Student's t; if a stopping rule chose the count, of the sequence that allows
        for it: `anytime_interval`), `low`, `high` (within the range of the metric), `min`, `max`.
        Sums are taken in the order of seeds. If there are several versions of the engine, only the
        newest is used.

        Args:
            metrics: names of metrics, one by one or in a list; a `*` stands for any letters, as in
                `*.utilization`. All metrics if there is none.

        Raises:
            RequestError: if no run has one of them.
        """
        from goodqueue.core.polars import pl

        names = self.known(_flat(metrics))
        wide = self.newest()
        interval_of = anytime_interval if self.watched() else t_interval
        rows = []
        keys = list(self.axes)
        groups = wide.partition_by(keys, maintain_order=True) if keys else [wide]
        for group in groups:
            point = group.select(keys).row(0, named=True) if keys and group.height else {}
            for name in names:
                values = group.get_column(name).drop_nulls().to_list()
                if values:
                    interval = interval_of(values).within(*range_of(name))
                    spread = {
                        "count": len(values),
                        "mean": interval.mean,
                        "half_width": interval.half_width,
                        "low": interval.low,
                        "high": interval.high,
                        "min": min(values),
                        "max": max(values),
                    }
                    rows.append({**point, "metric": name, **spread})
        return pl.DataFrame(rows, infer_schema_length=None)

    def watched(self) -> bool:
        """Returns True if the study in the folder has a stopping rule."""
        file = self.folder / STUDY
        try:
            return file.is_file() and "stop" in keys_of(read_bytes(file))
        except ScenarioError as error:
            raise DamageError(
                f"{file} is damaged ({error.message}); the next sweep of the study writes it again"
            ) from None

    def successful(self, plan: StudyPlan) -> pl.DataFrame:
        """Returns the rows of `wide` of a study's successful runs, in the order of its grid."""
        from goodqueue.core.polars import pl

        frame = self.within(plan).wide()
        return frame.filter(pl.col("error").is_null())

    def within(self, plan: StudyPlan) -> Results:
        """Returns only the runs of this study, by identity.

        A folder may also contain runs of an earlier form of the study, or of another version of the
        engine.
        """
        from goodqueue.core.polars import pl

        names = list(plan.axes)
        variants = {
            tuple(variant.parameters[name] for name in names): variant.digest
            for variant in plan.variants
        }
        if not set(names) <= set(self._wide.columns):
            return self._with(self._wide.clear())
        columns = self._wide.select("seed", "identity", *names).iter_rows()
        kept = []
        for seed, found, *point in columns:
            digest = variants.get(tuple(point))
            kept.append(digest is not None and identity(digest, seed).hex() == found)
        return self._with(self._wide.filter(pl.Series(kept, dtype=pl.Boolean)))

    def _with(self, wide: pl.DataFrame) -> Results:
        chosen = copy(self)
        chosen._wide = wide  # noqa: SLF001 - of this class
        return chosen

    def where(self, conditions: Mapping[str, str | Sequence[str]]) -> Results:
        """Returns only the runs whose parameters, seed or host have one of the given values.

        Values are texts, numbers in the unit of the column, or numbers with their unit (`10Mbps`).
        Columns are named as for `column`.

        Raises:
            RequestError: if there is no such column, or if no run has such a value.
        """
        from goodqueue.core.polars import pl

        frame = self._wide
        for name, values in conditions.items():
            found = self.column(name)
            known = self._wide.get_column(found)
            meant = pl.repeat(value=False, n=frame.height, dtype=pl.Boolean, eager=True)
            for value in [values] if isinstance(values, str) else values:
                wanted = _value(known, value)
                if found in {*self.axes, "seed", "host"} and not (known == wanted).any():
                    raise RequestError(f"no run has {found} {value!r}{_among(wanted, known)}")
                meant |= frame.get_column(found) == wanted
            frame = frame.filter(meant)
        return self._with(frame)

    def column(self, name: str) -> str:
        """Returns the column with this name, or with this end of a parameter's path.

        The unit at the end of a parameter's column may be omitted.

        Raises:
            RequestError: if no column has this name or end, or if several parameters have this end.
        """
        columns = self._wide.columns
        if name in columns:
            return name
        paths = {axis: axis.removesuffix(_unit(axis)) for axis in self.axes}
        ends = f".{name}"
        whole = [axis for axis in self.axes if name == paths[axis]]
        part = [axis for axis in self.axes if axis.endswith(ends) or paths[axis].endswith(ends)]
        if found := whole or part:
            if len(found) > 1:
                raise RequestError(f"{name!r} is the end of several columns: {', '.join(found)}")
            return found[0]
        last = [text.rpartition(".")[2] for text in (*self.axes, *paths.values())]
        hint = _near(name, [*columns, *last]) or f"; choose from {', '.join([*self.axes, 'seed'])}"
        raise RequestError(f"no run has a column {name!r}{hint}")

    def failures(self) -> pl.DataFrame:
        """Runs that failed: their parameters, `seed`, `error`."""
        from goodqueue.core.polars import pl

        wide = self.wide().filter(pl.col("error").is_not_null())
        return wide.select(*self.axes, "seed", "error")

    def table(self, identity: str, name: str) -> pl.DataFrame:
        """Returns a stored table of a run.

        The tables are `queueing-delays`, `flows`, `backlog`, `windows` and `rtt`, as in
        `goodqueue.Result`.
        """
        from goodqueue.core.polars import pl

        path = self.folder / TABLES / f"{identity}.{name}.parquet"
        known = self._tables.get(identity, {}).get(name)
        if known is None:
            raise RequestError(
                f"no {name} is stored for run {identity[:12]}; request it with [keep] in the study"
            )
        content, fault = read_table(path, known)
        if fault is not None:
            raise damaged(self.folder, [fault])
        return pl.read_parquet(content)

    def newest(self) -> pl.DataFrame:
        """Returns the rows of `wide` of the newest version of the engine that did not fail.

        Raises:
            RequestError: if two scenarios were run for the same point and seed.
        """
        from goodqueue.core.polars import pl

        newest = pl.col("results_version") == pl.col("results_version").max()
        runs = self._wide.filter(pl.col("error").is_null() & newest)
        if runs.select(*self.axes, "seed").is_duplicated().any():
            raise RequestError(
                f"{self.folder} contains runs of two scenarios for the same point and "
                "seed, because the study was changed, or another one was merged into it. "
                "Run the study in a new folder, or use single runs (`goodqueue results "
                "--runs`, `Results.wide`)"
            )
        return runs

    def known(self, metrics: Sequence[str] | None) -> list[str]:
        """Returns the named metrics, or all of them; a `*` in a name stands for any letters.

        Raises:
            RequestError: if no run has one of them.
        """
        if metrics is None:
            return self.metrics
        found: list[str] = []
        for name in metrics:
            named = [name] if name in self.metrics else matching(self.metrics, name)
            if not named:
                raise RequestError(f"no run has a metric {name!r}{_near(name, self.metrics)}")
            found += named
        return list(dict.fromkeys(found))


def _flat(metrics: Sequence[str | Sequence[str]]) -> list[str] | None:
    """Returns names that are given one by one or in lists; None if there is none."""
    names = [[one] if isinstance(one, str) else list(one) for one in metrics]
    return [name for some in names for name in some] if names else None


def _unit(column: str) -> str:
    """Returns the unit at the end of a parameter's column, as in `_bps`; empty if it has none."""
    return next((unit for unit in UNITS if column.endswith(unit)), "")


def _value(known: pl.Series, text: str) -> str | float:
    """Returns a value in the form of a column: a text, or a number in its unit."""
    if not known.dtype.is_numeric():
        return text
    try:
        return float(text)
    except ValueError:
        measured = _core.measure(text)
    if measured is None:
        raise RequestError(f"{known.name} is a number, but {text!r} is not{_among(None, known)}")
    value, unit = measured
    if unit != _unit(known.name):
        raise RequestError(f"{known.name} has another unit than {text!r}{_among(None, known)}")
    return value


def _near(name: str, names: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, names, 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _among(value: str | float | None, known: pl.Series) -> str:
    """Returns the nearest value of a column, or some of its values."""
    values = known.drop_nulls().unique(maintain_order=True)
    texts = [_written(one, known) for one in values]
    near = ""
    if isinstance(value, str):
        near = _near(value, texts)
    elif value is not None and texts:
        nearest = min(range(len(texts)), key=lambda place: abs(values[place] - value))
        near = f"; did you mean {texts[nearest]!r}?"
    some = ", ".join(map(repr, texts[:MAX_NAMED]))
    more = ", ..." if len(texts) > MAX_NAMED else ""
    return near or f"; choose from {some}{more}"


def _written(value: object, known: pl.Series) -> str:
    """Returns a value as a user would write it: with its unit if that is exact."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        with_unit = column(known.to_frame(), known.name).text(value)
        if _core.measure(with_unit) == (value, _unit(known.name)):
            return with_unit
        return f"{value:g}" if isinstance(value, float) else str(value)
    return str(value)


def _rows(folder: Path) -> tuple[list[Row], dict[int, Packing]]:
    """Returns all rows of a ledger, and the encodings of their metrics."""
    with closing(open_to_read(folder)) as connection, readable_errors(folder):
        reading = Reading(folder, connection)
        rows = list(reading.rows())
    reading.refuse()
    return rows, reading.packings


def _frame(
    found: list[Row], packings: dict[int, Packing]
) -> tuple[pl.DataFrame, list[str], list[str]]:
    """Returns the rows as a frame, its axes and its metrics.

    Runs whose metrics have the same names form one block of numbers.
    """
    from goodqueue.core.polars import pl

    blocks = defaultdict(list)
    for row in found:
        blocks[row.names].append(row)
    parameters = sorted({row.parameters for row in found})
    parsed = {text: json.loads(text) for text in parameters}
    axes = list(dict.fromkeys(name for point in parsed.values() for name in point))
    parts = [
        _block(rows, None if number is None else packings[number], parsed)
        for number, rows in sorted(blocks.items(), key=lambda item: item[0] or 0)
    ]
    if not parts:
        parts = [_block([], None, {})]
    every = (packing.names.split("\n") for packing in packings.values())
    metrics = dict.fromkeys(name for names in every for name in names)
    present = {column for part in parts for column in part.columns}
    known = chosen_first([name for name in metrics if name in present])
    frame = pl.concat(parts, how="diagonal_relaxed")
    frame = frame.sort("_variant", "_parameters", "results_version", "seed")
    return frame.select(*axes, "seed", *known, *RUN_COLUMNS), axes, known


def _block(
    rows: list[Row], packing: Packing | None, parsed: dict[str, dict[str, object]]
) -> pl.DataFrame:
    from goodqueue.core.polars import pl

    columns: list[pl.Series] = []
    points = [parsed[row.parameters] for row in rows]
    for axis in dict.fromkeys(name for point in parsed.values() for name in point):
        values = [point.get(axis) for point in points]
        if any(isinstance(value, float) for value in values):
            columns.append(pl.Series(axis, values, pl.Float64, strict=False))
        else:
            columns.append(pl.Series(axis, values, strict=False))
    columns.append(pl.Series("seed", [row.seed for row in rows], pl.Int64))
    if packing is not None:
        names = packing.names.split("\n")
        blobs = b"".join(packing.unpack(row.metrics or b"") for row in rows)
        numbers = np.frombuffer(blobs, "<f8").reshape(len(rows), len(names))
        numbers = np.ascontiguousarray(numbers.T)
        columns += [
            pl.Series(name, values).fill_nan(None)
            for name, values in zip(names, numbers, strict=True)
        ]
    columns += [
        pl.Series("_variant", [row.variant for row in rows], pl.Int64),
        pl.Series("_parameters", [row.parameters for row in rows], pl.String),
        pl.Series("identity", [row.identity.hex() for row in rows], pl.String),
        pl.Series("results_version", [row.version for row in rows], pl.Int64),
        pl.Series("wall_s", [row.wall_s for row in rows], pl.Float64),
        pl.Series("host", [row.host for row in rows], pl.String),
        pl.Series("error", [row.error for row in rows], pl.String),
    ]
    return pl.DataFrame(columns)
