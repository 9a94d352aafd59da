"""Published tables: the comparison itself, the data, and tables beside other simulations."""

from __future__ import annotations

import json
import math
import re
import sqlite3
import tomllib
from contextlib import closing
from dataclasses import replace
from functools import cache
from html import unescape
from statistics import NormalDist
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import numpy as np
import pytest

from conftest import ROOT, goodqueue, refused
from evidence.papers.page import filled
from goodqueue import _core
from goodqueue.output.papers import page as report
from goodqueue.output.papers.tables import CLAIMS, print_reproduction, summary
from goodqueue.output.terminal import stdout
from goodqueue.papers.cells import (
    Beside,
    Cell,
    Finding,
    Remark,
    Reproduction,
    Spread,
    Verdict,
    printed_unit,
)
from goodqueue.papers.conclusions import Conclusion, Sample, ratio
from goodqueue.papers.experiment import PAPERS, experiment, experiments, paper, papers
from goodqueue.papers.pictures import comparison, comparisons
from goodqueue.papers.shapes import TESTS
from goodqueue.papers.table import TableExperiment
from goodqueue.papers.tally import controls, once, tally
from goodqueue.study.record.store import Store
from goodqueue.study.runner import Runner
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
def test_a_figure_is_explained_if_a_value_of_the_interval_prints_like_it(
    low: float, high: float, printed: str, *, explained: bool
) -> None:
    assert Spread((low + high) / 2, low, high).explains(printed) is explained


def test_a_tolerance_widens_both_ends_by_a_share_of_the_printed_value() -> None:
    spread = Spread(100.0, 90.0, 110.0)
    assert not spread.explains("120")
    assert spread.explains("120", 0.09)
    assert spread.explains("80", 0.13)
    assert not spread.explains("80", 0.05)


def test_the_interval_over_seeds_holds_one_more_run_in_95_of_100() -> None:
    normal = NormalDist()
    # For a known deviation the interval is the mean ± 1.96 s; for 12 values Student's is wider by
    # t_11 sqrt(1 + 1/12) / 1.96.
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
    claimed = replace(cell(None, shape=None), finding=Finding.UNREPRODUCED)
    print_reproduction(one, Reproduction([claimed]))
    assert CLAIMS in " ".join(capsys.readouterr().out.split())


def test_the_verdict_is_the_strongest_that_holds() -> None:
    assert cell("10", shape=False).verdict is Verdict.MATCHES
    assert cell("20", shape=True).verdict is Verdict.SHAPE
    assert cell("20", shape=False).verdict is Verdict.NOT
    assert cell("20", shape=None).verdict is Verdict.NOT
    # A figure that is not printed cannot match, and no test of a shape makes it a published one.
    assert cell(None, shape=True).verdict is None
    assert cell(None, shape=None).verdict is None


def test_a_match_with_a_wide_interval_has_a_warning() -> None:
    for low, high, weak in ((9, 11, False), (7.5, 12.5, False), (7, 13, True)):
        one = Cell({}, "", "", 0, "10", Spread(10, low, high))
        assert one.verdict is (Verdict.WEAK if weak else Verdict.MATCHES)
        assert (one.matches, one.weak, "says little" in one.said) == (True, weak, weak)
        assert one.as_dict()["verdict"] == ("weak match" if weak else "matches")
        assert not one.note
    assert not Cell({}, "", "", 0, "20", Spread(10, 7, 13)).weak


def test_the_note_on_a_misprint_tests_its_correct_reading() -> None:
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
        ("reaches_axis", [1, 2, 3, 4], {}, True),
        ("reaches_axis", [1, 2, 3, 3], {}, False),
    ],
)
def test_each_shape_test_accepts_its_shape_and_rejects_others(
    test: str, values: list[float], parameters: dict[str, float], *, holds: bool
) -> None:
    assert TESTS[test](values, [1, 2, 3, 4], **parameters) is holds


def test_weak_matches_are_counted_separately_in_every_summary(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    wide, narrow = Spread(10, 4, 16), Spread(10, 9, 11)
    cells = [Cell({}, "", "", 0, "10", one) for one in (wide, wide, narrow)]
    counts = tally(cells)
    assert (counts.matches, counts.weak) == (1, 2)
    assert counts.as_dict()["weak_matches"] == 2
    one, done = experiments("clustering-buffer")[0], Reproduction(cells)
    print_reproduction(one, done)
    assert "1 matches, 2 weak matches" in capsys.readouterr().out
    assert tally([*cells[1:], cells[2]]).text() == "2 match, 1 weak match"
    figures, *rest = summary([(one, done)])
    stdout().print(figures)
    printed = capsys.readouterr().out
    assert re.search(rf"{one.name}\s+1\s+2\s+0\s+0\s*$", printed, re.MULTILINE)
    assert not rest
    report.write([(one, done)], tmp_path / "page.html", [], tmp_path)
    page = (tmp_path / "page.html").read_text()
    assert "<th>matches</th><th>weak matches</th>" in page
    assert "<td>1</td><td>2</td><td>0</td><td>0</td>" in page
    assert "<b>1 of 3</b> published figures match" in page
    assert re.search(r"Weak matches.*?2.*?of 3", page, re.DOTALL)
    assert page.count('class="shape">weak match<') == 2


def test_a_control_is_compared_with_the_same_published_figures() -> None:
    wrong = {"twice the loss": Spread(20, 19, 21)}
    cells = [
        Cell({}, "delay", "ms", 0, printed, Spread(10, 9, 11), shape=True, controls=wrong)
        for printed in ("10", "20", None)
    ]
    cells.append(Cell({}, "lost", "", 0, "20", Spread(10, 0, 20), controls=wrong))
    delay, lost = controls(cells)
    assert (delay.quantity, delay.cells, lost.cells) == ("delay", 2, 1)
    assert (delay.ours, delay.ours_weak, delay.matches, delay.weak) == (1, 0, 1, 0)
    assert (lost.ours, lost.ours_weak, lost.matches, lost.weak) == (0, 1, 1, 0)


def test_a_run_that_appears_in_two_tables_counts_once() -> None:
    table4, table5 = (
        next(one for one in TABLES if (one.paper, one.name) == ("gijsbers2011", name))
        for name in ("table4", "table5")
    )
    first = Reproduction([Cell({"window": "100000"}, "x", "", 0, "1", Spread.exact(1))])
    again = Reproduction(
        [
            Cell({"buffer": "100"}, "x", "", 0, "1", Spread.exact(1), repeats="table4"),
            Cell({"buffer": "50"}, "x", "", 0, "2", Spread.exact(2)),
        ]
    )
    assert len(once([(table4, first), (table5, again)])) == 2
    # The repeated cell counts if its table is tallied alone.
    assert len(once([(table5, again)])) == 2


def sample(rate: str, buffer: str, value: float, printed: float | None = None) -> Sample:
    return Sample({"rate": rate, "buffer": buffer}, Spread.exact(value), printed)


def test_a_conclusion_is_a_bound_on_the_ratio_of_rows_that_differ_in_one_key() -> None:
    samples = [
        *(sample("1", "5", 10), sample("1", "10", 20), sample("1", "50", 30)),
        *(sample("2", "5", 10), sample("2", "10", 11), sample("2", "50", 12)),
    ]
    says = Conclusion("doubles", "x", along="buffer", of="10", over="5", least=2, because="why")
    first, second = says.cells(samples, "x doubles", {"variant": "sink"})
    assert first.row == {"rate": "1", "variant": "sink"}
    assert (first.ours, first.verdict, first.note) == (Spread.exact(2.0), Finding.HOLDS, "")
    assert (second.ours.mean, second.verdict, second.note) == (1.1, Finding.ELSEWHERE, "why")
    only = Conclusion("grows", "x", "buffer", "50", "10", row={"rate": "2"})
    assert [cell.row for cell in only.cells(samples, "", {})] == [{"rate": "2"}]


def test_a_conclusion_may_compare_means_over_a_key() -> None:
    samples = [
        Sample({"half": half, "buffer": buffer}, Spread.of_seeds(values), printed)
        for half, buffer, values, printed in (
            ("left", "2", [9.0, 10.0, 11.0], 100),
            ("left", "50", [31.0, 30.0, 29.0], 300),
            ("right", "5", [10.0, 10.0, 10.0], 50),
        )
    ]
    better = Conclusion("better", "x", "half", "right", "left", least=1, average="buffer")
    (found,) = better.cells(samples, "", {})
    assert (found.row, found.published, found.verdict) == ({}, "0.250", Finding.CONTRADICTED)
    # The rows of the left half add up to 40 under every seed.
    assert (found.ours.low, found.ours.mean, found.ours.high) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize(
    ("low", "high", "printed", "finding"),
    [
        (1.0, 1.2, None, Finding.HOLDS),
        (1.0, 1.2, 0.5, Finding.HOLDS),
        (0.9, 1.1, 1.1, Finding.UNDECIDED),
        (0.8, 0.99, 1.1, Finding.UNREPRODUCED),
        (0.8, 0.99, 0.9, Finding.CONTRADICTED),
        (0.8, 0.99, None, Finding.ELSEWHERE),
        (1.9, 2.1, 1.5, Finding.UNDECIDED),
        (2.1, 2.2, 1.5, Finding.UNREPRODUCED),
        (0.9, 2.1, 1.5, Finding.UNDECIDED),
    ],
)
def test_an_interval_that_straddles_a_bound_decides_nothing(
    low: float, high: float, printed: float | None, finding: Finding
) -> None:
    one = Conclusion("x", "x", "x", "x", "x", least=1, most=2)
    assert one.finding(Spread((low + high) / 2, low, high), printed) is finding


def test_the_interval_of_a_ratio_is_students_of_pairs() -> None:
    above, below = [206.0, 194.0, 206.0, 194.0], [104.0, 104.0, 96.0, 96.0]
    times = ratio(Spread.of_seeds(above), Spread.of_seeds(below))
    assert times.mean == 2.0
    # Errors of 3 and 4 % are 5 % together, times sqrt(4/3) for a sample of 4; the quantile of t
    # with 3 degrees of freedom is 3.182.
    half = 3.1824 * 0.05 * math.sqrt(4 / 3) / math.sqrt(4)
    assert math.log(times.high / 2) == pytest.approx(half, rel=1e-3)
    assert math.log(2 / times.low) == pytest.approx(half, rel=1e-3)
    # If two figures differ by the same factor under every seed, their ratio is exact.
    twice = ratio(Spread.of_seeds(above), Spread.of_seeds([value / 2 for value in above]))
    assert (twice.low, twice.high) == (2.0, 2.0)
    assert ratio(Spread.exact(0.0), Spread.of_seeds(below)) == Spread.exact(0.0)
    assert ratio(Spread.exact(3.0), Spread.exact(2.0)) == Spread.exact(1.5)


@pytest.mark.parametrize("common", [0.0, 6.0])
def test_the_interval_of_a_ratio_holds_it_in_95_of_100(common: float) -> None:
    random = np.random.default_rng(1)
    held = 0
    for _ in range(1000):
        shared = random.normal(0, common, 12)
        above, below = (
            Spread.of_seeds(list(mean + mean / 100 * shared + random.normal(0, 5, 12)))
            for mean in (50, 100)
        )
        times = ratio(above, below)
        held += times.low <= 0.5 <= times.high
    # The tolerance is four standard deviations of the number of 1000 intervals that hold, at 95 %.
    assert abs(held - 950) < 4 * math.sqrt(1000 * 0.95 * 0.05)


@pytest.mark.parametrize(
    ("name", "low", "high"), [("ahmad2020", 0.870, 1.025), ("wisdom2021", 0.874, 0.977)]
)
def test_the_papers_own_tables_show_no_more_throughput_for_the_proposed_buffers(
    name: str, low: float, high: float
) -> None:
    one = next(one for one in TABLES if (one.paper, one.name) == (name, "proposed"))
    same = {column: Spread.exact(1.0) for column in one.columns}
    spreads = {(place, model): same for place in range(len(one.rows)) for model in one.models}
    printed = [
        float(cell.published)
        for cell in one.concluded(spreads)
        if cell.published and "better average throughput" in cell.quantity
    ]
    assert len(printed) == 9
    assert (min(printed), max(printed)) == pytest.approx((low, high), abs=1e-3)


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

    def test_every_conclusion_names_existing_rows(self, one: TableExperiment) -> None:
        same = {column: Spread.exact(1.0) for column in one.columns}
        spreads = {(place, name): same for place in range(len(one.rows)) for name in one.variants}
        said = {cell.quantity for cell in one.concluded(spreads)}
        assert len(said) == len(one.conclusions)

    def test_a_row_that_repeats_another_experiment_is_the_same_run(
        self, one: TableExperiment
    ) -> None:
        known = {each.name: each for each in TABLES if each.paper == one.paper}
        for place, row in enumerate(one.rows):
            wanted = one.repeats(row)
            if wanted:
                own = {run.identity for at, name, run in one.runs() if at == place and not name}
                theirs = {run.identity for _, name, run in known[wanted].runs() if not name}
                assert own <= theirs, row

    def test_every_open_condition_explains_its_interval(self, one: TableExperiment) -> None:
        assert one.open.why
        # The range of n values contains one more value with probability (n - 1)/(n + 1).
        assert one.open.kind != "phases" or one.open.count >= 39


@pytest.mark.parametrize("name", ["ahmad2020", "gijsbers2011", "wisdom2021"])
def test_the_page_has_the_current_conclusions(name: str, tmp_path: Path) -> None:
    page = (ROOT / paper(name).page).read_text(encoding="utf-8")
    # These tables take long to run and have tests of their own.
    long = ("distances", "controls", "conclusions of (table3|proposed|cure.)")
    page = re.sub(rf"<!-- ({'|'.join(long)}) -->", "", page)
    assert "<!-- conclusions of" in page
    with closing(Store.open(tmp_path / "store")) as store:
        assert filled(page, name, Runner(store, Threads())) == page


Cells = list[dict[str, Any]]


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Cells]:
    """Returns a function for the cells of a table of Gijsbers and Akkoorath, which runs once."""
    store = tmp_path_factory.mktemp("papers") / "store"

    @cache
    def cells_of(table: str) -> Cells:
        done = goodqueue("reproduce", "gijsbers2011", table, "--json", "--store", store)
        assert done.returncode == 0, done.stderr
        cells: Cells = json.loads(done.stdout)["cells"]
        return [cell for cell in cells if not cell["conclusion"]]

    return cells_of


@pytest.mark.parametrize("table", ["table4", "table5"])
def test_our_figures_agree_with_an_independent_simulation_to_a_printed_digit(
    table: str, tmp_path: Path
) -> None:
    data = tomllib.loads(PAPERS.joinpath("gijsbers2011", f"{table}.toml").read_text("utf-8"))
    # The other simulation used the same 30 phases.
    phases = {key: value for key, value in data["open"].items() if key != "chosen"}
    data |= {"open": phases | {"count": 30}, "variant": [], "conclusion": []}
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


@pytest.mark.slow  # `make slow` charges the runs to the test that uses them first
def test_only_the_explained_cells_of_tables_4_and_5_do_not_match(
    reproduced: Callable[[str], Cells],
) -> None:
    others = [
        (table, *cell["row"].values(), cell["quantity"], cell["verdict"])
        for table in ("table4", "table5")
        for cell in reproduced(table)
        if cell["verdict"] != "matches"
    ]
    assert others == [
        ("table4", "5000", "mean RTT of the ping", "does not match"),
        ("table4", "100000", "queue length over events", "matches in shape"),
    ]


def test_every_paper_is_listed() -> None:
    done = goodqueue("reproduce", "--list")
    assert all(name in done.stdout for name in papers())
    listed = json.loads(goodqueue("reproduce", "--list", "--json").stdout)["experiments"]
    assert {one["paper"] for one in listed} == set(papers())


@pytest.mark.parametrize(
    "arguments", [[], ["nobody1999"], ["gijsbers2011", "table9"], ["gijsbers2011", "--all"]]
)
def test_a_wrong_choice_of_experiments_is_refused(arguments: list[str]) -> None:
    refused(goodqueue("reproduce", *arguments))


def scenarios_of_links(page: str) -> set[str]:
    """Returns the scenarios that the links of a page open in the lab."""
    links = re.findall(r'class="play"[^>]*href="#([^"]*)"', page)
    texts = {parse_qs(unescape(settings))["file"][0] for settings in links}
    return {_core.Scenario.parse(text.encode(), "link", []).resolved_toml() for text in texts}


def test_a_report_is_one_page_and_a_second_call_runs_nothing(tmp_path: Path) -> None:
    store, page = tmp_path / "store", tmp_path / "papers.html"
    arguments = ("reproduce", "gijsbers2011", "table1", "--store", store)
    first = goodqueue(*arguments, "--report", page)
    text = page.read_text()
    assert "data:image/png;base64," in text
    assert "results version" in text
    table = experiment("gijsbers2011", "table1")
    assert isinstance(table, TableExperiment)
    assert scenarios_of_links(text) == {
        run.variant.scenario.with_seed(run.seed).resolved_toml()
        for _, variant, run in table.runs()
        if not variant
    }
    assert not re.search(r"(src|href)=\"(?!data:|#)", text), "nothing beside it"
    with closing(sqlite3.connect(store / "ledger.sqlite")) as ledger:
        taken = ledger.execute("SELECT identity, wall_s FROM runs").fetchall()
    assert goodqueue(*arguments).stdout == first.stdout
    with closing(sqlite3.connect(store / "ledger.sqlite")) as ledger:
        assert ledger.execute("SELECT identity, wall_s FROM runs").fetchall() == taken


def test_pictures_of_a_report_are_cached_until_their_cells_change(tmp_path: Path) -> None:
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


def test_labels_of_panels_stay_beside_their_own_panel() -> None:
    labels = ["TCP delay at 0.05 Mb/s", "largest RTT over longest wait at the bottleneck", "lost"]
    cells = [
        Cell({"buffer": buffer}, label, "ms", 0, None, Spread.exact(float(buffer)))
        for label in labels
        for buffer in ("5", "10")
    ]
    figure = comparison("figure4", "Delay", cells, "buffer", "packets").figure(dpi=100)
    figure.canvas.draw()
    for axes in figure.axes:
        label, panel = axes.yaxis.label.get_window_extent(), axes.get_window_extent()
        assert panel.y0 - 2 <= label.y0, axes.get_ylabel()
        assert label.y1 <= panel.y1 + 2, axes.get_ylabel()


def test_a_panel_has_a_colour_for_every_line_and_the_picture_explains_its_marks() -> None:
    cells = [
        Cell(
            {"link": link, "loss": loss, "buffer": buffer},
            quantity,
            "ms",
            0,
            "3",
            Spread(3, 2, 4),
            beside=[Beside("ns-2", Spread.exact(3))],
            variants={"sink": Spread.exact(2)},
        )
        for quantity in ("delay", "wait")
        for link in ("1", "2", "3")
        for loss in ("0", "1", "5")
        for buffer in ("5", "10")
    ]
    units = {"link": "Mb/s", "loss": "%"}
    both = comparisons("any", "Delay", cells, "buffer", "buffer, packets", units=units)
    assert [(one.name, one.panels) for one in both] == [("any-a", 3), ("any-b", 3)]
    figure = both[0].figure(dpi=60)
    labels = [axes.get_ylabel().replace("\n", " ") for axes in figure.axes]
    assert labels == [f"delay at {link} Mb/s, ms" for link in (1, 2, 3)]
    legend = figure.axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["0 %", "1 %", "5 %"]
    (marks,) = figure.legends
    explained = [text.get_text() for text in marks.get_texts()]
    ours = "our means and the range of 95 % of single runs"
    assert explained == ["the paper", ours, "sink", "ns-2"]
    (few,) = comparisons("any", "Delay", cells[:6], "buffer", "packets", units=units)
    assert (few.name, few.panels) == ("any", 1)
