"""Every public name has an example in its docstring, which runs."""

from __future__ import annotations

import ast
import doctest
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import goodqueue
from goodqueue import _core, sizing

if TYPE_CHECKING:
    from types import ModuleType

DATA = {"EXAMPLE", "RULES"}
"""Names of data, which have no docstring when the program runs."""

NAMES = [
    pytest.param(module, name, id=f"{module.__name__}.{name}")
    for module in (goodqueue, sizing)
    for name in module.__all__
    if name not in DATA
]


@cache
def stubs() -> dict[str, str]:
    """Returns the documentation of the core's classes in its stub, which editors show."""
    tree = ast.parse(Path(goodqueue.__file__).with_name("_core.pyi").read_text("utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return {node.name: ast.get_docstring(node) or "" for node in classes}


def documentation(module: ModuleType, name: str) -> str:
    """Returns the docstring of a public name; that of a class of the core is in its stub."""
    found = getattr(module, name)
    if found is getattr(_core, name, None):
        return stubs()[name]
    return str(found.__doc__)


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_a_public_name_has_an_example_that_runs(
    module: ModuleType, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    text = documentation(module, name)
    parser = doctest.DocTestParser()
    test = parser.get_doctest(text, {}, name, None, None)
    assert test.examples, "add a section Example to its docstring"
    runner = doctest.DocTestRunner(verbose=False)
    said: list[str] = []
    runner.run(test, out=said.append)
    assert not runner.failures, "".join(said)


def test_the_example_is_a_scenario_with_load_and_a_ping() -> None:
    assert [name for name, _, _ in goodqueue.load(goodqueue.EXAMPLE).flows()] == ["upload", "ping"]
