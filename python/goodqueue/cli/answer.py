"""Printing the answer of `goodqueue size`: one table of rules, then the recommendation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.cli.terminal import (
    MISSING,
    milliseconds,
    number,
    packets,
    percent,
    rate,
    size_of,
    stdout,
    table,
)
from goodqueue.sizing.answer import buffer_dict
from goodqueue.sizing.export import checks, exports

if TYPE_CHECKING:
    from goodqueue.intervals import Interval
    from goodqueue.sizing.answer import Answer, RuleAnswer
    from goodqueue.sizing.link import Link
    from goodqueue.sizing.smallest import Smallest

FIGURE_NAMES = {
    "utilization": "utilisation",
    "loss_rate": "loss",
    "p99_delay_s": "queueing delay",
}
SHORT_NAMES = {"utilization": "use", "loss_rate": "loss", "p99_delay_s": "delay"}
"""The same for a narrow column."""


def print_answer(answer: Answer) -> None:
    """Prints link, rules, recommendation, what would change it, and lines to paste."""
    console = stdout()
    for line in describe(answer.link):
        console.print(line)
    console.print()
    console.print(rules_table(answer))
    for line in broken_lines(answer):
        console.print(line, soft_wrap=True)
    console.print()
    for line in recommendation(answer):
        console.print(line, soft_wrap=True)
    if answer.changes:
        console.print()
        console.print(changes_table(answer))
        console.print(alternatives_table(answer))
    if answer.buffer is not None:
        console.print()
        for line in export_lines(answer, answer.buffer):
            console.print(line, soft_wrap=True, markup=False)


def describe(link: Link) -> list[str]:
    """The link as it was understood."""
    rtts = f"{milliseconds(link.rtts_s[0])} ms"
    if len(link.rtts_s) > 1:
        rtts = (
            f"{milliseconds(min(link.rtts_s))} to {milliseconds(max(link.rtts_s))} ms in "
            f"{len(link.rtts_s)} steps (mean {milliseconds(link.mean_rtt_s)} ms, harmonic mean "
            f"{milliseconds(link.harmonic_rtt_s)} ms)"
        )
    share = "" if link.local_share == 1 else f", which have {percent(link.local_share)} of it"
    bounds = [f"utilisation at least {percent(link.min_utilization)}"]
    if link.max_loss_rate is not None:
        bounds.append(f"loss at most {percent(link.max_loss_rate)}")
    if link.max_delay_s is not None:
        bounds.append(f"p99 queueing delay at most {milliseconds(link.max_delay_s)} ms")
    return [
        (
            f"[bold]{rate(link.rate_bps)}[/], base round trip {rtts}, {link.flows} long "
            f"{link.congestion_control} {'flow' if link.flows == 1 else 'flows'}{share}, packets "
            f"of {link.packet_bytes} B"
        ),
        (
            f"1 BDP = rate x mean base round trip = {number(link.bdp_packets)} packets = "
            f"{size_of(link.bdp_packets * link.packet_bytes)}"
        ),
        f"asked for: {', '.join(bounds)}",
    ]


def rules_table(answer: Answer) -> object:
    """Every rule's buffer in every unit, whether it holds, and what happens there."""
    simulated = answer.found is not None
    columns = ["rule", "packets", "bytes", "ms", "BDP", "holds"]
    if simulated:
        columns += ["busy %", "loss %", "p99 wait ms", "Jain", "keeps"]
    rows = [_row(answer, one, simulated) for one in answer.rules]
    return table("What the rules say", columns, rows)


def _row(answer: Answer, one: RuleAnswer, simulated: bool) -> list[str]:
    limit = one.advice.whole_packets
    name = one.rule.name if one.rule.bound == "at least" else f"{one.rule.name} (most)"
    holds = "yes" if one.advice.holds else "no"
    if limit is None:
        return [name, MISSING, MISSING, MISSING, MISSING, holds, *([""] * 5 if simulated else [])]
    buffer = buffer_dict(answer.link, limit)
    row = [
        name,
        f"{limit:,}",
        size_of(buffer["bytes"]),
        milliseconds(buffer["seconds"]),
        number(buffer["bdp"], 3),
        holds,
    ]
    if not simulated:
        return row
    if not one.simulated:
        return [*row, "too long", "", "", "", ""]
    figures = one.simulated
    return [
        *row,
        _close(figures["utilization"], 100, 2),
        _close(figures["loss_rate"], 100, 2),
        _close(figures["p99_delay_s"], 1000, 1),
        f"{figures['jain'].mean:.2f}",
        _keeps(one.unmet),
    ]


def broken_lines(answer: Answer) -> list[str]:
    """Which assumptions fail here, a line for each rule that has some."""
    lines = [
        f"  [dim]{one.rule.name}[/]: {'; '.join(one.advice.broken)}"
        for one in answer.rules
        if one.advice.broken
    ]
    return ["assumptions that do not hold here:", *lines] if lines else []


def recommendation(answer: Answer) -> list[str]:
    """The recommendation in sentences."""
    link, found = answer.link, answer.found
    lines = [] if answer.why_theory_only is None else [answer.why_theory_only]
    if answer.buffer is None:
        return [*lines, *_infeasible(answer)]
    lines.append(f"[bold]recommended[/]: [bold]{_in_units(link, answer.buffer)}[/]")
    if found is None or answer.trials is None:
        lines.append("by theory alone: the assumptions of the rule hold, nothing was simulated")
        return lines
    lines.append(_achieved(answer, answer.buffer))
    lines.append(_confidence(found))
    if found.exceptions:
        smaller = ", ".join(f"{limit:,}" for limit in found.exceptions[:8])
        lines.append(
            f"not monotone: {smaller} packets keep the bounds too, but larger buffers do not; the "
            "smallest above all those that fail is the one to trust"
        )
    if answer.epochs is not None and answer.epochs < 20:
        lines.append(
            f"[yellow]short[/]: a replicate held only {answer.epochs:.1f} loss epochs per flow"
        )
    return lines


def _confidence(found: Smallest) -> str:
    upper = "not shown within the budget" if found.high is None else f"{found.high:,} suffice"
    lower = f"{found.low:,} do not" if found.low else "no smaller limit was shown to fail"
    return f"shown with 95 % confidence: {upper}, {lower}"


def _infeasible(answer: Answer) -> list[str]:
    link, found = answer.link, answer.found
    if found is None or answer.trials is None:
        return ["[bold]no recommendation[/]: no rule whose assumptions hold keeps all bounds"]
    if found.floor is None:
        top = answer.trials.limits[-1]
        missing = _names(found.broken)
        return [
            (
                f"[bold]no buffer serves[/]: even {packets(top)} do not keep {missing} "
                f"({_achieved(answer, top)}); give up {missing}, or have fewer flows or more rate"
            )
        ]
    lines = [
        (
            f"[bold]no buffer serves[/]: {_names(found.broken[:-1]) or 'the floor'} needs at least "
            f"{_in_units(link, found.floor)} ({_achieved(answer, found.floor)}), above the delay "
            "asked for"
        )
    ]
    if found.ceiling is None:
        lines.append("not even one packet keeps the delay: give up the delay")
    else:
        lines.append(
            f"the delay allows at most {packets(found.ceiling)} "
            f"({_achieved(answer, found.ceiling)}): give up one of the two, or try a queue "
            "discipline that holds the delay itself (fq_codel, pie)"
        )
    return lines


def _achieved(answer: Answer, limit: int) -> str:
    return (
        f"utilisation {_plus_minus(answer.interval(limit, 'utilization'), 100, 2)} %, loss "
        f"{_plus_minus(answer.interval(limit, 'loss_rate'), 100, 2)} %, p99 queueing delay "
        f"{_plus_minus(answer.interval(limit, 'p99_delay_s'), 1000, 1)} ms, fairness "
        f"{_plus_minus(answer.interval(limit, 'jain'), 1, 2)}"
    )


def changes_table(answer: Answer) -> object:
    """What another link would need."""
    rows = [
        [
            one.what,
            MISSING if one.packets is None else f"{one.packets:,}",
            MISSING if one.theory is None else f"{one.theory:,}",
        ]
        for one in answer.changes
    ]
    return table("What would change it", ["change", "packets, about", "by theory"], rows)


def alternatives_table(answer: Answer) -> object:
    """What other queue disciplines make of the link."""
    rows = [
        [
            one.queue,
            _close(one.figures["utilization"], 100, 2),
            _close(one.figures["loss_rate"], 100, 2),
            _close(one.figures["p99_delay_s"], 1000, 1),
            f"{one.figures['jain'].mean:.2f}",
            _keeps(one.unmet),
        ]
        for one in answer.alternatives
    ]
    columns = ["queue, with its defaults", "busy %", "loss %", "p99 wait ms", "Jain", "keeps"]
    return table("An AQM in place of the FIFO", columns, rows)


def _keeps(unmet: tuple[str, ...]) -> str:
    return "all" if not unmet else f"not {', '.join(SHORT_NAMES[name] for name in unmet)}"


def export_lines(answer: Answer, limit: int) -> list[str]:
    """Lines to paste, each with its arithmetic and its warning; and how to check tomorrow."""
    link = answer.link
    lines = []
    for one in exports(limit, link.packet_bytes, link.rate_bps):
        lines.append(f"{one.device}: {one.arithmetic}")
        lines.extend(f"    {line}" for line in one.lines)
        lines.append(f"    mind: {one.warning}")
    delay = None if answer.found is None else answer.interval(limit, "p99_delay_s").mean
    lines.append("to check it tomorrow:")
    lines.extend(f"    {line}" for line in checks(link.rate_bps, link.mean_rtt_s, delay))
    return lines


def _in_units(link: Link, limit: int) -> str:
    buffer = buffer_dict(link, limit)
    return (
        f"{packets(limit)} = {size_of(buffer['bytes'])} = {milliseconds(buffer['seconds'])} ms = "
        f"{number(buffer['bdp'], 3)} BDP"
    )


def _names(figures: tuple[str, ...]) -> str:
    return " and ".join(FIGURE_NAMES[name] for name in figures)


def _close(interval: Interval, scale: float, digits: int) -> str:
    """The same without spaces, for a table."""
    return _plus_minus(interval, scale, digits).replace(" ", "")


def _plus_minus(interval: Interval, scale: float, digits: int) -> str:
    mean, half = interval.mean * scale, interval.half_width * scale
    return f"{mean:.{digits}f} ± {half:.{digits}f}"
