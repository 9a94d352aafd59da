"""Names and titles with a meaning in mathtext, SVG or HTML are shown unchanged."""

from __future__ import annotations

import csv
import html
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from conftest import SMALL, goodqueue, tracked
from goodqueue import run
from goodqueue.core.tables import write_csv
from goodqueue.output import page, terminal
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


HIDDEN = "a\x1b[31m\x9b2K\u202etxt\u2066\u200b.toml"
"""A name that colours a terminal, deletes its line, and turns the direction of its letters."""


@pytest.mark.parametrize(
    "command",
    [
        ("run", "NAME"),
        ("run", "NAME.toml", "--set", f"duration={HIDDEN}"),
        ("run", "NAME.toml", "--set", f"{HIDDEN}=1"),
        ("run", "NAME.toml", "--out", "NAME.toml"),
        ("size", "NAME"),
        ("size", "--from", "NAME"),
        ("size", "NAME.toml", "--quick", "--device", "NAME"),
        ("sweep", "NAME"),
        ("results", "NAME"),
        ("compare", "NAME", "other"),
        ("analyze", "NAME"),
        ("flows", "NAME"),
        ("import", "NAME"),
        ("export", "NAME", "--to", "ns2"),
        ("export", "small.toml", "--to", HIDDEN),
        ("lab", "--no-browser", "NAME"),
        ("reproduce", HIDDEN),
        ("characterize", HIDDEN),
        (HIDDEN,),
        ("run", f"--{HIDDEN}"),
    ],
)
def test_a_message_cannot_control_the_terminal(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"{HIDDEN}.toml").write_text(SMALL)
    (tmp_path / "small.toml").write_text(SMALL)
    done = goodqueue(*(word.replace("NAME", HIDDEN) for word in command))
    assert done.returncode == 2
    assert all(one.isprintable() or one == "\n" for one in done.stderr), ascii(done.stderr)
    assert not done.stdout


def test_an_answer_cannot_control_the_terminal(small: Path, tmp_path: Path) -> None:
    out = tmp_path / HIDDEN
    done = goodqueue("run", small, "--set", "duration=2s", "--out", out)
    assert done.returncode == 0
    assert "written to" in done.stdout
    assert all(one.isprintable() or one == "\n" for one in done.stdout + done.stderr)


def test_a_console_keeps_its_own_colours() -> None:
    console = terminal.Terminal(force_terminal=True, width=80, highlight=False)
    with console.capture() as found:
        console.print("[red]a\x1b[2Kb\u202ec[/]", "d\u00a0\u2009e")
    plain = found.get().replace("\x1b[31m", "").replace("\x1b[0m", "")
    assert plain == "a?[2Kb?c d\u00a0\u2009e\n"


def test_only_one_function_prints_messages() -> None:
    """It makes them harmless; what is printed to standard output passes the console or is JSON."""
    for path in tracked("python/goodqueue/*.py"):
        if path.name not in {"text.py", "sender.py"}:
            assert not re.search(r"\bprint\([^#]*?sys\.stderr\)", path.read_text()), path


FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1"]


def test_cells_of_texts_are_no_formulas(tmp_path: Path) -> None:
    texts = [*FORMULAS, "-1.5", "+3", "a=b", "", None]
    frame = pl.DataFrame({"=name": texts, "number": [-1.5] * len(texts)})
    write_csv(frame.with_columns(kind=pl.col("=name").cast(pl.Categorical)), tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == ["'=name", "number", "kind"]
    cells = [f"'{text}" for text in FORMULAS] + ["-1.5", "+3", "a=b", "", ""]
    assert [row[0] for row in rows] == cells
    assert [row[2] for row in rows] == cells
    assert {row[1] for row in rows} == {"-1.5"}


def test_only_one_function_writes_csv() -> None:
    for path in tracked("python/goodqueue/*.py"):
        if path.name != "tables.py":
            assert not re.search(r"\.write_csv|csv\.(writer|DictWriter)", path.read_text()), path
