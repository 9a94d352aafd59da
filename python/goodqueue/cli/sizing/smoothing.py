"""`goodqueue smoothing`: prints the buffer that a player of an AIMD stream needs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goodqueue.cli.commands.options import overrides, taken
from goodqueue.cli.commands.sizing.smoothing import REPLICATES
from goodqueue.cli.exits import EXIT_INTERRUPTED
from goodqueue.core.intervals import Interval
from goodqueue.output.progress import counted_runs
from goodqueue.output.terminal import (
    goes_on,
    milliseconds,
    number,
    print_json,
    rate,
    say,
    size_of,
    stderr,
    stdout,
    table,
)
from goodqueue.runs.api import load
from goodqueue.sizing.smoothing.playout import FilePlayout, PlayoutQuestion
from goodqueue.study.runner import Runner, user_store
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodqueue.cli.commands.sizing.smoothing import Smoothing
    from goodqueue.sizing.smoothing.playout import Estimate, Playout, Units

COLUMNS = ("packets", "bytes", "ms", "BDP")


def smoothing(asked: Smoothing) -> int:
    """Prints buffers by the law and by simulation, of a described stream or a scenario's video.

    Returns the exit code.
    """
    replicates = asked.replicates or REPLICATES
    if asked.file is not None:
        scenario = load(asked.file, set=overrides(asked.set_), seed=asked.seed)
        video = FilePlayout(scenario, asked.flow, asked.alpha, asked.beta)
        return _simulated(asked, lambda runner: video.answer(runner, replicates))
    alpha = 1.0 if asked.alpha is None else asked.alpha
    question = taken(PlayoutQuestion, asked, alpha=alpha, packet=asked.packet or "1000B")
    if asked.quick:
        _print(question.law(), json=asked.json)
        return 0
    question.stream()
    seed = 1 if asked.seed is None else asked.seed
    return _simulated(asked, lambda runner: question.answer(runner, replicates, seed))


def _simulated(asked: Smoothing, answer: Callable[[Runner], Playout]) -> int:
    with user_store("smoothing", asked.store) as store, counted_runs("streams") as on_run:
        runner = Runner(store, Threads(asked.jobs), on_run)
        try:
            found = answer(runner)
        except KeyboardInterrupt:
            stderr().print(goes_on(runner.lasting))
            return EXIT_INTERRUPTED
    _print(found, json=asked.json)
    return 0


def _print(found: Playout, *, json: bool) -> None:
    if json:
        print_json(found.as_dict())
        return
    units = found.units
    tooth_s = found.apart * found.rtt_s / units.window
    say(
        f"A stream of {rate(units.rate_bps)} in packets of {units.packet_bytes:,} B, round-trip "
        f"time {number(1000 * found.rtt_s)} ms: {number(units.window)} packets in a round trip.",
        f"AIMD({found.increase:g}, {found.decrease:.3g}): a loss every {number(found.apart)} "
        f"packets, which is {number(tooth_s)} s; {number(found.losses)} in "
        f"{number(found.duration_s)} s.",
        "",
    )
    rows = [[one.by, *_texts(one, units)] for one in found.estimates]
    stdout().print(table("Smoothing buffer", ["", *COLUMNS], rows))
    counts = [one.replicates for one in found.estimates if one.replicates]
    if counts:
        once = "; from the foot of a tooth, as the law assumes, one run" if 1 in counts else ""
        say(
            f"Simulated: means of {max(counts)} runs with their 95 % interval{once}. ms are "
            "playing time."
        )


def _texts(one: Estimate, units: Units) -> list[str]:
    """Returns a buffer in every unit, with its interval in the same unit."""
    means, halves = units.convert(one.packets.mean), units.convert(one.packets.half_width)
    shown: dict[str, Callable[[float], str]] = {
        "packets": number,
        "bytes": size_of,
        "seconds": milliseconds,
        "bdp": number,
    }
    return [
        Interval(means[unit], halves[unit]).within(0, math.inf).text(show)
        if one.replicates > 1
        else show(means[unit])
        for unit, show in shown.items()
    ]
