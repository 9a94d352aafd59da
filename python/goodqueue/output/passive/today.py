"""Prints the comparison of a capture with its model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.output.terminal import (
    MISSING,
    counted,
    number,
    packets,
    percent,
    rate,
    say,
    stdout,
    table,
)
from goodqueue.passive.today import FIGURES, likely_reason

if TYPE_CHECKING:
    from goodqueue.passive.answer import CaptureAnswer
    from goodqueue.passive.today import Comparison, Today

TITLE = "Today's link, as measured and as simulated"
COLUMNS = ("today's link", "measured", "simulated", "95 % of runs", "agrees")
VERDICT = {True: "yes", False: "no", None: MISSING}


def print_today(today: Today) -> None:
    """Prints the comparison, the fitted properties, and the verdict."""
    important = ["measured", "simulated", "agrees"]
    stdout().print(table(TITLE, COLUMNS, today_rows(today), important))
    say(*fitted_lines(today), markup=True)


def today_rows(today: Today) -> list[list[str]]:
    """Returns each figure as measured, as simulated, and the range of single runs."""
    rows = [
        [words, *_cells(name, today.figures[name])]
        for name, words in FIGURES.items()
        if today.figures[name].measured is not None
    ]
    rows += [
        [f"goodput, limited by {kind.replace('_', ' ')}", *_cells("goodput_bps", one)]
        for kind, one in today.goodput_bps.items()
    ]
    return rows


def fitted_lines(today: Today) -> list[str]:
    """Returns the number of models tried, and the assumptions of the final one."""
    model, choices = today.model, today.model.choices
    limit = (
        "an active queue"
        if model.aqm
        else "a buffer that the capture does not show"
        if model.limit_packets is None
        else f"a buffer of {packets(model.limit_packets)}"
    )
    unknown = [one for one in model.local if one.control is None]
    control = f", {choices.unknown} for flows with unknown control" if unknown else ""
    counting = "" if choices.byte_counting else ", windows that grow by one step per ACK"
    lines = [
        (
            f"simulated: the flows of the first {number(model.window_s)} s behind {limit}, "
            f"TCP of the {choices.profile} profile{control}{counting}; "
            f"{counted(today.replicates, 'run')}"
        )
    ]
    if today.fitted:
        lines.append(f"fitted ({counted(today.tried, 'model')} tried): {'; '.join(today.fitted)}")
    return lines


def not_firm(answer: CaptureAnswer) -> list[str]:
    """Returns sentences on a model that does not reproduce the capture: reason, consequence."""
    today = answer.today
    if today is None or today.agrees:
        return []
    apart = [
        f"{FIGURES[name]} {_shown(name, one.measured)} measured, {_shown(name, one.mean)} simulated"
        for name in today.disagreeing
        for one in (today.figures[name],)
    ]
    return [
        (
            "[bold]no firm recommendation[/]: the model does not reproduce today's link "
            f"({'; '.join(apart)})"
        ),
        f"the likely reason: {likely_reason(today)}",
        "by the model alone:",
    ]


def carried_range(answer: CaptureAnswer) -> list[str]:
    """Returns the range of buffers that follows from the model's error."""
    found = answer.carried
    if found is None or answer.today is None or found.low == found.high:
        return []
    ratio = number(answer.today.loss_ratio, 3)
    high = "no buffer that was run" if found.high is None else packets(found.high)
    return [
        (
            f"with the model's error for today's link (loss {ratio} times the simulated "
            f"one): from {packets(found.low)} to {high}"
        )
    ]


def _cells(name: str, one: Comparison) -> list[str]:
    return [
        _shown(name, one.measured),
        _shown(name, one.mean),
        f"{_shown(name, one.low)} to {_shown(name, one.high)}",
        VERDICT[one.agrees],
    ]


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return MISSING
    if name in {"utilization", "loss_rate"}:
        return percent(value)
    if name == "goodput_bps":
        return rate(value)
    return f"{number(1e3 * value)} ms" if name.endswith("_s") else number(value, 3)
