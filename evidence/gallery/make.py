"""Draws the pictures of docs/scenarios.md and writes their captions."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evidence.core.cells import Cell
from evidence.core.derived import Derived
from evidence.core.pages import with_part
from evidence.gallery import claims, core, home, papers
from evidence.gallery.claims import Claim

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodqueue.plots.style import Picture

PAGE = Path("docs/scenarios.md")
PICTURES = Path("docs/img/scenarios")

DRAWN: dict[str, Callable[[], Picture | Claim]] = {
    "bufferbloat": home.bufferbloat,
    "home-web": home.home_web,
    "evening": home.evening,
    "adsl": home.adsl,
    "office": home.office,
    "cable-modem": home.cable_modem,
    "wifi": home.wifi,
    "cellular": home.cellular,
    "satellite": core.satellite,
    "backbone": core.backbone,
    "three-bottlenecks": core.three_bottlenecks,
    "partition-aggregate": core.partition_aggregate,
    "shared-buffer": core.shared_buffer,
    "bscl-mix": papers.bscl_mix,
    "gijsbers-ping": papers.gijsbers_ping,
    "gijsbers-periodic": papers.gijsbers_periodic,
    "red-study": papers.red_study,
    "tiny-buffer": claims.tiny_buffer,
    "short-flows": claims.short_flows,
}
"""Function that draws each scenario of the gallery, by the name of the scenario's file."""


DPI = 110
"""Resolution of the pictures: high enough for a page, and low enough for small files."""


def with_caption(page: str, name: str, caption: str) -> str:
    """Returns the page with the caption as alternative text of a picture, for screen readers."""
    target = f"](img/scenarios/{name}.png)"
    before, after = page.split(target)
    return before[: before.rindex("![")] + f"![{caption}" + target + after


def draw(name: str) -> None:
    """Runs and draws a scenario, and writes its caption and its table into the page."""
    drawn = DRAWN[name]()
    picture = drawn.picture if isinstance(drawn, Claim) else drawn
    PICTURES.mkdir(parents=True, exist_ok=True)
    picture.save_as(PICTURES, ["png"], DPI)
    page = with_caption(PAGE.read_text(encoding="utf-8"), name, picture.caption)
    if isinstance(drawn, Claim):
        page = with_part(page, f"table of {name}", drawn.table)
    PAGE.write_text(page, encoding="utf-8")


TABLES = ("tiny-buffer", "short-flows")
"""Scenarios whose claim has a table in the page, too."""


TOGETHER = (
    ("bufferbloat",),
    ("home-web", "evening", "adsl", "cable-modem", "wifi", "cellular", "satellite"),
    ("gijsbers-ping", "gijsbers-periodic"),
    ("partition-aggregate", "shared-buffer"),
)
"""Scenarios that share a canary, as do pictures of other pages. The others record their runs."""


def _cells(names: tuple[str, ...]) -> list[Cell]:
    return [Cell(f"scenarios/{name}.toml") for name in names]


def _thing(name: str) -> Derived:
    tables = (f"{PAGE}#table of {name}",) if name in TABLES else ()
    return Derived(
        f"gallery/{name}",
        partial(draw, name),
        products=(f"{PICTURES}/{name}.png", *tables),
        inputs=(f"scenarios/{name}.toml",),
        cells=next((partial(_cells, names) for names in TOGETHER if name in names), None),
        seeds="1 for series over time; 1 to 3, 5 or 10 for means, as the caption says",
    )


THINGS = [_thing(name) for name in DRAWN]
