"""`goodqueue smoothing`: prints the buffer that a player of an AIMD stream needs."""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from goodqueue.sizing.smoothing.playout import (
        Estimate,
        FilePlayout,
        Playout,
        PlayoutQuestion,
        Units,
    )
    from goodqueue.study.runner import Runner

COLUMNS = ("packets", "bytes", "ms", "BDP")


@dataclass(frozen=True, slots=True)
class Runs:
    """Options for runs: their number, threads, and store."""

    replicates: int
    jobs: int | None
    store: Path | None


def smooth_quick(question: PlayoutQuestion, *, json: bool) -> int:
    """Prints the law alone; returns the exit code."""
    _print(question.law(), json=json)
    return 0


def smooth_described(question: PlayoutQuestion, runs: Runs, seed: int, *, json: bool) -> int:
    """Prints the law and simulations of a stream that is described; returns the exit code."""
    question.stream()
    return _run(lambda runner: question.answer(runner, runs.replicates, seed), runs, json=json)


def smooth_file(which: FilePlayout, runs: Runs, *, json: bool) -> int:
    """Prints the law and simulations of a scenario's video flow; returns the exit code."""
    return _run(lambda runner: which.answer(runner, runs.replicates), runs, json=json)


def _run(answer: Callable[[Runner], Playout], runs: Runs, *, json: bool) -> int:
    with _runner(runs) as runner:
        try:
            found = answer(runner)
        except KeyboardInterrupt:
            stderr().print(goes_on(runner.lasting))
            return EXIT_INTERRUPTED
    _print(found, json=json)
    return 0


@contextmanager
def _runner(runs: Runs) -> Iterator[Runner]:
    from goodqueue.study.runner import Runner, user_store
    from goodqueue.study.threads import Threads

    with (
        user_store("smoothing", runs.store) as store,
        counted_runs("streams") as on_run,
    ):
        yield Runner(store, Threads(runs.jobs), on_run)


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
    means, halves = units.of(one.packets.mean), units.of(one.packets.half_width)
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
