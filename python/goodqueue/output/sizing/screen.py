"""The first screen of `goodqueue size`: what the answer covers, costs and looks like on a device.

`--explain` prints all tables instead (`goodqueue.output.sizing.answer`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.output.sizing.theory import in_units
from goodqueue.output.sizing.verdict import between
from goodqueue.output.terminal import (
    goes_on,
    milliseconds,
    number,
    packets,
    percent,
    size_of,
)
from goodqueue.sizing.trials.hosts import OUT_OF_PHASE

if TYPE_CHECKING:
    from goodqueue.sizing.answer.answer import Answer
    from goodqueue.sizing.answer.world import World

PARTS = {
    "queries": "times of queries",
    "cost": "half and twice the buffer",
    "guard": "the buffer that loses 1 %",
    "page": "a page beside the flows",
    "world": "other hosts",
    "rules": "figures at the rules' buffers",
    "queues": "other queues",
    "changes": "changes of the link",
}

SYNTAXES = {
    "linux": ("Linux", "switch with shared memory"),
    "ios": ("Cisco IOS",),
    "junos": ("Junos",),
    "sonic": ("switch with shared memory",),
    "openwrt": ("OpenWrt",),
    "mikrotik": ("MikroTik",),
}
"""Beginnings of the names of the devices whose lines a syntax prints."""


PHASE_MATTERS = 1.25
"""Ratio of the buffers of flows in phase and out of phase from which the answer says so."""


def left_out(answer: Answer) -> str:
    """Returns the parts for which the budget did not suffice."""
    parts = ", ".join(PARTS[part] for part in answer.left_out)
    return f"[yellow]left out[/] because the budget ended: {parts}; --budget gives more"


def interrupted(answer: Answer) -> str:
    """Returns what becomes of an answer that Ctrl-C ended."""
    return f"[bold]interrupted[/]: {goes_on(answer.kept)}"


def screen(answer: Answer, syntax: str) -> list[str]:
    """Returns the lines that follow the recommendation."""
    lines = []
    if answer.interrupted:
        lines.append(interrupted(answer))
    if answer.left_out and answer.trials is not None:
        lines.append(left_out(answer))
    lines += guard(answer)
    if answer.world is not None:
        lines += over_hosts(answer.world)
    lines += memory(answer)
    lines += costs(answer)
    lines += page(answer)
    lines += device(answer, syntax)
    lines += _rules(answer)
    lines += _how(answer)
    return lines


def guard(answer: Answer) -> list[str]:
    """Returns the buffer that loses little, if the answer loses much."""
    found = answer.guard
    if found is None:
        return []
    lines = []
    if found.loss_rate is not None and found.packets_for_good_loss is not None:
        good = in_units(answer.link, found.packets_for_good_loss)
        lines.append(f"[yellow]mind[/]: a loss of 1 % needs about {good} (--max-loss 1%)")
    elif found.loss_rate is not None:
        lines.append(
            f"[yellow]mind[/]: no buffer was found that loses at most 1 % with "
            f"{answer.link.flows:,} flows: this link is short of rate"
        )
    return lines


def hosts_range(world: World) -> str:
    """Returns the smallest and the largest buffer over the hosts, as far as some buffer serves."""
    known = [one for one in world.buffers.values() if one is not None]
    return between(world.low, max([world.packets, *known]))


def over_hosts(world: World) -> list[str]:
    """Returns the interval of the answer over hosts that were not described."""
    known = {what: one for what, one in world.buffers.items() if one is not None}
    none = [what for what, one in world.buffers.items() if one is None]
    by = "by short runs" if world.by == "simulation" else "by calibrated theory"
    if not world.complete:
        by += f"; {len(world.buffers)} changes of the hosts, for which the budget sufficed"
    ends = hosts_range(world)
    lines = [f"over hosts that were not described: {ends} ({by}; --hosts exact omits them)"]
    if known and world.low != max([world.packets, *known.values()]):
        least, most = (pick(known, key=known.__getitem__) for pick in (min, max))
        lines.append(f"  least: {least}, {known[least]:,}; most: {most}, {known[most]:,}")
    apart = known.get(OUT_OF_PHASE, world.packets)
    if max(apart, world.packets) > PHASE_MATTERS * min(apart, world.packets):
        lines.append(
            f"  mind: equal round trips keep flows in phase here; {packets(apart)} if they differ "
            "by a packet's time"
        )
    if none:
        lines.append(f"  no buffer was found for: {', '.join(none)}")
    return lines


def memory(answer: Answer) -> list[str]:
    """Returns the shared memory that the buffer needs, and how long queries take with it."""
    found = answer.memory
    if found is None:
        return []
    pool, today = found.pool, size_of(found.pool.capacity_bytes)
    needed, held = size_of(found.capacity_bytes), packets(found.packets)
    lines = [f"[bold]shared memory[/]: {held} on one busy link need {needed} ({pool.thresholds})"]
    if found.alpha is not None:
        lines.append(f"  or the {today} of today with alpha {found.alpha:.3g} or more")
    elif pool.alpha is not None:
        lines.append(f"  no alpha suffices with the {today} of today")
    for name, one in found.times.items():
        what = "99th percentile" if one.metric.startswith("p99") else "mean"
        it, half, now, lossless = (
            f"{milliseconds(seconds)} ms"
            for seconds in (one.with_it_s, one.with_half_s, one.today_s, one.lossless_s)
        )
        lines.append(
            f"  a query of {name} takes {it} ({what}), {half} with half as many packets, {now} "
            f"with the {today} of today, {lossless} if nothing is dropped"
        )
    return lines


def costs(answer: Answer) -> list[str]:
    """Returns the figures of half and twice the buffer."""
    trials = answer.trials
    if trials is None or answer.facts is None:
        return []
    at = answer.number
    lines = []
    for word, limit in (("half", at // 2), ("twice", 2 * at)):
        if limit in trials.replicates:
            figures = answer.figures(limit)
            lines.append(
                f"{word} ({packets(limit)}): utilisation {percent(figures['utilization'].mean)}, "
                f"loss {percent(figures['loss_rate'].mean)}, p99 queueing delay "
                f"{milliseconds(figures['p99_delay_s'].mean)} ms"
            )
    return lines


def page(answer: Answer) -> list[str]:
    """Returns the time of a small page behind the buffer, beside the flows and alone."""
    found = answer.page
    if found is None:
        return []
    mind = "[yellow]mind[/]: " if found.is_bad else ""
    beside, p99, twice, idle = (
        f"{number(1000 * seconds, 3)} ms"
        for seconds in (found.median_s, found.p99_s, found.twice_median_s, found.idle_s)
    )
    line = (
        f"{mind}a page of {found.bytes // 1000} kB takes {beside} beside these flows (p99 {p99}), "
        f"{twice} behind twice the buffer, {idle} on the idle link; {100 * found.loss_rate:.2g} % "
        "of its packets are lost"
    )
    return [line]


def device(answer: Answer, syntax: str) -> list[str]:
    """Returns the line for the device that was asked, and the buffer that it sets."""
    at = answer.device_packets
    if at is None or answer.buffer is None:
        return []
    lines = []
    chosen = [one for one in answer.exports if one.device.startswith(SYNTAXES[syntax])][:1]
    if at != answer.buffer:
        lines.append(f"for a device: {packets(at)}, which suffice for nine tenths of those hosts")
    for one in chosen:
        lines.extend(f"    {line}" for line in one.lines)
        if one.unlike is not None:
            lines.append(f"[yellow]mind[/]: {one.unlike}")
    return lines


def _rules(answer: Answer) -> list[str]:
    """Returns the answers of the rules whose assumptions hold, and the number of the others."""
    if not answer.by_rule:
        return []
    holding = [
        f"{one.rule.name} {one.advice.whole_packets:,}"
        for one in answer.by_rule
        if one.holds and one.advice.whole_packets is not None
    ]
    others = len(answer.by_rule) - len(holding)
    if not holding:
        return [f"the assumptions of none of the {others} rules hold here"]
    said = ", ".join(holding)
    return [f"rules whose assumptions hold (packets): {said}; {others} others do not apply"]


def _how(answer: Answer) -> list[str]:
    """Returns how the answer was obtained, and what to type for more."""
    how = "by theory, without a run"
    if answer.trials is not None and answer.trials.spent:
        limits = len(answer.limits)
        how = f"{answer.trials.spent} runs of the {answer.engine_name} behind {limits} buffers"
    return [f"{how}; --explain prints every table, --report FILE pictures"]
