"""Compares rows of a file that has the form of a judge's published file, and prints a table.

python -m evidence.judges NAME FILE [--seeds N] [--every K]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from evidence.judges.judge import by_row
from evidence.judges.make import JUDGES
from evidence.judges.page import inside, table


def main() -> None:
    """Runs the rows of a file."""
    parser = argparse.ArgumentParser(prog="python -m evidence.judges", description=__doc__)
    names = {judge.name: judge for judge in JUDGES}
    parser.add_argument("name", choices=names)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seeds", type=int, help="number of seeds; the judge's without it")
    parser.add_argument("--every", type=int, default=1, help="every which row is run")
    asked = parser.parse_args()
    judge = names[asked.name]
    seeds = range(1, asked.seeds + 1) if asked.seeds else judge.seeds
    rows = by_row(judge.judged(judge.read_rows(asked.file)[:: asked.every], seeds))
    print(f"{inside(rows)} of {len(rows)} rows are inside the bar: {judge.bar}.\n")
    print(table(rows, most=len(rows)), end="")


if __name__ == "__main__":
    main()
