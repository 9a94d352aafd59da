"""Pictures over time of a table's runs: the first run of every row is repeated and recorded."""

from __future__ import annotations

import textwrap
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from goodqueue.core.parallel import available_processors
from goodqueue.papers.pictures import TITLE_COLUMNS
from goodqueue.plots.over_time import backlog, round_trips
from goodqueue.plots.panels import Line, Panel, stacked
from goodqueue.runs.results.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodqueue._core import Scenario
    from goodqueue.plots.style import Picture


def over_time(
    name: str, title: str, entry: Mapping[str, Any], rows: Mapping[str, Scenario]
) -> Picture:
    """Draws a panel for each row: the round-trip times of a flow, or the backlog of a link.

    Args:
        name: file name without its ending.
        title: title above the first panel.
        entry: entry of the data: `flow` or `link`, and `until`, the length shown in seconds.
        rows: a scenario for each row, by the row's label.
    """
    with ThreadPoolExecutor(available_processors()) as pool:
        results = list(pool.map(_record, rows.values()))
    return stacked(
        name,
        title=textwrap.fill(title, TITLE_COLUMNS),
        caption=_caption(entry),
        xlabel="time, s",
        panels=[
            Panel(f"{_quantity(entry)}\n{label}", [_line(result, entry)])
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


def _quantity(entry: Mapping[str, Any]) -> str:
    """Returns the label of the y axis, with its unit."""
    return "RTT, ms" if "flow" in entry else "waiting, packets"


def _caption(entry: Mapping[str, Any]) -> str:
    what = (
        f"Round-trip times of {entry['flow']}"
        if "flow" in entry
        else f"Packets that wait at {entry['link']}"
    )
    return f"{what}, over the first {entry['until']:g} s, a panel for each row of the table."


def labels(rows: Sequence[Mapping[str, str]], keys: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Returns a label for each row: its keys and their values, with units."""
    return [
        ", ".join(
            f"{entry['label']}: {row[key]} {entry.get('unit', '')}".strip()
            for key, entry in keys.items()
        )
        for row in rows
    ]
