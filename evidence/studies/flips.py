"""Damages the folder of a study, bit by bit, and checks the results.

    python -m evidence.studies.flips [seconds [seed]]

Each input is a copy of a small store with one bit of its ledger or of a table flipped, or with a
stretch of bytes removed or overwritten. Reading it, checking it, repairing it and continuing the
study must each end with the results of the whole store or with one message. docs/studies.md has the
outcome.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue.errors import RequestError
from goodqueue.study.record.store import LEDGER, TABLES, Store
from goodqueue.study.record.verify import repair, verify
from goodqueue.study.results import Results
from goodqueue.study.sweep import Study

if TYPE_CHECKING:
    from collections.abc import Callable

STUDY = """\
schema_version = 1
title = "A link of two buffers"
seeds = 4
[sweep]
topology.bottleneck.queue.limit = ["5p", "20p"]
[keep]
flows = true
[scenario]
schema_version = 1
duration = "2s"
[scenario.topology]
shape = "dumbbell"
access = { rate = "100Mbps", delay = "5ms" }
bottleneck = { rate = "2Mbps", delay = "20ms" }
[[scenario.flow]]
name = "upload"
start_jitter = "1s"
workload = { kind = "bulk" }
tcp = { profile = "linux" }
"""

Content = tuple[bytes, ...]


class FoundError(AssertionError):
    """Damage that was not detected and changed a result."""


@dataclass(slots=True)
class Tally:
    """Counts of damaged inputs by outcome.

    Attributes:
        inputs: number of inputs.
        refused: number of inputs that the reader refused with a message.
        slowest_s: the longest time of one input.
    """

    inputs: int = 0
    refused: int = 0
    slowest_s: float = 0.0

    def text(self) -> str:
        """Returns a line with the figures."""
        return f"{self.inputs:,} inputs, {self.refused:,} refused, slowest {self.slowest_s:.2f} s"


class Damaged:
    """A whole store, and copies of it with damage.

    Attributes:
        folder: place of the current copy.
    """

    def __init__(self, place: Path) -> None:
        """Runs the study."""
        self._whole = place / "whole"
        self.folder = place / "damaged"
        Study(STUDY).run(self._whole, jobs=2)
        self._content = content(self._whole)
        tables = sorted((self._whole / TABLES).iterdir())
        self._files = [self._whole / LEDGER, *tables]

    def bits(self) -> list[tuple[Path, int]]:
        """Returns the files that can be damaged, with their numbers of bits."""
        return [(path, 8 * path.stat().st_size) for path in self._files]

    def make(self, draw: random.Random, harm: Callable[[bytearray, random.Random], None]) -> str:
        """Makes a copy with damage in one file, mostly the ledger, and returns its name."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self._whole, self.folder)
        file = self._files[0] if draw.random() < 0.5 else draw.choice(self._files[1:])
        target = self.folder / file.relative_to(self._whole)
        data = bytearray(target.read_bytes())
        harm(data, draw)
        target.write_bytes(data)
        return file.name

    def is_refused(self) -> bool:
        """Reads the copy without repairing it. Returns True if it was refused.

        Raises:
            FoundError: if it gave other results.
        """
        try:
            found = content(self.folder)
        except RequestError as error:
            _check_message(error)
            return True
        if found != self._content:
            raise FoundError("other results are read")
        return False

    def check_writer(self) -> None:
        """Opens the copy for writing, as `sweep` does.

        Raises:
            FoundError: if its content then differs.
        """
        try:
            Store.open(self.folder).close()
        except RequestError as error:
            _check_message(error)
            return
        self.is_refused()

    def check_repair(self) -> None:
        """Repairs the copy, runs the study again, and compares the results.

        Raises:
            FoundError: if they differ, or damage is left.
        """
        try:
            repair(self.folder)
            if verify(self.folder).faults:
                raise FoundError("damage is left after a repair")
        except RequestError as error:
            _check_message(error)
            return
        Study(STUDY).run(self.folder, jobs=1)
        if content(self.folder)[0] != self._content[0]:
            raise FoundError("a repaired store yields other results")


def content(folder: Path) -> Content:
    """Returns a store's content: tables, and rows without values that depend on the machine."""
    results = Results(folder)
    wide = results.wide()
    tables = [results.table(run, "flows").write_json().encode() for run in wide["identity"]]
    return wide.drop("wall_s", "host").write_csv().encode(), *tables


def _check_message(error: RequestError) -> None:
    if not str(error) or "\n" in str(error):
        raise FoundError(f"a message of {str(error).count(chr(10)) + 1} lines")


def flip(data: bytearray, draw: random.Random) -> None:
    """Flips one bit."""
    bit = draw.randrange(8 * len(data))
    data[bit // 8] ^= 1 << bit % 8


def harm(data: bytearray, draw: random.Random) -> None:
    """Flips bits, removes, overwrites or truncates."""
    place, length = draw.randrange(len(data)), draw.choice((1, 4, 100, 4096))
    match draw.randrange(6):
        case 0:
            del data[place:]
        case 1:
            del data[place : place + length]
        case 2:
            data[place : place + length] = draw.randbytes(length)
        case 3:
            data[place : place + length] = bytes(length)
        case _:
            for _ in range(draw.choice((1, 1, 1, 3, 30))):
                flip(data, draw)


def attempt(damaged: Damaged, tally: Tally) -> None:
    """Reads one copy, writes into it, and sometimes repairs it."""
    begun = time.perf_counter()
    tally.inputs += 1
    refused = damaged.is_refused()
    tally.refused += refused
    verified = _verified(damaged.folder)
    if refused == (verified == "sound"):
        raise FoundError(f"reading {'refuses' if refused else 'takes'} what is {verified}")
    damaged.check_writer()
    if tally.inputs % 4 == 0:
        damaged.check_repair()
    tally.slowest_s = max(tally.slowest_s, time.perf_counter() - begun)


def _verified(folder: Path) -> str:
    try:
        return "damaged" if verify(folder).faults else "sound"
    except RequestError as error:
        _check_message(error)
        return "refused"


def main(seconds: float = 10, seed: int = 1) -> None:
    """Damages copies until the time is over."""
    draw, tally = random.Random(seed), Tally()  # noqa: S311 - no secret
    with tempfile.TemporaryDirectory(prefix="goodqueue-flips-") as place:
        damaged = Damaged(Path(place))
        begun = time.monotonic()
        while time.monotonic() - begun < seconds:
            state = draw.getstate()
            name = damaged.make(draw, harm)
            try:
                attempt(damaged, tally)
            except Exception:
                kept = Path(tempfile.gettempdir()) / f"goodqueue-flips-{seed}-{tally.inputs}"
                shutil.copytree(damaged.folder, kept, dirs_exist_ok=True)
                print(f"input {tally.inputs} of seed {seed}, {name}, is kept as {kept}")
                raise
            del state
    print(f"store: {seconds:g} s: {tally.text()}: no fault")


if __name__ == "__main__":
    with closing(sys.stdout):
        main(*map(int, sys.argv[1:]))
