"""The answer of `goodqueue size` as a page: first the result, then the simulations behind it."""

from __future__ import annotations

import shlex
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from goodqueue.output import page, play
from goodqueue.output.sizing.answer import (
    METHOD,
    alternatives_table,
    changes_table,
    hangs_on,
    plain_lines,
    rules_table,
)
from goodqueue.output.sizing.theory import DELAY, in_units
from goodqueue.output.sizing.verdict import achieved, first_line
from goodqueue.output.terminal import number, packets
from goodqueue.sizing.controls import DECREASE
from goodqueue.sizing.export import checks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from goodqueue.output.terminal import Figures
    from goodqueue.plots.style import Picture
    from goodqueue.sizing.answer.answer import Answer
    from goodqueue.sizing.rules import Advice

    Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]
    """A title, names of columns, and rows."""

LAB_CONTROLS = {*DECREASE, "bbr"}
"""Congestion controls of links that the lab can show."""

FIRST_CURVE_INCHES = 5.4
"""Height of the curve that leaves room for the answer above it on a printed page."""


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
        pictures: pictures, each with its caption; the first is the curve.
        path: the page.
        command: arguments that gave the answer, after `goodqueue`.
        tables: tables before the rules.
    """
    question, verdict = sentences[0], sentences[1:]
    body = [
        '<section class="first">',
        f'<p class="question">{escape(question)}</p>',
        *_answer(answer, verdict),
        *(page.figure(replace(one, height_inches=FIRST_CURVE_INCHES)) for one in pictures[:1]),
        "</section>",
        *(line for table in tables for line in _plain(*table)),
        *_rules(answer),
        *_made("Alternatives", alternatives_table(answer)),
        *map(page.figure, pictures[1:]),
        *_made("What would change it", changes_table(answer)),
        *(f"<p>{escape(line)}.</p>" for line in plain_lines(hangs_on(answer))),
        *_exports(answer),
        *_obtained(answer),
    ]
    title = f"How much buffer? {question}"
    page.write(title, "How much buffer does this link need?", body, command, path)


def _answer(answer: Answer, verdict: Sequence[str]) -> Iterator[str]:
    """Yields the recommended buffer, its benefit and its figures; or a verdict without a buffer."""
    limit = answer.buffer
    if limit is None:
        lines = [f"{line[:1].upper()}{line[1:]}." for line in verdict]
        head = ("No buffer", "keeps all bounds")
        if answer.why_impossible is None:
            head = (packets(answer.number), "is an estimate or a near miss")
        yield from page.answer(*head, lines[0])
        yield from (f"<p>{escape(line)}</p>" for line in lines[1:])
        return
    units = in_units(answer.link, limit)
    [said] = plain_lines([first_line(answer)])
    count, rest = packets(limit), units.removeprefix(packets(limit))
    left_out = {said}
    if answer.trials is None:
        yield from page.answer(count, rest.strip(), "")
    else:
        yield from page.answer(
            count, rest.strip(), _buys(answer, limit), list(_tiles(answer, limit))
        )
        left_out.add(f"expected: {achieved(answer, limit)}")
    rest_of_it = [line for line in verdict if line not in left_out]
    if said.partition(":")[0] != "recommended":
        rest_of_it.insert(0, said)
    yield f"<p>{' '.join(escape(f'{line[:1].upper()}{line[1:]}.') for line in rest_of_it)}</p>"


def _buys(answer: Answer, limit: int) -> str:
    """Returns one sentence on the benefit and the cost of a buffer."""
    figures = answer.figures(limit)
    delay, loss = figures[DELAY].mean, figures["loss_rate"].mean
    busy = 100 * figures["utilization"].mean
    lost = "no packet is lost" if loss == 0 else f"{100 * loss:.3g} % of the packets are lost"
    return (
        f"This buffer keeps the link busy for {busy:.3g} % of the time. Of 100 packets 99 wait "
        f"less than {1000 * delay:,.3g} ms, and {lost}."
    )


def _tiles(answer: Answer, limit: int) -> Iterator[page.Tile]:
    """Yields utilisation, loss and delay, each with its interval and its bound."""
    link, figures = answer.link, answer.figures(limit)
    least = link.min_utilization if link.bounds_utilization else None
    most_loss, most_delay = link.max_loss_rate, link.max_delay_s
    tiles = (
        ("Utilisation", "utilization", 100, "%", least, "at least"),
        ("Loss", "loss_rate", 100, "%", most_loss, "at most"),
        ("Queueing delay, 99th percentile", DELAY, 1000, "ms", most_delay, "at most"),
    )
    for name, figure, scale, unit, bound, side in tiles:
        interval = figures[figure]
        half, digits = interval.half_width * scale, 2 if unit == "%" else 1
        spread = f"± {half:.{digits}f} {unit}" if half < 1e9 else "no interval: few runs"
        asked, kind = "no bound", "soft"
        if bound is not None:
            is_kept = interval.mean >= bound if side == "at least" else interval.mean <= bound
            kind = "kept" if is_kept else "broken"
            asked = f"{side} {number(bound * scale)} {unit}: {kind}"
        value = f"{interval.mean * scale:,.{digits}f} {unit}"
        yield page.Tile(name, value, (spread, asked), kind)


def _made(title: str, made: Figures | None) -> list[str]:
    return [] if made is None else _plain(title, made.columns, made.rows)


def _plain(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns a table as plain text under its title."""
    cells = [list(map(escape, plain_lines(row))) for row in rows]
    return [f"<h2>{escape(title)}</h2>", page.table(list(map(escape, columns)), cells)]


def _rules(answer: Answer) -> list[str]:
    if not answer.by_rule:
        return []
    made = rules_table(answer)
    titled = zip(answer.by_rule, made.rows, strict=True)
    rows = [[one.rule.title, *cells[1:]] for one, cells in titled]
    return [
        *_plain(made.title, made.columns, rows),
        "<h3>Assumptions that do not hold here</h3>",
        _sentences(answer, lambda advice: advice.broken),
        "<h3>What the rules say beside the buffer</h3>",
        _sentences(answer, lambda advice: advice.notes),
    ]


def _sentences(answer: Answer, of: Callable[[Advice], Sequence[str]]) -> str:
    """Returns a list of the rules that have such sentences."""
    items = [
        f"<li>{escape(one.rule.title)}: {escape('; '.join(of(one.advice)))}. "
        f"<small>{escape(one.rule.source)}</small></li>"
        for one in answer.by_rule
        if of(one.advice)
    ]
    return f"<ul>{''.join(items)}</ul>" if items else "<p>None.</p>"


def _exports(answer: Answer) -> list[str]:
    if answer.buffer is None:
        return []
    link = answer.link
    parts = ["<h2>Lines for devices</h2>"]
    for one in answer.exports:
        lines = escape("\n".join(one.lines))
        parts.append(
            f"<h3>{escape(one.device)}</h3><p>{escape(one.arithmetic)}</p><pre>{lines}</pre>"
            f"<p>Mind: {escape(one.warning)}</p>"
        )
        if one.unlike is not None:
            parts.append(f"<p>Mind: {escape(one.unlike)}.</p>")
    delay = None if answer.trials is None else answer.interval(answer.buffer, DELAY).mean
    items = checks(link.rate_bps, link.mean_rtt_s, delay)
    parts.append("<h3>How to check it</h3><ul>")
    parts += [f"<li>{escape(item)}</li>" for item in items]
    return [*parts, "</ul>"]


def _obtained(answer: Answer) -> list[str]:
    """Returns how the figures were obtained, and the address of the same link in the lab."""
    parts = ["<h2>How it was obtained</h2>"]
    if answer.trials is not None:
        parts.append(f"<p>{escape(METHOD)}</p>")
    if place := lab_place(answer):
        parts.append(
            "<p>This command opens the same link with sliders, and shows what other buffers do:</p>"
            f"<pre>{escape(shlex.join(['goodqueue', 'lab', '--settings', place]))}</pre>"
            f"<p>{play.link(place, 'this link')}</p>"
        )
    return parts


def lab_place(answer: Answer) -> str | None:
    """Returns the settings of the lab for a described link, or None."""
    link = answer.link
    if link.profile is None or not link.rtts_s or not link.flows:
        return None
    if link.controls or link.congestion_control not in LAB_CONTROLS:
        return None
    low, high = (f"{1000 * one:.6g}ms" for one in (min(link.rtts_s), max(link.rtts_s)))
    asked = {
        "rate": f"{link.rate_bps:.0f}bps",
        "rtt": low if low == high else f"{low}..{high}",
        "flows": link.flows,
        "control": link.control_words,
        "profile": link.profile,
    }
    if answer.buffer is not None:
        asked["buffer"] = f"{answer.buffer}p"
    return urlencode(asked)
