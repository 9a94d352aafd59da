"""Results, answers and studies in words, and as HTML for notebooks."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from functools import singledispatch
from html import escape
from typing import TYPE_CHECKING, Any

from goodqueue.core.metrics import DOZEN, main_first
from goodqueue.core.text import printable
from goodqueue.output.sizing.answer import plain_lines
from goodqueue.output.sizing.paragraph import paragraph
from goodqueue.output.terminal import quantity
from goodqueue.output.tuning.screen import sentences
from goodqueue.output.tuning.several import sentences as sentences_of_point
from goodqueue.runs.results.named import Figures
from goodqueue.runs.results.result import Result
from goodqueue.sizing.answer.answer import Answer
from goodqueue.study.results import Results
from goodqueue.study.sweep import Study
from goodqueue.tuning.answer import Tuned
from goodqueue.tuning.several.answer import TunedPoint

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goodqueue.study.model import StudyPlan

WIDTH = 88
"""Largest width of a text in columns."""

MAX_LINES = 6
"""Largest number of links, and of flows, in the text of a result."""

MAX_VALUES = 6
"""Largest number of values of an axis in a text."""

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


@words.register(Tuned)
def _(value: Tuned) -> str:
    return _as_sentences(sentences(value))


@words.register(TunedPoint)
def _(value: TunedPoint) -> str:
    return _as_sentences(sentences_of_point(value))


def _as_sentences(lines: Sequence[str]) -> str:
    return "\n".join(f"{line[:1].upper()}{line[1:]}" for line in plain_lines(lines))


@words.register(Figures)
def _(value: Figures) -> str:
    chosen = main_first(value)[:DOZEN]
    width = max(map(len, chosen), default=0)
    lines = [f"  {key:<{width}}  {_value(value[key])}" for key in chosen]
    more = len(value) - len(chosen)
    lines += [f"  and {more} more: list(figures)"] if more else []
    return "\n".join([f"{value.kind} {printable(value.name)}", *lines])


@words.register(Result)
def _(value: Result) -> str:
    summary = value.summary
    title = printable(summary["title"]) or "A run"
    by = f"by the {'hybrid' if summary['engine'] == 'hybrid' else 'packet'} engine"
    lines = [f"{title}: seed {summary['seed']}, {summary['measured_s']:g} s measured {by}"]
    for kind, place, columns in (("link", "links", LINK), ("flow", "flows", FLOW)):
        rows = list(summary[place].items())
        lines += [_line(kind, name, figures, columns) for name, figures in rows[:MAX_LINES]]
        if len(rows) > MAX_LINES:
            lines.append(f"  {len(rows) - MAX_LINES} more {place}: result.{place}")
    groups = summary.get("groups", {}).items()
    lines += [f"  group {printable(name)}: {one['flows']:,} flows" for name, one in groups]
    return "\n".join(lines)


@words.register(Results)
def _(value: Results) -> str:
    frame = value.wide()
    variants = len(frame.select(value.axes).unique()) if value.axes else int(len(value) > 0)
    failed = len(value.failures())
    first = f"Results: {_counted(len(value), 'run')} of {_counted(variants, 'variant')}"
    first += f" ({failed:,} failed)" if failed else ""
    first += f", {_counted(len(value.metrics), 'metric')}"
    axes = {axis: frame[axis].unique(maintain_order=True).to_list() for axis in value.axes}
    return "\n".join([first, *_axes(axes), f"  in {printable(str(value.folder))}"])


@words.register(Study)
def _(value: Study) -> str:
    plan = value.plan
    seeds = _counted(len(plan.seeds), "seed")
    runs = f"{len(plan.variants) * len(plan.seeds):,} runs"
    if plan.stop is not None:
        seeds, runs = f"at least {_counted(plan.stop.min_replicates, 'seed')}", "a rule stops them"
    size = f"  {_counted(len(plan.variants), 'variant')} x {seeds} = {runs}"
    return "\n".join([f"Study: {printable(plan.title)}", *_axes(_values(plan)), size])


def _values(plan: StudyPlan) -> dict[str, list[Any]]:
    """Returns the values of each axis, in the order of the grid."""
    points = [variant.parameters for variant in plan.variants]
    return {axis: list(dict.fromkeys(point[axis] for point in points)) for axis in plan.axes}


def _axes(values: dict[str, list[Any]]) -> list[str]:
    """Returns a line for each axis, with its values as far as there is space."""
    return [f"  {printable(axis)}: {_listed(found)}" for axis, found in values.items()]


def _listed(values: Sequence[Any]) -> str:
    texts = [printable(_value(value)) for value in values]
    if len(texts) <= MAX_VALUES:
        return ", ".join(texts)
    return f"{', '.join(texts[: MAX_VALUES - 2])}, ... {texts[-1]} ({len(texts):,} values)"


def _line(
    kind: str, name: str, figures: dict[str, Any], columns: dict[str, tuple[str, float]]
) -> str:
    """Returns the main figures of a link or a flow in one line, without counts of packets."""
    shown = [
        f"{heading.partition(',')[0]} {quantity(key, figures[key])}"
        for heading, (key, _) in columns.items()
        if figures.get(key) is not None and not key.endswith("_packets")
    ]
    return f"  {kind} {printable(name)}: {', '.join(shown) or 'no figures'}"


def _value(value: object) -> str:
    """Returns a figure as Python writes it, with six digits."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_value(one)}" for key, one in value.items())
    return str(value)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


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


@html.register(Figures)
def _(value: Figures) -> str:
    rows = ([key, _value(value[key])] for key in main_first(value))
    return _table([f"{value.kind} {value.name}", ""], rows)


@html.register(Tuned)
@html.register(TunedPoint)
def _(value: Tuned | TunedPoint) -> str:
    first, *others = (escape(line) for line in words(value).splitlines())
    return "".join([f"<p><b>{first}</b></p>", *(f"<p>{line}</p>" for line in others)])


@html.register(Study)
def _(value: Study) -> str:
    first, *_, last = (escape(line.strip()) for line in words(value).splitlines())
    rows = ([axis, _listed(found)] for axis, found in _values(value.plan).items())
    return f"<p><b>{first}</b></p>{_table(['axis', 'values'], rows)}<p>{last}</p>"


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
