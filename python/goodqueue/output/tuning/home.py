"""The answer of `goodqueue home` on one screen."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from goodqueue.home.answer import PING
from goodqueue.home.devices import SYNTAXES
from goodqueue.output.terminal import goes_on, plain, say, stdout
from goodqueue.output.tuning.screen import print_answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from goodqueue.core.intervals import Interval
    from goodqueue.home.answer import Answer

WIDTH, HEIGHT = 80, 24
"""Columns and lines of the screen."""


def print_home(answer: Answer, syntax: str, *, explain: bool) -> None:
    """Prints the rates to type, the figures before and after, and the lines for a device."""
    first, *others = screen(answer, syntax)
    say(f"[bold]{plain(first)}[/]", *map(plain, others), markup=True)
    if explain:
        for one in answer.found.values():
            say("", f"The search for the rate {one.direction}:")
            print_answer(one.tuned)


def screen(answer: Answer, syntax: str) -> list[str]:
    """Returns the lines of the answer, with the instruction for a check if there is room for it."""
    blocks = [_wrapped(_headline(answer))]
    if answer.comparison is not None:
        blocks.append(felt(answer))
    if answer.complete:
        where = f"In {SYNTAXES[syntax]}; DEV: port to the modem:"
        blocks.append([*_wrapped(where), *answer.lines(syntax)])
    blocks.append(_wrapped("Assumed: " + "; ".join(answer.assumptions()) + "."))
    if answer.interrupted:
        stored = all(one.tuned.stored for one in answer.found.values())
        blocks[-1] += _wrapped(goes_on(stored))
    elif answer.complete and _height(blocks) < HEIGHT:
        blocks[-1] += ["Check: a ping must stay low during an upload (docs/home.md)."]
    if _height(blocks) + len(blocks) - 1 <= HEIGHT:
        blocks[1:] = [["", *block] for block in blocks[1:]]
    return [line for block in blocks for line in block]


def _height(blocks: Sequence[Sequence[str]]) -> int:
    return sum(map(len, blocks))


def _wrapped(text: str) -> list[str]:
    width = min(WIDTH, stdout().width)
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def _headline(answer: Answer) -> str:
    """Returns the rates to type, and what they keep."""
    bound = _ms(answer.bound_s)
    if not answer.complete:
        return _without_rate(answer, bound)
    rates = " and ".join(
        f"{one.kbps} kbit/s {one.direction} ({100 * (one.share or 0):.1f} % of "
        f"{one.line.high_bps / 1e6:g} Mb/s)"
        for one in answer.found.values()
    )
    if answer.needless:
        kept = f"99 of 100 pings take at most {bound} even without a shaper, so none is needed"
        return f"{kept}. If you want one, type {rates}."
    if answer.proved:
        return f"Type {rates}. Then 99 of 100 pings of a game take at most {bound}."
    return f"Estimate: type {rates}. Not shown: that 99 of 100 pings then take at most {bound}."


def _without_rate(answer: Answer, bound: str) -> str:
    """Returns why a direction has no rate."""
    last = list(answer.found.values())[-1]
    miss = last.tuned.miss
    if miss is None:
        return "No run ended before the search was stopped."
    value = int(last.tuned.axis.values[miss.mark].number // 1000)
    near = f"{value} kbit/s {last.direction} is the nearest, with {_ms(miss.mean)}"
    if answer.impossible:
        return f"No rate of a shaper keeps 99 of 100 pings within {bound}: {near} (--max-ping)."
    return f"No rate was found that keeps 99 of 100 pings within {bound}: {near}."


def felt(answer: Answer) -> list[str]:
    """Returns what people feel before and after, a line for each part of the household."""
    lines = [_pair("a ping of a game (99 of 100)", answer.figure(PING), _ms)]
    for word in answer.home.words:
        lines += _of(answer, word) if word != "game" else ()
    return [line for line in lines if line]


def _of(answer: Answer, word: str) -> Iterator[str]:
    """Yields the line of a part of the household."""
    if word == "call":
        yield _pair("a call has, of 4.4 points", answer.figure("call.mos"), "{:.1f}".format)
    elif word == "web":
        yield _pair("a web page takes", answer.figure("web.p50_page_time_s"), _s)
    elif word == "video":
        yield _pair("a video stands still for", answer.figure("video.stall_time_s"), _s)
    else:
        yield _bulk(answer, word)


def _bulk(answer: Answer, word: str) -> str:
    """Returns what an upload or a download gets, and what it loses."""
    found = answer.figure(f"{word}.goodput_bps")
    if found is None:
        return ""
    now, then = (one.mean for one in found)
    change = 100 * (then - now) / now if now else 0.0
    verb = "loses" if change < 0 else "gains"
    return f"{_pair(f'the {word} gets', found, _rate)}: it {verb} {abs(change):.0f} %"


def _pair(what: str, found: tuple[Interval, Interval] | None, text: Callable[[float], str]) -> str:
    if found is None:
        return ""
    now, then = (text(one.mean) for one in found)
    return f"{what}: {now} now, {then} then"


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.0f} ms"


def _s(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else _ms(seconds)


def _rate(bps: float) -> str:
    return f"{bps / 1e6:.3g} Mb/s"
