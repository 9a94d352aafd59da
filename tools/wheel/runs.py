"""Runs of the extension on which `goodqueue` imports: to train a build, or to print its results.

python tools/wheel/runs.py train      the benchmark's cases, shortened
python tools/wheel/runs.py results    a line for each scenario with a digest of its results
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from goodqueue import _core

SCENARIOS = Path(__file__).parents[2] / "scenarios"

Settings = list[tuple[str, str]]
Case = tuple[str, str, Settings]

LINUX = ("tcp", '{ profile = "linux" }')

TRAINING: list[Case] = [
    ("s1", "40s", []),
    ("s1", "40s", [LINUX]),
    ("s2", "40s", []),
    ("s3", "100s", []),
    ("s4", "2s", []),
    ("s5", "40s", []),
    ("many-flows", "2s", []),
]
"""Scenario, simulated time and settings of each run: the cases whose instructions are counted."""

COMPARED: list[Case] = [
    (name, "1s", [])
    for name in ("cellular", "incast", "linux-bottleneck", "parking-lot", "shared-buffer")
]
"""Runs whose packet events are compared, in addition to the summaries of `TRAINING`."""


def scenario(name: str, duration: str, settings: Settings) -> _core.Scenario:
    """Returns a ready scenario that is shortened; a tenth of it is warm-up."""
    path = SCENARIOS / f"{name}.toml"
    times = [("duration", duration), ("warmup", "10%")]
    return _core.Scenario.parse(path.read_bytes(), str(path), [*times, *settings])


def train() -> None:
    """Runs the benchmark's cases, and turns their results into what commands read."""
    for case in TRAINING:
        outcome = scenario(*case).run(series=False, packets=False)
        outcome.summary_json()
        outcome.metrics()


def digest(case: Case, *, packets: bool) -> str:
    """Returns SHA-256 over the summary of a run, and over its packet events if requested."""
    outcome = scenario(*case).run(series=False, packets=packets)
    found = hashlib.sha256(outcome.summary_json().encode())
    for _, column in outcome.packets().values():
        found.update(column)
    return found.hexdigest()


def main(what: str) -> None:
    """Trains, or prints results."""
    if what == "train":
        train()
        return
    for case in TRAINING:
        print(*case, digest(case, packets=False))
    for case in COMPARED:
        print(*case, digest(case, packets=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
