"""How far two packet runs of a link disagree about its buffer: the noise of the oracle.

python noise.py RUNS.jsonl
"""

from __future__ import annotations

import json
import math
import sys
from collections import defaultdict
from pathlib import Path

from compare import ratios


def main() -> None:
    """Prints how many links agree with themselves."""
    cases = defaultdict(lambda: defaultdict(dict))
    for line in Path(sys.argv[1]).read_text().splitlines():
        run = json.loads(line)
        cases[run["seed"]][run["packets"]][run["run_seed"]] = run
    found = defaultdict(list)
    for behind in cases.values():
        points = [(b, pair[1], pair[2]) for b, pair in sorted(behind.items())]
        for name, (one, two) in ratios(points).items():
            found[name].append((two / one - 1, two - one))
    for name, values in found.items():
        good = sum(abs(r) <= 0.1 or abs(d) <= 2 for r, d in values)
        fair = sum(abs(r) <= 0.3 or abs(d) <= 2 for r, d in values)
        lost = sum(math.isnan(r) for r, _ in values)
        print(
            f"{name}: {len(values)} links, within 10%/2p {good}, within 30% {fair}, "
            f"no answer {lost}"
        )


if __name__ == "__main__":
    main()
