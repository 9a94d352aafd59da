"""A table of runs, and a picture of each kind that a study draws of it."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from goodqueue.study.model import PlotSpec

LIMIT, COUNT = "topology.bottleneck.queue.limit_packets", "flow.upload.count"
CONTROL = "flow.upload.tcp.congestion_control"
SHARE, DELAY = "bottleneck.utilization", "bottleneck.p99_queueing_delay_s"
AXES = (COUNT, CONTROL, LIMIT)


SPECS = {
    "lines": PlotSpec("lines", "A title", LIMIT, (SHARE,), series=COUNT, facets=(CONTROL,)),
    "two": PlotSpec(
        "two", "", LIMIT, (SHARE, DELAY), series=CONTROL, facets=(COUNT,), band="range"
    ),
    "texts": PlotSpec("texts", "", CONTROL, (SHARE,), series=LIMIT, facets=(COUNT,), band="none"),
    "means": PlotSpec("means", "", DELAY, (SHARE,), series=CONTROL, x_scale="log"),
    "heatmap": PlotSpec("heatmap", "", LIMIT, (SHARE,), "heatmap", series=COUNT, facets=(CONTROL,)),
    "cdf": PlotSpec("cdf", "", "", (SHARE, DELAY), "cdf", series=COUNT),
    "box": PlotSpec("box", "", LIMIT, (DELAY,), "box", series=CONTROL, y_scale="log"),
    "pareto": PlotSpec("pareto", "", DELAY, (SHARE,), "pareto", series=CONTROL, facets=(COUNT,)),
}


def table() -> pl.DataFrame:
    """Returns runs of a study in random order."""
    random = np.random.default_rng(1)
    rows = [
        {
            LIMIT: limit,
            COUNT: count,
            CONTROL: control,
            "seed": seed,
            SHARE: 1 - 0.4 * math.exp(-limit / 20 * math.sqrt(count)) * random.uniform(0.9, 1),
            DELAY: limit * 0.0012 * random.uniform(0.8, 1.1),
        }
        for count in (1, 4)
        for control in ("reno", "cubic")
        for limit in (2, 5, 10, 50)
        for seed in range(1, 9)
    ]
    return pl.DataFrame(rows).sample(fraction=1, shuffle=True, seed=3)
