"""Published tables: the comparison itself, the data, and the tables beside other simulations."""

from __future__ import annotations

import json
import math
import re
import sqlite3
import tomllib
from contextlib import closing
from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import pytest

from conftest import ROOT, goodqueue, refused
from goodqueue.cli.reproduce import CLAIMS, print_reproduction
from goodqueue.papers.cells import Cell, Remark, Reproduction, Spread, Verdict, printed_unit
from goodqueue.papers.conclusions import Conclusion, ratio
from goodqueue.papers.experiment import PAPERS, experiments, paper, papers
from goodqueue.papers.page import filled
from goodqueue.papers.shapes import TESTS
from goodqueue.papers.table import TableExperiment
from goodqueue.study.runner import Runner
from goodqueue.study.store import Store
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TABLES = [one for name in papers() for one in experiments(name) if isinstance(one, TableExperiment)]


@pytest.mark.parametrize(
    ("low", "high", "printed", "explained"),
    [
        (0.0404, 0.0406, "0.043", False),
        (0.0404, 0.0406, "0.040", True),  # cut
        (0.0404, 0.0406, "0.041", True),  # rounded
        (28, 30, "31", False),
        (28, 31, "31", True),
        (7.91, 7.91, "8", True),
        (76.4, 76.5, "76", True),
        (76.4, 76.5, "76.0", False),
        (987.31, 987.31, "987", True),
        (0.0, 0.5, "0.5", True),
        (0.6, 0.7, "0.5", False),
    ],
)
def test_a_figure_is_explained_if_it_would_be_printed_so(
    low: float, high: float, printed: str, *, explained: bool
) -> None:
    assert Spread((low + high) / 2, low, high).explains(printed) is explained


def test_a_tolerance_widens_both_ends_by_a_share_of_what_is_printed() -> None:
    spread = Spread(100.0, 90.0, 110.0)
    assert not spread.explains("120")
    assert spread.explains("120", 0.09)
    assert spread.explains("80", 0.13)
    assert not spread.explains("80", 0.05)


def test_the_interval_over_seeds_holds_one_more_run_in_95_of_100() -> None:
    normal = NormalDist()
    # Known deviation: mean +- 1.96 s; of 12 values Student widens it by t_11 sqrt(1 + 1/12) / 1.96.
    values = [normal.inv_cdf((place + 0.5) / 12) for place in range(12)]
    deviation = math.sqrt(sum(value**2 for value in values) / 11)
    spread = Spread.of_seeds(values)
    assert spread.high == pytest.approx(2.201 * deviation * math.sqrt(13 / 12), rel=1e-3)
    assert spread.low == pytest.approx(-spread.high)
    assert spread.error == pytest.approx(deviation / math.sqrt(12))
    assert Spread.of_seeds([4.0]) == Spread.exact(4.0)
    counts = Spread.of_seeds([0.0, 0.0, 6.0], least=0.0)
    assert counts.low == 0.0
    assert counts.high == Spread.of_seeds([0.0, 0.0, 6.0]).high


def cell(published: str | None, *, shape: bool | None, remark: Remark | None = None) -> Cell:
    return Cell({}, "", "", 0, published, Spread(10, 9, 11), shape, remark=remark)


def test_a_verdict_where_no_number_is_printed_is_explained(
    capsys: pytest.CaptureFixture[str],
) -> None:
    one = experiments("clustering-buffer")[0]
    print_reproduction(one, Reproduction([cell("10", shape=None)]))
    assert CLAIMS not in " ".join(capsys.readouterr().out.split())
    print_reproduction(one, Reproduction([cell(None, shape=False)]))
    assert CLAIMS in " ".join(capsys.readouterr().out.split())


def test_the_verdict_is_the_strongest_that_holds() -> None:
    assert cell("10", shape=False).verdict is Verdict.MATCHES
    assert cell("20", shape=True).verdict is Verdict.SHAPE
    assert cell("20", shape=False).verdict is Verdict.NOT
    assert cell("20", shape=None).verdict is Verdict.NOT
    assert cell(None, shape=True).verdict is Verdict.SHAPE
    assert cell(None, shape=None).verdict is None


def test_a_match_with_a_wide_interval_is_said_to_say_little() -> None:
    for low, high, weak in ((9, 11, False), (7.5, 12.5, False), (7, 13, True)):
        one = Cell({}, "", "", 0, "10", Spread(10, low, high))
        assert one.verdict is Verdict.MATCHES
        assert (one.weak, "says little" in one.said, one.note) == (weak, weak, "")
    assert not Cell({}, "", "", 0, "20", Spread(10, 7, 13)).weak


def test_a_misprint_says_whether_it_matches_as_it_should_read() -> None:
    assert cell("1", shape=None, remark=Remark("misprint", "10")).note.endswith("it matches")
    assert cell("1", shape=None, remark=Remark("misprint", "5")).note.endswith("match either")
    assert cell("1", shape=None, remark=Remark("misprint", "10")).verdict is Verdict.NOT
    assert not cell("10", shape=None, remark=Remark("misprint")).note


@pytest.mark.parametrize(
    ("test", "values", "parameters", "holds"),
    [
        ("rises", [1, 2, 2, 3], {}, True),
        ("rises", [1, 3, 2, 4], {}, False),
        ("rises", [1, 3, 2.9, 4], {"slack": 0.1}, True),
        ("falls", [4, 2, 2, 1], {}, True),
        ("falls", [1, 2, 2, 3], {}, False),
        ("flat", [98, 100, 99, 99], {"within": 0.02}, True),
        ("flat", [97, 100, 99, 99], {"within": 0.02}, False),
        ("saturates", [50, 80, 99, 100], {"at": 3, "within": 0.05}, True),
        ("saturates", [50, 99, 99, 100], {"at": 3, "within": 0.05}, False),
        ("grows_by", [1, 9, 3, 2], {"least": 1.5, "most": 2.5}, True),
        ("stays_below", [1, 2, 3, 4], {"most": 3}, False),
        ("stays_above", [1, 2, 3, 4], {"least": 1}, True),
        ("collapses", [10, 10, 4, 2], {"after": 2, "to": 0.5}, True),
        ("collapses", [10, 10, 6, 2], {"after": 2, "to": 0.5}, False),
        ("zero_until", [0, 0, 1, 3], {"last": 2}, True),
        ("zero_until", [0, 0, 0, 3], {"last": 2}, False),
        ("knee", [1, 1, 8, 9], {"at": 3, "below": 2, "above": 8}, True),
        ("knee", [1, 3, 8, 9], {"at": 3, "below": 2, "above": 8}, False),
        ("peaks", [1, 5, 4, 3], {"at": 2}, True),
        ("peaks", [1, 5, 4, 3], {"at": 3}, False),
        ("dips", [5, 2, 3, 4], {"at": 2}, True),
        ("dips", [5, 2, 3, 4], {"at": 3, "slack": 0.5}, True),
        ("dips", [5, 2, 3, 4], {"at": 3}, False),
    ],
)
def test_shapes(
    test: str, values: list[float], parameters: dict[str, float], *, holds: bool
) -> None:
    assert TESTS[test](values, [1, 2, 3, 4], **parameters) is holds


def test_a_conclusion_is_a_bound_on_the_ratio_of_rows_that_differ_in_one_key() -> None:
    rows = [{"rate": rate, "buffer": buffer} for rate in ("1", "2") for buffer in ("5", "10", "50")]
    ours = [Spread.exact(value) for value in (10, 20, 30, 10, 11, 12)]
    says = Conclusion("doubles", "x", along="buffer", of="10", over="5", least=2, because="why")
    first, second = says.cells(rows, ours, "x doubles", {"variant": "sink"})
    assert first.row == {"rate": "1", "variant": "sink"}
    assert (first.ours, first.verdict, first.note) == (Spread.exact(2.0), Verdict.SHAPE, "")
    assert (second.ours.mean, second.verdict, second.note) == (1.1, Verdict.NOT, "why")
    only = Conclusion("grows", "x", "buffer", "50", "10", row={"rate": "2"})
    assert [cell.row for cell in only.cells(rows, ours, "", {})] == [{"rate": "2"}]


def test_a_ratio_is_as_uncertain_as_both_figures() -> None:
    # 3 % above and 4 % below: 5 % together.
    times = ratio(Spread(200, 194, 206), Spread(100, 96, 104))
    assert times.mean == 2.0
    assert (times.low, times.high) == pytest.approx((1.9, 2.1))
    assert ratio(Spread(0, 0, 1), Spread(100, 96, 104)) == Spread.exact(0.0)


@pytest.mark.parametrize("name", papers())
def test_every_paper_has_a_page_and_something_to_reproduce(name: str) -> None:
    assert (ROOT / paper(name).page).is_file()
    assert experiments(name)


@pytest.mark.parametrize("one", TABLES, ids=lambda one: f"{one.paper}-{one.name}")
class TestData:
    def test_every_metric_exists(self, one: TableExperiment) -> None:
        _, _, run = next(one.runs())
        known = set(run.variant.scenario.metric_names())
        for quantity in one.columns.values():
            assert known.issuperset({*quantity.sum, *quantity.per}), quantity.label

    def test_the_published_figures_have_the_shapes_that_ours_are_tested_for(
        self, one: TableExperiment
    ) -> None:
        for name, holds in one.published_shapes():
            assert holds, name

    def test_every_conclusion_speaks_of_rows_that_there_are(self, one: TableExperiment) -> None:
        same = {column: Spread.exact(1.0) for column in one.columns}
        spreads = {(place, name): same for place in range(len(one.rows)) for name in one.variants}
        said = {cell.quantity for cell in one.concluded(spreads)}
        assert len(said) == len(one.conclusions)

    def test_what_is_open_says_how_its_interval_is_meant(self, one: TableExperiment) -> None:
        assert one.open.why
        # (n - 1)/(n + 1) of the range of n.
        assert one.open.kind != "phases" or one.open.count >= 39


@pytest.mark.parametrize("name", ["ahmad2020", "gijsbers2011", "wisdom2021"])
def test_the_page_has_the_conclusions_that_come_out(name: str, tmp_path: Path) -> None:
    page = (ROOT / paper(name).page).read_text(encoding="utf-8")
    # Other tests are about these, whose runs take long.
    for what in ("distances", "conclusions of table3"):
        page = page.replace(f"<!-- {what} -->", "")
    assert "<!-- conclusions of" in page
    with closing(Store.open(tmp_path / "store")) as store:
        assert filled(page, name, Runner(store, Threads())) == page


Cells = list[dict[str, Any]]


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Cells]:
    """The cells of a table of Gijsbers and Akkoorath, run once."""
    store = tmp_path_factory.mktemp("papers") / "store"

    @cache
    def of(table: str) -> Cells:
        done = goodqueue("reproduce", "gijsbers2011", table, "--json", "--store", store)
        assert done.returncode == 0, done.stderr
        cells: Cells = json.loads(done.stdout)["cells"]
        return cells

    return of


@pytest.mark.parametrize("table", ["table4", "table5"])
def test_ours_agrees_with_an_independent_simulation_to_a_printed_digit(
    table: str, tmp_path: Path
) -> None:
    data = tomllib.loads(PAPERS.joinpath("gijsbers2011", f"{table}.toml").read_text("utf-8"))
    # The phases that it ran.
    data |= {"open": data["open"] | {"count": 30}, "variant": []}
    one = TableExperiment("gijsbers2011", table, data)
    with closing(Store.open(tmp_path / "store")) as store:
        cells = one.reproduce(Runner(store, Threads())).cells
    assert len(cells) == 4 * len(one.rows)
    for cell in cells:
        assert cell.published is not None
        (theirs,) = cell.beside
        digit = printed_unit(cell.published) + 1e-9
        assert cell.ours.low == pytest.approx(theirs.spread.low, abs=digit), cell
        assert cell.ours.high == pytest.approx(theirs.spread.high, abs=digit), cell


def test_every_cell_that_does_not_match_has_a_remark_and_no_other_has(
    reproduced: Callable[[str], Cells],
) -> None:
    for table in ("table4", "table5"):
        for cell in reproduced(table):
            assert bool(cell["note"]) == (cell["verdict"] != "matches"), cell


def test_only_these_cells_of_tables_4_and_5_do_not_match(
    reproduced: Callable[[str], Cells],
) -> None:
    others = [
        (table, *cell["row"].values(), cell["quantity"], cell["verdict"])
        for table in ("table4", "table5")
        for cell in reproduced(table)
        if cell["verdict"] != "matches"
    ]
    assert others == [
        ("table4", "5000", "mean RTT of the ping", "matches in shape"),
        ("table4", "100000", "queue length over events", "matches in shape"),
    ]


def test_what_there_is_is_listed() -> None:
    done = goodqueue("reproduce", "--list")
    assert all(name in done.stdout for name in papers())
    listed = json.loads(goodqueue("reproduce", "--list", "--json").stdout)["experiments"]
    assert {one["paper"] for one in listed} == set(papers())


@pytest.mark.parametrize(
    "arguments", [[], ["nobody1999"], ["gijsbers2011", "table9"], ["gijsbers2011", "--all"]]
)
def test_what_cannot_be_reproduced_is_refused(arguments: list[str]) -> None:
    refused(goodqueue("reproduce", *arguments))


def test_a_report_is_one_page_and_a_second_call_runs_nothing(tmp_path: Path) -> None:
    store, page = tmp_path / "store", tmp_path / "papers.html"
    arguments = ("reproduce", "gijsbers2011", "table1", "--store", store)
    first = goodqueue(*arguments, "--report", page)
    text = page.read_text()
    assert "data:image/png;base64," in text
    assert "results version" in text
    assert not re.search(r"(src|href)=\"(?!data:|#)", text), "nothing beside it"
    with closing(sqlite3.connect(store / "ledger.sqlite")) as ledger:
        taken = ledger.execute("SELECT identity, wall_s FROM runs").fetchall()
    assert goodqueue(*arguments).stdout == first.stdout
    with closing(sqlite3.connect(store / "ledger.sqlite")) as ledger:
        assert ledger.execute("SELECT identity, wall_s FROM runs").fetchall() == taken


def test_pictures_of_a_report_are_kept_until_what_they_show_changes(tmp_path: Path) -> None:
    store, page = tmp_path / "store", tmp_path / "papers.html"
    arguments = ("reproduce", "gijsbers2011", "table1", "--store", store, "--report", page)
    goodqueue(*arguments)
    drawn = page.read_text()
    kept = store / "pictures" / "gijsbers2011-table1.html"
    key, _, _ = kept.read_text().partition("\n")
    kept.write_text(f"{key}\nas it was")
    goodqueue(*arguments)
    assert "as it was" in page.read_text()
    kept.write_text("<!-- other figures -->\nas it was")
    goodqueue(*arguments)
    assert page.read_text() == drawn
