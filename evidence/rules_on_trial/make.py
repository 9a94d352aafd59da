"""The study of the rules: its runs, its searches, the fitted table, and docs/rules-on-trial.md."""

from __future__ import annotations

import shutil
from itertools import chain
from typing import TYPE_CHECKING

from evidence.core.cells import Cell
from evidence.core.derived import Derived, relative, scratch
from evidence.core.parallel import in_parallel
from evidence.rules_on_trial import draw, plan
from evidence.rules_on_trial.check import searches
from evidence.rules_on_trial.fitting import data, made
from evidence.rules_on_trial.report import page
from evidence.rules_on_trial.run import shard
from goodqueue.runs.settings import scenario_of
from goodqueue.sizing.calibrated.record import FILE
from goodqueue.sizing.trials.described import settings, tail_drop

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SHARDS = 2
"""Processes that share the links; each appends to its own file."""


def make_runs() -> None:
    """Runs every link of the study, and writes the table of runs."""
    files = [scratch() / f"study-{part}.jsonl" for part in range(SHARDS)]
    in_parallel(_run_shard, enumerate(files))
    data.combine(files)


def _run_shard(part: int, file: Path) -> None:
    shard(draw.STUDY_SEED, _numbers(draw.LINKS, draw.LINKS_OF_OPERATORS, part), file)


def _numbers(ordinary: int, operators: int, part: int) -> Iterator[int]:
    """Returns the numbers of the links of one shard."""
    first = draw.FIRST_OF_OPERATORS
    return chain(range(part, ordinary, SHARDS), range(first + part, first + operators, SHARDS))


def make_searches() -> None:
    """Searches the smallest buffers of the links that calibrate the errors, and of the check."""
    found = {}
    for seed, ordinary, operators in (
        (draw.CALIBRATION_SEED, draw.CALIBRATION_LINKS, draw.CALIBRATION_LINKS_OF_OPERATORS),
        (draw.CHECK_SEED, draw.CHECK_LINKS, draw.CHECK_LINKS_OF_OPERATORS),
    ):
        files = [scratch() / f"searches-{seed}-{part}.jsonl" for part in range(SHARDS)]
        shards = [(seed, ordinary, operators, part, file) for part, file in enumerate(files)]
        in_parallel(_search_shard, shards)
        found[seed] = scratch() / f"searches-{seed}.jsonl"
        with found[seed].open("wb") as whole:
            for file in files:
                with file.open("rb") as lines:
                    shutil.copyfileobj(lines, whole)
    made.keep_searches(found)


def _search_shard(seed: int, ordinary: int, operators: int, part: int, file: Path) -> None:
    searches(seed, _numbers(ordinary, operators, part), file)


def cells() -> Iterator[Cell]:
    """Yields the first link of each kind of hosts, behind half a bandwidth-delay product."""
    kinds: dict[tuple[str | None, str, bool], Cell] = {}
    for index in range(200):
        link = draw.link(draw.STUDY_SEED, index)
        kind = (link.profile, link.congestion_control, link.byte_counting)
        packets = max(round(link.bdp_packets / 2), 2)
        reach = plan.length(link, packets)
        if kind not in kinds and reach is not None:
            described = settings(link, packets, tail_drop(packets), reach)
            kinds[kind] = Cell(scenario_of(described, "the link").canonical_toml())
    yield from kinds.values()


PACKAGE = relative(made.HOME)

RUNS = ("draw.py", "plan.py", "run.py")
SEARCHES = (*RUNS, "check.py")
FITTING = (*SEARCHES, "fitting")
"""Programs that decide each kind of data; the report decides none."""

THINGS = [
    Derived(
        "rules_on_trial/runs",
        make_runs,
        products=(relative(data.RUNS),),
        cells=cells,
        seeds="one or two for each buffer of a link, by a hash",
        programs=RUNS,
    ),
    Derived(
        "rules_on_trial/searches",
        make_searches,
        products=(relative(made.SEARCHES),),
        cells=cells,
        seeds="2 to 25 for each limit of a link",
        programs=SEARCHES,
    ),
    Derived(
        "rules_on_trial/table",
        made.make,
        products=(f"{PACKAGE}/table.npz", f"{PACKAGE}/record.json"),
        needs=("rules_on_trial/runs", "rules_on_trial/searches"),
        programs=FITTING,
    ),
    Derived(
        "rules_on_trial/coverage",
        made.write_coverage,
        products=(f"{PACKAGE}/{FILE}",),
        needs=("rules_on_trial/table",),
        programs=FITTING,
    ),
    Derived(
        "rules_on_trial/page",
        page.write,
        products=(
            f"{relative(page.README)}#{page.SUMMARY}",
            *(f"{relative(page.PAGE)}#{name}" for name in page.PARTS),
            *(f"{relative(page.PAGE)}#picture {name}" for name in page.PICTURES),
            *(relative(page.IMAGES / f"{name}.png") for name in page.PICTURES),
        ),
        needs=("rules_on_trial/coverage",),
    ),
]
