"""Pictures of a study: right numbers, complete captions, the same bytes each time."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from goodqueue.core.columns import column
from goodqueue.core.intervals import t_interval
from goodqueue.errors import RequestError
from goodqueue.plots.study.kinds import front, look
from goodqueue.plots.study.picture import study_picture
from goodqueue.plots.style import LINES
from goodqueue.study.model import PlotSpec
from goodqueue.study.stopping import anytime_interval
from helpers.pictures import AXES, CONTROL, COUNT, DELAY, LIMIT, SHARE, SPECS, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from goodqueue.plots.style import Picture

LONG = "a congestion control with a name that is as long as users like to have it"
RATE = "topology.bottleneck.rate_bps"


def grid(*, long: bool = False) -> pl.DataFrame:
    """Returns runs over four axes without one corner; names may be very long."""
    random = np.random.default_rng(2)
    controls = ["reno", "cubic", *([LONG] if long else [])]
    rows = [
        {
            RATE: rate,
            CONTROL: control,
            COUNT: count,
            LIMIT: limit,
            "seed": seed,
            SHARE: random.uniform(0.6, 1),
            DELAY: limit / rate * 12_000 * random.uniform(0.8, 1.1),
        }
        for rate in (2_000_000, 10_000_000, 10_000_000_000)
        for control in controls
        for count in (1, 4)
        for limit in (5, 20, 80)
        for seed in (1, 2, 3)
        if (rate, control) != (2_000_000, "reno")
    ]
    return pl.DataFrame(rows)


def picture(spec: PlotSpec, frame: pl.DataFrame | None = None, **options: Any) -> Picture:  # noqa: ANN401
    options = {"held": ['all else of "A study"'], "watched": False, **options}
    return study_picture(table() if frame is None else frame, spec, AXES, **options)


def drawn(picture: Picture) -> list[Axes]:
    """Returns the panels with their content."""
    figure = Figure(figsize=(8, 6), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(picture.panels, picture.columns, squeeze=False)
    picture.draw(list(panels.flat))
    return list(panels.flat)


@pytest.mark.parametrize("name", SPECS)
def test_every_kind_is_drawn_with_a_complete_caption(name: str, tmp_path: Path) -> None:
    made = picture(SPECS[name])
    (path,) = made.save_as(tmp_path, ["png"], dpi=100)
    pixels = imread(path)
    assert pixels[..., :3].min() < 0.3, "something is drawn"
    assert (pixels[:, -2:, :3] > 0.99).all(), "nothing runs out of the picture"
    assert "8 seeds per variant (1 to 8)" in made.caption
    assert 'Held fixed: all else of "A study".' in made.caption


SAVE = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[1:3]
import test_study_pictures
test_study_pictures.save_some(Path(sys.argv[3]))
"""


def save_some(folder: Path) -> None:
    for name in ("lines", "heatmap", "box"):
        picture(SPECS[name]).save_as(folder, ["png", "svg", "pdf"], dpi=60)


def test_the_same_runs_give_the_same_files(tmp_path: Path) -> None:
    folders = [tmp_path / "here", tmp_path / "elsewhere"]
    for folder in folders:
        folder.mkdir()
    save_some(folders[0])
    here = Path(__file__).parent
    command = [sys.executable, "-c", SAVE, str(here), str(here.parent), str(folders[1])]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": "7"})
    names = sorted(path.name for path in folders[0].iterdir())
    assert len(names) == 9
    for name in names:
        assert folders[0].joinpath(name).read_bytes() == folders[1].joinpath(name).read_bytes()


@pytest.mark.parametrize("watched", [False, True])
def test_lines_and_bands_are_the_means_and_their_intervals(watched: bool) -> None:
    made = picture(SPECS["lines"], watched=watched)
    axes = drawn(made)[0]
    control = axes.get_title().removeprefix("congestion control: ")
    runs = table().filter((pl.col(COUNT) == 4) & (pl.col(CONTROL) == control))
    line = next(line for line in axes.lines if line.get_label() == "4")
    assert list(np.asarray(line.get_xdata())) == [2, 5, 10, 50]
    edges = np.asarray(axes.collections[1].get_paths()[0].vertices)[:, 1]
    for limit, height in zip((2, 5, 10, 50), np.asarray(line.get_ydata()), strict=True):
        values = runs.filter(pl.col(LIMIT) == limit)[SHARE].to_list()
        interval = (anytime_interval if watched else t_interval)(values)
        assert height == pytest.approx(interval.mean * 100)
        assert np.isclose(edges, interval.low * 100).any()
        assert np.isclose(edges, interval.high * 100).any()
    assert ("any stopping rule" if watched else "Student's t") in made.caption


def test_a_heat_map_shows_means_and_states_their_widest_interval() -> None:
    made = picture(SPECS["heatmap"])
    cells = drawn(made)[0].collections[0].get_array()
    assert cells is not None
    runs = table().filter(pl.col(CONTROL) == drawn(made)[0].get_title().split(": ")[1])
    for (row, place), mean in np.ndenumerate(cells):
        point = runs.filter(
            (pl.col(COUNT) == (1, 4)[row]) & (pl.col(LIMIT) == (2, 5, 10, 50)[place])
        )
        assert mean == pytest.approx(100 * np.mean(point[SHARE].to_list()))
    widest = max(
        t_interval(part[SHARE].to_list()).half_width for part in table().partition_by(AXES)
    )
    assert f"is ±{100 * widest:.2g} %" in made.caption


def test_missing_figures_are_omitted_and_the_caption_counts_them() -> None:
    frame = table().with_columns(
        pl.when(pl.col("seed") == 3).then(math.nan).otherwise(pl.col(SHARE)).alias(SHARE)
    )
    made = picture(SPECS["lines"], frame)
    assert "Runs without this figure are left out (16 of 128)." in made.caption
    assert all(np.isfinite(np.asarray(line.get_ydata())).all() for line in drawn(made)[0].lines)


def test_a_point_never_mixes_variants() -> None:
    mixed = PlotSpec("p", "", LIMIT, (SHARE,), series=COUNT)
    with pytest.raises(
        RequestError, match=f"plot p: a point would mix several values of {CONTROL}"
    ):
        picture(mixed)
    one = table().filter(pl.col(CONTROL) == "reno")
    assert "Held fixed: congestion control of upload reno;" in picture(mixed, one).caption


def test_impossible_pictures_are_refused_with_a_remedy() -> None:
    for spec, words in (
        (PlotSpec("p", "", LIMIT, ("nothing",)), "no column nothing"),
        (PlotSpec("p", "", LIMIT, (SHARE,), "heatmap"), "name them as x and series"),
        (
            PlotSpec("p", "", "", (SHARE,), "cdf", series="seed"),
            "cannot be distinguished, but 12 can",
        ),
    ):
        frame = table()
        if spec.series == "seed":
            frame = pl.concat([frame, frame.with_columns(seed=pl.col("seed") + 8)])
        with pytest.raises(RequestError, match=words):
            picture(spec, frame)
    with pytest.raises(RequestError, match="run the study first"):
        picture(SPECS["lines"], table().clear())


def test_the_lines_of_one_panel_all_look_different() -> None:
    looks = [(style["color"], style["linestyle"]) for style in map(look, range(LINES))]
    assert len(set(looks)) == LINES


coordinates = st.tuples(st.integers(0, 9), st.integers(0, 9))


@given(st.lists(coordinates, min_size=1, max_size=12), st.booleans(), st.booleans())
def test_no_point_surpasses_the_front(
    points: list[tuple[int, int]], x_high: bool, y_high: bool
) -> None:
    def beats(one: tuple[int, int], other: tuple[int, int]) -> bool:
        x, y = (one[0] - other[0]) * (2 * x_high - 1), (one[1] - other[1]) * (2 * y_high - 1)
        return x >= 0 and y >= 0 and (x > 0 or y > 0)

    floats = [(float(x), float(y)) for x, y in points]
    expected = [i for i, own in enumerate(points) if not any(beats(other, own) for other in points)]
    assert sorted(front(floats, x_high, y_high)) == expected


def test_columns_are_words_in_a_unit_that_suits() -> None:
    frame = pl.DataFrame(
        {
            DELAY: [0.02, 0.3],
            SHARE: [0.5, 1.0],
            LIMIT: [2, 1000],
            "topology.bottleneck.rate_bps": [10_000_000, 2_500_000],
            CONTROL: ["reno", "cubic"],
            "upload.timeouts": [0, 3],
            COUNT: [1, 4],
            "empty_s": [0.0, 0.0],
            "ping.mean_rtt_s": [0.02, 0.3],
        }
    )
    titles = {name: column(frame, name).title for name in frame.columns}
    assert list(titles.values()) == [
        "p99 queueing delay of bottleneck, ms",
        "utilisation of bottleneck, %",
        "queue limit of bottleneck, packets",
        "rate of bottleneck, Mbit/s",
        "congestion control of upload",
        "timeouts of upload",
        "number of upload flows",
        "empty, s",
        "mean RTT of ping, ms",
    ]
    assert column(frame, "topology.bottleneck.rate_bps").text(2_500_000) == "2.5 Mbit/s"
    assert column(frame, SHARE).text(0.5) == "50 %"
    assert column(frame, CONTROL).text("reno") == "reno"


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("long.goodput_bps.sum", "total goodput of long, Mbit/s"),
        ("long.goodput_bps.min", "least goodput of long, Mbit/s"),
        ("long.goodput_bps.max", "largest goodput of long, Mbit/s"),
        ("long.goodput_bps.jain", "Jain's index of the goodput of long"),
        ("flows.goodput_bps.mean", "mean goodput of all flows, Mbit/s"),
        ("flows.packets_lost.sum", "total packets lost of all flows"),
        ("bottleneck.jain_index", "Jain's index of bottleneck"),
        ("bottleneck.min_interval_jain_index", "min interval Jain's index of bottleneck"),
        ("bottleneck.limit.bytes", "limit of bottleneck, MB"),
        ("bottleneck.limit.packets", "limit of bottleneck, packets"),
    ],
)
def test_aggregates_keep_their_unit(name: str, title: str) -> None:
    assert column(pl.DataFrame({name: [1e6, 4e6]}), name).title == title


HIGHER = [
    *("bottleneck.utilization", "bottleneck.jain_index", "bottleneck.min_interval_jain_index"),
    *("long.goodput_bps", "long.goodput_bps.sum", "long.goodput_bps.min", "long.goodput_bps.jain"),
    *("flows.goodput_bps.mean", "flows.throughput_bps.sum", "call.mos", "call.r_factor"),
    *("rpm.responsiveness_rpm", "rpm.foreign_responsiveness_rpm", "web.short_transfers"),
    *("ping.round_trips_per_minute", "video.video_bitrate_bps", "video.p5_playout_buffer_s"),
]
LOWER = [
    *("bottleneck.loss_rate", "bottleneck.p99_queueing_delay_s", "bottleneck.limit.packets"),
    *("web.p95_page_time_s", "web.p50_first_byte_time_s", "game.p99_lag_s"),
    *("ping.p50_rtt_s", "web.completion_time_s", "flows.timeouts.sum", "flows.packets_lost.sum"),
    *("bottleneck.fairness_interval_s", "video.stall_share", "bottleneck.loss_synchronization"),
]


@pytest.mark.parametrize("name", [*HIGHER, *LOWER])
def test_each_metric_has_its_better_direction(name: str) -> None:
    assert column(pl.DataFrame({name: [1.0]}), name).higher_is_better == (name in HIGHER)


def test_the_front_of_goodput_and_fairness_is_up_and_to_the_right() -> None:
    """The variant that is best in both metrics is the whole front of three variants."""
    rows = [
        {CONTROL: name, "seed": 1, "long.goodput_bps.sum": total, "long.goodput_bps.jain": jain}
        for name, total, jain in (("a", 1e6, 0.5), ("b", 2e6, 0.9), ("c", 1.5e6, 0.7))
    ]
    spec = PlotSpec("p", "", "long.goodput_bps.sum", ("long.goodput_bps.jain",), "pareto")
    made = study_picture(pl.DataFrame(rows), spec, (CONTROL,), held=(), watched=False)
    numbered = [one for one in drawn(made)[0].get_legend_handles_labels()[1] if one[0].isdigit()]
    assert numbered == ["1: congestion control b"]
    assert "higher total goodput of long and higher Jain's index" in made.caption


@pytest.mark.parametrize("kind", ["lines", "pareto", "cdf"])
@pytest.mark.parametrize("facets", [(), (COUNT,)])
def test_a_legend_leaves_the_axes_at_least_half_of_the_width(
    kind: Literal["lines", "pareto", "cdf"], facets: tuple[str, ...]
) -> None:
    frame = table().with_columns(pl.col(CONTROL).replace("cubic", LONG))
    x = {"lines": LIMIT, "pareto": DELAY, "cdf": ""}[kind]
    frame = frame.filter(pl.col(COUNT) == 1) if not facets else frame
    made = picture(PlotSpec("p", "Title", x, (SHARE,), kind, series=CONTROL, facets=facets), frame)
    figure = made.figure(dpi=60)
    figure.canvas.draw()
    legends = [legend.get_window_extent() for legend in figure.legends]
    panels = [axes.get_position() for axes in figure.axes]
    assert sum(panel.width for panel in panels) >= 0.5
    # The axes keep their height too, and neither the legend nor the caption hides them.
    assert panels[0].height * figure.get_figheight() >= 2
    box = Bbox.union(legends).transformed(figure.transFigure.inverted())
    caption = figure.texts[-1].get_window_extent().transformed(figure.transFigure.inverted())
    boxes = [axes.get_tightbbox() for axes in figure.axes]
    to_figure = figure.transFigure.inverted()
    below = min(one.transformed(to_figure).y0 for one in boxes if one is not None)
    assert caption.y1 <= box.y0
    assert box.y1 <= below
    assert box.x0 >= 0
    assert box.x1 <= 1


def test_the_legend_names_the_points_of_the_front() -> None:
    made = picture(PlotSpec("p", "", DELAY, (SHARE,), "pareto", series=CONTROL))
    labels = drawn(made)[0].get_legend_handles_labels()[1]
    controls = {label for label in labels if not label[0].isdigit()}
    assert controls == {"reno", "cubic"}
    (first,) = (label for label in labels if label.startswith("1: "))
    assert first.startswith("1: upload flows ")
    assert first.endswith(", queue limit 2 packets")


GRIDS = {
    "lines": PlotSpec("p", "T", LIMIT, (DELAY,), series=COUNT, facets=(CONTROL, RATE)),
    "log": PlotSpec("p", "T", LIMIT, (DELAY,), series=COUNT, facets=(CONTROL, RATE), y_scale="log"),
    "heatmap": PlotSpec("p", "T", LIMIT, (DELAY,), "heatmap", series=COUNT, facets=(CONTROL, RATE)),
    "cdf": PlotSpec("p", "T", "", (DELAY,), "cdf", series=COUNT, facets=(CONTROL, RATE)),
    "box": PlotSpec("p", "T", LIMIT, (DELAY,), "box", series=COUNT, facets=(CONTROL, RATE)),
    "pareto": PlotSpec("p", "T", DELAY, (SHARE,), "pareto", series=COUNT, facets=(CONTROL, RATE)),
    "one": PlotSpec("p", "T", LIMIT, (DELAY,), series=CONTROL, facets=(RATE,), where={COUNT: (4,)}),
    "names": PlotSpec("p", "T", CONTROL, (DELAY,), series=RATE, facets=(LIMIT, COUNT)),
    "map of names": PlotSpec(
        *("p", "T", CONTROL, (DELAY,), "heatmap"), series=RATE, where={COUNT: (1,), LIMIT: (5,)}
    ),
}


def grid_picture(name: str, *, long: bool = False) -> Picture:
    axes = (RATE, CONTROL, COUNT, LIMIT)
    return study_picture(grid(long=long), GRIDS[name], axes, watched=False)


@pytest.mark.parametrize("name", [name for name in GRIDS if len(GRIDS[name].facets) == 2])
def test_a_grid_of_four_axes_is_rows_and_columns_of_panels(name: str) -> None:
    made, spec = grid_picture(name), GRIDS[name]
    figure = made.figure(dpi=60)
    panels = figure.axes[: made.panels * made.columns]
    rows, columns = (grid()[axis].n_unique() for axis in spec.facets)
    assert (made.panels, made.columns) == (rows, columns)
    assert len({panel.get_xlim() for panel in panels}) == 1
    assert len({panel.get_ylim() for panel in panels}) == 1
    assert [panel.get_title("left") != "" for panel in panels] == [True] * columns + [False] * (
        (rows - 1) * columns
    )
    empty = [panel for panel in panels if any(text.get_text() == "no runs" for text in panel.texts)]
    assert len(empty) == (name != "names")
    assert "one row of panels per" in made.caption


def test_each_panel_shows_the_runs_of_its_row_and_column() -> None:
    made = grid_picture("lines")
    panels = drawn(made)
    for index, (control, rate) in enumerate(
        (control, rate) for control in ("cubic", "reno") for rate in (2e6, 1e7, 1e10)
    ):
        runs = grid().filter((pl.col(CONTROL) == control) & (pl.col(RATE) == rate))
        lines = {line.get_label(): line for line in panels[index].lines}
        assert set(lines) == ({"1", "4"} if runs.height else set())
        for count, line in lines.items():
            own = runs.filter(pl.col(COUNT) == int(str(count))).group_by(LIMIT)
            means = own.agg(pl.col(DELAY).mean()).sort(LIMIT)[DELAY].to_list()
            assert np.asarray(line.get_ydata()) == pytest.approx(np.array(means) * 1e3)


def test_a_picture_shows_only_the_selected_values() -> None:
    spec = PlotSpec(
        *("p", "", LIMIT, (DELAY,)), series=CONTROL, where={RATE: (10_000_000,), COUNT: (1, 4)},
        facets=(COUNT,),
    )  # fmt: skip
    made = study_picture(
        grid(), spec, (RATE, CONTROL, COUNT, LIMIT), held=["rate of bottleneck 10 Mbit/s"],
        watched=False,
    )  # fmt: skip
    assert made.caption.count("rate of bottleneck 10 Mbit/s") == 1, "named once"
    assert "3 seeds per variant" in made.caption
    runs = grid().filter((pl.col(RATE) == 10_000_000) & (pl.col(CONTROL) == "reno"))
    (line,) = (line for line in drawn(made)[0].lines if line.get_label() == "reno")
    own = runs.filter((pl.col(COUNT) == 1) & (pl.col(LIMIT) == 20))
    assert np.asarray(line.get_ydata())[1] == pytest.approx(1e3 * np.mean(own[DELAY].to_list()))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"y": (DELAY, SHARE)}, "two facets leave room for one metric, and y names 2"),
        ({"facets": (CONTROL, "seed")}, "7 columns of panels, of seed; at most 5 can be read"),
        ({"facets": ("seed", CONTROL)}, "7 rows of panels, of seed; at most 6 can be read"),
        ({"facets": (RATE,)}, f"several values of {CONTROL}; name it as .* choose one .* where"),
    ],
)
def test_a_grid_that_cannot_be_read_is_refused(change: dict[str, Any], words: str) -> None:
    frame = pl.concat([grid().with_columns(seed=pl.lit(seed)) for seed in range(7)])
    axes = (RATE, CONTROL, COUNT, LIMIT)
    with pytest.raises(RequestError, match=words):
        study_picture(frame, replace(GRIDS["lines"], **change), axes, watched=False)


def texts(figure: Figure) -> list[Text]:
    """Returns the texts of a picture that are not aslant."""
    found = figure.findobj(Text)
    assert all(isinstance(text, Text) for text in found)
    ticks = [
        label
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in axis.get_major_ticks()
        for label in (tick.label1, tick.label2)
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
    ]
    return [
        text
        for text in found
        if text.get_visible() and text.get_text().strip() and text.get_rotation() % 90 == 0
        and text not in ticks
    ]  # fmt: skip


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("name", GRIDS)
def test_no_text_runs_into_another_or_out_of_the_picture(name: str, long: bool) -> None:
    figure = grid_picture(name, long=long).figure(dpi=100)
    figure.canvas.draw()
    boxes = [(text.get_text(), text.get_window_extent().padded(-1.5)) for text in texts(figure)]
    for index, (words, box) in enumerate(boxes):
        assert figure.bbox.x0 <= box.x0, words
        assert box.x1 <= figure.bbox.x1, words
        assert figure.bbox.y0 <= box.y0, words
        assert box.y1 <= figure.bbox.y1, words
        for other, there in boxes[index + 1 :]:
            assert not box.overlaps(there), (words, other)
