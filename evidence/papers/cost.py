"""Prints the run time of each experiment, for `--list`: `python -m evidence.papers.cost [DIR]`.

Each line has the time that the experiment announces beside the time that its runs took on two
cores. DIR is the folder of stored runs, as in `goodqueue reproduce --store`. Times measured on a
busy machine are not representative.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue.papers.dhamdhere2005.second_pass import CapturesExperiment
from goodqueue.papers.experiment import experiments, papers
from goodqueue.study.runner import Runner, user_store
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.study.model import Run
    from goodqueue.study.record.store import Store

CORES = 2


class Noting(Runner):
    """A runner that records the identity of every requested run."""

    def __init__(self, store: Store) -> None:
        """Takes the store that holds the results."""
        super().__init__(store, Threads(None))
        self.asked: set[bytes] = set()

    def figures(self, runs: Sequence[Run], metrics: Sequence[str]) -> list[list[float]]:
        """Returns the metrics of each run, and records the run."""
        self.asked.update(run.identity for run in runs)
        return super().figures(runs, metrics)


def costs(store: Store) -> None:
    """Prints a line for each experiment."""
    for name in papers():
        for one in experiments(name):
            runner = Noting(store)
            one.reproduce(runner)
            took = store.seconds(runner.asked) / CORES
            if isinstance(one, CapturesExperiment):
                took += one.captures_took_s(runner) / CORES
            runs = f"{len(runner.asked):,} runs"
            print(f"{name} {one.name}: said {one.seconds:g} s, took {took:.1f} s ({runs})")


def main(folder: str | None = None) -> None:
    """Prints the costs of the user's runs, or of the runs stored in a folder."""
    with user_store("papers", None if folder is None else Path(folder)) as store:
        costs(store)


if __name__ == "__main__":
    main(*sys.argv[1:])
