"""Simulates TCP and router queues to find out how much buffer a link needs.

    import goodqueue
    goodqueue.size(rate="20Mbps", rtt="30ms", flows=4, max_loss="1%")
    result = goodqueue.run(goodqueue.EXAMPLE, set={"topology.bottleneck.queue.limit": "50p"})
    result["bottleneck"].utilization, result["upload"].goodput_bps
    result.links, result.flows          # polars frames
    limits = {"topology.bottleneck.queue.limit": ["10p", "100p"]}
    goodqueue.Study(goodqueue.EXAMPLE, sweep=limits, seeds=10).run().means("ping.p99_rtt_s")

A mistake in a scenario raises `goodqueue.ScenarioError`, which names its file, line and remedy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from goodqueue.core.shown import register
from goodqueue.errors import RequestError, RuleError, ScenarioError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from goodqueue._core import (
        Ack,
        Connection,
        IntervalReport,
        Loss,
        Marks,
        Packet,
        QueueContext,
    )
    from goodqueue.boxes.api import box
    from goodqueue.characterization.api import characterize
    from goodqueue.runs.api import load, run, schema
    from goodqueue.runs.controls import (
        CongestionControl,
        ControlReport,
        IntervalControl,
        check_control,
    )
    from goodqueue.runs.example import EXAMPLE
    from goodqueue.runs.queues import QueueDiscipline, QueueReport, check_queue
    from goodqueue.runs.results.named import Figures
    from goodqueue.runs.results.result import Result, Series
    from goodqueue.sizing.api import size
    from goodqueue.sizing.lossless.headroom import headroom
    from goodqueue.study.results import Results
    from goodqueue.study.sweep import Study
    from goodqueue.tuning.api import tune

__all__ = [
    "EXAMPLE",
    "Ack",
    "CongestionControl",
    "Connection",
    "ControlReport",
    "Figures",
    "IntervalControl",
    "IntervalReport",
    "Loss",
    "Marks",
    "Packet",
    "QueueContext",
    "QueueDiscipline",
    "QueueReport",
    "RequestError",
    "Result",
    "Results",
    "RuleError",
    "ScenarioError",
    "Series",
    "Study",
    "box",
    "characterize",
    "check_control",
    "check_queue",
    "headroom",
    "load",
    "run",
    "schema",
    "size",
    "tune",
]

OF_THE_CORE = (
    "Ack",
    "Connection",
    "IntervalReport",
    "Loss",
    "Marks",
    "Packet",
    "QueueContext",
)
"""Types of the compiled core: what queues and congestion controls in Python get."""

# Importing the frames takes a quarter of a second, so `goodqueue --help` must not import them.
_HOMES = {
    "EXAMPLE": "goodqueue.runs.example",
    **dict.fromkeys(OF_THE_CORE, "goodqueue._core"),
    "CongestionControl": "goodqueue.runs.controls",
    "ControlReport": "goodqueue.runs.controls",
    "Figures": "goodqueue.runs.results.named",
    "IntervalControl": "goodqueue.runs.controls",
    "QueueDiscipline": "goodqueue.runs.queues",
    "QueueReport": "goodqueue.runs.queues",
    "Result": "goodqueue.runs.results.result",
    "Results": "goodqueue.study.results",
    "Series": "goodqueue.runs.results.result",
    "Study": "goodqueue.study.sweep",
    "box": "goodqueue.boxes.api",
    "characterize": "goodqueue.characterization.api",
    "check_control": "goodqueue.runs.controls",
    "check_queue": "goodqueue.runs.queues",
    "headroom": "goodqueue.sizing.lossless.headroom",
    "load": "goodqueue.runs.api",
    "run": "goodqueue.runs.api",
    "schema": "goodqueue.runs.api",
    "size": "goodqueue.sizing.api",
    "tune": "goodqueue.tuning.api",
}


def _draw(value: object, *arguments: Any, **options: Any) -> list[Axes]:  # noqa: ANN401 - of any picture
    from goodqueue.plots.shown import draw

    return draw(value, *arguments, **options)


def _html(value: object) -> str:
    from goodqueue.output.shown import html

    return html(value)


def _words(value: object) -> str:
    from goodqueue.output.shown import words

    return words(value)


register(_draw, _html, _words)


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'goodqueue' has no attribute {name!r}")
