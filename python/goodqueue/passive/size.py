"""Sizing of a buffer from a capture: today's link is simulated first, then the search is run."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goodqueue.passive.answer import CaptureAnswer
from goodqueue.passive.fit import FEW_REPLICATES, fit
from goodqueue.passive.model import Choices, model_of
from goodqueue.passive.scenario import LINK
from goodqueue.passive.scenario import today as today_of
from goodqueue.passive.today import Bench
from goodqueue.passive.trial import CaptureTrial
from goodqueue.runs.memory import limit_of
from goodqueue.runs.settings import scenario_of
from goodqueue.sizing.answer.listener import SILENT, Listener
from goodqueue.sizing.api import simulate
from goodqueue.sizing.search.budget import Budget

if TYPE_CHECKING:
    from goodqueue.passive.analysis import Analysis
    from goodqueue.passive.model import Model
    from goodqueue.passive.today import Today
    from goodqueue.sizing.answer.answer import Answer
    from goodqueue.sizing.answer.effort import Effort
    from goodqueue.sizing.link import Link

TODAY_SHARE = 0.25
"""Largest share of the budget for today's link."""

MIN_REPLICATES = 3
"""Smallest number of runs that gives a range."""


def model_for(
    analysis: Analysis, link: Link, control: str | None = None, ack_every: int | None = None
) -> Model:
    """Returns the first model of a capture.

    Args:
        analysis: the capture.
        link: the link as the rules see it, with its bounds.
        control: congestion control of all flows that the link limits; None for the captured one of
            each.
        ack_every: segments per ACK of these flows; None for the captured value of each.
    """
    model = model_of(analysis, Choices(byte_counting=link.byte_counting))
    given: dict[str, Any] = {"control": control, "ack_every": ack_every}
    changes = {name: value for name, value in given.items() if value is not None}
    senders = tuple(replace(one, **changes) if one.local else one for one in model.senders)
    return replace(model, senders=senders)


def size_analysis(  # noqa: PLR0913 - the question, how well, and its callbacks
    analysis: Analysis,
    model: Model,
    link: Link,
    effort: Effort,
    *,
    seed: int = 1,
    notes: tuple[str, ...] = (),
    listener: Listener = SILENT,
) -> CaptureAnswer:
    """Finds the smallest buffer for a capture's traffic, and compares its model with the capture.

    Args:
        analysis: the capture.
        model: the model to begin with.
        link: the link as the rules see it, with its bounds.
        effort: extent of the simulations.
        seed: seed of the first replicate of every limit.
        notes: sentences about the interpretation of the capture.
        listener: callbacks for runs, the bracket and the recommendation.
    """
    begun = time.monotonic()
    budget = Budget(TODAY_SHARE * effort.budget, effort.time_s)
    today = simulate_today(analysis, model, effort, budget, seed, listener)
    if today is None:
        notes = (*notes, ("the budget was too small to simulate today's link; raise --budget"))
    else:
        model = today.model
    left = replace(effort, budget=effort.budget - min(budget.used, budget.packets))
    if effort.time_s is not None:
        spent_s = time.monotonic() - begun
        left = replace(left, time_s=max(effort.time_s - spent_s, effort.time_s / 2))

    def with_today(answer: Answer) -> CaptureAnswer:
        return CaptureAnswer.compared(answer, today)

    relay = Listener(
        listener.on_run,
        listener.on_bracket,
        lambda answer: listener.on_answer(with_today(answer)),
    )
    trial = CaptureTrial(model, link)
    return with_today(simulate(trial, link, left, seed, notes=notes, listener=relay))


def simulate_today(  # noqa: PLR0913, PLR0917 - the capture, its model, and how it is run
    analysis: Analysis,
    model: Model,
    effort: Effort,
    budget: Budget,
    seed: int,
    listener: Listener = SILENT,
) -> Today | None:
    """Simulates today's link with a fitted model; returns None if the budget is too small."""
    from goodqueue.study.runner import Runner, user_store
    from goodqueue.study.threads import Threads

    limit = limit_of(effort.memory)
    with user_store("sizing", effort.store) as store:
        runner = Runner(store, Threads(effort.jobs, limit), listener.on_run)
        scenario = scenario_of(today_of(model), "the capture")
        buffer = scenario.buffer(LINK)
        work = scenario.duration_s * buffer["rate_bps"] / (8 * buffer["frame_bytes"])
        few = min(FEW_REPLICATES, math.floor(budget.left / work))
        if few < MIN_REPLICATES:
            return None
        try:
            with budget.enforced(runner.stop):
                return fit(Bench(analysis, runner, seed), model, budget, work, few)
        except KeyboardInterrupt:
            if budget.over_time:
                return None
            raise
