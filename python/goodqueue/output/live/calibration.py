"""The page of a calibration, as Markdown and as HTML, and its figures as JSON."""

from __future__ import annotations

import os
from html import escape
from typing import TYPE_CHECKING, Any

from goodqueue.live.calibration.compare import (
    BBR_DELAY_SHARE,
    DELAY_SHARE,
    DROPS_SHARE,
    MIN_DROPS,
    UTILIZATION_POINTS,
)
from goodqueue.output import page, play
from goodqueue.output.terminal import counted
from goodqueue.runs.api import load

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goodqueue.core.intervals import Interval
    from goodqueue.live.calibration.compare import Compared, Row
    from goodqueue.live.calibration.measure import Calibration
    from goodqueue.plots.style import Picture

TITLE = "Theory, simulation and this kernel"

SCALES = {"utilization": (100.0, 2), "delay_s": (1000.0, 2), "drops": (1.0, 1)}
"""Factor and decimals with which each figure is shown."""

NAMES = {"utilization": "utilisation, %", "delay_s": "delay, ms", "drops": "drops"}

MARKS = {"agrees": "", "differs": " **differs**", "undecided": " (undecided)", "not measured": ""}

HEADS = ("cell", *(f"{name}: theory; simulation; kernel" for name in NAMES.values()))


def as_json(calibration: Calibration) -> dict[str, Any]:
    """Returns every figure, in seconds and shares, with the ends of its 95 % interval."""
    plan = calibration.plan
    return {
        "rate": plan.path.rate,
        "rtt": plan.path.rtt,
        "duration_s": plan.path.duration_s,
        "warmup_s": plan.path.warmup_s,
        "repeats": plan.repeats,
        "seeds": plan.seeds,
        "jobs": plan.jobs,
        "processors": os.cpu_count(),
        "system": calibration.system,
        "missing_controls": list(calibration.missing),
        "agreement": counts(calibration.rows),
        "cells": [_cell_json(row) for row in calibration.rows],
    }


def _cell_json(row: Row) -> dict[str, Any]:
    cell = row.cell
    return {
        "queue": cell.queue,
        "control": cell.control,
        "flows": cell.flows,
        "limit_packets": cell.packets,
        "verdicts": list(row.verdicts),
        "left_out": row.left_out,
        "figures": {
            one.figure: {
                "theory": one.theory,
                "simulation": _interval_json(one.simulation),
                "kernel": None if one.kernel is None else _interval_json(one.kernel),
                "tolerance": one.tolerance,
                "judgement": one.judgement,
            }
            for one in row.compared
        },
    }


def _interval_json(interval: Interval) -> dict[str, float | None]:
    low, high = interval.ends
    return {"mean": interval.mean, "low": low, "high": high}


def counts(rows: Sequence[Row]) -> dict[str, int]:
    """Returns the number of figures with each judgement."""
    found = dict.fromkeys(MARKS, 0)
    for row in rows:
        for one in row.compared:
            found[one.judgement] += 1
    return found


def introduction(calibration: Calibration) -> list[str]:
    """Returns paragraphs that say how the figures were made and how they are judged."""
    plan, path = calibration.plan, calibration.plan.path
    system = "; ".join(f"{name} = {value}" for name, value in calibration.system.items())
    agreement = counts(calibration.rows)
    verdicts = [verdict for row in calibration.rows for verdict in row.verdicts]
    left_out = sum(row.left_out for row in calibration.rows)
    judged = [word for word in MARKS if agreement[word]]
    plural = {"agrees": "agree", "differs": "differ"}
    texts = [
        (
            f"A link of {path.rate} with a base round-trip time of {path.rtt}. Each run takes "
            f"{path.duration_s:g} s, of which the last {path.measured_s:g} s are measured. "
            f"Simulation: {plan.seeds} seeds of the Linux profile. Kernel: {plan.repeats} "
            f"emulations of this machine's TCP behind the same queue, {plan.jobs} at once on "
            f"{counted(os.cpu_count() or 1, 'processor')}. Theory: published formulas "
            "(docs/calibrate.md). Figures are means with 95 % intervals; drops are those of the "
            "measured time."
        ),
        (
            "Simulation and kernel agree if their means differ by at most "
            f"{100 * UTILIZATION_POINTS:g} points of utilisation, {100 * DELAY_SHARE:g} % of the "
            f"mean queueing delay (BBR {100 * BBR_DELAY_SHARE:g} %) or half a packet's time, and "
            f"{100 * DROPS_SHARE:g} % of the drops or {MIN_DROPS:g}. They differ if the 95 % "
            "interval of the difference lies outside this tolerance; otherwise more runs are "
            "needed to decide."
        ),
        "Of all figures: "
        + ", ".join(f"{agreement[word]} {plural.get(word, word)}" for word in judged)
        + ".",
        (
            f"Emulations: {verdicts.count('trusted')} trusted, {verdicts.count('doubtful')} "
            f"doubtful; {left_out} were not trusted and do not count."
        ),
        f"This machine: {system}.",
    ]
    if calibration.missing:
        names = ", ".join(calibration.missing)
        texts.append(
            f"This kernel has not loaded {names}, so these cells have no kernel. As root, "
            f"`modprobe tcp_{calibration.missing[0]}` loads a module."
        )
    return texts


def disagreements(rows: Sequence[Row]) -> list[str]:
    """Returns a sentence for each figure that differs."""
    return [
        f"{row.cell.name}: {NAMES[one.figure]} "
        f"{_shown(one.figure, one.simulation.mean)} simulated, "
        f"{_shown(one.figure, one.kernel.mean)} by the kernel"
        for row in rows
        for one in row.differing
        if one.kernel is not None
    ]


def markdown(calibration: Calibration) -> str:
    """Returns the page as Markdown, without its pictures."""
    lines = [f"## {TITLE}", ""]
    for text in introduction(calibration):
        lines += [text, ""]
    named = disagreements(calibration.rows)
    lines += [f"{len(named)} figures differ:" if named else "No figure differs.", ""]
    lines += [f"- {text}" for text in named]
    lines += [""] if named else []
    lines += table(calibration.rows)
    return "\n".join(lines) + "\n"


def table(rows: Sequence[Row]) -> list[str]:
    """Returns the lines of the table of all cells, as Markdown."""
    cells = [[row.cell.name, *map(_cell, row.compared)] for row in rows]
    rule = "|" + " --- |" * len(HEADS)
    return [f"| {' | '.join(HEADS)} |", rule, *(f"| {' | '.join(row)} |" for row in cells)]


def write_page(
    calibration: Calibration, pictures: Sequence[Picture], command: Sequence[str], path: Path
) -> None:
    """Writes the page as HTML.

    Args:
        calibration: the results.
        pictures: pictures of the page.
        command: the arguments after `goodqueue` that the page was made with.
        path: file of the page.
    """
    named = disagreements(calibration.rows)
    items = "".join(f"<li>{escape(text)}</li>" for text in named)
    links = [
        play.link(play.settings(load(row.cell.settings(calibration.plan.path))), row.cell.name)
        for row in calibration.rows
    ]
    last = [play.HEAD] if any(links) else []
    rows = [
        [
            escape(row.cell.name),
            *(_html(_cell(one)) for one in row.compared),
            *([link] if last else []),
        ]
        for row, link in zip(calibration.rows, links, strict=True)
    ]
    agreement = counts(calibration.rows)
    judged = {name: count for name, count in agreement.items() if name != "not measured"}
    body = [
        *page.answer(
            f"{agreement['agrees']:,} of {sum(judged.values()):,}",
            "figures agree between simulation and this kernel",
            "",
            [page.Tile(name.capitalize(), f"{count:,}") for name, count in judged.items()],
        ),
        *(f"<p>{escape(text)}</p>" for text in introduction(calibration)),
        f"<p>{len(named)} figures differ:</p><ul>{items}</ul>" if named else "<p>None differs.</p>",
        *(page.figure(picture) for picture in pictures),
        page.table([*map(_html, HEADS), *last], rows),
    ]
    if last:
        body.append(play.hint(path))
    page.write(TITLE, TITLE, body, command, path)


def _html(text: str) -> str:
    """Returns a head or a cell as HTML, with a line for each of theory, simulation and kernel."""
    return escape(text).replace(" **differs**", " <b>differs</b>").replace("; ", ";<br>")


def _cell(one: Compared) -> str:
    """Returns a figure by theory, simulation and the kernel, and its judgement."""
    theory = "-" if one.theory is None else _shown(one.figure, one.theory)
    simulation = _with_interval(one.figure, one.simulation)
    kernel = "not measured" if one.kernel is None else _with_interval(one.figure, one.kernel)
    return f"{theory}; {simulation}; {kernel}{MARKS[one.judgement]}"


def _with_interval(figure: str, interval: Interval) -> str:
    return interval.text(lambda value: _shown(figure, value))


def _shown(figure: str, value: float) -> str:
    factor, decimals = SCALES[figure]
    return f"{factor * value:.{decimals}f}"
