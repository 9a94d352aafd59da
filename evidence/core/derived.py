"""Things that are derived from runs: their makers, inputs and products."""

from __future__ import annotations

import hashlib
import importlib
import re
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

from evidence.core.pages import part
from goodqueue import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evidence.core.answers import Asked
    from evidence.core.cells import Cell

ROOT = Path(__file__).parents[2]
HOME = ROOT / "evidence"

IMPORTED = re.compile(
    r"^\s*(?:from (evidence[\w.]+) import (\([^)]*\)|.*)|import (evidence[\w.]+))", re.MULTILINE
)


class MissingError(Exception):
    """Something that a maker needs is not installed; the message names it and the remedy."""


@dataclass(frozen=True)
class Derived:
    """A thing that a program of the repository makes.

    Attributes:
        name: folder of the experiment, and after a slash the thing, if the folder makes several.
        make: makes all products again.
        products: files relative to the root; `page.md#part` is a marked part of a page.
        inputs: files and folders, relative to the root, that the maker reads, besides its programs
            and the products of what it needs.
        needs: names of the things that must be made before.
        cells: returns runs of the experiment, or questions, of which the canary is chosen; None if
            the maker records its runs itself, or has none because it only shows what it needs.
        seeds: seeds of the runs, in words.
        programs: files of the folder that make it, if the others do not matter to it; empty for all
            files of the folder.
        measured: source of the figures if this engine alone does not decide them, such as "Linux
            6.18"; `make evidence NAME=--stale` leaves such a thing alone.
    """

    name: str
    make: Callable[[], None]
    products: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    cells: Callable[[], Iterable[Cell | Asked]] | None = None
    seeds: str = "-"
    programs: tuple[str, ...] = ()
    measured: str | None = None

    @property
    def folder(self) -> str:
        """The folder of the experiment below `evidence`."""
        return self.name.partition("/")[0]

    def digests(self) -> dict[str, str]:
        """Returns digests of the maker's programs and of each input."""
        own = [HOME / self.folder / name for name in self.programs]
        found = {"maker": digest_of(own or programs(self.folder))}
        return found | {name: digest_of([ROOT / name]) for name in self.inputs}

    def product_digests(self) -> dict[str, str | None]:
        """Returns a digest of each product, None for one that does not exist."""
        return {name: _digest_of_product(name) for name in self.products}


def _digest_of_product(name: str) -> str | None:
    path, _, of_page = name.partition("#")
    file = ROOT / path
    if not file.exists():
        return None
    if not of_page:
        return digest_of([file])
    try:
        text = part(file.read_text(encoding="utf-8"), of_page)
    except ValueError:
        return None
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def relative(path: Path) -> str:
    """Returns a path below the root as products and inputs name it."""
    return path.relative_to(ROOT).as_posix() if path.is_absolute() else path.as_posix()


@cache
def scratch() -> Path:
    """Returns a folder for unfinished data and stores of runs that only this engine uses.

    An interrupted call so continues with its finished runs, and no run of another engine is taken.
    """
    engine = hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()[:16]
    folder = ROOT / "target" / "evidence" / engine
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def digest_of(paths: Iterable[Path]) -> str:
    """Returns a digest of files, and of all files below folders, with their names."""
    whole = hashlib.sha256()
    files = (file for path in paths for file in ([path] if path.is_file() else path.rglob("*")))
    for file in sorted(one for one in files if one.is_file() and one.suffix != ".pyc"):
        whole.update(file.relative_to(ROOT).as_posix().encode())
        whole.update(file.read_bytes())
    return whole.hexdigest()[:16]


@cache
def programs(folder: str) -> tuple[Path, ...]:
    """Returns the programs of an experiment, with the modules of others that they import.

    The mechanism (`evidence/core`) is left out, because it decides no figure.
    """
    waiting = sorted((HOME / folder).rglob("*.py"))
    found: dict[Path, None] = {}
    while waiting:
        file = waiting.pop(0)
        if file not in found and HOME / "core" not in file.parents:
            found[file] = None
            waiting += imported(file.read_text(encoding="utf-8"))
    return tuple(found)


def imported(text: str) -> list[Path]:
    """Returns the modules of `evidence` that a program imports, in the order of its lines."""
    found = []
    for module, names, alone in IMPORTED.findall(text):
        path = ROOT.joinpath(*(module or alone).split("."))
        inside = [path / name for name in re.findall(r"\w+", names)]
        for one in [path, *inside]:
            found += [
                file for file in (one.with_suffix(".py"), one / "__init__.py") if file.is_file()
            ]
    return found


@cache
def everything() -> dict[str, Derived]:
    """Returns all things by name, in an order in which each comes after what it needs."""
    found = {one.name: one for folder in _makers() for one in _things(folder)}
    order = TopologicalSorter({one.name: one.needs for one in found.values()}).static_order()
    return {name: found[name] for name in order}


def _makers() -> Iterator[str]:
    yield from (path.parent.name for path in sorted(HOME.glob("*/make.py")))


def _things(folder: str) -> Sequence[Derived]:
    things: Sequence[Derived] = importlib.import_module(f"evidence.{folder}.make").THINGS
    for one in things:
        if one.folder != folder:
            raise ValueError(f"evidence/{folder}/make.py declares {one.name!r}")
    return things
