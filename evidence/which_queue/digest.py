"""Writes the parts of docs/which-queue.md: the answers, the table of all queues, and the picture.

`make evidence NAME=which_queue/digest` does, from the figures of `characterize` and the
instructions of `goodqueue-bench --queue-counts`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evidence.characterize.make import seeds_of
from evidence.core.pages import with_part
from evidence.which_queue.answers import SLOW_DELAY, SLOW_USE, answers
from evidence.which_queue.figures import Figures, ping, use

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evidence.which_queue.figures import Quantity

PAGE = Path("docs/which-queue.md")
PICTURE = Path("docs/img/which-queue.svg")

RATES = {1: "1 Mb/s, 50 ms", 10: "10 Mb/s, 50 ms", 100: "100 Mb/s, 50 ms", 1000: "1000 Mb/s, 50 ms"}
"""Cases of the operating range over 50 ms, by their rates in Mb/s."""

COLUMNS: tuple[tuple[str, Quantity], ...] = (
    *((f"ping, ms, {rate} Mb/s", ping(case)) for rate, case in RATES.items()),
    *((f"use, %, {rate} Mb/s", use(case)) for rate, case in RATES.items() if rate > 1),
    ("use, %, 100 Mb/s, 500 ms", use("100 Mb/s, 500 ms")),
    ("use, %, rate changes", SLOW_USE),
    ("delay, ms, when it falls", SLOW_DELAY),
)
"""Headers of the table with their figures."""


def table(found: Figures) -> str:
    """Returns the table of all queues with its provenance, as Markdown."""
    heads = ["queue", *(head for head, _ in COLUMNS), "instructions"]
    rows = [
        [
            f"`{name}`",
            *(str(found.of(name, quantity)) for _, quantity in COLUMNS),
            str(found.cost(name) or "-"),
        ]
        for name in found.queues
    ]
    provenance = (
        f"Means of {seeds_of(found.seeds)} ± the 95 % interval, results version "
        f"{found.results_version}. Instructions for each offered packet by callgrind "
        f"({found.compiler})."
    )
    return f"{_markdown(heads, rows)}\n{provenance}\n"


def short_answers(found: Figures) -> str:
    """Returns the answers as Markdown."""
    heads = ["link", "run", "figures", "what one gives up"]
    rows = [[one.link, one.run, one.figures, one.cost] for one in answers(found)]
    return _markdown(heads, rows)


def _markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def with_parts(page: str, found: Figures) -> str:
    """Returns the page with the answers and the table that follow from the figures."""
    page = with_part(page, "answers", short_answers(found))
    return with_part(page, "table", table(found))


def write(root: Path) -> None:
    """Writes the parts of the page and the picture.

    Args:
        root: the checkout.
    """
    from evidence.which_queue.picture import save_over_rates

    found = Figures(root)
    page = root / PAGE
    page.write_text(with_parts(page.read_text(encoding="utf-8"), found), encoding="utf-8")
    save_over_rates(found, root / PICTURE)
    print(f"written to {PAGE} and {PICTURE}")
