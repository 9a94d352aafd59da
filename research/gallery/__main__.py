"""Draws the pictures of docs/scenarios.md and writes their captions (`make gallery`).

If scenarios are named as arguments, only their pictures are drawn.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue.output.terminal import progress
from research.gallery import claims, core, home, papers
from research.gallery.claims import Claim
from research.pages import with_part

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


def main() -> None:
    """Runs and draws the scenarios named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*DRAWN, []], metavar="scenario")
    names = parser.parse_args().names or list(DRAWN)
    PICTURES.mkdir(parents=True, exist_ok=True)
    with progress() as bar:
        shown = bar.add_task("scenarios", total=len(names))
        for name in names:
            drawn = DRAWN[name]()
            picture = drawn.picture if isinstance(drawn, Claim) else drawn
            picture.save_as(PICTURES, ["png"], DPI)
            page = with_caption(PAGE.read_text(encoding="utf-8"), name, picture.caption)
            if isinstance(drawn, Claim):
                page = with_part(page, f"table of {name}", drawn.table)
            PAGE.write_text(page, encoding="utf-8")
            bar.advance(shown)
    print(f"written to {PAGE} and {PICTURES}")


if __name__ == "__main__":
    main()
