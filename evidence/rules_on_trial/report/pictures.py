"""The pictures of docs/rules-on-trial.md."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from evidence.rules_on_trial.fitting.record import reliability, wilson
from evidence.rules_on_trial.plan import CLASSIC_RULES
from goodqueue.plots.style import (
    BLACK,
    BLUE,
    CYCLE,
    GREY,
    MARKERS,
    ORANGE,
    Picture,
    legend_above,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    from evidence.rules_on_trial.fitting.made import Search
    from evidence.rules_on_trial.fitting.record import Trial
    from goodqueue.sizing.calibrated.smallest import Calibrated

    Pairs = Sequence[tuple[Search, Calibrated]]

CHOSEN = ("bdp", "sqrt_n", "window_decrease", "bscl")
"""Rules that are drawn over the links' groups: those for a bound on utilisation."""

FEWEST = 8
"""Smallest number of links for a point."""


def of(trials: Sequence[Trial], checked: Pairs) -> list[Picture]:
    """Returns all pictures, in the order of the page."""
    return [
        _by_rule(trials),
        _over(trials, "flows", "long flows", lambda one: one.flows),
        _over(trials, "bdp", "bandwidth-delay product in packets", lambda one: one.bdp),
        _over(
            trials,
            "window",
            "packets in flight per flow with the queue full",
            lambda one: one.window,
        ),
        _promises(trials),
        _answers(checked),
        _coverage(checked),
    ]


def _by_rule(trials: Sequence[Trial]) -> Picture:
    """Draws the kept promises of each rule, where its assumptions held and on all links."""
    names = [rule.name for rule in CLASSIC_RULES if any(one.rule == rule.name for one in trials)]

    def draw(axes: list[Axes]) -> None:
        ax = axes[0]
        places = np.arange(len(names))[::-1]
        for shift, colour, label, only_held in (
            (0.17, BLUE, "where its assumptions held", True),
            (-0.17, ORANGE, "on all links", False),
        ):
            for place, name in zip(places, names, strict=True):
                part = [one for one in trials if one.rule == name and (one.held or not only_held)]
                if not part:
                    continue
                kept = sum(one.kept for one in part)
                low, high = wilson(kept, len(part))
                share = kept / len(part)
                known = ax.get_legend_handles_labels()[1]
                ax.errorbar(
                    [100 * share],
                    [place + shift],
                    xerr=[[100 * max(share - low, 0)], [100 * max(high - share, 0)]],
                    fmt="o",
                    color=colour,
                    label=None if label in known else label,
                )
        ax.set_yticks(places, names)
        ax.set_xlim(0, 101)
        ax.set_xlabel("links on which the rule kept its promise, %")
        ax.set_title("What became of the rules' buffers")
        legend_above(ax)

    return Picture(
        "by-rule",
        "Share of the links on which each rule's own buffer, simulated directly, kept the "
        "utilisation and loss asked for, with 95 % intervals.",
        draw,
        height_inches=5.6,
    )


def _over(
    trials: Sequence[Trial], name: str, label: str, value: Callable[[Trial], float]
) -> Picture:
    """Draws the kept promises of four rules over a group of the links."""
    values = np.array([value(one) for one in trials if one.rule in CHOSEN])
    edges = np.geomspace(max(np.quantile(values, 0.01), 0.5), np.quantile(values, 0.99), 9)

    def draw(axes: list[Axes]) -> None:
        ax = axes[0]
        for place, rule in enumerate(CHOSEN):
            of_rule = [one for one in trials if one.rule == rule]
            xs, ys = [], []
            for low, high in pairwise(edges):
                part = [one for one in of_rule if low <= value(one) < high]
                if len(part) >= FEWEST:
                    xs.append(float(np.sqrt(low * high)))
                    ys.append(100 * sum(one.kept for one in part) / len(part))
            ax.plot(xs, ys, marker=MARKERS[place], color=CYCLE[place], label=rule)
        ax.set_xscale("log")
        ax.set_ylim(0, 101)
        ax.set_xlabel(label)
        ax.set_ylabel("kept its promise, %")
        ax.set_title(f"Over {label}")
        legend_above(ax)

    return Picture(
        f"over-{name}",
        f"Share of all links on which four rules kept utilisation and loss, over {label}, whether "
        "or not their assumptions held.",
        draw,
    )


def _promises(trials: Sequence[Trial]) -> Picture:
    """Draws the share of kept promises over the predicted probability."""
    points = reliability([(one.chance, one.kept) for one in trials])

    def draw(axes: list[Axes]) -> None:
        ax = axes[0]
        ax.plot([0, 100], [0, 100], color=BLACK, linestyle="--", linewidth=1)
        for one in points:
            low, high = wilson(round(one.seen * one.links), one.links)
            ax.errorbar(
                [100 * one.said],
                [100 * one.seen],
                yerr=[[100 * max(one.seen - low, 0)], [100 * max(high - one.seen, 0)]],
                fmt="o",
                color=BLUE,
            )
        ax.set_xlabel("probability given beforehand that a rule's buffer keeps its promise, %")
        ax.set_ylabel("kept it in simulation, %")
        ax.set_title("Reliability of the verdicts on the rules")

    return Picture(
        "verdicts",
        "Of rules' buffers that were given about the same probability, the share that kept their "
        "promise in simulation; each was judged by networks that had not seen its link, and the "
        "dashed line is perfect.",
        draw,
        height_inches=4.6,
    )


def _answers(checked: Pairs) -> Picture:
    """Draws smallest buffers by calibrated theory and by search."""
    both = [
        (found.least, said)
        for found, said in checked
        if found.least is not None and said.least is not None
    ]

    def draw(axes: list[Axes]) -> None:
        ax = axes[0]
        for found, said in both:
            assert said.least is not None
            high = said.high if said.high is not None else 4 * said.least
            inside = said.low <= found <= high
            ax.errorbar(
                [found],
                [said.least],
                yerr=[[max(said.least - said.low, 0)], [max(high - said.least, 0)]],
                fmt="o",
                markersize=3,
                linewidth=0.9,
                color=BLUE if inside else ORANGE,
            )
        ends = [1, max(found for found, _ in both) * 1.5] if both else [1, 10]
        ax.plot(ends, ends, color=BLACK, linestyle="--", linewidth=1)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("smallest buffer by simulation, packets")
        ax.set_ylabel("by calibrated theory, packets")
        ax.set_title("Links drawn for the check")

    return Picture(
        "answers",
        "Smallest buffers of held-out links by calibrated theory, with 90 % predictive intervals, "
        "over those that searches by simulation found; orange intervals miss.",
        draw,
        height_inches=5.2,
    )


def _coverage(checked: Pairs) -> Picture:
    """Draws the predicted probabilities of answers below the simulated ones."""
    shares = sorted(
        _place(found.least, said)
        for found, said in checked
        if found.least is not None and said.least is not None
    )

    def draw(axes: list[Axes]) -> None:
        ax = axes[0]
        rising = np.linspace(0, 100, len(shares) + 1)[1:]
        ax.plot([0, 100], [0, 100], color=BLACK, linestyle="--", linewidth=1)
        ax.step([100 * share for share in shares], rising, where="post", color=BLUE)
        ax.axvspan(5, 95, color=GREY, alpha=0.12)
        ax.set_xlabel("predicted probability of a smaller answer, %")
        ax.set_ylabel("links with at most that, %")
        ax.set_title("Reliability of the predictive intervals")

    return Picture(
        "intervals",
        "Where the simulated answers of held-out links fall in their predictive distributions "
        "(between median and ends log-normal); on the dashed line every interval would cover what "
        "it says, the step in the middle is of exact hits, and the grey part is the 90 % interval.",
        draw,
        height_inches=4.6,
    )


def _place(found: int, said: Calibrated) -> float:
    """Returns the predicted probability of an answer below the answer of the search."""
    from math import erf, log, sqrt

    assert said.least is not None
    high = said.high if said.high is not None else 4 * said.least
    end = high if found > said.least else said.low
    width = max(abs(log((end + 0.5) / (said.least + 0.5))) / 1.645, 0.02)
    return 0.5 * (1 + erf(log((found + 0.5) / (said.least + 0.5)) / width / sqrt(2)))
