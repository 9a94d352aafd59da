"""Packets, ACKs and times of this kernel's TCP before a queue, and their effects in simulations."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from evidence.core.derived import Derived, relative
from evidence.core.pages import with_part
from evidence.hosts_measured import effects, page

DATA = Path(__file__).parent / "data" / "kernel.json"
CAPTURE = Path("tools/captures/aggregates.py")
EFFECTS = DATA.with_name("effects.json")
PAGE = Path("docs/hosts.md")
PARTS = ("measured", "effects")

SECONDS = 5
"""Length of a transfer, of which the first second is not measured."""

RATES_MBPS = (100, 500, 1_000, 2_000)
DELAYS_MS = (0, 10, 40)
PACES_MBPS = (20, 100, 500)


def runs() -> list[dict[str, Any]]:
    """Returns the settings of each run. A paced sender has an idle bottleneck."""
    greedy = [(rate, delay, "on", 0) for rate in RATES_MBPS for delay in DELAYS_MS]
    single = [(rate, 0, "off", 0) for rate in RATES_MBPS[:3]]
    paced = [(10 * pace, 0, offloads, pace) for pace in PACES_MBPS for offloads in ("on", "off")]
    keys = ("rate_mbps", "delay_ms", "offloads", "pace_mbps")
    return [dict(zip(keys, values, strict=True)) for values in (*greedy, *single, *paced)]


def make_kernel() -> None:
    """Captures a transfer of this machine's kernel with each setting."""
    found = []
    for run in runs():
        print(f"    {run}", file=sys.stderr, flush=True)
        rate, delay, offloads, pace = run.values()
        words = [f"{rate * 10**6}", f"{delay}", offloads, f"{pace * 10**6}", f"{SECONDS}"]
        line = (sys.executable, str(CAPTURE), *words)
        done = subprocess.run(line, check=True, capture_output=True, text=True)  # noqa: S603 - ours
        found.append({**run, **json.loads(done.stdout)})
    DATA.parent.mkdir(exist_ok=True)
    text = json.dumps({"kernel": platform.release(), "rows": found}, indent=1)
    DATA.write_text(text + "\n", encoding="utf-8")


def make_effects() -> None:
    """Runs the link with each interface."""
    EFFECTS.write_text(effects.document(), encoding="utf-8")


def make_page() -> None:
    """Writes the parts of the page."""
    kernel, found = (json.loads(file.read_text(encoding="utf-8")) for file in (DATA, EFFECTS))
    whole = PAGE.read_text(encoding="utf-8")
    for part, text in zip(PARTS, (page.text(kernel, SECONDS), effects.text(found)), strict=True):
        whole = with_part(whole, part, text)
    PAGE.write_text(whole, encoding="utf-8")


THINGS = [
    Derived(
        "hosts_measured/kernel",
        make_kernel,
        products=(relative(DATA),),
        programs=("make.py",),
        measured="the kernel of this machine, in real time",
    ),
    Derived(
        "hosts_measured/effects",
        make_effects,
        products=(relative(EFFECTS),),
        cells=effects.cells,
        programs=("make.py", "effects.py"),
        seeds="0",
    ),
    Derived(
        "hosts_measured/page",
        make_page,
        products=tuple(f"{PAGE}#{part}" for part in PARTS),
        needs=("hosts_measured/kernel", "hosts_measured/effects"),
        programs=("make.py", "page.py", "effects.py"),
        measured="the kernel of this machine, in real time",
    ),
]
