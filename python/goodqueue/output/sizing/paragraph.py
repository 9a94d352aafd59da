"""The answer of a sizing in one paragraph, as Python and notebooks show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.errors import argument_names
from goodqueue.output.sizing.answer import describe, plain_lines
from goodqueue.output.sizing.screen import hosts_range
from goodqueue.output.sizing.theory import expected_figures, in_units
from goodqueue.output.sizing.verdict import achieved, between, first_line, word_for
from goodqueue.passive.answer import CaptureAnswer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodqueue.sizing.answer.answer import Answer


def paragraph(answer: Answer) -> str:
    """Returns the answer in sentences: the buffer with its two intervals, its figures, the link."""
    parts = [_doubt(answer), [_buffer(answer)], _intervals(answer), _figures(answer), _link(answer)]
    lines = [line for part in parts for line in part]
    return argument_names(" ".join(f"{line[:1].upper()}{line[1:]}." for line in lines))


def _doubt(answer: Answer) -> list[str]:
    """Returns that the model of a capture does not reproduce it, if it does not."""
    if not isinstance(answer, CaptureAnswer):
        return []
    from goodqueue.output.passive.today import not_firm

    return plain_lines(not_firm(answer)[:1])


def _buffer(answer: Answer) -> str:
    """Returns the buffer in every unit, with a word for its reliability; or the nearest miss."""
    if answer.buffer is None:
        [line] = plain_lines([first_line(answer)])
        return line
    by = "calibrated theory" if answer.trials is None else f"the {answer.engine_name}"
    units = in_units(answer.link, answer.buffer)
    return f"buffer of {units} ({word_for(answer)}, by {by})"


def _intervals(answer: Answer) -> Iterator[str]:
    """Yields the interval by chance, or by the error of theory or engine, and that over hosts."""
    by = {"packets": "by chance (95 %)", "hybrid": "by the error of the hybrid engine (90 %)"}
    source = by.get(answer.engine or "", "by the error of theory (90 %)")
    low, high = answer.chance
    if answer.buffer is None and low is None and answer.world is None:
        return
    ends = "not known" if low is None else between(low, high)
    world = "not known" if answer.world is None else hosts_range(answer.world)
    yield f"the interval {source} is {ends}; over hosts that were not described it is {world}"


def _figures(answer: Answer) -> Iterator[str]:
    """Yields the expected figures with their intervals."""
    if answer.trials is not None and answer.facts is not None:
        yield f"expected: {achieved(answer, answer.facts.packets)}"
    elif answer.calibrated is not None:
        yield f"expected: {expected_figures(answer.calibrated)}"


def _link(answer: Answer) -> Iterator[str]:
    """Yields the link and its traffic."""
    yield f"the link: {plain_lines(describe(answer))[0]}"
