"""Open data of other laboratories as judges of hosts and queues: files of results, and their page.

Each judge has its published rows in `published/`, and our figures beside them in `found/`.
`python -m evidence make judges/NAME` runs one of them, `judges/page` writes the page.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evidence.core.derived import Derived, relative
from evidence.core.pages import with_part
from evidence.judges import bbr3, ccafct, dctcp, flent, l4s, linux, page, spang

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evidence.core.cells import Cell

PAGE = Path("docs/validation.md")

JUDGES = (dctcp.JUDGE, bbr3.JUDGE, l4s.JUDGE, spang.JUDGE, linux.JUDGE, ccafct.JUDGE, flent.JUDGE)
"""All judges, in the order of the page."""


def make_page() -> None:
    """Writes the part of the page."""
    before = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_part(before, page.PART, page.text(JUDGES)), encoding="utf-8")


def cells() -> Iterator[Cell]:
    """Yields runs of every judge: they share a canary, because each has few kinds of runs."""
    for judge in JUDGES:
        yield from judge.cells()


THINGS = [
    *(
        Derived(
            f"judges/{judge.name}",
            judge.make,
            products=(
                relative(judge.found),
                *(relative(judge.found_with(one)) for one in judge.trials),
            ),
            inputs=(relative(judge.published),),
            cells=cells,
            seeds=f"{judge.seeds[0]} to {judge.seeds[-1]}",
        )
        for judge in JUDGES
    ),
    Derived(
        "judges/page",
        make_page,
        products=(f"{PAGE}#{page.PART}",),
        needs=tuple(f"judges/{judge.name}" for judge in JUDGES),
    ),
]
