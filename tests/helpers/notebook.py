"""Cells in a shell of IPython with the inline backend of matplotlib, as Jupyter runs them.

The shell is a process of its own (this file), because it changes displays and matplotlib for good.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

INLINE = "module://matplotlib_inline.backend_inline"
"""The backend that Jupyter's kernel names in `MPLBACKEND`."""


@dataclass(frozen=True)
class Shown:
    """The outputs of one cell that a notebook shows.

    Attributes:
        pictures: number of its images.
        html: its values as HTML.
        settings: settings of matplotlib that the cell changed.
    """

    pictures: int
    html: list[str]
    settings: list[str]


def shown(cells: Sequence[str], folder: Path) -> list[Shown]:
    """Runs cells in a folder and returns what each shows; an error in a cell fails the test."""
    done = subprocess.run(
        [sys.executable, __file__],
        input=json.dumps(list(cells)),
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "MPLBACKEND": INLINE, "IPYTHONDIR": str(folder)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [Shown(**one) for one in json.loads(done.stdout.splitlines()[-1])]


def _main() -> None:
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
    from matplotlib import rcParams

    sys.path[0] = ""  # the folder of the notebook
    shell = InteractiveShell.instance()
    assert shell.display_formatter
    shell.display_formatter.active_types = shell.display_formatter.format_types
    found: list[dict[str, Any]] = []
    for cell in json.load(sys.stdin):
        before = dict(rcParams)
        with capture_output() as captured:
            done = shell.run_cell(cell)  # type: ignore[no-untyped-call]
        done.raise_error()
        data = [output.data for output in captured.outputs]
        found.append(
            {
                "pictures": sum("image/png" in one for one in data),
                "html": [one["text/html"] for one in data if "text/html" in one],
                "settings": [name for name, value in rcParams.items() if value != before[name]],
            }
        )
    print(json.dumps(found))


if __name__ == "__main__":
    _main()
