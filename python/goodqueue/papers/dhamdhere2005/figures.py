"""The paper's figures 1 to 3 and 5 to 9, each as curves against the number of local flows.

Figures 1 to 3 have local flows only, as section III has. Figures 5 to 9 have the mix of section
VII. As in the paper every run lasts 200 s, the first 20 of which are not measured. A case runs with
B = C T first; BSCL gets the median burst length measured there, and what the scenario says of N,
T_e (the harmonic mean) and C_e. The mean burst would count how the last flows start: some overshoot
by hundreds of packets after the first 20 s.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from goodqueue.intervals import Interval, t_interval
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
from goodqueue.sizing.rules.bscl import bscl, globally_synchronized, partially_synchronized
from goodqueue.sizing.smallest import Target

if TYPE_CHECKING:
    from goodqueue.papers.dhamdhere2005.claims import Points
    from goodqueue.papers.dhamdhere2005.mix import Figures, Mix
    from goodqueue.sizing.link import Link

BUSY = Target("utilization", 0.98, at_least=True)
STEP = 1.15
"""Buffers that a search tries are this many times apart."""

BURST_FLOWS = (5, 10, 20, 50, 100, 200)
UTILIZATION_FLOWS = (2, 3, 5, 7, 10, 20, 40, 80, 120)
TIMEOUT_FLOWS = (40, 80, 120)
LOSS_FLOWS = (10, 20, 30, 40, 100, 200, 400)
MANY_FLOWS = (2, 10, 50, 100, 200, 300, 400)
FEW_FLOWS = (2, 4, 6, 10, 20)
ERROR_FLOWS = (10, 50, 100, 150, 200, 300)


@dataclass(frozen=True, slots=True)
class Figure:
    """Curves against the number of flows.

    Attributes:
        name: the paper's number.
        title: what is drawn.
        unit: of the values.
        curves: by label.
        seeds: so many runs are behind each simulated point.
        bracketed: flows whose searched value has its bracket in place of an interval.
        theory: the labels of curves that were not simulated.
        digits: decimals to print.
        log: whether its values want a logarithmic axis.
        searched: whether what was simulated is the smallest buffer that serves.
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
    """Length of a loss burst at B = C T, 45 and 75 Mb/s.

    The mean over all bursts; and of each run the median, and of these the median over seeds, with
    the half width that their mean has.
    """
    curves: dict[str, Points] = {}
    for rate in rates:
        cases = {count: classic(Traffic(count, ALONE, rate)) for count in flows}
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
    """The smallest buffer that keeps the link busy 98 % of the time, and what models say."""
    traffic = [Traffic(count, ALONE) for count in flows]
    bursts = measured_bursts(mix, traffic)
    found, bracketed = smallest_busy(mix, traffic)
    models: dict[str, Callable[[Traffic], float]] = {
        "(16), alpha 0.4": lambda one: partially_synchronized(one.link, 0.4 * one.flows),
        "(16), alpha 0.6": lambda one: partially_synchronized(one.link, 0.6 * one.flows),
        "(16), median L": lambda one: partially_synchronized(one.link, bursts[one]),
        "C_e T_e": lambda one: globally_synchronized(one.link),
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
    """Loss behind the smallest buffers of figure 2."""
    traffic = [Traffic(count, ALONE) for count in flows]
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
    """The smallest buffer for 98 % utilisation and at most 1 % loss, and BSCL at alpha 0.55."""
    traffic = [Traffic(count, ALONE) for count in flows]
    model = {one: bscl(one.link, 0.55 * one.flows).packets for one in traffic}
    aims = [BUSY, Target("loss_rate", LOSS, at_least=False)]
    found, bracketed = smallest(mix, model, aims)
    theory = {
        "BSCL, alpha 0.55": {one.flows: Interval(packets, 0) for one, packets in model.items()}
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


def losses(mix: Mix, name: str, local_share: float, flows: Sequence[int] = MANY_FLOWS) -> Figure:
    """Figures 5 to 7: loss with the buffers of three rules."""
    traffic = [Traffic(count, local_share) for count in flows]
    rules: dict[str, _Rule] = {
        "C T": lambda one, _runs: classic(one),
        "C T / sqrt(N)": lambda one, _runs: stanford(one),
        "BSCL": _bscl,
    }
    curves = _with_rules(mix, traffic, "loss_rate", rules)
    return Figure(name, f"Loss, local flows have {100 * local_share:.0f} %", "%", curves, mix.seeds)


def fig7(mix: Mix, flows: Sequence[int] = MANY_FLOWS) -> Figure:
    """Figure 7, with BSCL's curve of figure 6: the paper speaks of how the two differ."""
    figure = losses(mix, "fig7", 0.8, flows)
    beside = _with_rules(
        mix, [Traffic(count, 0.9) for count in flows], "loss_rate", {"BSCL, 90 % local": _bscl}
    )
    return replace(figure, curves={**figure.curves, **beside})


def _bscl(traffic: Traffic, first: list[Figures]) -> Case:
    """Returns the case with BSCL's buffer, whose L is the median burst of the runs at B = C T."""
    return sized(traffic, median_burst_of(first))


def fig8(mix: Mix, flows: Sequence[int] = FEW_FLOWS) -> Figure:
    """Utilisation with few flows; (16) at two burst lengths, and BSCL."""
    traffic = [Traffic(count) for count in flows]
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
"""By what N, L and T_e are off."""


def fig9(mix: Mix, figure: str, flows: Sequence[int] = ERROR_FLOWS) -> Figure:
    """Loss or utilisation with BSCL's buffer from parameters that are 20 % off."""

    def rule(error: tuple[float, float, float]) -> _Rule:
        return lambda one, runs: sized(one, median_burst_of(runs), error)

    rules = {label: rule(error) for label, error in ERRORS.items()}
    curves = _with_rules(mix, [Traffic(count) for count in flows], figure, rules)
    short, what = ("loss", "Loss") if figure == "loss_rate" else (figure, "Utilisation")
    return Figure(
        f"fig9-{short}", f"{what} with BSCL from wrong parameters", "%", curves, mix.seeds
    )


def fig9_buffer(mix: Mix, flows: Sequence[int] = ERROR_FLOWS) -> Figure:
    """The buffers of figure 9: computed, from the burst that was measured at B = C T."""
    traffic = [Traffic(count) for count in flows]
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
"""What can be computed, by name."""


def measured_bursts(mix: Mix, traffic: Sequence[Traffic]) -> dict[Traffic, float]:
    """Median length of a loss burst at B = C T."""
    found = mix.replicates([classic(one) for one in traffic], mix.seeds)
    return {one: median_burst_of(found[classic(one)]) for one in traffic}


def smallest_busy(mix: Mix, traffic: Sequence[Traffic]) -> tuple[Points, frozenset[int]]:
    """The smallest buffers for 98 % utilisation, searched from where (16) expects them."""
    bursts = measured_bursts(mix, traffic)
    starts = {one: max(partially_synchronized(one.link, bursts[one]), 1.0) for one in traffic}
    return smallest(mix, starts, [BUSY])


def sized(
    traffic: Traffic,
    burst: float,
    error: tuple[float, float, float] = (1, 1, 1),
    link: Link | None = None,
) -> Case:
    """With BSCL's buffer, from N, L and T_e that are off by these factors.

    What they are off from is what the scenario says, or a link that was estimated.
    """
    link = link or traffic.link
    believed = replace(
        link,
        flows=round(error[0] * link.flows),
        rtts_s=tuple(error[2] * rtt for rtt in link.rtts_s),
    )
    return Case(traffic, int(bscl(believed, error[1] * burst).packets))


def by_burst(traffic: Traffic, burst: float) -> Case:
    """With (16) alone, also where five flows or fewer ask for C_e T_e."""
    return Case(traffic, max(int(partially_synchronized(traffic.link, burst)), 1))


_Rule = Callable[[Traffic, list["Figures"]], Case]
"""The case that a rule makes of traffic and the runs at B = C T."""


def _with_rules(
    mix: Mix, traffic: Sequence[Traffic], figure: str, rules: Mapping[str, _Rule]
) -> dict[str, Points]:
    """A figure in per cent with the buffer of each rule."""
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
    """By bisection the smallest buffers whose means keep all aims, of all traffic at once.

    Buffers lie on a grid `STEP` apart. From where theory expects the answer a bracket is opened by
    four steps at a time. The interval is that over seeds (see `_by_seed`); where there is none, it
    is the bracket from the largest buffer that failed to the least that passed, and the flows are
    in the second result.
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
    # The means' bracket is not every seed's: two steps further up most have theirs.
    run({one: place + 2 for one, place in above.items()})
    found = {one: _by_seed(tried[one], aims) for one in starts}
    points = {
        one.flows: interval or _between(STEP ** below.get(one, 0), STEP ** above[one])
        for one, interval in found.items()
    }
    return points, frozenset(one.flows for one, interval in found.items() if interval is None)


def _by_seed(tried: Mapping[int, Sequence[Figures]], aims: Sequence[Target]) -> Interval | None:
    """The mean over seeds of the buffer that each needs, with a 95 % interval.

    A seed's figures at the buffers tried, which are the same for all, are joined by straight lines
    in the buffer's logarithm. None where some seed keeps all aims at the smallest buffer tried, or
    not at the largest: what it needs is then not known.
    """
    needs = [
        _needed({limit: runs[seed] for limit, runs in sorted(tried.items())}, aims)
        for seed in range(len(next(iter(tried.values()))))
    ]
    known = [one for one in needs if one is not None]
    return t_interval(known) if len(known) == len(needs) > 1 else None


def _needed(curve: Mapping[int, Figures], aims: Sequence[Target]) -> float | None:
    """The buffer from which on one run's figures keep all aims."""
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
    """The place to try between one that failed and one that passed; None if there is none."""
    if above is None:
        return (below or 0) + 4
    if below is None:
        return None if above == 0 else max(above - 4, 0)
    return (below + above) // 2 if above - below > 1 else None


def _between(failing: float, passing: float) -> Interval:
    """The middle of a bracket, with its half width."""
    return Interval((failing + passing) / 2, (passing - failing) / 2)


def _keeps(runs: Sequence[Figures], aims: Sequence[Target]) -> bool:
    """Whether the means keep all aims."""
    return all(aim.met_by(fmean(run[aim.figure] for run in runs)) for aim in aims)
