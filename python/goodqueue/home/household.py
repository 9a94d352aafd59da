"""The traffic of a household, in words such as `game, web, upload`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from goodqueue.errors import RequestError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

Direction = Literal["up", "down"]

UP: Direction = "up"
DOWN: Direction = "down"

USUAL = "game, web, upload, download"
"""The household without `--traffic`."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a household's traffic.

    Attributes:
        workload: its workload in scenario files.
        fills: direction that it fills; None if it fills none.
    """

    workload: dict[str, Any]
    fills: Direction | None = None


PARTS = {
    "game": Part({"kind": "game"}),
    "call": Part({"kind": "voice"}),
    "web": Part({"kind": "web", "main_size": "30kB", "objects": 20, "think": "2s"}),
    "video": Part({"kind": "video"}),
    "upload": Part({"kind": "bulk"}, UP),
    "download": Part({"kind": "bulk"}, DOWN),
}
"""Parts of a household by their words; web pages are those of scenarios/home-dsl.toml."""

PING = {"name": "ping", "workload": {"kind": "ping", "interval": "50ms"}}
"""The ping of a game, which is measured in every household."""


def household(text: str) -> tuple[str, ...]:
    """Returns the parts of a household, in the order of `PARTS`.

    Args:
        text: words, separated by commas, blanks or plus signs.

    Raises:
        RequestError: if a word is unknown, or if no part fills a direction of the line.
    """
    words = text.replace(",", " ").replace("+", " ").split()
    for word in words:
        if word not in PARTS:
            raise RequestError(f"--traffic {text}: {word}: {nearest(word, list(PARTS))}")
    found = tuple(word for word in PARTS if word in words)
    if not filled(found):
        raise RequestError(
            f"--traffic {text}: nothing of this fills the line, so no shaper is needed; add upload "
            "or download"
        )
    return found


def filled(words: Sequence[str]) -> list[Direction]:
    """Returns the directions of the line that parts of a household fill, up first."""
    fills = {PARTS[word].fills for word in words}
    return [direction for direction in (UP, DOWN) if direction in fills]


def flows(words: Sequence[str], rtt: str) -> list[dict[str, Any]]:
    """Returns the flows of a household in scenario files, the ping last.

    Args:
        words: its parts.
        rtt: round-trip time of all of them while nothing waits.
    """
    made = []
    for word in words:
        part = PARTS[word]
        # The client of a bulk flow sends: that of a download is at the far end.
        ends = {"from": 2, "to": 0} if part.fills == DOWN else {}
        jitter = "1s" if part.fills or word == "web" else "100ms"
        made.append({"name": word, **ends, "rtt": rtt, "start_jitter": jitter})
        made[-1]["workload"] = part.workload
    return [*made, {"name": "ping", "rtt": rtt, "start_jitter": "100ms", **PING}]
