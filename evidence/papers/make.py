"""The papers: the tables of their pages, and the pictures that the pages show."""

from __future__ import annotations

import re
import sys
import tempfile
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from evidence.core.cells import RECORDER, Cell
from evidence.core.derived import Derived
from evidence.core.pages import with_part
from evidence.papers import page
from evidence.validation.papers import two_pass, two_pass_report
from goodqueue.papers.experiment import experiments, paper, papers
from goodqueue.study.runner import Runner, user_store
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.study.model import Run
    from goodqueue.study.record.store import Store

PICTURE = re.compile(r"\]\((?P<path>img/[\w-]+/[\w-]+\.png)\)")

APART = {"dhamdhere2005": ("fig5-7-estimates", "fig9-estimates")}
"""Pictures of a page that `evidence/validation/papers/two_pass.py` draws."""


class Recording(Runner):
    """A runner that records the requested runs as cells."""

    def __init__(self, store: Store) -> None:
        """Takes the store that holds the results."""
        super().__init__(store, Threads(None))

    def figures(self, runs: Sequence[Run], metrics: Sequence[str]) -> list[list[float]]:
        """Returns the metrics of each run, and records the run."""
        for run in runs:
            RECORDER.add(Cell(run.variant.scenario.canonical_toml(), seed=run.seed))
        return super().figures(runs, metrics)


def make(name: str) -> None:
    """Runs a paper's experiments, and writes the tables and pictures of its page."""
    path = Path(paper(name).page)
    with user_store("papers") as store:
        runner = Recording(store)
        path.write_text(page.filled(path.read_text("utf-8"), name, runner), "utf-8")
        wanted = {Path(picture).name: Path(picture) for picture in pictures(name)}
        with tempfile.TemporaryDirectory() as folder:
            for one in experiments(name):
                for picture in one.reproduce(runner).pictures():
                    drawn = picture.save(Path(folder))
                    if drawn.name in wanted:
                        wanted[drawn.name].write_bytes(drawn.read_bytes())


@cache
def pictures(name: str) -> tuple[str, ...]:
    """Returns the paths of the pictures that a paper's page shows and its experiments draw."""
    text = Path(paper(name).page).read_text("utf-8")
    found = dict.fromkeys(f"docs/{match['path']}" for match in PICTURE.finditer(text))
    return tuple(one for one in found if Path(one).stem not in APART.get(name, ()))


def _thing(name: str) -> Derived:
    parts = page.parts(Path(paper(name).page).read_text("utf-8"))
    return Derived(
        f"papers/{name}",
        partial(make, name),
        products=(*(f"{paper(name).page}#{part}" for part in parts), *pictures(name)),
        inputs=(f"python/goodqueue/papers/{name.replace('-', '_')}",),
        seeds="those of each experiment",
    )


def draw_estimates() -> None:
    """Draws the loss and the buffers that follow from estimates of captures."""
    found, second = two_pass.passes()
    for picture in two_pass_report.pictures(second):
        picture.save(two_pass_report.FOLDER)
    page = Path(paper("dhamdhere2005").page)
    text = page.read_text("utf-8")
    for name, table in two_pass_report.tables(found, second).items():
        text = with_part(text, name, f"{table}\n")
    page.write_text(text, "utf-8")
    for miss in two_pass_report.verdict(second):
        print(f"missed: {miss}", file=sys.stderr)


ESTIMATES = Derived(
    "papers/estimates",
    draw_estimates,
    products=(
        *(f"docs/dhamdhere2005.md#{name}" for name in two_pass_report.PARTS),
        *(f"docs/img/dhamdhere2005/{name}.png" for name in APART["dhamdhere2005"]),
    ),
    needs=("papers/dhamdhere2005",),
    seeds="1 to 3",
)

THINGS = [*(_thing(name) for name in papers()), ESTIMATES]
