"""`goodqueue calibrate` compares theory, simulation and this machine's kernel."""

from __future__ import annotations

import json
import os
import re
import tomllib
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from conftest import goodqueue, refused
from goodqueue.errors import RequestError
from goodqueue.live.calibration import measure
from goodqueue.live.calibration.cells import Cell, Path, cells
from goodqueue.live.calibration.compare import compare
from goodqueue.live.calibration.ledger import Finished, Ledger
from goodqueue.live.calibration.measure import Calibration, Plan
from goodqueue.live.calibration.theory import Theory, theory
from goodqueue.output.live.calibration import write_page
from goodqueue.plots.calibration import pictures
from goodqueue.runs.api import run
from helpers.lab_links import opened

if TYPE_CHECKING:
    import pathlib

LINK = Path()
CELL = Cell("fifo", "reno", 1, 33)


def finished(utilization: float, delay_s: float, drops: float, verdict: str = "") -> Finished:
    """Returns the figures of a run."""
    return Finished("", utilization, delay_s, drops, verdict)


def judged(simulated: list[Finished], measured: list[Finished]) -> list[str]:
    """Returns the judgements on utilisation, delay and drops."""
    row = compare(CELL, LINK, Theory(), simulated, measured)
    return [one.judgement for one in row.compared]


def test_the_cells_are_every_combination() -> None:
    found = cells(LINK)
    assert len(found) == 5 * 3 * 2 * 3
    assert {cell.packets for cell in found} == {8, 33, 133}
    kept = cells(LINK, only=["codel", "pie", "bbr", "4"])
    assert len(kept) == 2 * 1 * 1 * 3
    with pytest.raises(RequestError, match="--only red: no cell"):
        cells(LINK, only=["red"])


def test_equal_figures_agree_and_distant_ones_differ() -> None:
    near = [finished(0.99, 0.020, 50), finished(0.989, 0.0201, 50.2)]
    assert judged(near, near) == ["agrees"] * 3
    far = [finished(0.90, 0.030, 90), finished(0.901, 0.0301, 91)]
    assert judged(near, far) == ["differs"] * 3


def test_scattered_figures_are_undecided() -> None:
    ours = [finished(0.99, 0.020, 50), finished(0.99, 0.021, 51)]
    theirs = [finished(0.80, 0.005, 5), finished(1.0, 0.060, 180)]
    assert judged(ours, theirs) == ["undecided"] * 3


def test_one_emulation_is_not_enough_and_untrusted_ones_do_not_count() -> None:
    ours = [finished(0.99, 0.020, 50)] * 2
    bad = finished(0.5, 0.001, 1, "not trusted")
    good = finished(0.99, 0.020, 50, "doubtful")
    assert judged(ours, [good, bad]) == ["not measured"] * 3
    row = compare(CELL, LINK, Theory(), ours, [good, good, bad])
    assert row.left_out == 1
    assert [one.judgement for one in row.compared] == ["agrees"] * 3


def test_the_saw_tooth_is_the_published_one() -> None:
    # Villamizar and Song: a buffer of one bandwidth-delay product keeps a link of one flow busy,
    # and without a buffer a quarter is idle. In between it is 3 (1 + b)^2 / (4 (1 + b + b^2)).
    share = 8 / LINK.bdp_packets
    by_hand = 0.75 * (1 + share) ** 2 / (1 + share + share**2)
    found = theory(Cell("fifo", "reno", 1, 7), LINK)  # 7 packets wait and one is in transmission
    assert found.utilization == pytest.approx(by_hand, abs=2e-3)
    assert theory(Cell("fifo", "reno", 1, 133), LINK).utilization == pytest.approx(1)


def test_one_bbr_flow_leaves_the_queue_of_the_draft() -> None:
    # Three send quanta of two packets stay, and a quarter of 33.3 packets is added in two of eight
    # round trips, half of it on average. 0.24 s of 10.24 s have 4 of 33.3 packets in flight.
    large = theory(Cell("fifo", "bbr", 1, 133), LINK)
    assert large.delay_s == pytest.approx((6 + 100 / 3 / 4 / 8) * 1.2e-3)
    assert large.utilization == pytest.approx(1 - 0.24 / 10.24 * (1 - 0.12))
    assert theory(Cell("fifo", "bbr", 1, 15), LINK).delay_s == large.delay_s
    # Probing overflows smaller buffers.
    assert theory(Cell("fifo", "bbr", 1, 14), LINK).delay_s is None
    slow = Path(rate="1Mbps", rtt="400ms")
    found = theory(Cell("fifo", "bbr", 1, 133), slow)
    assert found.delay_s == pytest.approx((3 + 100 / 3 / 4 / 8) * 12e-3)


@pytest.mark.parametrize("control", ["reno", "cubic", "bbr"])
def test_theory_and_simulation_agree_on_a_large_fifo(control: str) -> None:
    path = Path(duration_s=200, warmup_s=20)
    cell = Cell("fifo", control, 1, 133)
    link = run(cell.settings(path), seed=1).summary["links"]["bottleneck"]
    predicted = theory(cell, path)
    assert predicted.delay_s == pytest.approx(link["mean_queueing_delay_s"], rel=0.15)
    assert predicted.utilization == pytest.approx(link["utilization"], abs=0.01)


def test_a_ledger_ignores_a_line_that_was_cut(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "ledger.jsonl"
    first = Finished("one", 1.0, 0.02, 3, "trusted")
    Ledger(file).add(first)
    with file.open("a") as ledger:
        ledger.write('{"identity": "two", "utiliz')
    again = Ledger(file)
    assert again.get("one") == first
    assert again.get("two") is None
    second = Finished("two", 0.9, 0.01, 4, "trusted")
    again.add(second)
    assert Ledger(file).get("two") == second
    assert Ledger(file).get("one") == first


@dataclass
class FakeEmulations:
    """A list of emulations, some of which are not trusted."""

    untrusted: set[int]
    made: int = 0

    def __call__(self, *_: object, **__: object) -> SimpleNamespace:
        self.made += 1
        verdict = "not trusted" if self.made in self.untrusted else "trusted"
        link = {"utilization": 1.0, "mean_queueing_delay_s": 0.02, "drops": 3}
        summary = {"links": {"bottleneck": link}}
        return SimpleNamespace(
            interrupted=False, fidelity={"verdict": verdict}, summary=summary, failed=[]
        )


def test_finished_runs_are_not_repeated_and_untrusted_ones_are(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first repeat is trusted at its second try, the second one at no try, and then at once.
    emulations = FakeEmulations(untrusted={1, 3, 4, 5})
    monkeypatch.setattr(measure, "emulate", emulations)
    monkeypatch.setattr(measure, "available", lambda: ("reno",))
    path = Path(duration_s=2, warmup_s=1)
    plan = measure.Plan(path, cells(path, only=["fifo", "1", "33p"]), repeats=2, seeds=2)
    first = measure.calibrate(plan, Ledger(tmp_path / "ledger"))
    assert first.missing == ("cubic", "bbr")
    assert emulations.made == 5
    assert [row.left_out for row in first.rows] == [1, 0, 0]
    again = measure.calibrate(plan, Ledger(tmp_path / "ledger"))
    assert emulations.made == 6
    assert [row.left_out for row in again.rows] == [0, 0, 0]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Returns the directory of a short calibration of one cell on this machine."""
    folder = tmp_path_factory.mktemp("calibration") / "out"
    arguments = ("--only=fifo", "--only=reno", "--only=1", "--only=33p", "--duration=3s")
    done = goodqueue(
        *("calibrate", f"--out={folder}", *arguments, "--warmup=1s"),
        *("--repeats=2", "--seeds=2", "--json"),
    )
    if "no emulation here" in done.stderr:
        reason = f"NO EMULATION ON THIS MACHINE: {done.stderr}"
        if os.environ.get("GOODQUEUE_NEEDS_EMULATION"):
            pytest.fail(reason)
        pytest.skip(reason)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_kernel_sends_over_the_link(page: pathlib.Path) -> None:
    lines = map(json.loads, (page / "ledger.jsonl").read_text().splitlines())
    kernel = [line for line in lines if "kernel" in line["identity"]]
    assert len(kernel) == 2
    assert all(0 < line["utilization"] <= 1 for line in kernel)
    assert all(line["verdict"] for line in kernel)


def test_only_trusted_and_doubtful_emulations_count(page: pathlib.Path) -> None:
    found: dict[str, Any] = json.loads((page / "calibration.json").read_text())
    [cell] = found["cells"]
    assert len(cell["verdicts"]) + cell["left_out"] == 2
    kernel = cell["figures"]["utilization"]["kernel"]
    assert (kernel is None) == (cell["left_out"] == 2)
    assert found["system"]["kernel"].startswith("Linux")
    assert (page / "calibration.png").exists() == (kernel is not None)


def test_the_page_names_cell_and_tolerance(page: pathlib.Path) -> None:
    for name in ("calibration.md", "calibration.html"):
        text = (page / name).read_text()
        assert "fifo, reno, 1 flow, 33 packets" in text
        assert "2 points of utilisation" in text


def written(path: Path, file: pathlib.Path) -> str:
    """Returns the page of a calibration of all cells, whose figures are invented."""
    some = [finished(0.99, 0.02, 50, "trusted")] * 2
    plan = Plan(path, cells(path))
    rows = [compare(cell, path, Theory(), some, some) for cell in plan.cells]
    write_page(Calibration(plan, rows, ()), [], ["calibrate"], file)
    return file.read_text("utf-8")


def test_theory_simulation_and_kernel_have_a_line_each(tmp_path: pathlib.Path) -> None:
    """A row of the page is then narrow enough for a screen."""
    page = written(LINK, tmp_path / "page.html")
    assert "<th>delay, ms: theory;<br>simulation;<br>kernel</th>" in page
    cells = re.findall("<td>([^<]*;<br>.*?)</td>", page)
    assert cells
    assert all(cell.count("<br>") == 2 and "; " not in cell for cell in cells)


def test_the_page_begins_with_the_number_of_figures_that_agree(tmp_path: pathlib.Path) -> None:
    """All other judgements have their tile."""
    page = written(LINK, tmp_path / "page.html")
    [(agree, judged)] = re.findall("<b>([0-9,]+) of ([0-9,]+)</b> figures agree", page)
    tiles = dict(re.findall('<div class="tile"><span class="soft">(.*?)</span><b>(.*?)</b>', page))
    assert set(tiles) == {"Agrees", "Differs", "Undecided"}
    assert tiles["Agrees"] == agree
    assert sum(map(int, tiles.values())) == int(judged)


def test_each_cell_opens_its_simulation_in_the_lab(tmp_path: pathlib.Path) -> None:
    page = written(LINK, tmp_path / "it's.html")
    found = opened(page)
    assert list(found) == [cell.name for cell in cells(LINK)]
    for cell in cells(LINK):
        settings = tomllib.loads(found[cell.name]["resolved"])
        queue = settings["topology"]["bottleneck"]["queue"]
        control = settings["flow"][0]["tcp"]["congestion_control"]
        assert queue["limit"] == f"{cell.packets}p"
        assert queue["kind"] == ("drop_tail" if cell.queue == "fifo" else cell.queue)
        assert (control if isinstance(control, str) else control["kind"]) == cell.control
        assert found[cell.name]["flows"] == cell.flows
        assert found[cell.name]["duration_s"] == LINK.duration_s
    assert page.count("goodqueue lab &#x27;it&#x27;&quot;&#x27;&quot;&#x27;s.html&#x27;") == 1


def test_cells_that_the_lab_cannot_run_have_no_links(tmp_path: pathlib.Path) -> None:
    # 10 Gb/s send 25 million packets in 30 s, and the lab runs at most 5 million.
    page = written(Path(rate="10Gbps"), tmp_path / "page.html")
    assert 'class="play"' not in page
    assert "goodqueue lab" not in page


def test_the_picture_has_a_panel_for_each_figure(tmp_path: pathlib.Path) -> None:
    some = [finished(0.99, 0.02, 50, "trusted"), finished(0.98, 0.03, 40, "trusted")]
    [picture] = pictures([compare(CELL, LINK, Theory(), some, some)])
    assert picture.panels == 3
    assert picture.save(tmp_path).stat().st_size > 0
    assert not pictures([compare(CELL, LINK, Theory(), some, [])])


def test_a_directory_of_other_files_is_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    done = goodqueue("calibrate", f"--out={tmp_path}", "--quick")
    assert "thesis.txt" in refused(done)
