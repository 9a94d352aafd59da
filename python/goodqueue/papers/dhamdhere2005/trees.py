"""The trees of 18 sources that fit what the paper prints (`trees.toml`), one of which is chosen."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Tree:
    """Sources of the traffic.

    Attributes:
        name: name of the tree.
        rtts_ms: base round-trip time of each source in ms, from the nearest to the farthest.
        why: the reason why the tree is tried.
    """

    name: str
    rtts_ms: tuple[int, ...]
    why: str


_OPEN = tomllib.loads(files(__package__).joinpath("trees.toml").read_text("utf-8"))["open"]

TREES = {
    entry["name"]: Tree(entry["name"], tuple(entry["rtts_ms"]), entry["why"])
    for entry in _OPEN["candidate"]
}
"""All trees, by name."""

WHY: str = _OPEN["why"]
"""The reason for the choice."""

CHOSEN = TREES[_OPEN["chosen"]]
"""The tree with which Table I and the figures are judged."""

USUAL = TREES["quadratic"]
"""The shape `tree` of scenarios, with which captures are made."""
