"""Writes the parts and pictures of docs/rules-on-trial.md from the study's data, in seconds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from evidence.core.pages import with_part
from evidence.rules_on_trial import draw
from evidence.rules_on_trial.fitting import data
from evidence.rules_on_trial.fitting.made import SEARCHES, Search, covers, searches, write_record
from evidence.rules_on_trial.fitting.record import Trial, trials, wilson
from evidence.rules_on_trial.plan import CLASSIC_RULES
from evidence.rules_on_trial.report import pictures
from evidence.rules_on_trial.run import read
from goodqueue.sizing.answer.parts import SURE
from goodqueue.sizing.calibrated.coverage import measured
from goodqueue.sizing.calibrated.smallest import Calibrated, calibrated
from goodqueue.sizing.calibrated.surface import surfaces

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goodqueue.plots.style import Picture

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "rules-on-trial.md"
IMAGES = ROOT / "docs" / "img" / "rules-on-trial"
README = ROOT / "README.md"
SUMMARY = "how often wrong"
"""Part of the README."""

MANY_LINKS = 50
"""Links of a kind whose coverage the README considers."""

DPI = 110
GRID_STEP = 0.05

SMALL_BDP = 20


@dataclass(frozen=True, slots=True)
class Checked:
    """A link that was not used for the fit: results of the search and of calibrated theory."""

    search: Search
    said: Calibrated

    @property
    def off_by_steps(self) -> float | None:
        """Difference of the buffers in grid steps (5 % or one packet); None unless both exist."""
        found, said = self.search.least, self.said.least
        if found is None or said is None:
            return None
        return abs(said - found) / max(1.0, GRID_STEP * found)


@cache
def all_trials() -> list[Trial]:
    """Returns every rule on every link of the study."""
    return trials(data.links(), surfaces())


@cache
def checked() -> list[Checked]:
    """Returns the held-out links."""
    found = []
    for search in searches(draw.CHECK_SEED):
        said = calibrated(search.link)
        assert said is not None
        found.append(Checked(search, said))
    return found


def write() -> None:
    """Writes the parts of the page, its pictures, and the record.

    The record is written again because rules may have changed since the fit.
    """
    write_record(all_trials())
    IMAGES.mkdir(parents=True, exist_ok=True)
    for picture in all_pictures():
        picture.save_as(IMAGES, ["png"], DPI)
    PAGE.write_text(with_parts(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    README.write_text(with_summary(README.read_text(encoding="utf-8")), encoding="utf-8")


@cache
def all_pictures() -> list[Picture]:
    """Returns the pictures of the page."""
    return pictures.of(all_trials(), [(one.search, one.said) for one in checked()])


def with_parts(page: str) -> str:
    """Returns the page with the tables and captions that follow from the data."""
    for name, made in PARTS.items():
        page = with_part(page, name, f"{made()}\n")
    for picture in all_pictures():
        line = f"![{picture.caption}](img/rules-on-trial/{picture.name}.png)\n"
        page = with_part(page, f"picture {picture.name}", line)
    return page


def with_summary(readme: str) -> str:
    """Returns the README with its paragraph on the errors of the instant answer and of rules."""
    found, kinds = checked(), measured()
    whole = kinds["all links"]
    large = {kind: one for kind, one in kinds.items() if one.links >= MANY_LINKS}
    worst = min(large, key=lambda kind: large[kind].held / large[kind].links)
    low, high = wilson(whole.held, whole.links)
    steps = [one.off_by_steps for one in found if one.off_by_steps is not None]
    held = [one for one in all_trials() if one.held]
    sure = [one for one in held if one.said_to_hold]
    broke, sure_broke = (sum(not one.kept for one in of) for of in (held, sure))
    text = (
        f"**How often is it wrong?** On {whole.links} links that were not used for the fit, the "
        "90 % interval of `--quick` contained the simulated answer on "
        f"{_share(whole.held, whole.links)} (95 % interval {100 * low:.0f} to {100 * high:.0f} %), "
        f"and at least on {_share(kinds[worst].held, kinds[worst].links)} of each kind with "
        f"{MANY_LINKS} links or more (worst: {worst}). The "
        f"median error was {np.median(steps):.2g} in grid steps of 5 % or one packet. Published "
        f"rules broke their promise in {_share(sure_broke, len(sure))} of the {len(sure):,} cases "
        f"in which the answer said that the rule holds, and in {_share(broke, len(held))} of the "
        f"{len(held):,} cases in which the rule's own assumptions held "
        "([docs/rules-on-trial.md](docs/rules-on-trial.md))."
    )
    return with_part(readme, SUMMARY, f"{fill(text, 120, break_on_hyphens=False)}\n")


def study() -> str:
    """Returns the extent of the study."""
    import polars as pl

    frame = pl.read_parquet(data.RUNS)
    numbers = frame["link"].unique().to_numpy()
    # Each of two shards took every second link, in order.
    drawn = sum(int(numbers[numbers % 2 == part].max() - part) // 2 + 1 for part in (0, 1))
    hybrid = frame.filter(pl.col("hybrid"))["link"].n_unique()
    packets = float(frame["packets"].cast(pl.Int64).sum())
    engine = f"{hybrid:,} of them on the hybrid engine" if hybrid else "all on the packet engine"
    return (
        f"**{len(numbers):,} links, {len(frame):,} runs, {packets / 1e9:.1f} thousand million "
        f"packets**, {engine}. {drawn:,} links were drawn; the other "
        f"{drawn - len(numbers):,} would "
        "have taken too many packets a run (few flows with large windows, mostly) and were left "
        "out. For them the answer extrapolates, and says that it does."
    )


def record_table() -> str:
    """Returns the record of each rule."""
    columns = (
        "rule",
        "its buffer was run on",
        "its assumptions held on",
        "kept there",
        "95 % interval",
        "clearly broken there",
        "kept on all links",
    )
    head = [f"| {' | '.join(columns)} |", "| --- " * len(columns) + "|"]
    rows = []
    for rule in CLASSIC_RULES:
        of_rule = [one for one in all_trials() if one.rule == rule.name]
        held = [one for one in of_rule if one.held]
        if not of_rule:
            continue
        kept = sum(one.kept for one in held)
        low, high = wilson(kept, len(held))
        cells = [
            f"`{rule.name}`",
            f"{len(of_rule):,}",
            f"{len(held):,}",
            _share(kept, len(held)),
            f"{100 * low:.0f} to {100 * high:.0f} %" if held else "-",
            _share(sum(one.clearly_broken for one in held), len(held)),
            _share(sum(one.kept for one in of_rule), len(of_rule)),
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join([*head, *rows])


def condition_table() -> str:
    """Returns the shares of kept promises if assumptions held, by properties of the link."""
    conditions: dict[str, Callable[[Trial], bool]] = {
        "loss bounded": lambda one: one.loss_bounded,
        "loss not bounded": lambda one: not one.loss_bounded,
        "long flows alone": lambda one: one.alone,
        "beside other traffic": lambda one: not one.alone,
        "C·T below 20 packets": lambda one: one.bdp < SMALL_BDP,
        "C·T of 20 or more": lambda one: one.bdp >= SMALL_BDP,
    }
    lines = [f"| rule | {' | '.join(conditions)} |", "| --- " * (len(conditions) + 1) + "|"]
    for rule in pictures.CHOSEN:
        held = [one for one in all_trials() if one.rule == rule and one.held]
        cells = []
        for fits in conditions.values():
            part = [one for one in held if fits(one)]
            cells.append(f"{_share(sum(one.kept for one in part), len(part))} of {len(part):,}")
        lines.append(f"| `{rule}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def verdict_table() -> str:
    """Returns the share of broken promises of rules that hold, with and without theory."""
    found = all_trials()
    cases = {
        "all its assumptions hold": [one for one in found if one.held],
        f"and calibrated theory gives its promise {100 * SURE:.0f} % or more": [
            one for one in found if one.said_to_hold
        ],
    }
    lines = [
        "| said of a rule | cases | broke its promise | clearly |",
        "| --- | --- | --- | --- |",
    ]
    for words, of in cases.items():
        broke, clearly = (sum(not one.kept for one in of), sum(one.clearly_broken for one in of))
        lines.append(
            f"| {words} | {len(of):,} | {_share(broke, len(of))} | {_share(clearly, len(of))} |"
        )
    return "\n".join(lines)


def check_table() -> str:
    """Returns the held-out links in figures."""
    found = checked()
    steps = [one.off_by_steps for one in found]
    known = sorted(step for step in steps if step is not None)
    covered = sum(covers(one.said, one.search) for one in found)
    right = sum((one.said.packets is None) == (one.search.packets is None) for one in found)
    wide = [
        one.said.high / one.said.low
        for one in found
        if one.said.high is not None and one.search.least is not None
    ]
    rows = [
        ("links whose search ended", f"{len(found):,} of {_searched():,}", ""),
        (
            "the 90 % interval holds the simulated answer",
            f"{_share(covered, len(found))} ({_ends(covered, len(found))})",
            "87 to 93 %",
        ),
        (
            "median error, in grid steps (5 % or one packet)",
            f"{np.median(known):.2f}",
            "at most 1",
        ),
        ("error of at most two grid steps", _share(sum(s <= 2 for s in known), len(known)), ""),
        (
            "feasible or not: said right",
            f"{_share(right, len(found))} ({_ends(right, len(found))})",
            "95 %",
        ),
        ("median ratio of the interval's ends", f"{np.median(wide):.2f}", ""),
    ]
    lines = ["| | measured | wanted |", "| --- | --- | --- |"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def coverage_table() -> str:
    """Returns the share of held-out links whose interval held the answer, by kind of link."""
    lines = ["| kind of link | links | interval held the answer | 95 % interval |"]
    lines.append("| --- | --- | --- | --- |")
    for kind, counts in measured().items():
        low, high = wilson(counts.held, counts.links)
        share = _share(counts.held, counts.links)
        ends = f"{100 * low:.0f} to {100 * high:.0f} %"
        lines.append(f"| {kind} | {counts.links:,} | {share} | {ends} |")
    return "\n".join(lines)


def _searched() -> int:
    """Returns the number of searches of the check that were begun."""
    return sum(one["seed"] == draw.CHECK_SEED for one in read(SEARCHES))


def _ends(part: int, whole: int) -> str:
    low, high = wilson(part, whole)
    return f"95 % interval {100 * low:.0f} to {100 * high:.0f} %"


def _share(part: int, whole: int) -> str:
    if not whole:
        return "-"
    share = 100 * part / whole
    return (
        f"{share:.1f} %" if 0 < share < 10 or 90 < share < 100 else f"{math.floor(share + 0.5)} %"
    )


def names(of: Sequence[Trial]) -> list[str]:
    """Returns the names of the rules that were run, in the order of the rules."""
    run = {one.rule for one in of}
    return [rule.name for rule in CLASSIC_RULES if rule.name in run]


PARTS: Mapping[str, Callable[[], str]] = {
    "study": study,
    "records": record_table,
    "conditions": condition_table,
    "verdicts": verdict_table,
    "check": check_table,
    "coverage": coverage_table,
}
"""Parts of the page, with the function that makes each."""

PICTURES = ("by-rule", "over-flows", "over-bdp", "over-window", "verdicts", "answers", "intervals")
"""Names of the pictures."""
