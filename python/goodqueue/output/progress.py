"""Progress of a sweep: a line on a terminal, or JSON lines for machines."""

from __future__ import annotations

import json
import sys
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Self

from goodqueue.core.text import print_message
from goodqueue.output.terminal import progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

    from rich.progress import Progress, TaskID

    from goodqueue.study.model import RunResult

EVERY_S = 1.0
"""Seconds between two lines of JSON."""


class Pace:
    """Counts of runs done and left, and the remaining time."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.known = self.done = self.failed = self.planned = 0
        self._weight_left = self._weight_done = 0.0
        self.line: str | None = None

    def plan(self, runs: int, weight: float, known: int) -> None:
        """Adds runs to do."""
        self.planned += runs
        self.known += known
        self._weight_left += weight

    def add(self, results: Sequence[RunResult]) -> None:
        """Adds runs that are done."""
        for result in results:
            weight = result.run.variant.scenario.weight()
            self._weight_left -= weight
            self._weight_done += weight
            self.failed += result.error is not None
        self.done += len(results)

    @property
    def elapsed_s(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self.begun

    @property
    def rate(self) -> float:
        """Runs per second so far."""
        return self.done / max(self.elapsed_s, 1e-9)

    @property
    def left_s(self) -> float | None:
        """Estimated seconds left at the present speed; None before any run is done."""
        if not self._weight_done:
            return None
        return self.elapsed_s * max(self._weight_left, 0.0) / self._weight_done


class Terminal:
    """A bar with runs done, failed and left, and the interval that exceeds its bound most."""

    def __init__(self) -> None:
        self._pace = Pace()
        self._bar: Progress = progress()
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        self._bar.__enter__()
        self._task = self._bar.add_task("planning", total=None)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.__exit__(kind, error, trace)

    def planned(self, runs: int, weight: float, known: int) -> None:
        """Reports the number of runs to do, besides those that are known already."""
        self._pace.plan(runs, weight, known)
        self._show()

    def recorded(self, results: Sequence[RunResult]) -> None:
        """Reports results that are on the disk."""
        self._pace.add(results)
        self._show()

    def worst(self, line: str | None) -> None:
        """Reports the interval that exceeds its bound most."""
        self._pace.line = line
        self._show()

    def stopping(self) -> None:
        """Reports that Ctrl-C was pressed."""
        print_message("\nfinishing the current runs; Ctrl-C again stops them")

    def _show(self) -> None:
        if self._task is None or self._bar.disable:
            return
        pace = self._pace
        parts = [f"{pace.rate:,.0f}/s" if pace.rate >= 10 else f"{pace.rate:.2g}/s"]
        if pace.failed:
            parts.append(f"{pace.failed:,} failed")
        if pace.left_s is not None:
            parts.append(f"{duration(pace.left_s)} left")
        if pace.line:
            parts.append(pace.line)
        self._bar.update(
            self._task, description=", ".join(parts), completed=pace.done, total=pace.planned
        )


class JsonLines:
    """One JSON object per line on standard output: `planned`, `progress`, `failed`, `worst`."""

    def __init__(self) -> None:
        self._pace = Pace()
        self._said = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._progress()

    def planned(self, runs: int, weight: float, known: int) -> None:
        """Reports the number of runs to do, besides those that are known already."""
        self._pace.plan(runs, weight, known)
        self._say("planned", runs=runs, known=known)

    def recorded(self, results: Sequence[RunResult]) -> None:
        """Reports results that are on the disk."""
        self._pace.add(results)
        for result in results:
            if result.error is not None:
                run = result.run
                self._say(
                    "failed",
                    parameters=dict(run.variant.parameters),
                    seed=run.seed,
                    error=result.error,
                )
        if time.monotonic() - self._said >= EVERY_S:
            self._progress()

    def worst(self, line: str | None) -> None:
        """Reports the interval that exceeds its bound most."""
        self._say("worst", interval=line)

    def stopping(self) -> None:
        """Reports that Ctrl-C was pressed."""
        self._say("stopping")

    def _progress(self) -> None:
        pace = self._pace
        self._said = time.monotonic()
        self._say(
            "progress",
            done=pace.done,
            failed=pace.failed,
            planned=pace.planned,
            known=pace.known,
            elapsed_s=round(pace.elapsed_s, 3),
            rate_per_s=round(pace.rate, 3),
            left_s=None if pace.left_s is None else round(pace.left_s, 3),
        )

    @staticmethod
    def _say(event: str, **values: object) -> None:
        print(json.dumps({"event": event, **values}, allow_nan=False), flush=True)


SHOWN_AFTER_S = 1.0
"""Seconds that a single run takes before progress is shown."""


@contextmanager
def run_progress() -> Iterator[Callable[[float, float], None]]:
    """Yields a function for the share of the run that is done and the seconds that it took.

    On a terminal it shows both and the remaining time, once the run has taken a second.
    """
    with ExitStack() as shown:
        bar: Progress | None = None
        task: TaskID | None = None

        def show(share: float, seconds: float) -> None:
            nonlocal bar, task
            if seconds < SHOWN_AFTER_S or not sys.stderr.isatty():
                return
            if bar is None or task is None:
                bar = shown.enter_context(progress(counted=False))
                task = bar.add_task("", total=1.0)
            text = "building the network"
            if share >= 1:
                text = "summing up"
            elif share > 0:
                text = f"running, {duration(seconds * (1 - share) / share)} left"
            bar.update(task, description=text, completed=share)

        yield show


@contextmanager
def counted_runs(what: str) -> Iterator[Callable[[int], None]]:
    """Yields a function that counts a finished run, given the number of runs left, on a bar."""
    with progress() as bar:
        task = bar.add_task(what, total=None)
        done = 0

        def on_run(left: int) -> None:
            nonlocal done
            done += 1
            bar.update(task, completed=done, total=done + left)

        yield on_run


def duration(seconds: float) -> str:
    """Returns a time for people, in two of its units."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
