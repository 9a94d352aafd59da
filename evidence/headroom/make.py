"""Predicts the headroom tables of switches under SONiC: a file of predictions, and their page.

`published/sonic.csv` has rows of `pg_profile_lookup.ini` of sonic-buildimage, as published.
`fit.py` states the formula and the rows to which its constants are fitted. Nothing is simulated.
"""

from __future__ import annotations

import csv
from pathlib import Path

from evidence.core.derived import ROOT, Derived, relative
from evidence.core.pages import with_part
from evidence.headroom import page
from evidence.headroom.fit import PUBLISHED, rows

PAGE = ROOT / "docs" / "evidence" / "headroom.md"

PREDICTED = Path(__file__).parent / "predicted.csv"


def make() -> None:
    """Writes the predictions of all rows, and the part of the page."""
    records = page.records(page.judged(rows()))
    with PREDICTED.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
    before = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_part(before, page.PART, page.text(rows())), encoding="utf-8")


THINGS = [
    Derived(
        "headroom",
        make,
        products=(f"{relative(PAGE)}#{page.PART}", relative(PREDICTED)),
        inputs=(relative(PUBLISHED), "python/goodqueue/sizing/lossless/headroom.py"),
    )
]
