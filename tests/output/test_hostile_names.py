"""Names and titles with a meaning in mathtext, SVG or HTML are shown unchanged."""

from __future__ import annotations

import html
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from conftest import SMALL, goodqueue
from goodqueue import run
from goodqueue.output import page
from goodqueue.plots.runs import pictures
from goodqueue.plots.study.picture import study_picture
from goodqueue.plots.style import Picture, _take_literally, legend_label
from helpers.pictures import AXES, CONTROL, SPECS, table

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from goodqueue.core.drawing import Format


HOSTILE = [
    r"a $\frac{$ b",
    "100 $ and 200 $",
    "_hidden",
    "x_{1}^2 $y$",
    "<script>&amp;\"'</script>",
    "two\nlines",
    "bell \x07 escape \x1b[31m null \x00",
    "back\\slash % {brace}",
]
FORMATS: tuple[Format, ...] = ("png", "svg", "pdf")


@pytest.mark.parametrize("kind", SPECS)
def test_every_kind_of_study_picture_takes_any_label(kind: str, tmp_path: Path) -> None:
    reno, cubic = HOSTILE[0], HOSTILE[6]
    spec = replace(SPECS[kind], title=" ".join(HOSTILE))
    frame = table().with_columns(pl.col(CONTROL).replace({"reno": reno, "cubic": cubic}))
    made = study_picture(frame, spec, AXES, held=HOSTILE[1:2], watched=False)
    for path in made.save_as(tmp_path, ("svg", "pdf"), dpi=40):
        assert path.stat().st_size > 1000
    ET.parse(tmp_path / f"{spec.name}.svg")  # noqa: S314 - our own file, which must be XML


@pytest.mark.parametrize("flow", ["_a_b"])
def test_every_picture_of_a_run_takes_any_name(flow: str, tmp_path: Path) -> None:
    scenario = SMALL.replace('"upload"', f'"{flow}"').replace("20s", "5s")
    result = run(scenario, series=True, throughput=True)
    made = pictures(result, "bottleneck")
    assert [one.name for one in made] == ["rtt", "throughput", "backlog", "cwnd", "delay-cdf"]
    for one in made:
        one.save_as(tmp_path, ("svg",), dpi=40)
        ET.parse(tmp_path / f"{one.name}.svg")  # noqa: S314 - our own file


@pytest.mark.parametrize("name", HOSTILE)
def test_texts_of_a_picture_are_drawn_unchanged(name: str, tmp_path: Path) -> None:
    seen: list[Axes] = []

    def draw(panels: list[Axes]) -> None:
        (axes,) = panels
        seen.append(axes)
        axes.plot([1, 2, 3], [1, 10, 100], label=legend_label(name))
        axes.set_yscale("log")
        axes.set_title(name)
        axes.set_xticks([1, 2, 3], [name, "b", "c"])
        axes.legend()

    Picture("p", f"{name}: a caption", draw).save_as(tmp_path, FORMATS, dpi=40)
    axes = seen[0]
    shown = "\n".join(
        "".join(letter if letter.isprintable() else " " for letter in line)
        for line in name.split("\n")
    )
    assert axes.get_title(loc="left") == shown
    legend = axes.get_legend()
    assert legend is not None
    labels = [text.get_text().removeprefix("\N{ZERO WIDTH SPACE}") for text in legend.get_texts()]
    assert labels == [shown], "a name that begins with an underscore is in the legend, too"
    root = ET.parse(tmp_path / "p.svg").getroot()  # noqa: S314 - our own file
    assert any("a caption" in (element.text or "") for element in root.iter())


def test_powers_of_ten_stay_formulas() -> None:
    figure = Figure()
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.plot([1, 1e6], [1, 2])
    axes.set_xscale("log")
    axes.set_title("$x$")
    _take_literally(figure)
    figure.draw_without_rendering()
    assert all(label.get_parse_math() for label in axes.get_xticklabels())
    assert not axes.title.get_parse_math()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_page_takes_any_text(name: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    page.write(name, name, [], ["size", name], path)
    text = path.read_text(encoding="utf-8")
    assert "<script>" not in text
    assert not any(letter in text for letter in "\x00\x07\x1b")
    if name.isprintable():
        assert f"<h1>{html.escape(name)}</h1>" in text


def test_a_hostile_title_goes_through_the_whole_command(tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    title = r"a $\\frac{$ <b>&_\u0007\n"
    scenario.write_text(
        SMALL.replace("One flow, one ping", title).replace('"upload"', '"_up"').replace("20s", "5s")
    )
    done = goodqueue("run", scenario, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "\x07" not in done.stdout
    assert r"a $\frac{$ <b>&_" in done.stdout
