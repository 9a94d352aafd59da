"""The runs of a calibration: simulations, and emulations of this machine's kernel."""

from __future__ import annotations

import json
import platform
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.errors import RequestError
from goodqueue.live.calibration.compare import compare
from goodqueue.live.calibration.ledger import Finished
from goodqueue.live.calibration.theory import theory
from goodqueue.live.emulation import Program, emulate, system
from goodqueue.live.process import Interrupt
from goodqueue.runs.api import run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goodqueue.live.calibration.cells import Cell, Path
    from goodqueue.live.calibration.compare import Row
    from goodqueue.live.calibration.ledger import Ledger

PORT = "5301"
"""Port of the receiver, in a network of its own."""

FIRST_SEED = 2
"""Seed of the first repeat. With seed 1 two of the first four connections share a queue of
FQ-CoDel."""

TRIES = 3
"""Emulations per repeat until one is trusted or doubtful."""

AVAILABLE = FilePath("/proc/sys/net/ipv4/tcp_available_congestion_control")


@dataclass(frozen=True, slots=True)
class Plan:
    """The runs of a calibration.

    Attributes:
        path: the link.
        cells: the cells.
        repeats: emulations of each cell.
        seeds: simulations of each cell.
        jobs: emulations at once.
    """

    path: Path
    cells: Sequence[Cell]
    repeats: int = 3
    seeds: int = 20
    jobs: int = 1


@dataclass(frozen=True, slots=True)
class Calibration:
    """Results of a calibration.

    Attributes:
        plan: the runs.
        rows: the comparisons, by cell.
        missing: congestion controls that this kernel has not loaded; their cells have no kernel.
        system: the kernel and its parameters.
    """

    plan: Plan
    rows: list[Row]
    missing: tuple[str, ...]
    system: dict[str, str] = field(default_factory=dict)


def available() -> tuple[str, ...]:
    """Returns the congestion controls that this kernel has loaded."""
    return tuple(AVAILABLE.read_text(encoding="ascii").split()) if AVAILABLE.exists() else ()


def calibrate(
    plan: Plan, ledger: Ledger, progress: Callable[[int, int], None] = lambda *_: None
) -> Calibration:
    """Makes the runs that the ledger lacks, and compares.

    Args:
        plan: the runs.
        ledger: the runs that are finished.
        progress: called with the numbers of emulations done and planned.

    Raises:
        RequestError: if this machine cannot emulate a network, or a sender failed.
        KeyboardInterrupt: at Ctrl-C; finished runs are in the ledger.
    """
    loaded = available()
    missing = tuple(dict.fromkeys(c.control for c in plan.cells if c.control not in loaded))
    measured = [cell for cell in plan.cells if cell.control not in missing]
    emulations = _emulations(plan, measured, ledger, progress)
    rows = [
        compare(
            cell,
            plan.path,
            theory(cell, plan.path),
            [_simulated(cell, plan.path, seed, ledger) for seed in range(1, plan.seeds + 1)],
            emulations.get(cell, ()),
        )
        for cell in plan.cells
    ]
    return Calibration(plan, rows, missing, system())


def _emulations(
    plan: Plan, measured: Sequence[Cell], ledger: Ledger, progress: Callable[[int, int], None]
) -> dict[Cell, list[Finished]]:
    """Returns the emulations of each cell. Each repeat of all cells precedes the next one."""
    wanted = [(cell, repeat) for repeat in range(plan.repeats) for cell in measured]
    found: dict[tuple[Cell, int], Finished] = {}
    stop = Interrupt()
    with ThreadPoolExecutor(plan.jobs) as pool:
        work = partial(emulated, path=plan.path, ledger=ledger, stop=stop)
        futures = {pool.submit(work, cell, repeat): (cell, repeat) for cell, repeat in wanted}
        try:
            for future in as_completed(futures):
                found[futures[future]] = future.result()
                progress(len(found), len(wanted))
        except BaseException:
            for future in futures:
                future.cancel()
            stop.ask()
            raise
    by_cell: dict[Cell, list[Finished]] = {}
    for (cell, _), finished in sorted(found.items(), key=lambda item: item[0][1]):
        by_cell.setdefault(cell, []).append(finished)
    return by_cell


def identity(side: str, cell: Cell, path: Path, number: int) -> str:
    """Returns what the figures of a run depend on, as text."""
    version = _core.results_version() if side == "simulation" else platform.release()
    return json.dumps([side, asdict(cell), asdict(path), number, version], sort_keys=True)


def _simulated(cell: Cell, path: Path, seed: int, ledger: Ledger) -> Finished:
    name = identity("simulation", cell, path, seed)
    known = ledger.get(name)
    if known is None:
        known = _finished(name, run(cell.settings(path), seed=seed).summary)
        ledger.add(known, at_once=False)
    return known


def emulated(cell: Cell, repeat: int, *, path: Path, ledger: Ledger, stop: Interrupt) -> Finished:
    """Emulates a cell once more, or a few times if the emulation is not trusted.

    Args:
        cell: the queue and the flows.
        repeat: number of the emulation, from 0.
        path: the link.
        ledger: the runs that are finished; gets this one.
        stop: the switch by which an interrupt ends the emulation.

    Raises:
        RequestError: if the sender failed.
        KeyboardInterrupt: at Ctrl-C.
    """
    name = identity("kernel", cell, path, repeat)
    known = ledger.get(name)
    if known is not None and known.verdict != "not trusted":
        return known
    settings = cell.settings(path)
    settings["seed"] = FIRST_SEED + repeat
    settings["flow"][0]["count"] = 1  # a pair of hosts for all connections
    sender = (sys.executable, "-m", "goodqueue.live.sender")
    server = Program((*sender, "serve", PORT), server=True)
    client = Program((*sender, "send", "server", PORT, str(cell.flows), cell.control))
    for _ in range(TRIES):
        emulation = emulate(settings, [server, client], stop=stop, privileged=True)
        if emulation.interrupted:
            raise KeyboardInterrupt
        if emulation.failed:
            raise RequestError(f"no calibration here: the sender of {cell.control} failed")
        verdict = emulation.fidelity["verdict"]
        known = replace(_finished(name, emulation.summary), verdict=verdict)
        if verdict != "not trusted":
            break
    assert known is not None
    ledger.add(known)
    return known


def _finished(name: str, summary: dict[str, dict[str, dict[str, float]]]) -> Finished:
    link = summary["links"]["bottleneck"]
    delay_s = link["mean_queueing_delay_s"] or 0.0
    return Finished(name, link["utilization"], delay_s, link["drops"])
