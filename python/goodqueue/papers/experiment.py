"""Papers, and what can be reproduced of them.

A paper is a folder here with a `paper.toml`. Each TOML file beside it that names published figures
is an experiment (see `table.py`); figures that are curves are computed by modules, which the
package's `experiments()` returns.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Protocol

from goodqueue.errors import RequestError
from goodqueue.papers.table import TableExperiment, folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.papers.cells import Reproduction
    from goodqueue.study.runner import Runner

PAPERS = files(__package__)


class Experiment(Protocol):
    """A table or figure that can be reproduced."""

    @property
    def paper(self) -> str:
        """The folder of its paper."""
        ...

    @property
    def name(self) -> str:
        """Such as `table4`."""
        ...

    @property
    def title(self) -> str:
        """What it shows, in a line."""
        ...

    @property
    def seconds(self) -> float:
        """How long all its runs take on two cores, about."""
        ...

    def reproduce(self, runner: Runner) -> Reproduction:
        """Runs what is not known yet and sets ours beside the published figures."""
        ...


@dataclass(frozen=True, slots=True)
class Paper:
    """A publication.

    Attributes:
        name: its folder here, with hyphens for underscores.
        title: as printed.
        authors: as printed.
        page: the page about it in the documentation.
        year: of publication; None if that is not known.
    """

    name: str
    title: str
    authors: str
    page: str
    year: int | None = None

    @property
    def by(self) -> str:
        """Whose it is, and when it was published."""
        return self.authors if self.year is None else f"{self.authors}, {self.year}"


def papers() -> list[str]:
    """The papers that have anything to reproduce."""
    return sorted(
        entry.name.replace("_", "-")
        for entry in PAPERS.iterdir()
        if entry.is_dir() and entry.joinpath("paper.toml").is_file()
    )


def paper(name: str) -> Paper:
    """What is known of a paper.

    Raises:
        RequestError: if there is no such paper.
    """
    if name not in papers():
        raise RequestError(f"there is no paper {name!r}; {_nearest(name, papers())}")
    return Paper(name, **tomllib.loads(folder(name).joinpath("paper.toml").read_text("utf-8")))


@cache
def experiments(name: str) -> Sequence[Experiment]:
    """What can be reproduced of a paper: tables, figures and what else there is, by number.

    The same ones at each call: figures ask for the tables that they show.

    Raises:
        RequestError: if there is no such paper.
    """
    found: list[Experiment] = []
    for entry in folder(paper(name).name).iterdir():
        if entry.name.endswith(".toml"):
            data = tomllib.loads(entry.read_text("utf-8"))
            if "published" in data:
                found.append(TableExperiment(name, entry.name.removesuffix(".toml"), data))
    package = import_module(f"{__package__}.{folder(name).name}")
    if hasattr(package, "experiments"):
        found += package.experiments()
    return sorted(found, key=_place)


def experiment(name: str, wanted: str) -> Experiment:
    """One experiment of a paper.

    Raises:
        RequestError: if there is none of that name.
    """
    known = {one.name: one for one in experiments(name)}
    if wanted not in known:
        raise RequestError(f"{name} has no {wanted!r} here; {_nearest(wanted, list(known))}")
    return known[wanted]


def _nearest(wanted: str, known: Sequence[str]) -> str:
    """What may have been meant, and all there is."""
    meant = [f"did you mean {name!r}? " for name in get_close_matches(wanted, known, 1)]
    return f"{''.join(meant)}there is {', '.join(known)}"


def _place(one: Experiment) -> tuple[int, list[str | int]]:
    """Tables first, then figures; numbers in names by their value."""
    parts = re.split(r"(\d+)", one.name)
    return (
        0 if one.name.startswith("table") else 1 if one.name.startswith("fig") else 2,
        [int(part) if index % 2 else part for index, part in enumerate(parts)],
    )
