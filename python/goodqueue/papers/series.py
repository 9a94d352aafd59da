"""What a table's runs do over time, as pictures: the first run of every row again, recorded."""

from __future__ import annotations

import textwrap
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from goodqueue.gallery.runs import backlog, round_trips
from goodqueue.parallel import available_processors
from goodqueue.plots.gallery import Line, Panel, stacked
from goodqueue.plots.papers import TITLE_COLUMNS
from goodqueue.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodqueue._core import Scenario
    from goodqueue.plots.style import Picture


def over_time(
    name: str, title: str, entry: Mapping[str, Any], rows: Mapping[str, Scenario]
) -> Picture:
    """A panel for each row: round-trip times of a flow, or what waits at a link.

    Args:
        name: file name without its ending.
        title: above the first panel.
        entry: from the data: `flow` or `link`, and `until`, how many seconds are shown.
        rows: a scenario for each row, by its label.
    """
    with ThreadPoolExecutor(available_processors()) as pool:
        results = list(pool.map(_record, rows.values()))
    return stacked(
        name,
        title=textwrap.fill(title, TITLE_COLUMNS),
        caption=_caption(entry),
        xlabel="time, s",
        panels=[
            Panel(label, [_line(result, entry)])
            for label, result in zip(rows, results, strict=True)
        ],
        until=entry["until"],
    )


def _record(scenario: Scenario) -> Result:
    return Result(scenario.run(series=True, packets=False), "")


def _line(result: Result, entry: Mapping[str, Any]) -> Line:
    if "flow" in entry:
        return round_trips(result, entry["flow"], "", entry["until"])
    line = backlog(result, entry["link"], "")
    shown = [place for place, time in enumerate(line.x) if time <= entry["until"]]
    return Line("", line.x[: len(shown)], line.y[: len(shown)], form="steps")


def _caption(entry: Mapping[str, Any]) -> str:
    what = (
        f"Round-trip times of {entry['flow']} in ms"
        if "flow" in entry
        else f"Packets waiting at {entry['link']}"
    )
    return f"{what}, over the first {entry['until']:g} s, a panel for each row of the table."


def labels(rows: Sequence[Mapping[str, str]], keys: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The rows by their keys, with units."""
    return [
        ", ".join(f"{row[key]} {entry.get('unit', '')}".strip() for key, entry in keys.items())
        for row in rows
    ]
