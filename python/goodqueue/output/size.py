"""The answer of `goodqueue size` as a page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from goodqueue.output import page
from goodqueue.sizing.answer.parts import buffer_dict
from goodqueue.sizing.export import checks

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goodqueue.core.intervals import Interval
    from goodqueue.plots.style import Picture
    from goodqueue.sizing.answer.answer import Answer
    from goodqueue.sizing.answer.parts import RuleAnswer

    Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]
    """A title, names of columns, and rows."""

MISSING = "-"


def write(  # noqa: PLR0913, PLR0917 - all that a page shows
    answer: Answer,
    sentences: Sequence[str],
    pictures: Sequence[Picture],
    path: Path,
    command: Sequence[str],
    tables: Sequence[Table] = (),
) -> None:
    """Writes the page, whole or not at all.

    Args:
        answer: the answer.
        sentences: link and recommendation in words, without markup: the question first.
        pictures: pictures, each with its caption.
        path: the page.
        command: arguments that gave the answer, after `goodqueue`.
        tables: tables before the pictures.
    """
    question, verdict = sentences[0], sentences[1:]
    body = [
        f"<p>{escape(question)}</p>",
        *(f'<p class="answer">{escape(line)}</p>' for line in verdict),
        *(line for table in tables for line in _plain(table)),
        *map(page.figure, pictures),
        *_rules(answer),
        *_exports(answer),
    ]
    title = f"How much buffer? {question}"
    page.write(title, "How much buffer does this link need?", body, command, path)


def _plain(table: Table) -> list[str]:
    """Returns a table as plain text under its title."""
    title, columns, rows = table
    cells = [list(map(escape, row)) for row in rows]
    return [f"<h2>{escape(title)}</h2>", page.table(list(map(escape, columns)), cells)]


def _rules(answer: Answer) -> list[str]:
    if not answer.by_rule:
        return []
    return [
        "<h2>Answers of the rules</h2>",
        _table(answer),
        "<h2>Assumptions that do not hold here</h2>",
        _assumptions(answer),
    ]


def _table(answer: Answer) -> str:
    columns = ["rule", "packets", "bytes", "ms", "BDP", "assumptions hold"]
    columns += ["utilisation", "loss", "p99 delay", "fairness", "keeps the bounds"]
    return page.table(columns, (_row(answer, one) for one in answer.by_rule))


def _row(answer: Answer, one: RuleAnswer) -> list[str]:
    packets = one.advice.whole_packets
    cells = [f"{one.rule.title}"]
    if packets is None:
        cells += [MISSING] * 4
    else:
        buffer = buffer_dict(answer.link, packets)
        cells += [
            f"{packets:,}",
            f"{buffer['bytes']:,}",
            f"{1e3 * buffer['seconds']:.4g}",
            MISSING if buffer["bdp"] is None else f"{buffer['bdp']:.3g}",
        ]
    cells.append("yes" if one.holds else "no")
    if one.simulated:
        figures = one.simulated
        cells += [
            _interval(figures["utilization"], 100, " %"),
            _interval(figures["loss_rate"], 100, " %"),
            _interval(figures["p99_delay_s"], 1000, " ms"),
            f"{figures['jain'].mean:.2f}" if "jain" in figures else MISSING,
        ]
    else:
        cells += [MISSING] * 4
    cells.append({True: "yes", False: "no", None: MISSING}[one.keeps_bounds])
    return list(map(escape, cells))


def _interval(interval: Interval, scale: float, unit: str) -> str:
    text = interval.text(lambda end: f"{scale * end:.4g}", lambda half: f"{scale * half:.2g}")
    return f"{text}{unit}"


def _assumptions(answer: Answer) -> str:
    items = [
        f"<li>{escape(one.rule.title)}: {escape('; '.join(one.advice.broken))}. "
        f"<small>{escape(one.rule.source)}</small></li>"
        for one in answer.by_rule
        if one.advice.broken
    ]
    return f"<ul>{''.join(items)}</ul>" if items else "<p>None.</p>"


def _exports(answer: Answer) -> list[str]:
    if answer.buffer is None:
        return []
    link = answer.link
    parts = ["<h2>Configuration</h2>"]
    for one in answer.exports:
        lines = escape("\n".join(one.lines))
        parts.append(
            f"<h3>{escape(one.device)}</h3><p>{escape(one.arithmetic)}</p><pre>{lines}</pre>"
            f"<p>Mind: {escape(one.warning)}</p>"
        )
    delay = None if answer.trials is None else answer.interval(answer.buffer, "p99_delay_s").mean
    items = checks(link.rate_bps, link.mean_rtt_s, delay)
    parts.append("<h2>How to check it</h2><ul>")
    parts += [f"<li>{escape(item)}</li>" for item in items]
    return [*parts, "</ul>"]
