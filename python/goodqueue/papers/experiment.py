"""Papers and their experiments.

A paper is a folder beside this module with a `paper.toml`. Each other TOML file of the folder that
names published figures is an experiment (see `table.py`). Curves are computed by modules instead;
the `experiments()` of the paper's package returns them.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Protocol

from goodqueue.errors import RequestError, nearest
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
        """Name of the paper's folder."""
        ...

    @property
    def name(self) -> str:
        """Name of the experiment, such as `table4`."""
        ...

    @property
    def title(self) -> str:
        """Description of the experiment, in one line."""
        ...

    @property
    def seconds(self) -> float:
        """Approximate time that all its runs take on two cores, in seconds."""
        ...

    def reproduce(self, runner: Runner) -> Reproduction:
        """Runs what the store lacks and compares our figures with the published ones."""
        ...


@dataclass(frozen=True, slots=True)
class Paper:
    """A publication.

    Attributes:
        name: name of its folder here, with hyphens for underscores.
        title: title, as printed.
        authors: authors, as printed.
        page: the documentation page about the paper.
        year: year of publication; None if it is not known.
    """

    name: str
    title: str
    authors: str
    page: str
    year: int | None = None

    @property
    def by(self) -> str:
        """The authors, and the year of publication if it is known."""
        return self.authors if self.year is None else f"{self.authors}, {self.year}"


def papers() -> list[str]:
    """Returns the names of all papers that have experiments, sorted."""
    return sorted(
        entry.name.replace("_", "-")
        for entry in PAPERS.iterdir()
        if entry.is_dir() and entry.joinpath("paper.toml").is_file()
    )


def paper(name: str) -> Paper:
    """Returns the description of a paper.

    Raises:
        RequestError: if there is no such paper.
    """
    if name not in papers():
        raise RequestError(f"there is no paper {name!r}; {nearest(name, papers())}")
    return Paper(name, **tomllib.loads(folder(name).joinpath("paper.toml").read_text("utf-8")))


@cache
def experiments(name: str) -> Sequence[Experiment]:
    """Returns the experiments of a paper: tables, then figures, then others, sorted by number.

    Every call returns the same objects, because figures use the results of their tables.

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
    """Returns one experiment of a paper.

    Raises:
        RequestError: if the paper has no experiment of that name.
    """
    known = {one.name: one for one in experiments(name)}
    if wanted not in known:
        raise RequestError(f"{name} has no table or figure {wanted!r}; {nearest(wanted, known)}")
    return known[wanted]


def _place(one: Experiment) -> tuple[int, list[str | int]]:
    """Returns the sort key of an experiment: tables, then figures, then others, by number."""
    parts = re.split(r"(\d+)", one.name)
    return (
        0 if one.name.startswith("table") else 1 if one.name.startswith("fig") else 2,
        [int(part) if index % 2 else part for index, part in enumerate(parts)],
    )
