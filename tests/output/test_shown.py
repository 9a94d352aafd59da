"""Results, answers and studies draw themselves, and have HTML for notebooks."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import matplotlib as mpl
import pytest

from conftest import SMALL
from goodqueue import RequestError, Result, Results, Study, run
from goodqueue.sizing import Answer, Effort, Link, judge_rules, size_link
from helpers.notebook import shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    mpl.use("agg")
    yield
    from matplotlib import pyplot

    pyplot.close("all")


@pytest.fixture(scope="module")
def result() -> Result:
    return run(SMALL, series=True, set={"flow.upload.start_jitter": "1s"})


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> Answer:
    effort = Effort(3, (), changes=False, rules=False, store=tmp_path_factory.mktemp("sized"))
    return size_link(Link(1e6, (0.02,), flows=1), effort)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("study")
    (folder / "small.toml").write_text(SMALL)
    (folder / "study.toml").write_text(
        'schema_version = 1\ntitle = "S"\nscenario = "small.toml"\nseeds = 2\n[sweep]\n'
        'topology.bottleneck.queue.limit = ["5p", "20p"]\nflow.upload.start = ["0s", "1s"]\n'
    )
    return Study(folder / "study.toml").run(folder / "runs")


@pytest.mark.parametrize(
    ("name", "label"),
    [
        (None, "packets waiting"),
        ("cwnd", "cwnd, kB"),
        ("rtt", "round-trip time, ms"),
        ("delay-cdf", "packets that waited no longer, %"),
    ],
)
def test_a_run_draws_the_named_picture(result: Result, name: str | None, label: str) -> None:
    (axes,) = result.plot(name)
    assert axes.get_ylabel() == label


def test_a_picture_has_no_caption_but_a_label(result: Result) -> None:
    (axes,) = result.plot("backlog")
    figure = axes.get_figure()
    assert figure is not None
    assert str(figure.get_label()).startswith("Packets waiting at bottleneck over time")
    assert not any("over time" in text.get_text() for text in figure.texts)


def test_a_picture_that_the_run_does_not_have_is_refused() -> None:
    with pytest.raises(RequestError, match=r"no picture 'cwnd'.*series=True"):
        run(SMALL).plot("cwnd")


def test_an_unknown_link_is_refused_with_the_nearest(result: Result) -> None:
    with pytest.raises(RequestError, match="did you mean 'bottleneck'"):
        result.plot(link="botleneck")


def test_an_answer_draws_its_curve(answer: Answer) -> None:
    assert len(answer.plot()) == 3
    assert len(answer.plot("pareto")) == 2


def test_an_answer_without_runs_has_no_picture() -> None:
    with pytest.raises(RequestError, match="nothing was simulated"):
        judge_rules(Link(1e6, (0.02,), flows=1)).plot()


def test_a_study_draws_a_line_for_each_value_of_the_second_axis(results: Results) -> None:
    (axes,) = results.plot("bottleneck.utilization")
    assert "queue limit" in axes.get_xlabel()
    figure = axes.get_figure()
    assert figure is not None
    assert len(figure.legends[0].get_texts()) == 2


def test_an_unknown_metric_is_refused_with_the_nearest(results: Results) -> None:
    with pytest.raises(RequestError, match=r"did you mean 'bottleneck\.utilization'"):
        results.plot("bottleneck.utilisation")


def test_html_has_the_figures_and_no_markup_of_the_user() -> None:
    evil = run(SMALL.replace("One flow, one ping", "<script>alert(1)</script>"))
    page = evil._repr_html_()
    assert "<script" not in page
    use = evil.summary["links"]["bottleneck"]["utilization"]
    assert f"<td>{100 * use:.4g}</td>" in page


def test_answers_and_studies_have_html(answer: Answer, results: Results) -> None:
    assert f"Buffer of {answer.buffer:,} packets" in answer._repr_html_()
    assert "<b>8 runs</b>" in results._repr_html_()
    assert "calibrated theory" in judge_rules(Link(1e6, (0.02,), flows=1))._repr_html_()


def test_a_drawn_picture_shows_its_caption_and_can_be_saved(result: Result, tmp_path: Path) -> None:
    drawn = result.plot("backlog")
    assert repr(drawn).startswith("Packets waiting at bottleneck over time")
    assert drawn.figure is drawn[0].get_figure()
    assert drawn.save(tmp_path / "backlog.svg") == tmp_path / "backlog.svg"
    assert (tmp_path / "backlog.svg").read_text("utf-8").count("<svg") == 1
    with pytest.raises(RequestError, match=r"must end in \.png, \.svg or \.pdf"):
        drawn.save(tmp_path / "backlog.gif")


def test_notebooks_without_pictures_of_pyplot_get_an_image(result: Result) -> None:
    """marimo asks the last value of a cell for its image, because it shows no figures itself."""
    image = result.plot("backlog")._repr_png_()
    assert image is not None
    assert image.startswith(b"\x89PNG")


def test_the_last_value_of_a_cell_in_jupyter_is_one_picture(tmp_path: Path) -> None:
    cells = [f"import goodqueue\nresult = goodqueue.run({SMALL!r}, series=True)"]
    found = shown([*cells, "result.plot('backlog')"], tmp_path)
    assert found[1].pictures == 1


def test_a_script_shows_a_picture_with_one_call(
    result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    from matplotlib import pyplot

    calls = []
    monkeypatch.setattr(pyplot, "show", lambda: calls.append(pyplot.get_fignums()))
    drawn = result.plot("backlog")
    drawn.show()
    assert drawn.figure.number in calls[0]


def test_means_of_several_metrics(results: Results) -> None:
    use, loss = "bottleneck.utilization", "bottleneck.loss_rate"
    both = results.means(use, loss)
    assert both.equals(results.means([use, loss]))
    assert both["metric"].to_list() == [use, loss] * 4
    some = results.means("*.utilization")
    assert set(some["metric"]) == {use, "bottleneck.reverse.utilization"}
    assert results.long("bottleneck.loss*")["metric"].unique().to_list() != []
    with pytest.raises(RequestError, match=r"no run has a metric '\*\.nothing'"):
        results.means("*.nothing")


def test_the_first_columns_are_the_main_figures(result: Result, results: Results) -> None:
    assert result.links.columns[:5] == [
        *("link", "rate_bps", "utilization", "throughput_bps", "loss_rate"),
    ]
    assert result.flows.columns[:5] == [
        *("flow", "goodput_bps", "throughput_bps", "mean_rtt_s", "p99_rtt_s"),
    ]
    named = results.wide().columns[len(results.axes) + 1 :][:5]
    assert named == [
        *("bottleneck.utilization", "bottleneck.loss_rate", "bottleneck.p99_queueing_delay_s"),
        *("upload.goodput_bps", "upload.p99_rtt_s"),
    ]
    assert set(result.links.columns) - {"link"} == set(result.summary["links"]["bottleneck"])


def test_results_need_no_matplotlib_before_they_draw() -> None:
    code = "import sys, goodqueue.runs.results.result; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_pictures_change_no_settings_of_a_notebook(tmp_path: Path) -> None:
    """The first picture loads the backend, in whichever order goodqueue's and one's own come."""
    own = "from matplotlib import pyplot; pyplot.plot([0, 1]);"
    ours = "result.plot('backlog');"
    ran = f"import goodqueue\nresult = goodqueue.run({SMALL!r}, series=True)"
    saved = (
        "from pathlib import Path\nfrom goodqueue.plots import runs\n"
        "for picture in runs.pictures(result, 'bottleneck'): picture.save(Path())"
    )
    for order in ([ours, own, ours, saved, own, ours], [own, ours, saved, own]):
        cells = shown([ran, *order, f"{ours} {ours}"], tmp_path)[1:]
        assert [cell.pictures for cell in cells] == [*(int(c != saved) for c in order), 2]
        assert not any(cell.settings for cell in cells[1:])
