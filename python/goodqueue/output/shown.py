"""Results, answers and studies in words, and as HTML for notebooks."""

from __future__ import annotations

import textwrap
from functools import singledispatch
from html import escape
from typing import TYPE_CHECKING, Any

from goodqueue.output.sizing.paragraph import paragraph
from goodqueue.runs.results.result import Result
from goodqueue.sizing.answer.answer import Answer
from goodqueue.study.results import Results

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WIDTH = 88
"""Largest width of a text in columns."""

MAX_FLOWS = 20
"""Largest number of flows in a table."""

LINK = {
    "rate, Mb/s": ("rate_bps", 1e-6),
    "utilisation, %": ("utilization", 100.0),
    "loss, %": ("loss_rate", 100.0),
    "mean backlog, packets": ("mean_backlog_packets", 1.0),
    "p99 queueing delay, ms": ("p99_queueing_delay_s", 1e3),
}
FLOW = {
    "goodput, Mb/s": ("goodput_bps", 1e-6),
    "mean RTT, ms": ("mean_rtt_s", 1e3),
    "p99 RTT, ms": ("p99_rtt_s", 1e3),
}
"""Heading, key of the summary, and factor of each column."""


@singledispatch
def words(value: object) -> str:
    """Returns a value in words."""
    return object.__repr__(value)


@words.register(Answer)
def _(value: Answer) -> str:
    return textwrap.fill(paragraph(value), WIDTH, break_on_hyphens=False)


@singledispatch
def html(value: object) -> str:
    """Returns a value as HTML."""
    return f"<pre>{escape(repr(value))}</pre>"


@html.register(Result)
def _(value: Result) -> str:
    summary = value.summary
    flows = list(summary["flows"].items())
    more = len(flows) - MAX_FLOWS
    facts = f"seed {summary['seed']}, {summary['measured_s']:g} s measured"
    parts = [
        f"<p><b>{escape(summary['title'])}</b>, {facts}</p>",
        _figures("link", LINK, summary["links"].items()),
        _figures("flow", FLOW, flows[:MAX_FLOWS]),
    ]
    if more > 0:
        parts.append(f"<p>{more} more flows: <code>result.flows</code></p>")
    return "".join(parts)


@html.register(Answer)
def _(value: Answer) -> str:
    answer, dot, rest = escape(paragraph(value)).partition(". ")
    rules = ((one.rule.name, one.advice.whole_packets) for one in value.by_rule)
    cells = ([name, "" if packets is None else f"{packets:,}"] for name, packets in rules)
    return f"<p><b>{answer}{dot}</b>{rest}</p>" + _table(["rule", "packets"], cells)


@html.register(Results)
def _(value: Results) -> str:
    varied = ", ".join(map(escape, value.axes)) or "nothing"
    sentence = f"<b>{len(value):,} runs</b>, {len(value.metrics)} metrics; varied: {varied}"
    return f"<p>{sentence}</p>{value.wide().head(10)._repr_html_()}"


def _figures(
    kind: str, columns: dict[str, tuple[str, float]], rows: Iterable[tuple[str, dict[str, Any]]]
) -> str:
    found = list(rows)
    shown = {
        heading: column
        for heading, column in columns.items()
        if any(figures.get(column[0]) is not None for _, figures in found)
    }
    cells = (
        [name, *(_number(figures.get(key), factor) for key, factor in shown.values())]
        for name, figures in found
    )
    return _table([kind, *shown], cells)


def _number(value: float | None, factor: float) -> str:
    return "" if value is None else f"{value * factor:.4g}"


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def row(tag: str, cells: Sequence[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(row("td", cells) for cells in rows)
    return f"<table><thead>{row('th', headings)}</thead><tbody>{body}</tbody></table>"
