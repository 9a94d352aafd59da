"""The plan of a study on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.output.progress import duration
from goodqueue.output.terminal import counted, plain, stdout, table

if TYPE_CHECKING:
    from goodqueue.study.estimate import Cost
    from goodqueue.study.model import StudyPlan

MAX_PRINTED = 20


def print_plan(study: StudyPlan, least: int, cost: Cost, workers: int) -> None:
    """Prints the variants of a study, and what its runs cost with at least `least` seeds each."""
    console = stdout()
    count = len(study.variants)
    rows = [
        [plain(str(value)) for value in variant.parameters.values()]
        for variant in study.variants[:MAX_PRINTED]
    ]
    title = plain(study.title) or "Study"
    console.print(table(title, list(study.axes), rows) if study.axes else title)
    if count > MAX_PRINTED:
        console.print(
            f"... and {counted(count - MAX_PRINTED, 'more variant')}; --json prints them all"
        )
    at_least = "at least " if study.stop else ""
    runs = (
        f"{counted(count * least, 'run')}: {counted(count, 'variant')}, each with "
        f"{at_least}{counted(least, 'seed')}"
    )
    wall, total = duration(cost.seconds / workers), duration(cost.seconds)
    console.print(runs, markup=False)
    console.print(
        (
            f"about {wall} on {counted(workers, 'thread')} ({total} of processor time; a run "
            f"takes {_short(cost.shortest_s)} to {_short(cost.longest_s)})"
        ),
        markup=False,
    )


def _short(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms" if seconds < 1 else duration(seconds)
