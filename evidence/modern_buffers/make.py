"""The study of modern traffic: its runs, docs/modern-buffers.md, and the record of the rules."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from evidence.core.cells import Cell
from evidence.core.derived import Derived, relative, scratch
from evidence.modern_buffers import page, study, trial
from goodqueue.runs.settings import scenario_of

if TYPE_CHECKING:
    from collections.abc import Iterator

LINKS = 210
"""Number of links on which the rules are tried."""


def make_links() -> None:
    """Runs access, metro and core links with the traffic of 2026 behind many buffers."""
    study.run(study.SEEDS, scratch())
    shutil.copy(scratch() / study.FILE, trial.DATA / study.FILE)


def make_rules() -> None:
    """Runs links with modern congestion controls behind the buffers of the rules for them."""
    trial.run(range(LINKS), scratch())
    shutil.copy(scratch() / trial.FILE, trial.DATA / trial.FILE)


def cells_of_links() -> Iterator[Cell]:
    """Yields the access link with each mix."""
    place = study.PLACES[0]
    for mix in study.MIXES:
        described = study.settings(place, mix, place.packets(0.25))
        yield Cell(scenario_of(described, "the link").canonical_toml())


def cells_of_rules() -> Iterator[Cell]:
    """Yields one link of each congestion control behind its first rule's buffer."""
    for index in range(len(trial.CONTROLS)):
        yield from map(Cell, trial.scenarios(index, 1))


def cells() -> Iterator[Cell]:
    """Yields the cells of both experiments, which share their canary."""
    yield from cells_of_links()
    yield from cells_of_rules()


THINGS = [
    Derived(
        "modern_buffers/links",
        make_links,
        products=(relative(trial.DATA / study.FILE),),
        cells=cells,
        seeds=f"1 to {study.SEEDS}",
    ),
    Derived(
        "modern_buffers/rules",
        make_rules,
        products=(relative(trial.DATA / trial.FILE),),
        cells=cells,
        seeds=f"two for each of {LINKS} links",
    ),
    Derived(
        "modern_buffers/page",
        page.write,
        products=(
            f"{page.PAGE}#links",
            f"{page.PAGE}#rules",
            str(page.PICTURE),
            str(page.RECORD),
        ),
        needs=("modern_buffers/links", "modern_buffers/rules"),
    ),
]
