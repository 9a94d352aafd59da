"""The paper's figures 1 to 3 and 5 to 9, each as curves against the number of local flows.

Figures 1 to 3 have local flows only, as in section III. Figures 5 to 9 have the mix of section VII.
Every run lasts 200 s, the first 20 s of which are not measured, as in the paper. Each case first
runs with B = C T. BSCL then uses the median burst length of these runs, and N, T_e (the harmonic
mean) and C_e from the scenario. The median is used because the mean depends on the slow start of
the last flows: some overshoot by hundreds of packets after the first 20 s.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from goodqueue._core import (
    BSCL_FEWEST_FLOWS,
    bscl,
    bscl_for_loss,
    bscl_globally_synchronized,
    bscl_partially_synchronized,
)
from goodqueue.core.intervals import Interval, t_interval
from goodqueue.papers.dhamdhere2005.claims import Sample
from goodqueue.papers.dhamdhere2005.mix import (
    ALONE,
    LOSS,
    Case,
    Traffic,
    burst_of,
    classic,
    median_burst_of,
    stanford,
)
from goodqueue.sizing.search.trials import Target

if TYPE_CHECKING:
    from goodqueue.papers.dhamdhere2005.claims import Points
    from goodqueue.papers.dhamdhere2005.mix import Figures, Mix
    from goodqueue.sizing.link import Link

BUSY = Target("utilization", 0.98, at_least=True)
SYNCHRONIZATION = 0.55
"""alpha of figure 3: length of a loss burst over the number of flows."""

CROSSING, PRINTED_CROSSING = "crossing of (16) and (22)", 30
"""Label of the number of flows from which on loss decides, and the number that is printed."""

MAX_FLOWS = 400

STEP = 1.15
"""Ratio of neighbouring buffers that a search tries."""

BURST_FLOWS = (5, 10, 20, 50, 100, 200)
UTILIZATION_FLOWS = (2, 3, 5, 7, 10, 20, 40, 80, 120)
TIMEOUT_FLOWS = (40, 80, 120)
LOSS_FLOWS = (10, 20, 30, 40, 60, 90, 200, 400)
MANY_FLOWS = (2, 10, 50, 100, 200, 300, 400)
FEW_FLOWS = (2, 4, 6, 10, 20)
ERROR_FLOWS = (10, 50, 100, 150, 200, 300)


@dataclass(frozen=True, slots=True)
class Figure:
    """Curves against the number of flows.

    Attributes:
        name: the paper's number of the figure.
        title: description of the curves.
        unit: unit of the values.
        curves: curves by label.
        seeds: number of runs behind each simulated point.
        bracketed: numbers of flows at which the search gave a bracket, and no interval over seeds.
        theory: labels of the curves that were computed and not simulated.
        digits: number of decimals to print.
        log: True if the values need a logarithmic axis.
        searched: True if the simulated values are the smallest sufficient buffers.
    """

    name: str
    title: str
    unit: str
    curves: Mapping[str, Points]
    seeds: int
    theory: Sequence[str] = ()
    digits: int = 2
    log: bool = False
    searched: bool = False
    bracketed: frozenset[int] = frozenset()


def fig1(
    mix: Mix, flows: Sequence[int] = BURST_FLOWS, rates: Sequence[float] = (45e6, 75e6)
) -> Figure:
    """Returns the lengths of loss bursts at B = C T, in packets, at 45 and 75 Mb/s.

    One curve is the mean over all bursts. The other is the median over seeds of each run's median;
    it is drawn with the half width of the mean of these medians.
    """
    curves: dict[str, Points] = {}
    for rate in rates:
        cases = {count: classic(mix.traffic(count, ALONE, rate)) for count in flows}
        found = mix.replicates(cases.values(), 2 * mix.seeds)
        mean: dict[int, Interval] = {}
        middle: dict[int, Interval] = {}
        for count, case in cases.items():
            runs = found[case]
            mean[count] = t_interval([run["burst"] for run in runs if run["burst"] > 0])
            medians = [run["median_burst"] for run in runs if run["burst"] > 0]
            middle[count] = Interval(median_burst_of(runs), t_interval(medians).half_width)
        curves[f"{rate / 1e6:g} Mb/s, mean"] = mean
        curves[f"{rate / 1e6:g} Mb/s, median"] = middle
    theory = {f"{alpha} N": alpha for alpha in (0.4, 0.7)}
    for label, alpha in theory.items():
        curves[label] = {count: Interval(alpha * count, 0) for count in flows}
    return Figure(
        "fig1",
        "Loss-burst length at B = C T",
        "packets",
        curves,
        2 * mix.seeds,
        [*theory],
        1,
        log=True,
    )


def fig2(mix: Mix, flows: Sequence[int] = UTILIZATION_FLOWS) -> Figure:
    """Returns the smallest buffers for 98 % utilisation, simulated and by models."""
    traffic = [mix.traffic(count, ALONE) for count in flows]
    bursts = measured_bursts(mix, traffic)
    found, bracketed = smallest_busy(mix, traffic)
    models: dict[str, Callable[[Traffic], float]] = {
        "(16), alpha 0.4": lambda one: bscl_partially_synchronized(one.link, 0.4 * one.flows),
        "(16), alpha 0.6": lambda one: bscl_partially_synchronized(one.link, 0.6 * one.flows),
        "(16), median L": lambda one: bscl_partially_synchronized(one.link, bursts[one]),
        "C_e T_e": lambda one: bscl_globally_synchronized(one.link),
    }
    curves = {"simulated": found} | {
        label: {one.flows: Interval(max(model(one), 1.0), 0) for one in traffic}
        for label, model in models.items()
    }
    return Figure(
        "fig2",
        "Smallest buffer for 98 % utilisation",
        "packets",
        curves,
        mix.seeds,
        [*models],
        0,
        log=True,
        searched=True,
        bracketed=bracketed,
    )


def fig2_loss(mix: Mix, flows: Sequence[int] = TIMEOUT_FLOWS) -> Figure:
    """Returns the loss behind the smallest buffers of figure 2."""
    traffic = [mix.traffic(count, ALONE) for count in flows]
    found, _ = smallest_busy(mix, traffic)
    cases = {one.flows: Case(one, round(found[one.flows].mean)) for one in traffic}
    runs = mix.replicates(cases.values(), mix.seeds)
    points = {
        count: t_interval([100 * run["loss_rate"] for run in runs[case]])
        for count, case in cases.items()
    }
    return Figure(
        "fig2-loss",
        "Loss behind the smallest buffer for 98 % utilisation",
        "%",
        {"simulated": points},
        mix.seeds,
    )


def fig3(mix: Mix, flows: Sequence[int] = LOSS_FLOWS) -> Figure:
    """Returns the smallest buffer for 98 % utilisation and 1 % loss, and BSCL's at alpha 0.55."""
    traffic = [mix.traffic(count, ALONE) for count in flows]
    model = {one: bscl(one.link, SYNCHRONIZATION * one.flows).packets for one in traffic}
    aims = [BUSY, Target("loss_rate", LOSS, at_least=False)]
    found, bracketed = smallest(mix, model, aims)
    theory = {
        "BSCL, alpha 0.55": {one.flows: Interval(packets, 0) for one, packets in model.items()},
        CROSSING: {PRINTED_CROSSING: Interval(crossing(mix), 0)},
    }
    return Figure(
        "fig3",
        "Smallest buffer for 98 % utilisation and 1 % loss",
        "packets",
        {"simulated": found} | theory,
        mix.seeds,
        [*theory],
        0,
        log=True,
        searched=True,
        bracketed=bracketed,
    )


def crossing(mix: Mix) -> int:
    """Returns the number of flows from which on (22) exceeds (16), with local flows only."""
    links = (mix.traffic(count, ALONE).link for count in range(BSCL_FEWEST_FLOWS, MAX_FLOWS + 1))
    return next(
        link.flows
        for link in links
        if bscl_for_loss(link, LOSS)
        > bscl_partially_synchronized(link, SYNCHRONIZATION * link.flows)
    )


def losses(mix: Mix, name: str, local_share: float, flows: Sequence[int] = MANY_FLOWS) -> Figure:
    """Returns one of figures 5 to 7: loss with the buffers of three rules."""
    traffic = [mix.traffic(count, local_share) for count in flows]
    rules: dict[str, _Rule] = {
        "C T": lambda one, _runs: classic(one),
        "C T / sqrt(N)": lambda one, _runs: stanford(one),
        "BSCL": _bscl,
    }
    curves = _with_rules(mix, traffic, "loss_rate", rules)
    return Figure(name, f"Loss, local flows have {100 * local_share:.0f} %", "%", curves, mix.seeds)


def fig7(mix: Mix, flows: Sequence[int] = MANY_FLOWS) -> Figure:
    """Returns figure 7 with BSCL's curve of figure 6, because the paper compares the two."""
    figure = losses(mix, "fig7", 0.8, flows)
    beside = _with_rules(
        mix, [mix.traffic(count, 0.9) for count in flows], "loss_rate", {"BSCL, 90 % local": _bscl}
    )
    return replace(figure, curves={**figure.curves, **beside})


def _bscl(traffic: Traffic, first: list[Figures]) -> Case:
    """Returns the case with BSCL's buffer, whose L is the median burst of the runs at B = C T."""
    return sized(traffic, median_burst_of(first))


def fig8(mix: Mix, flows: Sequence[int] = FEW_FLOWS) -> Figure:
    """Returns the utilisation with few flows: by (16) at three burst lengths and by three rules."""
    traffic = [mix.traffic(count) for count in flows]
    curves = _with_rules(
        mix,
        traffic,
        "utilization",
        {
            "C T": lambda one, _runs: classic(one),
            "C T / sqrt(N)": lambda one, _runs: stanford(one),
            "(16), alpha 0.55": lambda one, _runs: by_burst(one, 0.55 * one.flows),
            "(16), mean L": lambda one, runs: by_burst(one, burst_of(runs)),
            "(16), median L": lambda one, runs: by_burst(one, median_burst_of(runs)),
            "BSCL": _bscl,
        },
    )
    return Figure("fig8", "Utilisation with few flows", "%", curves, mix.seeds, digits=1)


ERRORS: dict[str, tuple[float, float, float]] = {
    "none": (1, 1, 1),
    "N - 20 %": (0.8, 1, 1),
    "N + 20 %": (1.2, 1, 1),
    "L - 20 %": (1, 0.8, 1),
    "L + 20 %": (1, 1.2, 1),
    "T - 20 %": (1, 1, 0.8),
    "T + 20 %": (1, 1, 1.2),
}
"""Factors by which N, L and T_e are wrong, by label."""


def fig9(mix: Mix, figure: str, flows: Sequence[int] = ERROR_FLOWS) -> Figure:
    """Returns loss or utilisation with BSCL's buffer from parameters that are 20 % wrong."""

    def rule(error: tuple[float, float, float]) -> _Rule:
        return lambda one, runs: sized(one, median_burst_of(runs), error)

    rules = {label: rule(error) for label, error in ERRORS.items()}
    curves = _with_rules(mix, [mix.traffic(count) for count in flows], figure, rules)
    short, what = ("loss", "Loss") if figure == "loss_rate" else (figure, "Utilisation")
    return Figure(
        f"fig9-{short}", f"{what} with BSCL from wrong parameters", "%", curves, mix.seeds
    )


def fig9_buffer(mix: Mix, flows: Sequence[int] = ERROR_FLOWS) -> Figure:
    """Returns the buffers of figure 9, computed from the bursts that were measured at B = C T."""
    traffic = [mix.traffic(count) for count in flows]
    bursts = measured_bursts(mix, traffic)
    curves = {
        label: {one.flows: Interval(sized(one, bursts[one], error).packets, 0) for one in traffic}
        for label, error in ERRORS.items()
    }
    return Figure(
        "fig9-buffer",
        "BSCL's buffer from wrong parameters",
        "packets",
        curves,
        mix.seeds,
        digits=0,
        log=True,
    )


FIGURES: dict[str, Callable[[Mix], Figure]] = {
    "fig1": fig1,
    "fig2": fig2,
    "fig2-loss": fig2_loss,
    "fig3": fig3,
    "fig5": lambda mix: losses(mix, "fig5", 0.95),
    "fig6": lambda mix: losses(mix, "fig6", 0.9),
    "fig7": fig7,
    "fig8": fig8,
    "fig9-loss": lambda mix: fig9(mix, "loss_rate"),
    "fig9-utilization": lambda mix: fig9(mix, "utilization"),
    "fig9-buffer": fig9_buffer,
}
"""Functions that compute the figures, by name."""


def measured_bursts(mix: Mix, traffic: Sequence[Traffic]) -> dict[Traffic, float]:
    """Returns the median length of a loss burst at B = C T, in packets."""
    found = mix.replicates([classic(one) for one in traffic], mix.seeds)
    return {one: median_burst_of(found[classic(one)]) for one in traffic}


def smallest_busy(mix: Mix, traffic: Sequence[Traffic]) -> tuple[Points, frozenset[int]]:
    """Returns the smallest buffers for 98 % utilisation; the search starts at those of (16)."""
    bursts = measured_bursts(mix, traffic)
    starts = {one: max(bscl_partially_synchronized(one.link, bursts[one]), 1.0) for one in traffic}
    return smallest(mix, starts, [BUSY])


def sized(
    traffic: Traffic,
    burst: float,
    error: tuple[float, float, float] = (1, 1, 1),
    link: Link | None = None,
) -> Case:
    """Returns the case with BSCL's buffer from N, L and T_e that are wrong by these factors.

    The factors apply to the values of `link`, such as an estimated one; by default to the
    scenario's.
    """
    link = link or traffic.link
    believed = replace(
        link,
        flows=round(error[0] * link.flows),
        rtts_s=tuple(error[2] * rtt for rtt in link.rtts_s),
    )
    return Case(traffic, int(bscl(believed, error[1] * burst).packets))


def by_burst(traffic: Traffic, burst: float) -> Case:
    """Returns the case with the buffer of (16) alone, even for five flows or fewer.

    BSCL uses C_e T_e for so few flows.
    """
    return Case(traffic, max(int(bscl_partially_synchronized(traffic.link, burst)), 1))


_Rule = Callable[[Traffic, list["Figures"]], Case]
"""Returns the case of a rule from the traffic and the runs at B = C T."""


def _with_rules(
    mix: Mix, traffic: Sequence[Traffic], figure: str, rules: Mapping[str, _Rule]
) -> dict[str, Points]:
    """Returns a figure in percent behind the buffer of each rule."""
    first = mix.replicates([classic(one) for one in traffic], mix.seeds)
    cases = {
        label: {one: rule(one, first[classic(one)]) for one in traffic}
        for label, rule in rules.items()
    }
    found = mix.replicates([case for made in cases.values() for case in made.values()], mix.seeds)
    return {
        label: {
            one.flows: Sample.of([100 * run[figure] for run in found[case]])
            for one, case in made.items()
        }
        for label, made in cases.items()
    }


def smallest(
    mix: Mix, starts: Mapping[Traffic, float], aims: Sequence[Target]
) -> tuple[Points, frozenset[int]]:
    """Finds by bisection the smallest buffers whose means meet all aims, for all traffic at once.

    Buffers lie on a grid `STEP` apart. The search starts at the buffer that theory expects and
    opens a bracket by four steps at a time. The interval of a result is that over seeds (see
    `_by_seed`). If there is none, it is the bracket from the largest buffer that failed to the
    smallest that passed; the second result lists the flows for which this is so.
    """
    tried: dict[Traffic, dict[int, list[Figures]]] = {one: {} for one in starts}
    below: dict[Traffic, int] = {}
    above: dict[Traffic, int] = {}

    def run(at: Mapping[Traffic, int]) -> None:
        cases = {one: Case(one, round(STEP**place)) for one, place in at.items()}
        found = mix.replicates(cases.values(), mix.seeds)
        for one, case in cases.items():
            tried[one][case.packets] = found[case]

    at = {one: max(round(math.log(start, STEP)), 0) for one, start in starts.items()}
    while at:
        run(at)
        for one, place in at.items():
            (above if _keeps(tried[one][round(STEP**place)], aims) else below)[one] = place
        places = {one: _next(below.get(one), above.get(one)) for one in at}
        at = {one: place for one, place in places.items() if place is not None}
    # The bracket of the means does not contain every seed's buffer; two steps up it contains most.
    run({one: place + 2 for one, place in above.items()})
    found = {one: _by_seed(tried[one], aims) for one in starts}
    points = {
        one.flows: interval or _between(STEP ** below.get(one, 0), STEP ** above[one])
        for one, interval in found.items()
    }
    return points, frozenset(one.flows for one, interval in found.items() if interval is None)


def _by_seed(tried: Mapping[int, Sequence[Figures]], aims: Sequence[Target]) -> Interval | None:
    """Returns the mean over seeds of the smallest buffer that each needs, with a 95 % interval.

    The buffers tried are the same for all seeds. Each seed's figures at these buffers are joined by
    straight lines in the buffer's logarithm. Returns None if some seed meets all aims at the
    smallest buffer tried, or fails at the largest: the buffer that it needs is then unknown.
    """
    needs = [
        _needed({limit: runs[seed] for limit, runs in sorted(tried.items())}, aims)
        for seed in range(len(next(iter(tried.values()))))
    ]
    known = [one for one in needs if one is not None]
    return t_interval(known) if len(known) == len(needs) > 1 else None


def _needed(curve: Mapping[int, Figures], aims: Sequence[Target]) -> float | None:
    """Returns the smallest buffer from which on a run meets all aims; None if it is unknown."""
    failing = [limit for limit, run in curve.items() if not _keeps([run], aims)]
    above = [limit for limit in curve if not failing or limit > failing[-1]]
    if not failing or not above:
        return None
    low, high = failing[-1], above[0]
    shares = [
        (aim.bound - curve[low][aim.figure]) / (curve[high][aim.figure] - curve[low][aim.figure])
        for aim in aims
        if not aim.met_by(curve[low][aim.figure])
    ]
    return float(low * (high / low) ** max(shares))


def _next(below: int | None, above: int | None) -> int | None:
    """Returns the index to try between a failed and a passed one; None at the end of the search."""
    if above is None:
        return (below or 0) + 4
    if below is None:
        return None if above == 0 else max(above - 4, 0)
    return (below + above) // 2 if above - below > 1 else None


def _between(failing: float, passing: float) -> Interval:
    """Returns the middle of a bracket with its half width."""
    return Interval((failing + passing) / 2, (passing - failing) / 2)


def _keeps(runs: Sequence[Figures], aims: Sequence[Target]) -> bool:
    """Returns True if the means over the runs meet all aims."""
    return all(aim.met_by(fmean(run[aim.figure] for run in runs)) for aim in aims)
