"""`goodqueue calibrate`: theory, simulation and this machine's kernel on one page."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.cli.exits import EXIT_INTERRUPTED
from goodqueue.core.extras import require
from goodqueue.core.files.outdir import check_folder, write_whole
from goodqueue.core.files.owned import sign
from goodqueue.errors import RequestError
from goodqueue.live.calibration.cells import Path as Link
from goodqueue.live.calibration.cells import cells
from goodqueue.live.calibration.ledger import Ledger
from goodqueue.live.calibration.measure import Plan, calibrate
from goodqueue.output.live.calibration import as_json, disagreements, markdown, write_page
from goodqueue.output.terminal import counted, print_json, progress, say, stderr, stdout

if TYPE_CHECKING:
    from pathlib import Path

    from goodqueue.cli.commands.live.calibrate import Calibrate
    from goodqueue.live.calibration.measure import Calibration

LEDGER = "ledger.jsonl"

OURS = (LEDGER, "calibration.md", "calibration.html", "calibration.json", "*.png")
"""Patterns of the files in the directory of a calibration."""


def calibrate_kernel(asked: Calibrate) -> int:
    """Makes the missing runs of a calibration and writes its page."""
    require("matplotlib")
    duration_s = _core.parse_span("--duration", asked.duration)
    warmup_s = _core.parse_span("--warmup", asked.warmup)
    if warmup_s >= duration_s:
        raise RequestError("--warmup must be shorter than --duration")
    link = Link(asked.rate, asked.rtt, duration_s, warmup_s)
    wanted = cells(link, only=asked.only or [], quick=asked.quick)
    jobs = asked.jobs or os.cpu_count() or 1
    plan, out = Plan(link, wanted, asked.repeats, asked.seeds, jobs), asked.out
    check_folder(out, OURS, LEDGER)
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
    if asked.json:
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
    sign(out)


def _print(found: Calibration, out: Path) -> None:
    stdout().print(markdown(found), markup=False, soft_wrap=True)
    say(f"{counted(len(disagreements(found.rows)), 'figure')} differ; page: {out}/calibration.html")
