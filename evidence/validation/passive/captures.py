"""A part of the report: captures beside their models, and buffers sized from captures.

Recorded captures of Linux (`tests/data/captures`) are put beside their models. Links that are drawn
at random are captured in simulation and sized from their captures (`drawn_captures`).
"""

from __future__ import annotations

import lzma
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from evidence.validation.passive.drawn import (
    DEVELOPMENT,
    HELD_OUT,
    LARGEST_SHARE,
    LEAST_RIGHT,
    LINKS,
    MOST_PACKETS,
    judged,
)
from goodqueue.passive import analyze
from goodqueue.passive.fit import fit
from goodqueue.passive.link import link_of
from goodqueue.passive.size import model_for
from goodqueue.passive.today import FIGURES, Bench
from goodqueue.runs.memory import limit_of
from goodqueue.sizing.search.budget import Budget
from goodqueue.study.runner import Runner, user_store
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evidence.validation.passive.drawn import Judged
    from goodqueue.passive.today import Comparison, Today

RECORDED = Path("tests/data/captures")

SCALES = {
    "utilization": (100, 2),
    "loss_rate": (100, 2),
    "loss_burst_packets": (1, 1),
    "p50_delay_s": (1000, 1),
    "p99_delay_s": (1000, 1),
}
"""Factor and decimals of each figure in the tables."""

UNITS = {"utilization": ", %", "loss_rate": ", %", "p50_delay_s": ", ms", "p99_delay_s": ", ms"}


def recorded() -> dict[str, Today]:
    """Comparison of each recorded scene with its model, by the scene's name."""
    scenes = sorted(path.stem for path in RECORDED.glob("*.json"))
    with (
        tempfile.TemporaryDirectory(prefix="goodqueue-captures-") as folder,
        user_store("captures", Path(folder, "store")) as store,
    ):
        runner = Runner(store, Threads(None, limit_of(None)))
        return {scene: of_scene(scene, Path(folder), runner) for scene in scenes}


def of_scene(scene: str, folder: Path, runner: Runner) -> Today:
    """Compares one recorded scene with its model; its captures are unpacked into a folder."""
    taps = {}
    for tap in ("before", "after"):
        taps[tap] = folder / f"{scene}-{tap}.pcap"
        packed = RECORDED / f"{scene}-{tap}.pcap.xz"
        taps[tap].write_bytes(lzma.decompress(packed.read_bytes()))
    analysis = analyze(taps["before"], after=taps["after"])
    model = model_for(analysis, link_of(analysis))
    return fit(Bench(analysis, runner), model, Budget())


def section(scenes: Mapping[str, Today], links: Sequence[Judged]) -> str:
    """The section of the report."""
    agree = sum(one.agrees for one in scenes.values())
    right = sum(one.right for one in links)
    columns = [f"{words}{UNITS.get(name, '')}" for name, words in FIGURES.items()]
    rows = "\n".join(_scene(name, today) for name, today in scenes.items())
    drawn = "\n".join(map(_link, links))
    return f"""## A capture's model beside its capture

`goodqueue size --from` simulates the link of a capture as it was before it answers
([traces.md](traces.md#a-buffer-from-a-capture)). `make evidence NAME=validation/captures`
writes both tables again, in three minutes of CPU time.

### Recorded captures of Linux

Each cell has the figure of the capture, and then the mean and the range of 95 % of single runs of
its model. Criteria: the loss lies in the range or within 25 % of the mean, utilisation within 2
points, the 99th percentile of the queueing delay within 15 %. The other columns are not judged.
**{agree} of {len(scenes)} scenes agree.**

| scene | {" | ".join(columns)} | agrees |
|{" --- |" * (len(columns) + 2)}
{rows}

### Drawn links

{len(links)} links from seed {HELD_OUT} ({DEVELOPMENT} was used for development) have 2 to 50 Mb/s, 2 to 24 flows of CUBIC,
Reno or both, round trips of 10 to 150 ms, and buffers of 0.3 to 1.5 bandwidth-delay products. Some
have receivers that acknowledge one by one at first, flows that start and end within the capture,
short transfers, a flow limited by its window, or TCP by the RFCs. Each link is simulated once with
a tapping point on either side of its queue. It is then sized from these captures, and sized by its
true parameters under the same seeds, for a utilisation of 98 % and mostly a bound on loss. A
recommendation is right within {100 * LARGEST_SHARE:.0f} % or {MOST_PACKETS} packets. **{right} of {len(links)} are right** (asked: {100 * LEAST_RIGHT:.0f} %).

| link | flows | today's buffer | loss at most | truth, packets | from captures | with what is unexplained | today agrees | right |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
{drawn}
"""  # noqa: E501


def _scene(name: str, today: Today) -> str:
    cells = [_cell(figure, one) for figure, one in today.figures.items()]
    return f"| {name} | {' | '.join(cells)} | {'yes' if today.agrees else '**no**'} |"


def _cell(name: str, one: Comparison) -> str:
    scale, digits = SCALES[name]
    values = (one.measured or 0.0, one.mean, one.low, one.high)
    measured, mean, low, high = (f"{scale * value:.{digits}f}" for value in values)
    return f"{measured}; {mean} ({low} to {high})"


def _link(one: Judged) -> str:
    link, model = one.drawn.link, one.drawn.model
    carried = "-"
    if one.carried is not None:
        low, high = one.carried
        carried = f"{low} to {'-' if high is None else high}"
    cells = [
        f"{link.rate_bps / 1e6:.1f} Mb/s, {1e3 * link.mean_rtt_s:.0f} ms",
        f"{len(model.local)} {_controls(one)}",
        f"{model.limit_packets}",
        "-" if link.max_loss_rate is None else f"{100 * link.max_loss_rate:.2f} %",
        "none" if one.truth is None else f"{one.truth}",
        "none" if one.found is None else f"{one.found}",
        carried,
        "yes" if one.today.agrees else "no",
        "yes" if one.right else "**no**",
    ]
    return f"| {' | '.join(cells)} |"


def _controls(one: Judged) -> str:
    return "+".join(sorted({sender.control or "" for sender in one.drawn.model.local}))


def failures(scenes: Mapping[str, Today], links: Sequence[Judged]) -> list[str]:
    """The criteria that do not hold, in words."""
    found = [
        f"recorded capture {name}: {FIGURES[figure]}"
        for name, today in scenes.items()
        for figure in today.disagreeing
    ]
    right = sum(one.right for one in links)
    if right < LEAST_RIGHT * len(links):
        found.append(f"only {right} of {len(links)} buffers from captures are right")
    return found


def links(count: int = LINKS) -> list[Judged]:
    """Judges this number of held-out links, and reports progress on standard error."""
    found = []
    for one in judged(HELD_OUT, count):
        found.append(one)
        print(f"captures: {len(found)} of {count} drawn links", file=sys.stderr)
    return found
