"""The tables and sentences of a probe, from figures that were made up."""

from __future__ import annotations

import re
from typing import Any

import pytest
from rich.console import Console

from goodqueue.live.probe import Probe
from goodqueue.output.live.probe import sentences, tables


def estimate(value: float) -> dict[str, float]:
    """Returns an estimate with an interval of 10 %."""
    return {"value": value, "low": 0.95 * value, "high": 1.05 * value}


def direction(discipline: str) -> dict[str, Any]:
    """Returns the report on a direction with long figures."""
    buffer = {
        "seconds": estimate(0.2345678),
        "bytes": estimate(293_209.75),
        "packets": estimate(209.4),
        "unit": "packets",
    }
    codepoint = {"kept": 0.9876, "marked": 0.0123, "lost": 0.0456}
    return {
        "rate_bps": estimate(12_345_678.9),
        "is_saturated": discipline != "policer",
        "burst_bps": 987_654_321.0,
        "buffer": buffer if discipline == "fifo" else None,
        "longest_wait_s": 0.23456,
        "discipline": discipline,
        "cross_share": 0.1234,
        "pauses": 3,
        "longest_pause_s": 0.0654,
        "ecn": [codepoint, None],
        "features": {"sparse_share": 0.9876},
    }


def load(path: str) -> dict[str, Any]:
    """Returns the figures beside a TCP flow."""
    return {
        "path": path,
        "goodput_bps": 11_234_567.8,
        "rtt_p50_s": 0.212345,
        "rtt_p95_s": 0.256789,
        "flow_rtt_p50_s": 0.223456,
        "responsiveness_rpm": 283.4,
        "ping_loss": 0.0123,
    }


def probe(*, consented: bool = True) -> Probe:
    """Returns a probe of a FIFO and a policer."""
    figures = {
        "base_rtt_s": estimate(0.0423456),
        "ping_loss": 0.0,
        "clock_drift_ppm": estimate(51.234),
        "up": direction("fifo") if consented else None,
        "down": direction("policer") if consented else None,
        "tcp": [load("up"), load("down")],
        "consented": consented,
        "missed": [0, 4],
        "duration_s": 61.2,
        "bytes": [1, 2],
    }
    return Probe("host", figures, [], [], [])


@pytest.mark.parametrize("width", [60, 80, 200])
def test_nothing_is_cut_at_any_width(width: int) -> None:
    for made in tables(probe(), []):
        console = Console(width=width, highlight=False, color_system=None)
        with console.capture() as capture:
            console.print(made)
        page = capture.get()
        assert "…" not in page
        assert all(len(line) <= width for line in page.splitlines())
        told = re.search(r"omitted for lack of space: (.*?); a wider", " ".join(page.split()))
        left_out = "" if told is None else told[1]
        # Names in the first column may continue in the next line.
        for column, *cells in list(zip(made.columns, *made.rows, strict=True))[1:]:
            if column.strip() not in left_out:
                assert all(cell in page for cell in cells)


def test_what_makes_a_result_doubtful_is_said() -> None:
    text = "\n".join(sentences(probe(), []))
    assert "The queue down cannot be told" in text
    assert "The queue up cannot be told" not in text
    assert "The direction down was not filled" in text
    assert "The link up paused 3 times, for at most 65" in text


def test_a_buffer_that_was_not_filled_is_no_finding() -> None:
    found = probe(consented=False)
    assert "The buffer was not filled" in "\n".join(sentences(found, []))
    assert [made.title for made in tables(found, [])] == ["Latency under load"]
