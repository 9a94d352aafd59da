"""Prints the answer of `goodqueue size`: a table of rules, then the recommendation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from goodqueue.output.sizing.screen import (
    guard,
    interrupted,
    left_out,
    over_hosts,
    page,
    screen,
)
from goodqueue.output.sizing.theory import (
    DELAY,
    SHORT_NAMES,
    names_of,
)
from goodqueue.output.sizing.verdict import digits, plus_minus, verdict
from goodqueue.output.terminal import (
    MISSING,
    counted,
    milliseconds,
    number,
    packets,
    percent,
    plain,
    rate,
    say,
    size_of,
    stdout,
    table,
)
from goodqueue.passive.answer import CaptureAnswer
from goodqueue.sizing.answer.parts import buffer_dict
from goodqueue.sizing.calibrated.record import record_is_older
from goodqueue.sizing.export import checks
from goodqueue.sizing.link import USUAL_SYNCHRONIZATION
from goodqueue.sizing.trials.described import TCP_CHANGES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.core.intervals import Interval
    from goodqueue.output.terminal import Figures
    from goodqueue.sizing.answer.answer import Answer
    from goodqueue.sizing.answer.parts import RuleAnswer
    from goodqueue.sizing.answer.world import World
    from goodqueue.sizing.link import Link


def print_recommendation(answer: Answer) -> None:
    """Prints the link and the recommendation, which are known before the rest."""
    say(*describe(answer), "", markup=True)
    if isinstance(answer, CaptureAnswer) and answer.today is not None:
        from goodqueue.output.passive.today import print_today

        print_today(answer.today)
        say("")
    say(*verdict(answer), markup=True)


def print_rest(answer: Answer, syntax: str, *, explain: bool) -> None:
    """Prints what follows the recommendation: the rest of the first screen, or all tables.

    Args:
        answer: the answer.
        syntax: key of `SYNTAXES`, whose lines are printed for a device.
        explain: True to print every table.
    """
    if not explain:
        say(*screen(answer, syntax), markup=True)
        return
    console = stdout()
    if answer.interrupted:
        say(interrupted(answer), markup=True)
    if answer.left_out:
        say(left_out(answer), markup=True)
    say(*guard(answer), *page(answer), markup=True)
    if answer.world is not None:
        say(*over_hosts(answer.world), markup=True)
        say("", *world_lines(answer.world))
    _print_rules(answer)
    tables = [curve_table(answer), alternatives_table(answer), changes_table(answer)]
    for made in tables:
        if made is not None:
            console.print()
            console.print(made)
    say(*not_run_lines(answer), *hangs_on(answer), markup=True)
    if tables[0] is not None:
        console.print()
        console.print(METHOD)
    if answer.buffer is not None:
        say("", *export_lines(answer, answer.buffer))


def world_lines(world: World) -> list[str]:
    """Returns the answer for each property of the hosts that was changed."""
    return [
        f"  {what}: {'none found' if one is None else packets(one)}"
        for what, one in world.buffers.items()
    ]


def _print_rules(answer: Answer) -> None:
    if answer.by_rule:
        say("")
        stdout().print(rules_table(answer))
        say(*broken_lines(answer), *note_lines(answer), *record_lines(answer), markup=True)


def plain_lines(lines: Sequence[str]) -> list[str]:
    """Returns lines without their markup."""
    return [Text.from_markup(line).plain for line in lines]


def describe(answer: Answer) -> list[str]:
    """Returns the description of the link with all defaults."""
    link = answer.link
    framed = f" in frames of {link.frame_bytes} B" if link.framing_bytes else ""
    lines = [f"[bold]{rate(link.rate_bps)}[/], {_traffic(link)}, packets of {link.packet_bytes} B"]
    lines[0] += framed
    if link.bdp_packets:
        lines.append(
            f"1 BDP = rate x mean base round trip = {number(link.bdp_packets)} packets = "
            f"{size_of(link.bdp_packets * link.frame_bytes)}"
        )
    if known := _known(link):
        lines.append(f"also known: {', '.join(known)}")
    bounds = []
    if link.bounds_utilization:
        bounds.append(f"utilisation at least {percent(link.min_utilization)}")
    if link.max_loss_rate is not None:
        of = "drops of the full queue" if link.for_bursts else "loss"
        bounds.append(f"{of} at most {percent(link.max_loss_rate)}")
    if link.max_delay_s is not None:
        bounds.append(f"p99 queueing delay at most {milliseconds(link.max_delay_s)} ms")
    return [*lines, f"bounds: {', '.join(bounds)}", *map(plain, answer.notes)]


def _known(link: Link) -> list[str]:
    """Returns the measured properties, which a description may omit."""
    said = {
        "senders pace": link.paced,
        f"access links of {rate(link.access_rate_bps)}": link.access_rate_bps is not None,
        f"inputs of {rate(link.input_rate_bps)} in total": link.input_rate_bps is not None,
        f"windows of at most {number(link.max_window_packets)} packets": link.max_window_packets
        is not None,
        f"loss bursts of {counted(link.synchronization, 'packet')} per flow": link.flows
        and link.synchronization != USUAL_SYNCHRONIZATION,
    }
    return [words for words, is_said in said.items() if is_said]


def _traffic(link: Link) -> str:
    """Returns round trips and flows."""
    parts = []
    if len(link.rtts_s) == 1:
        parts.append(f"base round trip {milliseconds(link.rtts_s[0])} ms")
    elif link.rtts_s:
        parts.append(
            f"base round trip {milliseconds(min(link.rtts_s))} to {milliseconds(max(link.rtts_s))} "
            f"ms in {len(set(link.rtts_s))} steps (mean {milliseconds(link.mean_rtt_s)} ms, "
            f"harmonic mean {milliseconds(link.harmonic_rtt_s)} ms)"
        )
    if link.flows:
        share = "" if link.local_share == 1 else f", which have {percent(link.local_share)} of it"
        flows = "flow" if link.flows == 1 else "flows"
        parts.append(f"{link.flows} long {link.control_words} {flows}{_stack(link)}{share}")
    return ", ".join(parts) or "no round trip"


def _stack(link: Link) -> str:
    """Returns further properties of the hosts' TCP."""
    if link.profile is None:  # a scenario file sets the TCP of its flows
        return " (windows grow by bytes ACKed)" if link.byte_counting else ""
    counting = "" if link.byte_counting else ", growth per ACK"
    return f" ({link.profile} profile{counting})"


def rules_table(answer: Answer) -> Figures:
    """Returns a table of every rule's buffer, its validity, and the figures with this buffer."""
    simulated = any(one.simulated for one in answer.by_rule)
    columns = ["rule", "packets", "bytes", "ms", "BDP", "assumptions hold"]
    if simulated:
        columns += ["busy %", "loss %", "p99 wait ms", "Jain"]
    columns.append("keeps bounds")
    rows = [_row(answer, one, simulated) for one in answer.by_rule]
    important = ["packets", "assumptions hold", "keeps bounds", "busy %", "loss %", "p99 wait ms"]
    return table("Answers of the rules", columns, rows, important)


def _row(answer: Answer, one: RuleAnswer, simulated: bool) -> list[str]:
    limit = one.advice.whole_packets
    name = one.rule.name if one.rule.bound == "at least" else f"{one.rule.name} (most)"
    holds = "yes" if one.holds else "doubtful" if one.advice.holds else "no"
    if limit is None:
        blank = [""] * 4 if simulated else []
        return [name, MISSING, MISSING, MISSING, MISSING, holds, *blank, MISSING]
    row = [name, *_buffer_cells(answer.link, limit), holds]
    if not simulated:
        return [*row, _verdict(one)]
    if not one.simulated:
        return [*row, "not run", "", "", "", _verdict(one)]
    return [*row, *_figure_cells(one.simulated), _verdict(one)]


def _verdict(one: RuleAnswer) -> str:
    """Returns the bounds that a rule's buffer keeps, or the probability if that is not certain."""
    if one.keeps_bounds is None:
        return MISSING if one.chance is None else f"{100 * one.chance:.0f} % likely"
    return _keeps(one.unmet)


def broken_lines(answer: Answer) -> list[str]:
    """Returns one line per rule with broken assumptions or doubts."""
    lines = [
        f"  [dim]{one.rule.name}[/]: {'; '.join(one.advice.broken)}"
        for one in answer.by_rule
        if one.advice.broken
    ]
    doubts = [
        f"  [dim]{one.rule.name}[/]: its assumptions hold, yet calibrated theory gives "
        f"{names_of(one.doubted)} a chance of "
        f"{100 * min(one.chances[f] for f in one.doubted):.0f} %"
        for one in answer.by_rule
        if one.advice.holds and one.doubted
    ]
    found = ["assumptions that do not hold here:", *lines] if lines else []
    return [*found, *(["doubtful here:", *doubts] if doubts else [])]


def note_lines(answer: Answer) -> list[str]:
    """Returns one line per rule that says more than a buffer, such as the bound that decides."""
    lines = [
        f"  [dim]{one.rule.name}[/]: {'; '.join(one.advice.notes)}"
        for one in answer.by_rule
        if one.advice.notes
    ]
    return ["what the rules say beside the buffer:", *lines] if lines else []


def record_lines(answer: Answer) -> list[str]:
    """Returns one line per rule with its record in simulations."""
    lines = [
        f"  [dim]{one.rule.name}[/]: {one.record.words(older=record_is_older(one.rule.name))}"
        for one in answer.by_rule
        if one.record is not None and one.record.run
    ]
    return ["measured record of the rules (docs/rules-on-trial.md):", *lines] if lines else []


def curve_table(answer: Answer) -> object | None:
    """Returns a table of the limits that were run; few of those far from the answer."""
    if not answer.limits:
        return None
    rows = [
        [
            *_buffer_cells(answer.link, limit)[:3],
            f"{answer.runs(limit)}",
            *_figure_cells(answer.figures(limit)),
            "<- recommended" if limit == answer.buffer else "",
        ]
        for limit in _shown(answer)
    ]
    columns = ["packets", "bytes", "ms", "runs", "busy %", "loss %", "p99 wait ms", "Jain", ""]
    important = ["", "packets", "busy %", "loss %", "p99 wait ms"]
    return table("Benefit and cost of a buffer", columns, rows, important)


METHOD = (
    "± is the 95 % interval of the mean over the runs, each with its own seed; it is "
    "infinite with fewer than 7 different runs. A limit counts waiting packets, without "
    "the one in transmission."
)


def _shown(answer: Answer) -> list[int]:
    """Returns the limits of the coarse grid and those around the answer."""
    limits, found = answer.limits, answer.found
    if found is None or len(limits) <= MAX_SHOWN:
        return limits
    around = found.limit or found.floor or found.reached
    at = limits.index(around)
    near = set(limits[max(at - 4, 0) : at + 5])
    far = limits[:: len(limits) // (MAX_SHOWN - 9) + 1]
    return sorted(near | set(far))


MAX_SHOWN = 24


def changes_table(answer: Answer) -> Figures | None:
    """Returns a table of the buffers that changed links would need."""
    rows = [
        [
            one.what,
            "not run" if one.why_not else MISSING if one.packets is None else f"{one.packets:,}",
            MISSING if one.theory is None else f"{one.theory:,}",
        ]
        for one in answer.changes
    ]
    columns = ["change", "packets, about", "by theory"]
    return table("Buffers of changed links", columns, rows) if rows else None


def hangs_on(answer: Answer) -> list[str]:
    """Returns sentences on the sensitivity of the answer to the assumed TCP of the hosts."""
    ours = "none" if answer.buffer is None else f"{answer.buffer:,}"
    return [
        (
            f"{one.what}: {'no buffer suffices' if one.packets is None else packets(one.packets)} "
            f"instead of {ours}"
        )
        for one in answer.changes
        if one.what in TCP_CHANGES
    ]


def alternatives_table(answer: Answer) -> Figures | None:
    """Returns a table of the figures of other queue disciplines."""
    rows = [
        [one.queue, *_figure_cells(one.figures), _keeps(one.unmet)]
        if one.figures
        else [one.queue, "not run", *[""] * 3, MISSING]
        for one in answer.alternatives
    ]
    columns = ["queue, with its defaults", "busy %", "loss %", "p99 wait ms", "Jain"]
    columns.append("keeps bounds")
    title, important = "Other queues in its place", ["keeps bounds"]
    return table(title, columns, rows, important) if rows else None


def not_run_lines(answer: Answer) -> list[str]:
    """Returns one line per reason why rules' buffers, queues and changes were not run."""
    reasons: dict[str, list[str]] = {}
    named = [
        *((one.rule.name, one.why_not) for one in answer.by_rule),
        *((one.queue, one.why_not) for one in answer.alternatives),
        *((one.what, one.why_not) for one in answer.changes),
    ]
    for name, why in named:
        if why is not None and not answer.ended:
            reasons.setdefault(why, []).append(name)
    return [f"[dim]not run[/]: {', '.join(names)}: {plain(why)}" for why, names in reasons.items()]


def _keeps(unmet: tuple[str, ...]) -> str:
    return "all" if not unmet else f"not {', '.join(SHORT_NAMES[name] for name in unmet)}"


def export_lines(answer: Answer, limit: int) -> list[str]:
    """Returns lines to paste with arithmetic and warnings, and checks of the buffer."""
    link = answer.link
    lines = []
    for one in answer.exports:
        lines.append(f"{one.device}: {one.arithmetic}")
        lines.extend(f"    {line}" for line in one.lines)
        lines.append(f"    mind: {one.warning}")
        if one.unlike is not None:
            lines.append(f"    mind: {one.unlike}")
    delay = None if answer.trials is None else answer.interval(limit, "p99_delay_s").mean
    lines.append("to check it:")
    lines.extend(f"    {line}" for line in checks(link.rate_bps, link.mean_rtt_s, delay))
    return lines


def _buffer_cells(link: Link, limit: int) -> list[str]:
    """Returns a buffer in packets, bytes, milliseconds and BDPs, for a table."""
    buffer = buffer_dict(link, limit)
    in_bytes, in_ms = size_of(buffer["bytes"]), milliseconds(buffer["seconds"])
    return [f"{limit:,}", in_bytes, in_ms, number(buffer["bdp"], 3)]


def _figure_cells(figures: dict[str, Interval]) -> list[str]:
    """Returns utilisation and loss in percent, delay in milliseconds, and fairness, for a table."""
    delay = figures[DELAY]
    intervals = [
        plus_minus(figures["utilization"], 100, 2),
        plus_minus(figures["loss_rate"], 100, 2),
        plus_minus(delay, 1000, digits(delay)),
    ]
    fairness = f"{figures['jain'].mean:.2f}" if "jain" in figures else MISSING
    return [*(text.replace(" ± ", "±") for text in intervals), fairness]
