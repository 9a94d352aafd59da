"""A published table as data: rows override keys of a scenario, columns combine metrics of a run.

docs/papers.md lists the keys of its TOML file. Every cell of the published CSV is a cell of the
comparison; an empty cell means that the paper prints no number. The paper shows a column that the
CSV lacks only as a picture, so the cells of this column are judged by their shape alone.
"""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from goodqueue import _core
from goodqueue.core.files.outdir import check_folder, write_whole
from goodqueue.core.files.owned import sign
from goodqueue.errors import RequestError
from goodqueue.papers.cells import UNKNOWN, Beside, Cell, Finding, Remark, Reproduction, Spread
from goodqueue.papers.conclusions import Conclusion, Sample
from goodqueue.papers.condition import Open
from goodqueue.papers.quantity import Quantity
from goodqueue.papers.shapes import TESTS
from goodqueue.runs.results.traces import gnuplot
from goodqueue.study.plan import run_of, variant_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from goodqueue.papers.quantity import Figures
    from goodqueue.plots.style import Picture
    from goodqueue.study.model import Run
    from goodqueue.study.runner import Runner

Row = dict[str, str]
Spreads = dict[tuple[int, str], dict[str, Spread]]
"""Spread of every quantity, by the name of its column, for each row (its index) and variant."""

if TYPE_CHECKING:
    PlacedRun = tuple[int, str, Run]
    """A run with the index of its row and the name of its variant."""

PLAIN = ""
"""Name of the variant that is compared with the paper."""

AXIS_ENDS = ("axis_from", "axis_to")
"""Keys of a `[[shape]]` that restrict its axis."""

AS_RUN = "as fitted"
"""Label of the model without variants, in tables that also list variants. The key `plain` of the
data replaces it.
"""


@dataclass(frozen=True, slots=True)
class Traced:
    """A cell whose run is written as trace files of the kind that the authors used.

    Attributes:
        row: values of its key columns.
        seed: seed of the run.
        why: reason for this seed; "" if it is the default.
        scenario: the scenario that is run.
        files: file name for each trace.
    """

    row: Mapping[str, str]
    seed: int
    why: str
    scenario: _core.Scenario
    files: Mapping[str, str]

    @property
    def name(self) -> str:
        """Name of the directory for the trace files of the cell."""
        return "-".join(re.sub(r"[^\w.]+", "_", value) for value in self.row.values())

    def write(self, target: Path) -> str:
        """Runs the cell, writes the traces and a gnuplot script, and describes what was run."""
        check_folder(target, [*self.files.values(), "plot.gp", "*.svg"])
        target.mkdir(parents=True, exist_ok=True)
        files = {trace: target / file for trace, file in self.files.items()}
        self.scenario.with_seed(self.seed).run(traces=list(files.items()))
        windows = {
            trace.removeprefix("cwnd:"): file
            for trace, file in self.files.items()
            if trace.startswith("cwnd:")
        }
        script = gnuplot(self.scenario.links[0], self.files["queue"], windows)
        write_whole(target / "plot.gp", script)
        sign(target)
        cell = ", ".join(f"{key} {value}" for key, value in self.row.items())
        return f"{cell}, seed {self.seed}{f': {self.why}' if self.why else ''}"


def folder(paper: str) -> Traversable:
    """Returns the folder of a paper's data; hyphens become underscores, as in the package name."""
    return files(__package__).joinpath(paper.replace("-", "_"))


class TableExperiment:
    """A published table or figure with the scenario and settings that reproduce it."""

    def __init__(self, paper: str, name: str, data: Mapping[str, Any]) -> None:
        self.paper, self.name = paper, name
        self.title: str = data["title"]
        self.claim: str = data.get("claim", "")
        self.conclusions = [Conclusion(**entry) for entry in data.get("conclusion", ())]
        self.seconds = float(data["seconds"])
        self._folder = folder(paper)
        self._data = data
        self._settings: tuple[tuple[str, str], ...] = ()
        self._done: WeakKeyDictionary[Runner, Reproduction] = WeakKeyDictionary()
        self.open = Open(**{**data["open"], "set": tuple(data["open"].get("set", ()))})
        self.keys: dict[str, Mapping[str, Any]] = {row["column"]: row for row in data["row"]}
        self.columns = {entry["published"]: Quantity.read(entry) for entry in data["column"]}
        self.rows = self._read(data["published"])
        self.variants: dict[str, Mapping[str, Any]] = {PLAIN: {}} | {
            variant["name"]: variant for variant in data.get("variant", ())
        }
        own = {control["name"]: control for control in data.get("control", ())}
        self.models = self.variants | own
        self.controls = [
            name for name, entry in self.models.items() if name in own or entry.get("control")
        ]

    @property
    def is_compared(self) -> bool:
        """True if our means are also compared with those of another simulator."""
        return any("standard_errors" in other for other in self._data.get("beside", ()))

    def under(
        self, settings: Sequence[tuple[str, str]], seeds: int | None = None
    ) -> TableExperiment:
        """Returns the table with other settings in every run, and with another number of seeds.

        Args:
            settings: paths and values, as `--set` takes them; they replace those of the rows.
            seeds: number of seeds of every run; None for the table's own.
        """
        made = TableExperiment(self.paper, self.name, self._data)
        made._settings = tuple(settings)
        made.open = self.open if seeds is None else self.open.with_seeds(seeds)
        return made

    @cached_property
    def changed(self) -> frozenset[int]:
        """Indices of the rows that the settings change, by the scenario that they resolve to."""
        if not self._settings:
            return frozenset()
        own = self._scenarios(list(TableExperiment(self.paper, self.name, self._data).runs()))
        now = self._scenarios(list(self.runs()))
        keys = [tuple(row[column] for column in self.keys) for row in self.rows]
        return frozenset(
            place
            for place, key in enumerate(keys)
            if own[key].resolved_toml() != now[key].resolved_toml()
        )

    def runs(self) -> Iterator[PlacedRun]:
        """Yields every run with the index of its row and the name of its variant."""
        texts = {
            name: self._folder.joinpath(variant.get("scenario", self._data["scenario"]))
            for name, variant in self.models.items()
        }
        for place, row in enumerate(self.rows):
            for name, variant in self.models.items():
                text = texts[name].read_bytes()
                for value in self.open.values:
                    overrides = [
                        *self._data.get("set", ()),
                        *(
                            template.format(row[column], **row)
                            for column, key in self.keys.items()
                            for template in key.get("set", ())
                        ),
                        *(self._filled(text, name, row) for text in variant.get("set", ())),
                        *(template.format(value) for template in self.open.set),
                    ]
                    pairs = [*map(_override, overrides), *self._settings]
                    scenario = _core.Scenario.parse(text, texts[name].name, pairs)
                    parameters = {column: row[column] for column in self.keys}
                    made = variant_of(scenario, parameters, place)
                    for seed in self.open.seeds:
                        yield place, name, run_of(made, seed)

    def _filled(self, template: str, model: str, row: Row) -> str:
        """Returns an override; in that of a control, values of the row replace the placeholders."""
        return template if model in self.variants else template.format(**row)

    def traced(self, wanted: Sequence[str], seed: int | None = None) -> list[Traced]:
        """Returns the cells whose traces are to be written.

        Args:
            wanted: `KEY=VALUE` conditions on the rows' keys, all of which a row must meet; `all`
                selects every row. If empty, the cell that `[traces]` names is selected, or every
                row if it names none.
            seed: seed of the runs; None for the seed that `[traces]` gives for its cell, and 1
                otherwise.

        Raises:
            RequestError: if the table has no such rows, or its file no table `[traces]`.
        """
        traces = self._data.get("traces")
        if traces is None:
            raise RequestError(
                f"{self.paper} {self.name} has no table [traces], which names the files to write: "
                "those of ahmad2020 and wisdom2021 have"
            )
        named = traces.get("row", {})
        rows = self._wanted(wanted) if wanted else named
        firsts: dict[int, Run] = {}
        for place, variant, made in self.runs():
            if variant == PLAIN and rows.items() <= self.rows[place].items():
                firsts.setdefault(place, made)
        if not firsts:
            said = ", ".join(f"{key}={value}" for key, value in rows.items())
            raise RequestError(f"{self.paper} {self.name} has no row with {said}: {self._known()}")
        found = []
        for place, made in firsts.items():
            row = {key: self.rows[place][key] for key in self.keys}
            is_named = bool(named) and named.items() <= row.items()
            own = traces.get("seed", 1) if is_named else 1
            chosen = own if seed is None else seed
            why = traces.get("why", "") if is_named and chosen == own else ""
            found.append(Traced(row, chosen, why, made.variant.scenario, traces["files"]))
        return found

    def _wanted(self, texts: Sequence[str]) -> dict[str, str]:
        """Returns the values of keys that the conditions `KEY=VALUE` ask for."""
        found = {}
        for text in texts:
            if text == "all":
                continue
            key, equals, value = text.partition("=")
            if not equals or key not in self.keys:
                raise RequestError(f"--row {text}: write KEY=VALUE, or all; {self._known()}")
            found[key] = value
        return found

    def _known(self) -> str:
        """Lists the known values of every key, in words."""
        values = {key: ", ".join(dict.fromkeys(row[key] for row in self.rows)) for key in self.keys}
        return "; ".join(f"{key} is one of {those}" for key, those in values.items())

    def reproduce(self, runner: Runner) -> Reproduction:
        """Runs what the store lacks and compares our figures with the published ones."""
        if runner not in self._done:
            runs = list(self.runs())
            spreads = self._spreads(runner, runs)
            cells = self._cells(spreads)
            pictures = partial(self._pictures, cells)
            every = [*cells, *self._shown(spreads), *self.concluded(spreads)]
            made = Reproduction(every, self._sentences(), pictures, self._scenarios(runs))
            self._done[runner] = made
        return self._done[runner]

    def _scenarios(self, runs: Sequence[PlacedRun]) -> dict[tuple[str, ...], _core.Scenario]:
        """Returns the scenario of the first run of each row, without variants, with its seed."""
        found: dict[tuple[str, ...], _core.Scenario] = {}
        for place, variant, made in runs:
            if variant == PLAIN:
                key = tuple(self.rows[place][column] for column in self.keys)
                found.setdefault(key, made.variant.scenario.with_seed(made.seed))
        return found

    def concluded(self, spreads: Spreads) -> Iterator[Cell]:
        """Yields a cell for each conclusion of the paper, under every variant."""
        printed = {one.column: self._printed(one.column) for one in self.conclusions}
        for one in self.conclusions:
            quantity = self._quantity(one)
            for name in self.variants:
                samples = [
                    Sample(
                        {key: row[key] for key in self.keys},
                        spreads[place, name][one.column],
                        printed[one.column][place] if self._is_printed(place, name) else None,
                    )
                    for place, row in enumerate(self.rows)
                ]
                called = name or self._data.get("plain", AS_RUN)
                under = {"variant": called} if len(self.variants) > 1 else {}
                yield from one.cells(samples, quantity, under)

    def _is_printed(self, place: int, variant: str) -> bool:
        """Returns True if a run of a row is that of which the paper prints figures."""
        return variant == PLAIN and place not in self.changed

    def _printed(self, column: str) -> list[float | None]:
        """Returns the paper's figures of a column for every row; None where it prints none.

        The figures are in this table's CSV, or in the tables that `[[printed]]` names.
        """
        if column in self.rows[0]:
            texts = [row[column] and self._reads(row, column) for row in self.rows]
        else:
            texts = [""] * len(self.rows)
            for entry in self._data.get("printed", ()):
                rows = csv.DictReader(
                    self._folder.joinpath(entry["file"]).read_text("utf-8").splitlines()
                )
                known = [row for row in rows if entry.get("where", {}).items() <= row.items()]
                for place, row in enumerate(self.rows):
                    if entry["row"].items() <= row.items():
                        texts[place] = next(
                            (one[column] for one in known if _is_same(one, row)), texts[place]
                        )
        return [float(text) if text else None for text in texts]

    def _shown(self, spreads: Spreads) -> Iterator[Cell]:
        """Yields a cell for each claim about the shape of a row whose figures are not printed.

        The claim is one cell, however many figures the row has.
        """
        for entry in self._data.get("shape", ()):
            column = entry["column"]
            if column in self.rows[0]:
                continue
            for places in self._groups(entry):
                if self.changed.intersection(places):
                    continue
                means = [spreads[place, PLAIN][column].mean for place in places]
                holds = self._holds(entry, places, means)
                along = self._along(entry)
                first = {key: self.rows[places[0]][key] for key in self.keys if key != along}
                remark = self.remark(self.rows[places[0]], column)
                yield Cell(
                    first,
                    f'"{entry["says"]}": {self.columns[column].label}',
                    "",
                    0,
                    None,
                    UNKNOWN,
                    remark=None if holds else remark,
                    finding=Finding.HOLDS if holds else Finding.UNREPRODUCED,
                    asked=self._asked(entry),
                )

    def _asked(self, entry: Mapping[str, Any]) -> str:
        """Describes the test of a shape, with its parameters."""
        other = {"column", "test", "along", "row", "says"}
        said = [
            f"{key.replace('_', ' ')} {value:g}" for key, value in entry.items() if key not in other
        ]
        test = entry["test"].replace("_", " ")
        return f"{test} ({', '.join(said)})" if said else test

    def _quantity(self, one: Conclusion) -> str:
        """Describes a conclusion and its test, in words."""
        key, label = self.keys[one.along], self.columns[one.column].label
        at = f"{key['label']} {one.of} over {one.over} {key.get('unit', '')}".strip()
        if one.average:
            at = f"{at}, means over every {self.keys[one.average]['label']}"
        return f'"{one.says}": {label}, {at}, {one.bound}'

    def _spreads(self, runner: Runner, places: Sequence[PlacedRun]) -> Spreads:
        """Returns the spread of every quantity for each row and variant."""
        quantities = self._quantities()
        metrics = list(
            dict.fromkeys(name for one in quantities.values() for name in (*one.sum, *one.per))
        )
        found: dict[tuple[int, str], list[Figures]] = {}
        values = runner.figures([run for _, _, run in places], metrics)
        for (place, variant, _), figures in zip(places, values, strict=True):
            named = dict(zip(metrics, figures, strict=True))
            found.setdefault((place, variant), []).append(named)
        return {
            key: {
                label: read([quantity.figure(figures) for figures in runs], quantity.most)
                for label, quantity in quantities.items()
                for label, read in (
                    (label, self.open.spread),
                    *(((_others(label), self.open.others),) if self.open.is_chosen else ()),
                )
            }
            for key, runs in found.items()
        }

    def _quantities(self) -> dict[str, Quantity]:
        """Returns the quantity of each published column, and those of a second method (`also`)."""
        found = dict(self.columns)
        for entry in self._data["column"]:
            if "also" in entry:
                also = Quantity.read({**entry, **entry["also"]})
                found[_also(entry["published"])] = also
        return found

    def _cells(self, spreads: Spreads) -> list[Cell]:
        besides = [
            _Other(self._read(other["file"]), other) for other in self._data.get("beside", ())
        ]
        cells = []
        for column, quantity in self.columns.items():
            ours = [spreads[place, PLAIN][column] for place in range(len(self.rows))]
            shapes = self._shapes(column, [spread.mean for spread in ours])
            for place, row in enumerate(self.rows):
                if row.get(column) == "":
                    continue
                entry = self._entry(column)
                variants = {
                    name: spreads[place, name][column] for name in self.variants if name != PLAIN
                }
                if "also" in entry:
                    variants[entry["also"]["label"]] = spreads[place, PLAIN][_also(column)]
                controls = {name: spreads[place, name][column] for name in self.controls}
                found = [other.beside(place, column, ours[place]) for other in besides]
                if self.open.is_chosen:
                    others = spreads[place, PLAIN][_others(column)]
                    found.append(Beside(self.open.other_values, others, drawn=False))
                cells.append(
                    Cell(
                        {key: row[key] for key in self.keys},
                        quantity.label,
                        quantity.unit,
                        quantity.digits,
                        row.get(column),
                        ours[place],
                        shapes[place],
                        entry.get("tolerance", 0.0),
                        self.remark(row, column),
                        [beside for beside in found if beside is not None],
                        variants,
                        controls,
                        repeats=self.repeats(row),
                        changed=place in self.changed,
                    )
                )
        return cells

    def remark(self, row: Row, column: str) -> Remark | None:
        """Returns the first remark that applies to a cell; None if none does."""
        for entry in self._data.get("remark", ()):
            of_row = all(row[key] == value for key, value in entry.get("row", {}).items())
            if of_row and entry.get("column", column) == column:
                return Remark(entry["text"], entry.get("reads"))
        return None

    def repeats(self, row: Row) -> str:
        """Returns the experiment that already has the run of a row; "" if none has."""
        entries = self._data.get("repeat", ())
        found = (entry["of"] for entry in entries if entry["row"].items() <= row.items())
        return str(next(found, ""))

    def published_shapes(self) -> Iterator[tuple[str, bool]]:
        """Yields the name of every shape test, and True if the published figures pass it."""
        for entry in self._data.get("shape", ()):
            if entry["column"] not in self.rows[0]:
                continue
            for places in self._groups(entry):
                values = [float(self._reads(self.rows[place], entry["column"])) for place in places]
                yield f"{entry['column']} {entry['test']}", self._holds(entry, places, values)

    def _reads(self, row: Row, column: str) -> str:
        """Returns a published figure; a misprint is replaced by the correct reading."""
        remark = self.remark(row, column)
        return row[column] if remark is None or remark.reads is None else remark.reads

    def _shapes(self, column: str, means: Sequence[float]) -> list[bool | None]:
        """Returns for every row True if all its shape tests hold; None if it has no test."""
        found: list[bool | None] = [None] * len(self.rows)
        for entry in self._data.get("shape", ()):
            if entry["column"] != column:
                continue
            for places in self._groups(entry):
                if self.changed.intersection(places):
                    continue
                holds = self._holds(entry, places, [means[place] for place in places])
                for place in places:
                    found[place] = holds and found[place] is not False
        return found

    def _groups(self, entry: Mapping[str, Any]) -> Iterator[list[int]]:
        """Yields the indices of rows that differ only in the axis, in ascending order along it."""
        along = self._along(entry)
        others = [key for key in self.keys if key != along]

        def group(place: int) -> list[str]:
            return [self.rows[place][key] for key in others]

        wanted = entry.get("row", {})
        least, most = entry.get("axis_from", -math.inf), entry.get("axis_to", math.inf)
        places = [
            place
            for place, row in enumerate(self.rows)
            if row.get(entry["column"]) != ""
            and all(row[key] == value for key, value in wanted.items())
            and least <= float(row[along]) <= most
        ]
        places.sort(key=lambda place: (group(place), float(self.rows[place][along])))
        for _, members in groupby(places, group):
            yield list(members)

    def _holds(
        self, entry: Mapping[str, Any], places: Sequence[int], values: Sequence[float]
    ) -> bool:
        axis = [float(self.rows[place][self._along(entry)]) for place in places]
        return TESTS[entry["test"]](values, axis, **_parameters(entry))

    def _along(self, entry: Mapping[str, Any]) -> str:
        return str(entry.get("along", next(reversed(self.keys))))

    def _entry(self, column: str) -> Mapping[str, Any]:
        return next(entry for entry in self._data["column"] if entry["published"] == column)

    def _read(self, name: str) -> list[Row]:
        """Returns the rows of a CSV file, in the order of the published one."""
        found = list(csv.DictReader(self._folder.joinpath(name).read_text("utf-8").splitlines()))
        if name == self._data["published"]:
            return found
        by_key = {tuple(row[key] for key in self.keys): row for row in found}
        return [by_key.get(tuple(row[key] for key in self.keys), {}) for row in self.rows]

    def _sentences(self) -> list[str]:
        sentences = [self.open.why]
        sentences += [f"{other['label']}: {other['why']}" for other in self._data.get("beside", ())]
        return [*sentences, self.claim] if self.claim else sentences

    def _pictures(self, cells: Sequence[Cell]) -> Sequence[Picture]:
        from goodqueue.papers.pictures import comparisons

        axis = self._data.get("picture", {}).get("x", next(reversed(self.keys)))
        label, unit = self.keys[axis]["label"], self.keys[axis].get("unit", "")
        log = self._data.get("picture", {}).get("log", True)
        xlabel = f"{label}, {unit}" if unit else label
        name = f"{self.paper}-{self.name}"
        units = {key: entry.get("unit", "") for key, entry in self.keys.items()}
        pictures = comparisons(name, self.title, cells, axis, xlabel, units=units, log=log)
        for place, entry in enumerate(self._data.get("picture", {}).get("series", ())):
            from goodqueue.papers.series import labels, over_time

            firsts = {
                at: run.variant.scenario
                for at, variant, run in reversed(list(self.runs()))
                if variant == PLAIN
            }
            ordered = [firsts[at] for at in range(len(self.rows))]
            rows = dict(zip(labels(self.rows, self.keys), ordered, strict=True))
            pictures.append(over_time(f"{name}-{place + 1}", self.title, entry, rows))
        return pictures


class _Other:
    """Figures of another simulator, one row for each of ours."""

    def __init__(self, rows: Sequence[Row], data: Mapping[str, Any]) -> None:
        self._rows, self._data = rows, data

    def beside(self, place: int, column: str, ours: Spread) -> Beside | None:
        """Returns the other simulator's figure for a cell; None if it has none."""
        row, label = self._rows[place], self._data["label"]
        if f"{column}_min" in row:
            low, high = float(row[f"{column}_min"]), float(row[f"{column}_max"])
            # The mean of a published range is unknown.
            return Beside(label, Spread(low if low == high else math.nan, low, high))
        if f"{column}_mean" not in row:
            return None
        mean, deviation = float(row[f"{column}_mean"]), float(row[f"{column}_sd"])
        theirs = Spread.of_sample(mean, deviation, int(row["n"]), least=0.0)
        if "standard_errors" not in self._data:
            return Beside(label, theirs)
        errors = self._data["standard_errors"] * math.hypot(ours.error, theirs.error)
        allowed = max(self._data["tolerance"] * abs(mean), errors)
        return Beside(label, theirs, abs(ours.mean - mean) <= allowed)


def _parameters(entry: Mapping[str, Any]) -> dict[str, float]:
    """Returns the parameters that a `[[shape]]` gives to its test."""
    known = {"column", "test", "along", "row", "says", *AXIS_ENDS}
    return {key: value for key, value in entry.items() if key not in known}


def _is_same(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Returns True if two rows agree in every column that both have."""
    return all(other[column] == value for column, value in one.items() if column in other)


def _also(column: str) -> str:
    return f"{column}, also"


def _others(column: str) -> str:
    return f"{column}, other values"


def _override(text: str) -> tuple[str, str]:
    path, _, value = text.partition("=")
    return path, value
