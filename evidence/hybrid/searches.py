"""Smallest buffers of drawn links, searched by the packet engine and by the hybrid engine.

    python -m evidence.hybrid.searches FIRST LAST OUT.jsonl

Each seed from FIRST up to, not including, LAST draws one link. Links of even seeds need a
utilisation of 98 %. Links of odd seeds need the loss that calibrated theory expects behind the
buffer for this utilisation. Both engines search under the same seeds and within the same time
budget. The table counts the links whose answers agree.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from evidence.hybrid.oracle import Row, draw, link_of
from goodqueue.sizing import Effort, size_link
from goodqueue.sizing.calibrated.smallest import calibrated
from goodqueue.sizing.trials.length import length

if TYPE_CHECKING:
    from goodqueue.runs.engines import Choice
    from goodqueue.sizing.link import Link

BUDGET = 100e6
"""Wall-clock time of one search in seconds."""

MOST_PACKETS = 600_000
"""Largest number of packets of a replicate of full length; links that need more are left out."""


def question(seed: int) -> Link | None:
    """Returns the link of a seed with its bound, or None if its replicates are too long."""
    link = replace(link_of(draw(seed)), min_utilization=0.98)
    theory = calibrated(link)
    if theory is None or theory.least is None:
        return None
    if length(link, theory.least).packets > MOST_PACKETS:
        return None
    if seed % 2:
        lost = theory.figures["loss_rate"][0]
        return replace(link, min_utilization=0.5, max_loss_rate=lost)
    return link


def smallest(link: Link, engine: Choice) -> tuple[int | None, bool]:
    """Returns the smallest buffer that an engine finds, in packets, and whether it is proved."""
    with tempfile.TemporaryDirectory() as folder:
        effort = Effort(
            queues=(),
            changes=False,
            rules=False,
            budget=BUDGET,
            hosts=False,
            store=Path(folder) / "runs",
            engine=engine,
        )
        found = size_link(link, effort).found
    return (None, False) if found is None else (found.limit, found.proved or found.settled)


def run(seed: int) -> Row | None:
    """Searches the link of a seed by both engines; None if the link is left out."""
    link = question(seed)
    if link is None:
        return None
    packets, proved = smallest(link, "packets")
    hybrid, _ = smallest(link, "hybrid")
    return {
        "seed": seed,
        "flows": link.flows,
        "control": f"{link.profile}-{link.congestion_control}",
        "max_loss": link.max_loss_rate,
        "packets": packets,
        "proved": proved,
        "hybrid": hybrid,
    }


def table(rows: list[Row]) -> str:
    """Returns counts of links whose two answers agree within 10 % and 30 %, or 2 packets."""
    lines = []
    for name, asks_loss in (("utilisation", False), ("loss", True)):
        known = [
            (row["packets"], row["hybrid"])
            for row in rows
            if (row["max_loss"] is not None) is asks_loss and row["packets"]
        ]
        for share in (0.1, 0.3):
            near = sum(
                hybrid is not None and abs(hybrid - packets) <= max(share * packets, 2)
                for packets, hybrid in known
            )
            lines.append(f"{name}: {near} of {len(known)} within {share:.0%} or 2 packets")
    return "\n".join(lines)


def main() -> None:
    """Searches the links of the seeds and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("out", type=Path)
    asked = parser.parse_args()
    with asked.out.open("a", encoding="utf-8") as file:
        for seed in range(asked.first, asked.last):
            row = run(seed)
            if row is not None:
                file.write(json.dumps(row) + "\n")
                file.flush()
                print(row)
    print(table([json.loads(line) for line in asked.out.read_text().splitlines()]))


if __name__ == "__main__":
    main()
