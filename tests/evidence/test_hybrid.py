"""Tests of the hybrid engine's measured error: its links, runs, file and pages."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from evidence.core import cells, stamps
from evidence.core.cells import Cell
from evidence.core.derived import everything
from evidence.core.pages import part
from evidence.hybrid import error, page, runs
from evidence.hybrid.links import CHEAP_PACKETS, MOST_OF_CHEAP, RUNS, TEST_SEEDS, Drawn, draw
from evidence.hybrid.runs import FIGURES, Behind, Compared, Comparison
from goodqueue import _core
from goodqueue.sizing.search.agreement import Agreement, measured, parsed

if TYPE_CHECKING:
    from pathlib import Path

FIRST = draw(TEST_SEEDS[0])


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    """Returns the committed comparison."""
    return runs.read(ROOT / runs.FILE)


def curve(right: list[float], other: list[float], figure: str = "loss_rate") -> error.Curve:
    """Returns a curve over buffers of 10, 20, 40, … packets."""
    packets = [10 * 2**at for at in range(len(right))]
    first, second = ([runs.Figures({figure: one}) for one in side] for side in (right, other))
    return error.Curve(Compared(FIRST, ()), packets, first, second)


def test_links_are_drawn_by_their_seed_alone() -> None:
    random.seed(1)
    again = draw(TEST_SEEDS[0])
    assert (again, again.link) == (FIRST, FIRST.link)
    assert draw(TEST_SEEDS[1]) != FIRST
    assert len(set(TEST_SEEDS)) == 88
    assert min(TEST_SEEDS) >= 1000, "seeds below are for development"


@pytest.mark.parametrize("seed", TEST_SEEDS[::20])
def test_a_drawn_link_has_five_buffers_in_the_range_of_the_hybrid_engine(seed: int) -> None:
    drawn = draw(seed)
    assert len(set(drawn.buffers)) == 5
    for packets in drawn.buffers:
        assert drawn.scenario(packets).hybrid_limits() is None
        of_all = drawn.runs(packets) * drawn.length(packets).packets
        assert RUNS <= drawn.runs(packets) <= MOST_OF_CHEAP * RUNS
        assert of_all >= RUNS * CHEAP_PACKETS or drawn.runs(packets) == MOST_OF_CHEAP * RUNS


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the file of a maker that runs in this process and keeps unfinished data apart."""
    monkeypatch.setattr(runs, "scratch", lambda: tmp_path)
    monkeypatch.setattr(runs, "in_parallel", lambda call, each: [call(*one) for one in each])
    return tmp_path / "runs.jsonl"


def test_an_interrupted_maker_continues_with_the_next_link(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = []

    def one_link(drawn: Drawn) -> dict[str, object]:
        ran.append(drawn.seed)
        return {"seed": drawn.seed}

    monkeypatch.setattr(runs, "_one_link", one_link)
    (here.parent / "hybrid-0.jsonl").write_text('{"seed": 5000}\n{"seed": 50')
    runs.make([5000, 5001, 5002], here)
    assert ran == [5002, 5001]
    _, *lines = here.read_text("utf-8").splitlines()
    assert [json.loads(line)["seed"] for line in lines] == [5000, 5001, 5002]


def test_means_leave_out_figures_that_a_run_does_not_have(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def figures(_: object, seed: int, engine: str) -> list[float]:
        unknown = engine == "hybrid" or seed == 1
        return [0.5, 0.01, seed, math.nan if unknown else 4, 1]

    monkeypatch.setattr(runs, "_figures", figures)
    monkeypatch.setattr(Drawn, "runs", lambda *_: 3)
    runs.make([5000], here)
    first = runs.read(here).links[0].behind[0]
    assert [one["mean_flows_hit"] for one in (first.odd, first.even, first.hybrid)] == [4, 4, None]
    delays = [one["p99_queueing_delay_s"] for one in (first.odd, first.even, first.hybrid)]
    assert delays == [2, 2, 2]


def test_the_mean_of_all_runs_weighs_its_halves() -> None:
    found = Behind(10, 3, {"jain": 0.3, "loss_rate": 1}, {"jain": 0.6, "loss_rate": None}, {})
    assert found.all == {"jain": pytest.approx(0.4), "loss_rate": None}


def test_a_buffer_is_read_off_between_two_points() -> None:
    assert error.crossing([10, 40], [0.04, 0.01], 0.02) == pytest.approx(20)
    assert error.crossing([10, 40], [0.04, 0.03], 0.02) == math.inf
    assert error.crossing([10, 40], [0.01, 0.005], 0.02) == 0


def test_the_bound_on_the_loss_is_one_that_the_packet_engine_crosses() -> None:
    right = [0.08, 0.04, 0.02, 0.01, 0.005]
    pair = error.needed(curve(right, [one / 2 for one in right]), "loss")
    assert pair is not None
    assert pair.right == pytest.approx(40)
    assert pair.ratio == pytest.approx(0.5)
    never = error.needed(curve(right, [0.5] * 5), "loss")
    assert never is not None
    assert never.ratio == math.inf
    flat = [0.981, 0.984, 0.988, 0.989, 0.9895]
    busy = error.needed(curve(flat, flat, "utilization"), "utilization")
    assert busy is None, "the curve does not cross 98, 99 or 95 %"


def test_a_twentieth_of_the_links_may_have_no_ratio() -> None:
    pairs = [error.Needed(100, 100 + at) for at in range(38)]
    full = error.agreed([*pairs, error.Needed(100, 0), error.Needed(100, math.inf)])
    assert full == Agreement(40, 10, 30, 1.01, 1.36)
    assert error.agreed([*pairs, *[error.Needed(100, math.inf)] * 3]).high is None
    assert error.agreed([*pairs, *[error.Needed(100, 0)] * 3]).low is None
    assert error.agreed([]) == Agreement(0, 0, 0, None, None)


def test_the_file_of_the_package_is_the_measured_error(comparison: Comparison) -> None:
    assert (ROOT / error.FILE).read_text("utf-8").strip() == json.dumps(
        error.measured(comparison).as_dict(), indent=1
    )
    assert parsed((ROOT / error.FILE).read_text("utf-8")) == measured()


def test_other_results_of_the_hybrid_engine_age_the_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    stamp = stamps.read(everything()["hybrid/runs"])
    assert stamp is not None
    assert cells.agree(stamp.canary)
    run = Cell.run
    monkeypatch.setattr(Cell, "run", lambda one: {} if one.engine == "hybrid" else run(one))
    assert not cells.agree(stamp.canary)
    assert cells.agree([one for one in stamp.canary if "engine" not in one])


def test_the_comparison_has_every_link_of_the_tests(comparison: Comparison) -> None:
    assert [one.drawn for one in comparison.links] == [draw(seed) for seed in TEST_SEEDS]
    assert all(list(one.even) == list(FIGURES) for one in comparison.links[0].behind)


def test_the_page_is_made_of_the_data(comparison: Comparison) -> None:
    text = (ROOT / page.PAGE).read_text("utf-8")
    parts = page.parts_of_page(comparison)
    assert {name: part(text, name) for name in page.PARTS} == parts


def test_other_figures_change_every_part(comparison: Comparison) -> None:
    """Losses and idle times of the hybrid engine become half as large again."""
    spoiled = replace(comparison, links=tuple(map(with_more_loss, comparison.links)))
    before, after = page.parts_of_page(comparison), page.parts_of_page(spoiled)
    assert [name for name in page.PARTS if before[name] == after[name]] == []
    assert error.measured(spoiled).loss_error != error.measured(comparison).loss_error


def with_more_loss(link: Compared) -> Compared:
    def more(found: runs.Figures) -> runs.Figures:
        busy, lost = (error.value(found, name) for name in ("utilization", "loss_rate"))
        return found | {"utilization": 1 - 1.5 * (1 - busy), "loss_rate": 1.5 * lost}

    return replace(link, behind=tuple(replace(one, hybrid=more(one.hybrid)) for one in link.behind))


def test_a_short_run_of_the_maker(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = replace(FIRST, rate=10_000_000, flows=2)
    monkeypatch.setattr(runs, "draw", lambda seed: replace(short, seed=seed))
    monkeypatch.setattr(Drawn, "runs", lambda _, packets: 2 + packets % 2)
    runs.make([1, 2], here)
    found = runs.read(here)
    assert (found.results_version, found.hybrid_version) == (
        _core.results_version(),
        _core.hybrid_version(),
    )
    assert [one.drawn.seed for one in found.links] == [1, 2]
    first, second = (one.behind for one in found.links)
    assert first == second, "both links are equal but for their numbers"
    assert [one.packets for one in first] == replace(short, seed=1).buffers
    for one in first:
        assert 0 < error.value(one.all, "utilization") <= 1
        assert one.odd != one.even
        assert one.hybrid != one.all
