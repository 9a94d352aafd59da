"""Agreement of the packet engine with itself under other seeds: the noise of the comparison.

Runs of even seeds are compared with runs of odd seeds, each averaged.

python -m evidence.hybrid.noise RUNS.jsonl…
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from evidence.hybrid.compare import (
    Needed,
    Point,
    buffers_needed,
    counts,
    differences,
    mean,
    read_runs,
)

if TYPE_CHECKING:
    from evidence.hybrid.oracle import Row


def main() -> None:
    """Prints the number of links whose two groups of seeds agree."""
    cases: dict[int, dict[int, tuple[list[Row], list[Row]]]] = defaultdict(dict)
    for run in read_runs([Path(name) for name in sys.argv[1:]]):
        halves = cases[run["seed"]].setdefault(run["packets"], ([], []))
        halves[run["run_seed"] % 2].append(run)
    buffers: dict[str, list[Needed]] = defaultdict(list)
    everything: list[Point] = []
    for behind in cases.values():
        points = [
            Point(packets, mean(odd), mean(even)) for packets, (even, odd) in sorted(behind.items())
        ]
        everything += points
        for name, pair in buffers_needed(points).items():
            buffers[name].append(pair)
    for name, pairs in buffers.items():
        print(f"{name}: {counts(pairs)}")
    print("\n".join(differences(everything)))


if __name__ == "__main__":
    main()
