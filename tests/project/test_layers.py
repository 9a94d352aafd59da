"""The folders of the Python package depend on each other in the order of ARCHITECTURE.md.

A module imports from its own folder and from folders above it in the table. Every import counts:
those inside functions, and those that only type checkers read.
"""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGE = ROOT / "python/goodqueue"

ROW = re.compile(r"\| `(?P<name>\w+)(?:/|\.py)` \|")
HEADING = "| in `python/goodqueue` | contents |\n"

CRATE = re.compile(r"\| `crates/(?P<name>\w+)` \|.*\| (?P<needs>[^|]*) \|")

MAX_FILES = 12
"""Largest number of modules of a folder."""


@cache
def order() -> list[str]:
    """Returns folders and modules of the package in the order of ARCHITECTURE.md, lowest first."""
    rows = (ROOT / "ARCHITECTURE.md").read_text("utf-8").partition(HEADING)[2].partition("\n\n")[0]
    return [row["name"] for row in ROW.finditer(rows)]


def module_of(path: Path) -> str:
    """Returns the name of the module that a file holds."""
    names = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(names[:-1] if names[-1] == "__init__" else names)


@cache
def modules() -> dict[str, Path]:
    """Returns the files of the package by the names of their modules."""
    return {module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yields the module and the name of every import; the name is empty for a whole module.

    A call of `import_module` with a literal name is an import, too.
    """
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Name(id="import_module") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield name, ""
            case ast.Import(names=names):
                yield from ((one.name, "") for one in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from ((module, one.name) for one in names)
            case ast.ImportFrom():
                raise AssertionError("a relative import")


@cache
def imports(module: str) -> set[str]:
    """Returns the modules of the package that a module imports."""
    tree = ast.parse(modules()[module].read_text("utf-8"))
    found = set()
    for name, part in imported(tree):
        whole = f"{name}.{part}"
        found |= {whole if whole in modules() else name} & modules().keys()
    return found - {module}


def part_of(module: str) -> str:
    """Returns the folder of a module, or its own name if it is in no folder."""
    return module.split(".")[1] if "." in module else ""


def upward(module: str, its_imports: set[str]) -> list[str]:
    """Returns the imports of a module that run upward in the order."""
    place = order().index(part_of(module))
    return sorted(
        other for other in its_imports if part_of(other) and order().index(part_of(other)) > place
    )


def test_the_table_names_every_folder_and_module() -> None:
    names = {path.stem for path in PACKAGE.glob("*.py")} | {
        path.parent.name for path in PACKAGE.glob("*/__init__.py")
    }
    assert set(order()) == names - {"__init__"}
    assert len(order()) == len(set(order()))


def test_no_import_runs_upward() -> None:
    found = [
        f"{module} -> {other}"
        for module in modules()
        if part_of(module)
        for other in upward(module, imports(module))
    ]
    assert not found


def test_an_upward_import_is_found() -> None:
    assert upward("goodqueue.study.plan", {"goodqueue.cli.app", "goodqueue.runs.api"}) == [
        "goodqueue.cli.app"
    ]


def test_an_import_by_name_counts() -> None:
    for call in ("import_module", "importlib.import_module"):
        tree = ast.parse(f"def draw():\n    {call}('goodqueue.plots.shown').draw()\n")
        assert list(imported(tree)) == [("goodqueue.plots.shown", "")]


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    """The package itself imports its public names on demand, and is left out."""
    graph = {name: imports(name) - {"goodqueue"} for name in modules() if part_of(name)}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_the_package_does_not_need_the_checkout() -> None:
    """Neither code nor data of `evidence/` are in the wheel, which holds `python/` only."""
    foreign = {
        name.split(".")[0]
        for path in modules().values()
        for name, _ in imported(ast.parse(path.read_text("utf-8")))
    }
    assert not foreign & {"evidence", "conftest", "tests"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["tool"]["maturin"]["python-source"] == "python"
    included = [one["path"] for one in project["tool"]["maturin"]["include"]]
    assert all(path.startswith("python/goodqueue/") for path in included)
    assert {path.name for path in (ROOT / "python").iterdir()} == {"goodqueue"}


def test_folders_stay_small_enough_to_read() -> None:
    counts = {
        folder.relative_to(PACKAGE): len(list(folder.glob("*.py")))
        for folder in [PACKAGE, *PACKAGE.rglob("*/")]
    }
    assert not {folder: count for folder, count in counts.items() if count > MAX_FILES}


@cache
def crates() -> dict[str, set[str]]:
    """Returns the crates of the project, each with those that its product code depends on."""
    prefix = "goodqueue-"
    found = {}
    for path in sorted((ROOT / "crates").glob("*/Cargo.toml")):
        manifest = tomllib.loads(path.read_text("utf-8"))
        tables = [manifest, *manifest.get("target", {}).values()]
        names = [name for table in tables for name in table.get("dependencies", {})]
        found[path.parent.name] = {
            name.removeprefix(prefix) for name in names if name.startswith(prefix)
        }
    return found


def reached(crate: str) -> set[str]:
    """Returns the crate and all that it depends on, directly or not."""
    return {crate}.union(*(reached(other) for other in crates()[crate]))


def test_the_table_of_crates_is_the_graph_of_their_manifests() -> None:
    """A row names dependencies of the crate's own, and those imply all others."""
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    rows = {row["name"]: row["needs"].partition(";")[0] for row in CRATE.finditer(text)}
    assert set(rows) == set(crates())
    for crate, needs in crates().items():
        named = set(re.findall(r"\w+", rows[crate])) & set(crates())
        assert named <= needs, crate
        assert needs <= set().union(*map(reached, named)), crate


def test_folders_of_rust_tests_stay_small_enough_to_read() -> None:
    folders = [folder for folder in (ROOT / "crates").glob("*/tests/**/") if folder.is_dir()]
    assert folders
    counts = {folder: len(list(folder.glob("*.rs"))) for folder in folders}
    assert not {folder: count for folder, count in counts.items() if count > MAX_FILES}
