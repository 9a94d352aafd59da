"""Fingerprints of the engine in the package, by which a fitted thing knows whether it has aged.

A fingerprint is a digest of the figures of a canary. The package has two for each fitted thing:
that of the engine to whose runs it was fitted, and that of the engine of the checkout.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from evidence.core import cells, stamps
from evidence.core.derived import ROOT, everything
from goodqueue.core.files.unfinished import unfinished_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evidence.core.cells import Figures

FILE = ROOT / "python" / "goodqueue" / "sizing" / "calibrated" / "fingerprints.json"

FITTED = {
    "calibrated": ("rules_on_trial/runs", "rules_on_trial/searches"),
    "modern": ("modern_buffers/links",),
    "hybrid": ("hybrid/runs",),
}
"""Things with runs to which the package has something fitted, by the name of that thing."""


def fingerprints() -> dict[str, dict[str, str]]:
    """Returns the fingerprints of the engine of the fit and of the engine of the checkout."""
    found = {}
    for name, things in FITTED.items():
        stamped = [stamps.read(everything()[thing]) for thing in things]
        canary = [cell for stamp in stamped if stamp for cell in stamp.canary]
        found[name] = {
            "fitted": _digest(cell["figures"] for cell in canary),
            "engine": _digest(cells.cell_in(cell).run() for cell in canary),
        }
    return found


def text() -> str:
    """Returns the file of the package as it has to be for the engine of the checkout."""
    return json.dumps(fingerprints(), indent=2) + "\n"


def write() -> None:
    """Writes the file of the package, if it changes."""
    if not is_current():
        with unfinished_file(FILE) as unfinished:
            unfinished.write_text(text(), encoding="utf-8")


def is_current() -> bool:
    """Returns True if the file of the package is that of the engine of the checkout."""
    return FILE.exists() and FILE.read_text(encoding="utf-8") == text()


def _digest(figures: Iterable[Figures]) -> str:
    whole = json.dumps(list(figures), sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()[:16]
