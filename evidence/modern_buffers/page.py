"""Tables and picture of docs/modern-buffers.md, and the record of the rules for modern flows."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from evidence.core.pages import with_part
from evidence.modern_buffers import study, trial
from evidence.modern_buffers.versions import version_of
from evidence.rules_on_trial.fitting.record import wilson
from goodqueue.sizing.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evidence.modern_buffers.study import Mix, Place
    from goodqueue.core.intervals import Interval

PAGE = Path("docs/modern-buffers.md")
PICTURE = Path("docs/img/modern-buffers.svg")
RECORD = Path("python/goodqueue/sizing/calibrated/modern.json")

WANTED = 0.98
"""Utilisation that the buffers of the table keep."""


def write() -> None:
    """Writes the tables, the picture and the record."""
    from evidence.modern_buffers.picture import save

    judged = trial.judged()
    counts = {name: asdict(one) for name, one in trial.records(judged).items()}
    RECORD.write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")
    text = PAGE.read_text(encoding="utf-8")
    tables = (
        ("links", links_table(), study.documents()),
        ("rules", rules_table(judged), trial.documents()),
    )
    for name, table, documents in tables:
        note = f"Runs have results version {version_of(documents[0])}."
        text = with_part(text, name, f"{table}\n{note}\n")
    PAGE.write_text(text, encoding="utf-8")
    save(PICTURE)


def needed(place: Place, mix: Mix, *, shown: bool = False) -> float | None:
    """Returns the smallest buffer in BDPs that keeps the utilisation, as do all larger ones.

    The mean must keep it, or the lower end of the 95 % interval if `shown`. None if the largest
    buffer does not.
    """
    least = None
    for fraction in reversed(study.FRACTIONS):
        found = study.interval(place, mix, fraction, "utilization")
        if found is None or (found.low if shown else found.mean) < WANTED:
            break
        least = fraction
    return least


def links_table() -> str:
    """Returns the table of links, as Markdown."""
    lines = [
        (
            "| link | long flows | BDP, packets | C·T/√N, BDP | `window_variance`, BDP "
            "| needed, BDP | shown, BDP | needed, packets | seeds | utilisation | loss "
            "| 99th percentile of the delay | slowdown |"
        ),
        "| --- |" + " --- |" * 12,
    ]
    rule = next(one for one in RULES if one.name == "window_variance")
    for place in study.PLACES:
        for mix in study.MIXES:
            link = place.link(mix)
            variance = (rule.advise(link).packets or 0.0) / link.bdp_packets
            least = needed(place, mix)
            root = 1 / math.sqrt(place.flows)
            head = (
                f"| {place.name} | {mix.name} | {link.bdp_packets:,.0f} | {root:.2f} | "
                f"{variance:.2f} |"
            )
            if least is None:
                lines.append(f"{head} more than {study.FRACTIONS[-1]:g} | | | | | | | |")
                continue
            shown = needed(place, mix, shown=True)
            cells = [
                f"{least:g}",
                "-" if shown is None else f"{shown:g}",
                f"{place.packets(least):,}",
                str(study.seeds_of(place, mix, least)),
                _cell(study.interval(place, mix, least, "utilization"), 100, "%"),
                _cell(study.interval(place, mix, least, "loss_rate"), 100, "%"),
                _cell(study.interval(place, mix, least, "p99_queueing_delay_s"), 1000, "ms"),
                "-" if mix.alone else _cell(study.interval(place, mix, least, "slowdown"), 1, ""),
            ]
            lines.append(f"{head} {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(interval: Interval | None, factor: float, unit: str) -> str:
    assert interval is not None
    if math.isinf(interval.half_width):
        return f"{factor * interval.mean:.2f} {unit} (one run)"
    text = f"{factor * interval.mean:.2f} ± {factor * interval.half_width:.2f}"
    return f"{text} {unit}".strip()


def rules_table(judged: Sequence[tuple[str, str, bool, bool]]) -> str:
    """Returns the table of the rules on trial, as Markdown."""
    lines = [
        (
            "| rule | its assumptions held on | kept there | 95 % interval | kept on all links | "
            "by congestion control: kept of all |"
        ),
        "| --- | --- | --- | --- | --- | --- |",
    ]
    names = [*(rule.name for rule in trial.OWN_RULES), *trial.ALSO]
    for name in names:
        found = [one for one in judged if one[0] == name]
        held = [kept for _, _, holds, kept in found if holds]
        low, high = wilson(sum(held), len(held))
        kept = f"{_percent(sum(held), len(held))} | {100 * low:.0f} to {100 * high:.0f} %"
        of_all = _percent(sum(one[3] for one in found), len(found))
        lines.append(
            f"| `{name}` | {len(held)} | {kept if held else '- | -'} | {of_all} of {len(found)} | "
            f"{_by_control(found)} |"
        )
    return "\n".join(lines) + "\n"


def _by_control(found: Sequence[tuple[str, str, bool, bool]]) -> str:
    cells = []
    for control in trial.CONTROLS:
        of_control = [kept for _, one, _, kept in found if one == control]
        if of_control:
            cells.append(f"{control} {sum(of_control)}/{len(of_control)}")
    return ", ".join(cells)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / max(whole, 1):.0f} %"
