"""The study's runs as one compact table, and as data for the fit of the surfaces."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evidence.rules_on_trial import draw
from evidence.rules_on_trial.run import read
from goodqueue.sizing.calibrated.groups import (
    IDLE_FLOOR,
    LOSS_FLOOR,
    forms,
    full_delay_s,
    groups,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from goodqueue.sizing.link import Link

    Floats = NDArray[np.float64]

FOLDER = Path(__file__).parents[1] / "data"
RUNS = FOLDER / "runs.parquet"

LEAST_DELAY_SHARE = 1e-3
"""A 99th percentile below this share of a full buffer's time counts as this share."""

COLUMNS = {
    "link": pl.Int32,
    "buffer_packets": pl.Int32,
    "seed": pl.Int32,
    "utilization": pl.Float32,
    "loss_rate": pl.Float32,
    "p50_delay_s": pl.Float32,
    "p99_delay_s": pl.Float32,
    "packets": pl.Int32,
    "hybrid": pl.Boolean,
}


def combine(shards: Iterable[Path], out: Path = RUNS, *, add: bool = False) -> pl.DataFrame:
    """Writes the runs of all shards as one table, in the order of links; returns it.

    Args:
        shards: files that `run` wrote.
        out: the table.
        add: True to keep the runs of links in the table that the shards do not contain.
    """
    documents = {one["index"]: one for path in shards for one in read(path)}
    rows: list[dict[str, Any]] = [
        {
            "link": index,
            "buffer_packets": run["buffer"],
            "seed": run["seed"],
            **{name: run[name] for name in ("utilization", "loss_rate")},
            **{name: run[name] for name in ("p50_delay_s", "p99_delay_s")},
            "packets": int(run["packets"]),
            "hybrid": document["engine"] == "hybrid",
        }
        for index, document in sorted(documents.items())
        for run in document["runs"]
    ]
    frame = pl.DataFrame(rows, schema=COLUMNS)
    if add:
        kept = pl.read_parquet(out).filter(~pl.col("link").is_in(list(documents)))
        frame = pl.concat([kept, frame]).sort("link", maintain_order=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    frame.write_parquet(out, compression="zstd", compression_level=19)
    return frame


@dataclass(frozen=True, slots=True)
class OfLink:
    """The runs of one link.

    Attributes:
        index: its number in the study.
        link: the link with its bounds.
        buffers: packets of each run, shape (runs,).
        utilization: utilisation of each run, shape (runs,).
        loss_rate: loss rate of each run, shape (runs,).
        p99_delay_s: 99th percentile of the queueing delay of each run, shape (runs,).
        packets: packets that the link sent in each run, shape (runs,).
    """

    index: int
    link: Link
    buffers: Floats
    utilization: Floats
    loss_rate: Floats
    p99_delay_s: Floats
    packets: Floats

    def means(self) -> dict[int, tuple[float, float, float]]:
        """Returns utilisation, loss and p99 delay by rising buffer: means over the replicates."""
        found = {}
        for packets in np.unique(self.buffers):
            here = self.buffers == packets
            figures = (self.utilization, self.loss_rate, self.p99_delay_s)
            first, second, third = (float(figure[here].mean()) for figure in figures)
            found[int(packets)] = (first, second, third)
        return found


def links(path: Path = RUNS, seed: int = draw.STUDY_SEED) -> list[OfLink]:
    """Returns the links of a table, each with its runs."""
    frame = pl.read_parquet(path)
    found = []
    for (index,), part in frame.group_by(["link"], maintain_order=True):
        assert isinstance(index, int)
        columns = [
            part[name].to_numpy().astype(float)
            for name in ("buffer_packets", "utilization", "loss_rate", "p99_delay_s", "packets")
        ]
        found.append(OfLink(index, draw.link(seed, index), *columns))
    return found


@dataclass(frozen=True, slots=True)
class Rows:
    """All runs as inputs and outputs of a regression.

    Attributes:
        groups: shape (runs, groups).
        forms: the published forms, shape (runs, 3), as `groups.forms` returns them.
        outputs: simulated values, in the same terms.
        link: number of each run's link.
    """

    groups: Floats
    forms: Floats
    outputs: Floats
    link: NDArray[np.int64]


def rows(of_links: Iterable[OfLink]) -> Rows:
    """Returns the runs of links as rows."""
    parts = [
        (groups(one.link, one.buffers), forms(one.link, one.buffers), outputs(one), one)
        for one in of_links
    ]
    return Rows(
        groups=np.concatenate([part[0] for part in parts]),
        forms=np.concatenate([part[1] for part in parts]),
        outputs=np.concatenate([part[2] for part in parts]),
        link=np.concatenate([np.full(len(part[3].buffers), part[3].index) for part in parts]),
    )


def outputs(one: OfLink) -> Floats:
    """Returns the logarithms of idle share, loss, and relative delay, shape (runs, 3)."""
    share = one.p99_delay_s / full_delay_s(one.link, one.buffers)
    return np.stack(
        (
            np.log(np.maximum(1 - one.utilization, 0) + IDLE_FLOOR),
            np.log(one.loss_rate + LOSS_FLOOR),
            np.log(np.clip(share, LEAST_DELAY_SHARE, 1)),
        ),
        axis=1,
    )
