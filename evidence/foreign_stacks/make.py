"""Compares CUBIC of quinn-proto with the paced CUBIC over TCP that represents QUIC on other pages.

`make evidence NAME=foreign_stacks` makes all runs, some minutes, and writes the table of
docs/foreign-stacks.md. It needs the program of examples/quic.
"""

from __future__ import annotations

import csv
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from evidence.core.derived import ROOT, Derived, MissingError, digest_of, relative, scratch
from evidence.core.pages import with_part
from evidence.foreign_stacks.study import (
    FIGURES,
    FRACTIONS,
    PLACES,
    PROGRAM,
    SEEDS,
    Place,
    interval,
    of_quinn,
    of_tcp,
    smallest,
)

PAGE = ROOT / "docs" / "foreign-stacks.md"
PART = "quinn beside tcp"
RUNS = Path(__file__).parent / "runs.csv"
SOURCES = ("examples/quic/src", "examples/quic/Cargo.lock")

STACKS = ("quinn", "tcp")
THREADS = 2
Key = tuple[str, Place, float, int]
"""Stack, link, buffer in BDPs, and seed."""
Runs = dict[Key, dict[str, float]]

KEYS: list[Key] = [
    (stack, place, fraction, seed)
    for stack in STACKS
    for place in PLACES
    for fraction in FRACTIONS
    for seed in SEEDS
]


def make() -> None:
    """Makes all runs, and writes them and the table."""
    runs = made()
    with RUNS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("stack", "link", "buffer_bdp", "seed", *FIGURES))
        for (stack, place, fraction, seed), figures in runs.items():
            writer.writerow((stack, place.name, fraction, seed, *figures.values()))
    before = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_part(before, PART, table(runs)), encoding="utf-8")


def made() -> Runs:
    """Returns the figures of all runs. Those that an earlier call has finished are kept."""
    if not PROGRAM.exists():
        build = "cd examples/quic && cargo build --release --locked"
        raise MissingError(f"foreign_stacks needs {relative(PROGRAM)}: {build}")
    digest = digest_of(ROOT / name for name in SOURCES)
    kept = {
        "quinn": ROOT / "target" / "evidence" / f"quinn-{digest}",
        "tcp": scratch() / "foreign_stacks",
    }
    for folder in kept.values():
        folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as files, ThreadPoolExecutor(THREADS) as pool:
        figures = pool.map(lambda key: one(key, kept[key[0]], Path(files)), KEYS)
        return dict(zip(KEYS, figures, strict=True))


def one(key: Key, kept: Path, files: Path) -> dict[str, float]:
    """Returns the figures of a run."""
    stack, place, fraction, seed = key
    file = kept / f"{PLACES.index(place)}-{fraction}-{seed}.json"
    if file.exists():
        found: dict[str, float] = json.loads(file.read_text(encoding="utf-8"))
        return found
    if stack == "tcp":
        figures = of_tcp(place, fraction, seed)
    else:
        figures = of_quinn(place, fraction, seed, files)
    file.write_text(json.dumps(figures), encoding="utf-8")
    return figures


def table(runs: Runs) -> str:
    """Returns the table of the page."""
    head = (
        "| link | utilisation at ¼ BDP, quinn | TCP | loss at 1 BDP, quinn | TCP "
        "| buffer for 98 %, quinn | TCP |\n| --- | --- | --- | --- | --- | --- | --- |\n"
    )
    return head + "".join(row(runs, place) for place in PLACES)


def row(runs: Runs, place: Place) -> str:
    """Returns the row of a link: means with 95 % intervals over the seeds."""
    cells = [place.name]
    for fraction, figure in ((0.25, "utilization"), (1.0, "loss_rate")):
        for stack in STACKS:
            found = interval([runs[stack, place, fraction, seed][figure] for seed in SEEDS])
            digits = 1 if figure == "utilization" else 3
            mean, half = (100 * value for value in (found.mean, found.half_width))
            cells.append(f"{mean:.{digits}f} ± {half:.{digits}f} %")
    for stack in STACKS:
        found = interval([buffer(runs, stack, place, seed) for seed in SEEDS])
        cells.append(f"{found.mean:.2f} ± {found.half_width:.2f} BDP")
    return f"| {' | '.join(cells)} |\n"


def buffer(runs: Runs, stack: str, place: Place, seed: int) -> float:
    """Returns the smallest buffer of the runs of one seed that reaches the target."""
    return smallest([runs[stack, place, each, seed]["utilization"] for each in FRACTIONS])


THINGS = [
    Derived(
        "foreign_stacks",
        make,
        products=(f"docs/foreign-stacks.md#{PART}", relative(RUNS)),
        inputs=SOURCES,
        seeds=f"{SEEDS[0]} to {SEEDS[-1]}",
        measured="quinn-proto 0.11.19, which is not a part of the engine",
    )
]
