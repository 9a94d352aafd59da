"""quinn in real time beside simulated time, as recorded: what the page says about both."""

from __future__ import annotations

import csv
import math
from statistics import fmean, stdev

import pytest

from evidence.quinn_live.make import FIGURES, PLACES, REPEATS, RUNS, SEEDS

with RUNS.open(encoding="utf-8", newline="") as file:
    ROWS = list(csv.DictReader(file))


def values(place: str, kind: str, figure: str) -> list[float]:
    return [float(row[figure]) for row in ROWS if (row["link"], row["kind"]) == (place, kind)]


def test_every_link_has_all_runs() -> None:
    for place in PLACES:
        for figure in FIGURES:
            assert len(values(place.name, "simulated", figure)) == len(SEEDS)
            assert len(values(place.name, "real", figure)) == REPEATS


@pytest.mark.parametrize("place", [place.name for place in PLACES])
def test_simulated_transfers_are_those_of_real_time(place: str) -> None:
    """Goodput within 3 %; packets lost within 30 %, or two standard deviations; handshakes 6 ms."""
    own, other = (fmean(values(place, kind, "goodput_bps")) for kind in ("simulated", "real"))
    assert other == pytest.approx(own, rel=0.03)
    lost = {kind: values(place, kind, "lost_packets") for kind in ("simulated", "real")}
    own, other = (fmean(one) for one in lost.values())
    spread = math.hypot(*(stdev(one) for one in lost.values()))
    assert abs(other - own) <= max(0.3 * own, 2 * spread)
    own, other = (fmean(values(place, kind, "handshake_s")) for kind in ("simulated", "real"))
    assert 0 < other - own < 0.006, "hosts compute in real time"
