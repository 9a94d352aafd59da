"""The notebooks of `examples/` run from top to bottom, and their values have HTML."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import pytest
from matplotlib import pyplot

from conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def cells(notebook: Path, kind: str) -> list[str]:
    """Returns the texts of a notebook's cells of one kind."""
    document = json.loads(notebook.read_text("utf-8"))
    return ["".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == kind]


def execute(text: str, names: dict[str, Any]) -> object:
    """Runs a cell as a notebook does, and returns the value of its last expression, if any."""
    tree = ast.parse(text)
    last = tree.body[-1]
    if not isinstance(last, ast.Expr):
        exec(compile(tree, "<cell>", "exec"), names)  # noqa: S102 - our own notebook
        return None
    exec(compile(ast.Module(tree.body[:-1], []), "<cell>", "exec"), names)  # noqa: S102
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)  # noqa: S307


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    mpl.use("agg")
    names: dict[str, Any] = {}
    for text in cells(notebook, "code"):
        value = execute(text, names)
        if hasattr(value, "_repr_html_"):
            assert "<table" in value._repr_html_()
    pyplot.close("all")


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs_and_explains_itself(notebook: Path) -> None:
    document = json.loads(notebook.read_text("utf-8"))
    assert not any(cell.get("outputs") for cell in document["cells"])
    assert cells(notebook, "markdown")[0].startswith("# ")


def test_the_list_of_notebooks_is_complete() -> None:
    page = (ROOT / "examples" / "README.md").read_text("utf-8")
    assert NOTEBOOKS
    assert not [path.name for path in NOTEBOOKS if f"({path.name})" not in page]
