"""The list of slow tests, `tests/slow.txt`, which `make check` leaves out."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = Path(__file__).parents[1] / "slow.txt"

LIMIT_S = 0.3
"""Time of all cases of a test (`helpers.times`), in seconds, above which the test is slow."""

HEAD = f"""\
# Tests whose cases take more than {LIMIT_S:g} s together, with that time in seconds.
# `make check` leaves them out, `make test` runs them, and `make slow` measures them again.
"""


def slow_tests() -> dict[str, float]:
    """Returns the slow tests, by the name of file and function, with their time in seconds."""
    lines = [line for line in FILE.read_text().splitlines() if not line.startswith("#")]
    return {name: float(seconds) for name, seconds in map(str.split, lines)}


def functions(path: Path) -> list[str]:
    """Returns the names of the test functions of a file, in order; methods as `CLASS::FUNCTION`."""

    def named(body: list[ast.stmt], prefix: str) -> list[str]:
        names = []
        for node in body:
            if isinstance(node, ast.ClassDef):
                names += named(node.body, f"{prefix}{node.name}::")
            elif isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                names.append(prefix + node.name)
        return names

    return named(ast.parse(path.read_text()).body, "")


def is_test(name: str) -> bool:
    """Returns true if the file and the function of a name, `FILE::FUNCTION`, exist."""
    file, _, function = name.partition("::")
    path = FILE.parent.parent / file
    return path.is_file() and function in functions(path)


def renewed(old: Mapping[str, float], measured: Mapping[str, float]) -> dict[str, float]:
    """Returns the slow tests after a measurement, which need not be one of all tests.

    Args:
        old: the slow tests before it.
        measured: time of each test that ran, in seconds.
    """
    kept = {name: s for name, s in old.items() if name not in measured and is_test(name)}
    return kept | {name: s for name, s in measured.items() if s > LIMIT_S}


def write_slow(measured: Mapping[str, float]) -> None:
    """Writes the list."""
    lines = [f"{name} {seconds:.1f}\n" for name, seconds in sorted(measured.items())]
    FILE.write_text(HEAD + "".join(lines))
