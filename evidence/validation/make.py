"""The comparisons with other simulators and with kernels: docs/validation.md, part by part."""

from __future__ import annotations

import shutil
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evidence.core.cells import Cell
from evidence.core.derived import Derived, MissingError, relative
from evidence.core.pages import with_part
from evidence.rules_on_trial.make import cells as drawn_links
from evidence.validation import probed, simulators
from evidence.validation.l4s import report as l4s
from evidence.validation.linux import calibrated
from evidence.validation.linux import deep as linux_deep
from evidence.validation.linux import recording as linux_recording
from evidence.validation.linux import report as linux
from evidence.validation.ns2 import chains, red, variants
from evidence.validation.ns2.cases import CASES
from evidence.validation.ns3 import controls, queues
from evidence.validation.parts import FULL_SEEDS, PARTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


PAGE = Path("docs/validation.md")

PICTURES = {
    "ns3": tuple(f"docs/img/ns3-{control}.png" for control in ("cubic", "bbr", "vegas")),
    "root-n": ("docs/img/root-n.png",),
}
"""Pictures that a part draws."""


OF_NS2 = {"links", "variants", "red", "chains", "papers-ns2"}
"""Names of the parts that run ns-2."""


def missing(name: str) -> list[str]:
    """Returns the prerequisites of a part that are missing, each with the command to install it."""
    lacks = []
    if name in OF_NS2:
        if shutil.which("ns") is None:
            lacks.append("`ns`, ns-2's interpreter (Debian: apt-get install ns2)")
        if shutil.which("awk") is None:
            lacks.append("`awk` (Debian: apt-get install mawk)")
    return lacks + (controls.missing() if name.startswith("ns3") else [])


def make(name: str) -> None:
    """Runs a part with all seeds, and writes its section; says on stderr what does not agree."""
    lacks = missing(name)
    if lacks:
        raise MissingError(f"validation/{name} needs {'; '.join(lacks)}")
    part = PARTS[name](range(1, FULL_SEEDS + 1))
    if name == "ns3":
        from evidence.validation.ns3 import pictures

        pictures.pictures(controls.build())
    text = part.text.rstrip("\n") + "\n"
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_part(page, name, text), encoding="utf-8")
    for miss in part.known:
        print(f"known not to agree: {miss}", file=sys.stderr)
    for failure in part.failures:
        print(f"does not agree: {failure}", file=sys.stderr)


def cells_of_links() -> Iterator[Cell]:
    """Yields each link with each agent of ns-2, and each pattern of four losses."""
    yield from cells_of_variants()
    for case in CASES:
        for agent in ("Sack1", *case.variants):
            changes = simulators.overrides(case, agent, "ns2")
            yield Cell.of(case.scenario, changes)


def cells_of_variants() -> Iterator[Cell]:
    """Yields each agent with each of ns-2's settings, and the losses that recovery differs in."""
    for case in variants.CASES:
        if case.drops == variants.DROPS[-1]:
            yield Cell.of(variants.SCENARIO, case.overrides)


def cells_of_red() -> Iterator[Cell]:
    """Yields each set of RED's parameters."""
    yield from (Cell.of(red.SCENARIO, case.changes) for case in red.CASES)


def cells_of_chains() -> Iterator[Cell]:
    """Yields each case of several links."""
    yield from (Cell.of(str(case.scenario), case.changes) for case in chains.CASES)


def cells_of_ns3() -> Iterator[Cell]:
    """Yields each case of the comparisons with ns-3, of controls and of queues."""
    for case in (*controls.CASES, *queues.CASES):
        yield Cell.of(controls.SCENARIO, case.overrides)


def cells_of_linux() -> Iterator[Cell]:
    """Yields each recording of Linux."""
    for part in (linux, linux_deep):
        for recording in part.recordings():
            yield Cell.of(linux_recording.SCENARIO, recording.overrides)


def cells_of_l4s() -> Iterator[Cell]:
    """Yields each row of the published figures of Linux."""
    for row in l4s.rows():
        yield Cell.of("evidence/validation/l4s/two-flows.toml", row.overrides(l4s.RIG_2020))


def cells_of_captures() -> Iterator[Cell]:
    """Yields the link on which captures of Linux were recorded."""
    yield Cell("scenarios/linux-bottleneck.toml")


CELLS: Mapping[str, Callable[[], Iterator[Cell]]] = {
    "links": cells_of_links,
    "variants": cells_of_links,
    "red": cells_of_red,
    "chains": cells_of_chains,
    "ns3": cells_of_ns3,
    "ns3-queues": cells_of_ns3,
    "linux": cells_of_linux,
    "l4s": cells_of_l4s,
    "root-n": drawn_links,
    "captures": cells_of_captures,
}
"""Cells of the canary of each part, except of those that only compare what they need."""

NEEDS = {"papers-ns2": ("papers/ahmad2020", "papers/wisdom2021")}
"""Things whose runs a part compares."""

PARTS_OF_PAGE = [
    Derived(
        f"validation/{name}",
        partial(make, name),
        products=(f"{PAGE}#{name}", *PICTURES.get(name, ())),
        cells=CELLS.get(name),
        needs=NEEDS.get(name, ()),
        seeds=f"1 to {FULL_SEEDS}, unless the section says otherwise",
    )
    for name in PARTS
]

THINGS = [
    *PARTS_OF_PAGE,
    Derived(
        "validation/calibrated",
        calibrated.make,
        products=(
            *(f"{calibrated.PAGE}#{name}" for name in calibrated.PARTS),
            "docs/img/calibration.png",
        ),
        inputs=("evidence/validation/linux/6.18-calibration.csv",),
        cells=calibrated.cells,
        seeds=f"1 to {calibrated.SEEDS}",
    ),
    Derived(
        "validation/probed",
        probed.make,
        products=(f"{relative(probed.PAGE)}#{probed.PART}",),
        measured="goodqueue probe over emulated links in real time",
    ),
]
