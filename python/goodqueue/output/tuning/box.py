"""The answer of `goodqueue box` on one screen."""

from __future__ import annotations

import textwrap
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING

from goodqueue.boxes.answer import ALPHA, BUSY, DEGREE, MEMORY
from goodqueue.output.terminal import goes_on, number, plain, quantity, say, stdout
from goodqueue.output.tuning.screen import print_answer
from goodqueue.tuning.answer import rows_of_screen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from goodqueue.boxes.answer import Answer, Found, Session

WIDTH, HEIGHT = 80, 24
"""Columns and lines of the screen."""

MAX_ROWS = 7
"""Largest number of rows of the curves."""

GAP = "   "
"""Space between two curves."""

HEADS = {MEMORY: "memory", ALPHA: "alpha", DEGREE: "senders"}
"""Heads of the curves, in their order."""


def print_box(answer: Answer, *, explain: bool) -> None:
    """Prints the answer, the curves, and what was assumed; with `explain` every search, too."""
    first, *others = screen(answer)
    say(f"[bold]{plain(first)}[/]", *map(plain, others), markup=True)
    if explain:
        for one in answer.found.values():
            say("", f"The search for the {HEADS.get(one.what, 'busy ports')}:")
            print_answer(one.tuned)


def screen(answer: Answer) -> list[str]:
    """Returns the lines of the answer."""
    paragraphs = [_memory(answer), _alpha(answer), _degree(answer), _sessions(answer)]
    paragraphs.append(_starving(answer))
    lines = [line for text in paragraphs if text for line in _wrapped(text)]
    end = _wrapped(_assumed(answer))
    if answer.interrupted:
        stored = all(one.tuned.stored for one in answer.found.values())
        end += _wrapped(goes_on(stored))
    curves = _curves(answer, min(MAX_ROWS, HEIGHT - len(lines) - len(end) - 3))
    return [*lines, "", *curves, "", *end] if curves else [*lines, "", *end]


def _wrapped(text: str) -> list[str]:
    width = min(WIDTH, stdout().width)
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def _memory(answer: Answer) -> str:
    """Returns whether the memory suffices, and how much is needed."""
    found, switch = answer.found.get(MEMORY), answer.box.switch
    bounds = " and ".join(answer.keep)
    has, alpha = size(switch.memory_bytes), f"alpha {switch.alpha:g}"
    if found is None or (found.value is None and not found.tuned.impossible):
        return "No memory was found before the search was stopped."
    if found.value is None:
        most = size(found.tuned.axis.ends[1])
        return f"No memory up to {most} keeps {bounds} with {alpha}: {_miss(found)}."
    verdict = "suffice" if found.value <= switch.memory_bytes else "do not suffice"
    word = "" if found.tuned.proved else "Estimate: "
    least = " or less" if found.ends_range else ""
    return (
        f"{word}{has} {verdict}: {bounds} needs {size(found.value)}{least} with {alpha} "
        f"({_errors(found, size)})."
    )


def _alpha(answer: Answer) -> str:
    """Returns the threshold to set."""
    found, switch = answer.found.get(ALPHA), answer.box.switch
    if found is None:
        return ""
    has = size(switch.memory_bytes)
    if found.value is None:
        return f"No alpha up to {found.tuned.axis.ends[1]:g} keeps it with {has}: {_miss(found)}."
    word = "Set" if found.tuned.proved else "Estimate: set"
    each, left = answer.switch.held(1), answer.switch.free(1)
    world = found.world
    hosts = "" if world is None else f" (all hosts: {_all_hosts(found)})"
    return (
        f"{word} alpha to {ratio(found.value)}{hosts}, the smallest power of two that keeps it "
        f"with {has}: the port may hold {size(each)}, and {size(left)} stay free."
    )


def _all_hosts(found: Found) -> str:
    """Returns the threshold that keeps the bounds with all hosts that were tried."""
    world = found.world
    assert world is not None
    if world.none:
        return f"none, with {' or '.join(world.none)}"
    return ratio(world.high) if world.complete else f"{ratio(world.high)} or more"


def _degree(answer: Answer) -> str:
    """Returns the largest incast."""
    found, incast = answer.found.get(DEGREE), answer.box.incast
    if found is None:
        return ""
    bytes_ = size(incast.size_bytes)
    if found.value is None:
        return f"No number of senders of {bytes_} was found that keeps it: {_miss(found)}."
    word = "" if found.tuned.proved else "Estimate: "
    more = " or more" if found.ends_range else ""
    rate = answer.box.switch.groups[0].rate_bps
    takes = _time(8 * found.value * incast.size_bytes / rate)
    return (
        f"{word}Incasts of up to {found.value:.0f}{more} senders of {bytes_} survive with it "
        f"({_errors(found, _whole)}); their bytes take {takes} of the port."
    )


def _sessions(answer: Answer) -> str:
    """Returns how far one TCP session fills a port of each kind."""
    groups = [
        (alpha, list(some)) for alpha, some in groupby(answer.sessions, lambda one: one.alpha)
    ]
    (_, first), *others = groups
    parts = [f"One long CUBIC session fills {_fills(first)} with it (RTT, fibre)"]
    parts += [f"{_fills(some)} with alpha {ratio(alpha)}" for alpha, some in others]
    return f"{', '.join(parts)}; Reno {_of_reno(answer)} of these (closed form)."


def _fills(sessions: Iterable[Session]) -> str:
    """Returns the longest round trips that a session fills ports over, by their rates."""
    return " and ".join(
        f"{one.rate_bps / 1e9:g} Gb/s up to {_time(one.cubic_s)} "
        f"({number(one.as_dict()['cubic_m'] / 1e3, 3)} km)"
        for one in sessions
    )


def _of_reno(answer: Answer) -> str:
    first = answer.sessions[0]
    return f"{100 * first.reno_s / first.cubic_s:.0f} %"


def _time(seconds: float) -> str:
    """Returns a time with three digits."""
    if seconds < 1e-3:
        return f"{1e6 * seconds:.3g} µs"
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def _starving(answer: Answer) -> str:
    """Returns with how many busy ports the client's port starves."""
    theory, found = answer.busy_by_theory, answer.found.get(BUSY)
    if theory is None or not answer.busy_tried:
        return ""
    holds = size(answer.switch.held(theory + 2))
    others = f"{theory + 1} others are" if theory else "another one is"
    if theory + 1 >= answer.box.switch.ports:
        text = "The client's port starves with no number of overloaded ports"
    else:
        text = (
            f"The client's port starves once {others} overloaded: each may then "
            f"hold {holds} (closed form)"
        )
    if found is None:
        return f"{text}."
    if found.value is None:
        return f"{text}. Long sessions on one other port starve it already."
    more = " or more" if found.ends_range else ""
    word = "" if found.tuned.proved else ", an estimate"
    ports = "port" if answer.busy == 1 and not more else "ports"
    return f"{text}. It survives {answer.busy}{more} {ports} with long sessions{word}."


def _errors(found: Found, text: Callable[[float], str]) -> str:
    """Returns both errors of an answer: chance over seeds, and hosts."""
    interval = found.interval
    assert interval is not None
    parts = [f"chance {_between(*interval, text)}"]
    world = found.world
    if world is not None:
        none = f", none with {' or '.join(world.none)}" if world.none else ""
        part = "" if world.complete else " so far"
        parts.append(f"hosts {_between(world.low, world.high, text)}{none}{part}")
    return ", ".join(parts)


def _between(low: float, high: float, text: Callable[[float], str]) -> str:
    first, last = text(low), text(high)
    if first == last:
        return first
    number_, _, unit = first.partition(" ")
    same = unit and last.endswith(f" {unit}")
    return f"{number_ if same else first} to {last}"


def _miss(found: Found) -> str:
    """Returns the nearest miss."""
    miss = found.tuned.miss
    if miss is None:
        return "no run ended"
    keep = next(one for one in found.tuned.keeps if one.text == miss.broken)
    mean = quantity(keep.figure.key.removesuffix(".sum"), miss.mean)
    value = TEXTS[found.what](found.tuned.axis.values[miss.mark].number)
    return f"at {value} {keep.figure.name} is {mean}"


def _curves(answer: Answer, rows: int) -> list[str]:
    """Returns the first bounded figure over memory, threshold and senders, side by side."""
    curves = {
        HEADS[what]: _curve(answer.found[what], rows)
        for what in HEADS
        if what in answer.found and answer.found[what].tuned.trials.limits
    }
    if rows < 1 or not curves:
        return []
    left_out = []
    while len(curves) > 1 and len(GAP) * (len(curves) - 1) + sum(map(_widest, curves.values())) > (
        min(WIDTH, stdout().width)
    ):
        left_out.append(next(iter(curves)))
        del curves[left_out[-1]]
    lines = [
        GAP.join(
            cell.ljust(_widest(curve)) for cell, curve in zip(line, curves.values(), strict=True)
        )
        for line in zip_longest(*curves.values(), fillvalue="")
    ]
    if left_out:
        lines += _wrapped(
            f"omitted for lack of space: {', '.join(left_out)}; a wider terminal or --json shows "
            "them"
        )
    return [line.rstrip() for line in lines]


def _widest(lines: Sequence[str]) -> int:
    return max(map(len, lines))


def _curve(found: Found, rows: int) -> list[str]:
    """Returns the lines of one curve: its head, and its values with the figure at each."""
    tuned = found.tuned
    figure = tuned.figures[0]
    cells = [(HEADS[found.what], figure.name, "")]
    for mark in rows_of_screen(tuned, rows):
        value = TEXTS[found.what](tuned.axis.values[mark].number)
        mean = quantity(figure.key.removesuffix(".sum"), tuned.interval(mark, figure).mean)
        verdict = {"yes": "", "no": "x"}.get(tuned.verdict(mark), "?")
        cells.append((value, mean, verdict))
    first, second = (max(len(cell[k]) for cell in cells) for k in (0, 1))
    return [f"{a:>{first}} {b:>{second}} {c:1}" for a, b, c in cells]


def _assumed(answer: Answer) -> str:
    """Returns what the answer takes for granted."""
    box, switch = answer.box, answer.box.switch
    parts = [*answer.notes, f"{box.control} hosts, {_time(box.rtt_s)} of round trip"]
    parts.append("answers begin at the same instant on open connections")
    parts.append(f"cells of {switch.cell_bytes} B, {switch.reserved_bytes:,} B reserved per port")
    used, budget = number(answer.used / 1e6, 3), number(answer.budget / 1e6, 3)
    text = "Assumed: " + "; ".join(parts) + f". Runs sent {used} of {budget} million packets"
    return f"{text}. x: a bound is broken, ?: not decided."


def size(count: float) -> str:
    """Returns bytes in decimal units with three digits."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count:.0f} B"


def ratio(alpha: float) -> str:
    """Returns a factor as chips have it: 1/4, 1 or 8."""
    inverse = 1 / alpha
    return f"1/{inverse:.0f}" if alpha < 1 and inverse == round(inverse) else f"{alpha:g}"


def _whole(count: float) -> str:
    return f"{count:.0f}"


TEXTS: dict[str, Callable[[float], str]] = {
    MEMORY: size,
    ALPHA: ratio,
    DEGREE: _whole,
    BUSY: _whole,
}
"""Texts of the values of the searches."""
