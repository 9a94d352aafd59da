"""The recorded calibration of Linux 6.18, and simulations beside it."""

from __future__ import annotations

import pytest

from evidence.validation.linux.calibrated import LINK, compared, recorded
from goodqueue.core.intervals import t_interval
from goodqueue.live.calibration.cells import Cell, cells

SEEDS = 4


def test_the_recording_has_every_cell_with_its_interval() -> None:
    kernel = recorded()
    assert list(kernel) == cells(LINK)
    drops = t_interval([run.drops for run in kernel[Cell("codel", "bbr", 1, 33)]])
    assert (drops.mean, drops.half_width) == pytest.approx((315.3, 38.5))
    delay = t_interval([run.delay_s for run in kernel[Cell("fifo", "reno", 4, 133)]])
    assert (delay.mean, delay.half_width) == pytest.approx((0.12403, 0.00676))


@pytest.mark.parametrize(
    "cell",
    [
        Cell("codel", "bbr", 1, 33),
        Cell("fq_codel", "bbr", 1, 33),
        Cell("cake", "bbr", 1, 8),
        Cell("cake", "bbr", 1, 133),
    ],
    ids=lambda cell: cell.name,
)
def test_one_bbr_flow_loses_as_much_as_in_the_kernel(cell: Cell) -> None:
    kernel, settings = recorded()[cell], cell.settings(LINK)
    row = compared(cell, kernel, settings, SEEDS)
    assert {one.judgement for one in row.compared} == {"agrees"}
    # Without compressed SACKs its estimate of the bandwidth is too low for these drops.
    settings["tcp"]["details"] = {"sack_compression": False}
    row = compared(cell, kernel, settings, SEEDS)
    assert "drops" in [one.figure for one in row.differing]


@pytest.mark.parametrize("control", ["reno", "cubic"])
@pytest.mark.parametrize("queue", ["fifo", "codel", "pie"])
def test_reno_and_cubic_do_not_differ_behind_a_bandwidth_delay_product(
    queue: str, control: str
) -> None:
    cell = Cell(queue, control, 1, 33)
    row = compared(cell, recorded()[cell], cell.settings(LINK), SEEDS)
    assert not row.differing
