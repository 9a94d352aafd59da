"""Kills a study repeatedly, and compares its results with those of an undisturbed study.

    python -m evidence.studies.endurance [runs [kills]]

By default 10,000 runs and 20 kills with SIGKILL at random moments; docs/studies.md has the outcome.
"""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodqueue.study.record.store import LEDGER
from goodqueue.study.results import Results

if TYPE_CHECKING:
    from collections.abc import Mapping

STUDY = """\
schema_version = 1
title = "Five flows, four buffers"
seeds = {seeds}
[sweep]
"topology.bottleneck.queue.limit" = ["4p", "10p", "25p", "60p"]
[scenario]
schema_version = 1
duration = "10s"
[scenario.topology]
shape = "dumbbell"
access = {{ rate = "100Mbps", delay = "5ms" }}
bottleneck = {{ rate = "2Mbps", delay = "20ms" }}
[[scenario.flow]]
name = "upload"
count = 5
start_jitter = "1s"
workload = {{ kind = "bulk" }}
tcp = {{ profile = "linux" }}
"""

COMMAND = (sys.executable, "-c", "from goodqueue.cli import main; main()", "sweep")


@dataclass(frozen=True, slots=True)
class Outcome:
    """State of a study after the kills.

    Attributes:
        runs: number of its rows at the end.
        recorded: number of its rows after each kill.
        equal: True if parameters, seeds and metrics equal those of the undisturbed study, byte for
            byte.
        repeated: number of runs that were run again although they had been recorded.
        lost: number of runs that had been recorded and were missing later.
        unbroken_s: duration of the undisturbed study.
    """

    runs: int
    recorded: tuple[int, ...]
    equal: bool
    repeated: int
    lost: int
    unbroken_s: float


def endure(folder: Path, runs: int, kills: int, seed: int = 1) -> Outcome:
    """Runs a study undisturbed, and the same one with this number of kills at random moments."""
    moments = random.Random(seed)  # noqa: S311 - when to kill is no secret
    study = folder / "study.toml"
    study.write_text(STUDY.format(seeds=runs // 4))
    command = [*COMMAND, str(study), "--out"]
    begun = time.monotonic()
    subprocess.run(  # noqa: S603 - our own command line
        [*command, str(folder / "peace")], check=True, stdout=subprocess.DEVNULL
    )
    unbroken_s = time.monotonic() - begun
    ledger = folder / "war" / LEDGER
    known: Mapping[bytes, float] = {}
    counts: list[int] = []
    repeated = lost = 0
    for number in range(kills + 1):
        process = subprocess.Popen(  # noqa: S603
            [*command, str(ledger.parent)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        if number < kills:
            _wait_for_more(ledger, len(known), process)
            time.sleep(moments.uniform(0, unbroken_s / (kills + 1)))
            process.kill()
        process.wait()
        now = _wall_times(ledger)
        lost += len(known.keys() - now.keys())
        repeated += sum(now.get(run) not in {None, wall_s} for run, wall_s in known.items())
        known = now
        counts.append(len(now))
    equal = _content(folder / "war") == _content(folder / "peace")
    return Outcome(len(known), tuple(counts[:-1]), equal, repeated, lost, unbroken_s)


def _wait_for_more(ledger: Path, known: int, process: subprocess.Popen[bytes]) -> None:
    """Waits until the study has begun to record, so that every kill interrupts its work."""
    while process.poll() is None and _count(ledger) <= known:
        time.sleep(0.02)


def _count(ledger: Path) -> int:
    try:
        return len(_wall_times(ledger))
    except sqlite3.Error:
        return 0


def _wall_times(ledger: Path) -> dict[bytes, float]:
    """Returns the wall-clock time of each recorded run; a changed time shows a repeated run."""
    return dict(_rows(ledger, "SELECT identity, wall_s FROM runs"))


def _content(folder: Path) -> bytes:
    """Returns the content that must not depend on the course of a study, with all digits."""
    return Results(folder).wide().drop("wall_s", "host").write_csv().encode()


def _rows(ledger: Path, query: str) -> list[tuple[Any, ...]]:
    # The mode is read-write, because a reader must be able to recover the log of a killed writer.
    with closing(sqlite3.connect(f"{ledger.resolve().as_uri()}?mode=rw", uri=True)) as connection:
        return connection.execute(query).fetchall()


def main(runs: int = 10_000, kills: int = 20) -> None:
    """Prints the outcome."""
    with tempfile.TemporaryDirectory() as folder:
        outcome = endure(Path(folder), runs, kills)
    print(f"unbroken: {outcome.runs:,} runs in {outcome.unbroken_s:.1f} s")
    print(f"runs recorded at each of {kills} kills: {', '.join(map(str, outcome.recorded))}")
    print(f"recorded runs lost: {outcome.lost}; run again: {outcome.repeated}")
    print(f"same parameters, seeds and metrics, byte for byte: {'yes' if outcome.equal else 'NO'}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
