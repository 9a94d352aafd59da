"""Congestion controls of this package and of quinn in the bands of `goodqueue characterize`.

`make evidence NAME=controls_in_bands` runs the sections of RFC 9743 for each control, and writes
the tables of docs/characterize.md and docs/questions.md. It needs the program of examples/quic.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evidence.core.derived import ROOT, Derived, MissingError, relative, scratch
from evidence.core.pages import with_part
from goodqueue.characterization.api import characterize
from goodqueue.output.characterization.texts import text_of

if TYPE_CHECKING:
    from goodqueue.characterization.measure import Characterization, Found, Score

PAGE = ROOT / "docs" / "characterize.md"
QUESTIONS = ROOT / "docs" / "questions.md"
PART = "controls in bands"
FIGURES = Path(__file__).parent / "figures.csv"
SOURCES = ("examples/quic/src", "examples/quic/Cargo.lock")
GUIDE = "python/goodqueue/characterization/rfc9743"
PROGRAM = ROOT / "examples" / "quic" / "target" / "release" / "goodqueue-quinn"
BUILD = "cd examples/quic && cargo build --release --locked"

OWN = ("reno", "cubic", "bbr", "bbr3")
QUINN = ("reno", "cubic", "bbr")
SEEDS = 3

ASKED = {"cubic": "cubic", "bbr": "bbr", "bbr3": "bbr3"} | {
    f"quinn's {name}": f"quinn {name}" for name in ("cubic", "bbr")
}
"""Controls of the public question, by their names in its table."""


class Judged(NamedTuple):
    """A figure with a band."""

    found: Found
    score: Score

    @property
    def section(self) -> str:
        """Number and title of the section."""
        return f"{self.found.section.number} {self.found.section.title}"


def judged(found: Characterization) -> list[Judged]:
    """Returns the figures with a band, in the order of the sections."""
    return [
        Judged(one, score) for one in found.found for score in one.scores if score.band is not None
    ]


def make() -> None:
    """Runs all controls, and writes their figures and the tables."""
    if not PROGRAM.exists():
        raise MissingError(f"controls_in_bands needs {relative(PROGRAM)}: {BUILD}")
    store = scratch() / "controls_in_bands"
    runs: dict[str, tuple[str, str | None]] = {name: (name, None) for name in OWN}
    runs |= {f"quinn {name}": (name, str(PROGRAM)) for name in QUINN}
    found = {
        name: characterize(control=control, stack=stack, seeds=SEEDS, against="none", store=store)
        for name, (control, stack) in runs.items()
    }
    with FIGURES.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        heads = ("control", "section", "case", "metric", "mean", "half_width", "least", "most")
        writer.writerow((*heads, "standing"))
        for name, one in found.items():
            writer.writerows(_row(name, each) for each in judged(one))
    for page, text in ((PAGE, table(found)), (QUESTIONS, answer(found))):
        before = page.read_text(encoding="utf-8")
        page.write_text(with_part(before, PART, text), encoding="utf-8")


def _row(name: str, one: Judged) -> tuple[object, ...]:
    score = one.score
    assert score.band is not None
    assert score.own is not None
    interval = score.own.interval
    figures = (interval.mean, interval.half_width, score.band.least, score.band.most)
    place = (name, one.found.section.key, one.found.case.name, score.measure.metric)
    return (*place, *(f"{figure:.5g}" for figure in figures), score.standing)


def table(found: dict[str, Characterization]) -> str:
    """Returns the controls with the cases that are outside."""
    heads = "| control | inside | outside | not shown | sections and cases outside |"
    lines = [heads, "| --- " * 5 + "|"]
    for name, one in found.items():
        cases: dict[str, list[str]] = {}
        for each in judged(one):
            if each.score.standing == "outside":
                cases.setdefault(each.section, []).append(each.found.case.name)
        texts = [
            f"{section} ({', '.join(some)})" if any(some) else section
            for section, some in cases.items()
        ]
        counts = " | ".join(str(count) for count in one.standings.values())
        lines.append(f"| {name} | {counts} | {'; '.join(texts)} |")
    return "\n".join(lines) + "\n"


def answer(found: dict[str, Characterization]) -> str:
    """Returns the table of the public question: controls beside each other in the same set-up."""
    ratio, loss = "new.goodput_bps.sum / standard.goodput_bps.sum", "bottleneck.loss_rate"
    wanted = (
        ("beside-cubic", "0.25 BDP", ratio),
        ("beside-cubic", "4 BDP", ratio),
        ("loss", "1 BDP", loss),
        ("ecn", "codel", ratio),
    )
    heads = (
        "| control | figures inside their bands | goodput over CUBIC's, 0.25 BDP | 4 BDP "
        "| loss of eight flows, 1 BDP | goodput over CUBIC's, CoDel with ECN |"
    )
    lines = [heads, "| --- " * 6 + "|"]
    for title, name in ASKED.items():
        sides = found[name].standings
        figures = {
            (one.found.section.key, one.found.case.name, one.score.measure.metric): one.score
            for one in judged(found[name])
        }
        cells = [text_of(figures[key], figures[key].own) for key in wanted]
        inside = f"{sides['inside']} of {sum(sides.values())}"
        lines.append(f"| {title} | {inside} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


THINGS = [
    Derived(
        "controls_in_bands",
        make,
        products=(
            f"{relative(PAGE)}#{PART}",
            f"{relative(QUESTIONS)}#{PART}",
            relative(FIGURES),
        ),
        inputs=(*SOURCES, GUIDE),
        seeds=f"1 to {SEEDS}",
        measured="quinn-proto 0.11.19, which is not a part of the engine",
    )
]
