"""The canary of links at home, which several things share: the check of all stamps stays short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evidence.core.cells import Cell

if TYPE_CHECKING:
    from collections.abc import Iterator

RATED = 'kind="tbf",rate="9500kbps",burst="5kB"'


def homes() -> Iterator[Cell]:
    """Yields runs of the ready scenarios of homes with the settings that pages compare."""
    for rate in ("7Mbps", "9500kbps", "10Mbps"):
        yield Cell.of("scenarios/home-dsl.toml", {"topology.link.shaper.rate": rate})
    fair = f'{{{RATED},queue={{kind="fq_codel"}}}}'
    for queue in ('{limit="250p"}', fair, '{kind="cake",bandwidth="9500kbps"}'):
        yield Cell.of("scenarios/home-web.toml", {"topology.bottleneck.queue": queue})
    for limit in ("20p", "100p"):
        settings = {"topology.link.uplink.queue.limit": limit}
        yield Cell.of("scenarios/course-bufferbloat.toml", settings)
