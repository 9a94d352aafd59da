"""`goodqueue calibrate`: theory, simulation and this machine's kernel on one page."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.cli.exits import EXIT_INTERRUPTED
from goodqueue.core.outdir import check_folder, write_whole
from goodqueue.errors import RequestError
from goodqueue.live.calibration.cells import Path as Link
from goodqueue.live.calibration.cells import cells
from goodqueue.live.calibration.ledger import Ledger
from goodqueue.live.calibration.measure import Plan, calibrate
from goodqueue.output.calibration import as_json, disagreements, markdown, write_page
from goodqueue.output.terminal import counted, print_json, progress, say, stderr, stdout

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from goodqueue.live.calibration.measure import Calibration

LEDGER = "ledger.jsonl"

OURS = (LEDGER, "calibration.md", "calibration.html", "calibration.json", "*.png")
"""Patterns of the files in the directory of a calibration."""


def calibrate_kernel(  # noqa: PLR0913, PLR0917
    out: Path,
    only: Sequence[str],
    rate: str,
    rtt: str,
    times: tuple[str, str],
    numbers: tuple[int, int, int | None],
    *,
    quick: bool,
    json: bool,
) -> int:
    """Makes the missing runs of a calibration and writes its page.

    Args:
        out: directory of finished runs and of the page.
        only: values to which the cells are restricted.
        rate: rate of the link with its unit.
        rtt: base round-trip time with its unit.
        times: length of a run, and of its part that is not measured.
        numbers: emulations and simulations of each cell, and emulations at once.
        quick: leave most cells out.
        json: print the figures as JSON.
    """
    duration_s, warmup_s = (
        _core.parse_span(option, text)
        for option, text in zip(("--duration", "--warmup"), times, strict=True)
    )
    if warmup_s >= duration_s:
        raise RequestError("--warmup must be shorter than --duration")
    link = Link(rate, rtt, duration_s, warmup_s)
    repeats, seeds, jobs = numbers
    wanted = cells(link, only=only, quick=quick)
    plan = Plan(link, wanted, repeats, seeds, jobs or os.cpu_count() or 1)
    check_folder(out, OURS)
    out.mkdir(parents=True, exist_ok=True)
    ledger = Ledger(out / LEDGER)
    try:
        with progress() as bar:
            task = bar.add_task("emulations", total=None)
            found = calibrate(
                plan,
                ledger,
                lambda done, planned: bar.update(task, completed=done, total=planned),
            )
    except KeyboardInterrupt:
        stderr().print("finished runs are stored, and the same command continues")
        return EXIT_INTERRUPTED
    _write(found, out)
    if json:
        print_json(as_json(found))
    else:
        _print(found, out)
    return 0


def _write(found: Calibration, out: Path) -> None:
    from json import dumps

    from goodqueue.plots.calibration import pictures

    drawn = pictures(found.rows)
    for picture in drawn:
        picture.save(out)
    write_whole(out / "calibration.md", markdown(found))
    write_whole(out / "calibration.json", dumps(as_json(found), indent=2, allow_nan=False) + "\n")
    write_page(found, drawn, sys.argv[1:], out / "calibration.html")


def _print(found: Calibration, out: Path) -> None:
    stdout().print(markdown(found), markup=False, soft_wrap=True)
    say(f"{counted(len(disagreements(found.rows)), 'figure')} differ; page: {out}/calibration.html")
