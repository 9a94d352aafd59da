"""Agreement of packet runs with packet runs under another seed: the noise of the comparison.

python -m research.fluid.noise RUNS.jsonl…
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from research.fluid.compare import Needed, Point, buffers_needed, counts, differences, read_runs

if TYPE_CHECKING:
    from research.fluid.oracle import Row


def main() -> None:
    """Prints how many links agree with themselves."""
    cases: dict[int, dict[int, dict[int, Row]]] = defaultdict(lambda: defaultdict(dict))
    for run in read_runs([Path(name) for name in sys.argv[1:]]):
        cases[run["seed"]][run["packets"]][run["run_seed"]] = run
    buffers: dict[str, list[Needed]] = defaultdict(list)
    everything: list[Point] = []
    for behind in cases.values():
        points = [Point(packets, pair[1], pair[2]) for packets, pair in sorted(behind.items())]
        everything += points
        for name, pair in buffers_needed(points).items():
            buffers[name].append(pair)
    for name, pairs in buffers.items():
        print(f"{name}: {counts(pairs)}")
    print("\n".join(differences(everything)))


if __name__ == "__main__":
    main()
