"""The recommendation of `goodqueue size` in sentences, the most important first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goodqueue.output.progress import duration
from goodqueue.output.sizing.theory import (
    DELAY,
    FIGURE_NAMES,
    by_calibrated_theory,
    in_units,
    infeasible_by_theory,
)
from goodqueue.output.terminal import milliseconds, number, packets, percent, plain
from goodqueue.passive.answer import CaptureAnswer
from goodqueue.sizing.answer.facts import LONG_DELAY_S, MUCH_LOSS
from goodqueue.sizing.search.agreement import in_words
from goodqueue.sizing.search.budget import PACKETS_PER_S
from goodqueue.sizing.search.laboratory import FREQUENT_LOSS
from goodqueue.sizing.trials.length import epochs_of

if TYPE_CHECKING:
    from goodqueue.core.intervals import Interval
    from goodqueue.sizing.answer.answer import Answer
    from goodqueue.sizing.answer.facts import Facts, Miss
    from goodqueue.sizing.search.agreement import Widened

SHORT_DELAY_S = 0.01

MIN_EPOCH_SHARE = 0.8
"""Share of the wanted loss epochs below which an answer says that its replicates are short."""


def verdict(answer: Answer) -> list[str]:
    """Returns the recommendation in sentences, for a capture with its reliability."""
    if not isinstance(answer, CaptureAnswer):
        return recommendation(answer)
    from goodqueue.output.passive.today import carried_range, not_firm

    return [*not_firm(answer), *recommendation(answer), *carried_range(answer)]


def recommendation(answer: Answer) -> list[str]:
    """Returns the recommendation in sentences."""
    link, facts = answer.link, answer.facts
    if answer.trials is None:
        return _by_theory(answer)
    if facts is None:
        return [*_not_run(answer), *_engine(answer)]
    lines = [*_first_of_all(answer, facts)]
    if answer.buffer is None:
        lines += _without(answer, facts)
    else:
        lines.append(first_line(answer))
        lines.append(f"expected: {achieved(answer, answer.buffer)}")
        lines += _covers(answer, facts)
    if answer.ended and not answer.shown:
        lines += _ended(answer)
    lines += several_sets(link.max_delay_s is not None, facts)
    return [*lines, *_shortened(answer), *short(answer), *_engine(answer)]


def _not_run(answer: Answer) -> list[str]:
    """Returns the answer of theory, if no run ended."""
    why = "Ctrl-C came before a run had ended"
    if answer.budget_over:
        why = "a single run takes more than the budget (--budget)"
    by = "one bandwidth-delay product" if answer.calibrated is None else "calibrated theory"
    return [first_line(answer), f"by {by}, without a run: {why}"]


def _by_theory(answer: Answer) -> list[str]:
    """Returns the recommendation of theory alone."""
    lines = [] if answer.why_theory_only is None else [plain(answer.why_theory_only)]
    if answer.buffer is None:
        return [*lines, *infeasible_by_theory(answer)]
    lines.append(first_line(answer))
    theory = answer.calibrated
    return lines if theory is None else [*lines, *by_calibrated_theory(answer.link, theory)]


def _first_of_all(answer: Answer, facts: Facts) -> list[str]:
    """Returns what an answer must not hide: much loss without a bound, or limits not tried."""
    lines = []
    delay = answer.interval(facts.packets, DELAY).mean
    if answer.link.max_delay_s is None and delay > LONG_DELAY_S:
        lines.append(
            f"[yellow]mind[/]: packets wait up to {milliseconds(delay)} ms (p99), because no bound "
            "on the delay was asked (--max-delay); fq_codel or pie control it"
        )
    if answer.link.max_loss_rate is None and answer.link.flows:
        loss = answer.interval(facts.packets, "loss_rate").mean
        if loss > MUCH_LOSS:
            lines.append(
                f"[yellow]mind[/]: {percent(loss)} of all packets are lost behind "
                f"{packets(facts.packets)}, because no bound on the loss was asked (--max-loss)"
            )
    if answer.doubt is not None and "were not tried" in answer.doubt:
        lines.append(
            f"[yellow]mind[/]: {packets(facts.packets)} is the smallest buffer that was tried; "
            "less may suffice"
        )
    return lines


def first_line(answer: Answer) -> str:
    """Returns the answer itself: its buffer in every unit, or the nearest miss."""
    packets_of_it = answer.number if answer.buffer is None else answer.buffer
    at = f"[bold]{in_units(answer.link, packets_of_it)}[/]"
    if answer.buffer is not None:
        return f"[bold]{word_for(answer)}[/]: {at}"
    if answer.trials is None:
        return infeasible_by_theory(answer)[0]
    if answer.facts is None or answer.facts.miss is None:
        return f"[bold]estimate[/]: {at}"
    impossible = answer.why_impossible
    said = "no buffer suffices" if impossible else "no buffer was found that suffices"
    return f"[bold]{said}[/]; nearest: {at}"


def word_for(answer: Answer) -> str:
    """Returns a word for the reliability of the answer's buffer."""
    if answer.trials is None or answer.proved:
        return "recommended"
    return "sufficient" if answer.ended else "estimate"


def between(low: int, high: int | None) -> str:
    """Returns an interval of buffers in words; its upper end is None if it is not known."""
    if high is None:
        return f"{packets(low)} or more"
    return packets(low) if low == high else f"{low:,} to {packets(high)}"


def _covers(answer: Answer, facts: Facts) -> list[str]:
    """Returns the interval of the answer by chance, and the bound that decides."""
    low, high = answer.chance
    lines = []
    if low is not None:
        ends = between(low, high)
        shown = "shown with 95 % confidence" if answer.proved else "not shown"
        if answer.engine == "packets":
            lines.append(f"by chance: {ends} ({shown}; over the seeds of the runs)")
    if facts.deciding is not None:
        lines.append(f"decided by the bound on {_bound_name(facts.deciding)}")
    return lines


def _bound_name(figure: str) -> str:
    return "the queueing delay" if figure == DELAY else FIGURE_NAMES[figure]


def several_sets(has_delay: bool, facts: Facts) -> list[str]:
    """Returns the sets of buffers that keep the bounds, if they are not all above one."""
    if not facts.sets or (len(facts.sets) == 1 and facts.sets[0][1] is None):
        return []
    parts = [
        f"from {low:,} to {packets(high)}" if high is not None else f"from {packets(low)} upwards"
        for low, high in facts.sets
    ]
    why = "" if has_delay else "; above, larger buffers break a bound"
    if facts.sets[-1][1] is None:
        why = "; between, a bound is broken"
    return [f"the bounds are kept {' and '.join(parts)}{why}"]


def _without(answer: Answer, facts: Facts) -> list[str]:
    """Returns the nearest miss, the best buffer for each bound, and what to do."""
    impossible = answer.why_impossible
    if facts.miss is None:  # means keep the bounds, but the search was stopped
        return [
            first_line(answer),
            f"expected: {achieved(answer, facts.packets)}",
            *_covers(answer, facts),
        ]
    lines = [first_line(answer)]
    lines.append(f"there: {achieved(answer, facts.packets)}")
    lines.append(_relax(facts.miss))
    for figure, limit in facts.best.items():
        if limit != facts.packets and len(facts.best) > 1:
            lines.append(
                f"for the bound on {_bound_name(figure)} alone: {packets(limit)} "
                f"({achieved(answer, limit)})"
            )
    if impossible is not None:
        lines.append(f"shown with 95 % confidence at every limit tried; {impossible}")
        if not answer.link.flows and facts.miss.figure == "utilization":
            lines.append(
                f"this traffic uses only {percent(facts.miss.mean)} of the link, so its buffer "
                "serves bursts: ask for the loss, as in --min-utilization 1% --max-loss 0.1%"
            )
    else:
        found = answer.found
        reached = 0 if found is None else found.reached
        lines.append(f"not shown: limits up to {packets(reached)} were tried")
    return lines


def _relax(miss: Miss) -> str:
    """Returns the bound to relax, and by how much."""
    if miss.figure == DELAY:
        value, bound = f"{milliseconds(miss.mean)} ms", f"{milliseconds(miss.bound)} ms"
    else:
        value, bound = percent(miss.mean), percent(miss.bound)
    return (
        f"it misses the bound on {_bound_name(miss.figure)}: {value} in place of {bound}; relax "
        "this bound, reduce the flows, or raise the rate"
    )


def _ended(answer: Answer) -> list[str]:
    """Returns why the search ended early, and what would settle it."""
    why = "Ctrl-C came" if answer.interrupted else "the budget was over"
    line = f"[bold]not shown[/]: {why} before the search ended"
    if answer.more_packets is not None:
        line += (
            f"; about {_count(answer.more_packets)} packets more would settle it "
            f"(about {duration(answer.more_packets / PACKETS_PER_S)} of one processor)"
        )
    return [line]


def _count(value: float) -> str:
    """Returns a number of packets that can be typed back, such as 300M."""
    scale, suffix = (1e9, "G") if value >= 1e9 else (1e6, "M")
    return f"{max(round(value / scale, 1), 0.1):g}{suffix}"


def _engine(answer: Answer) -> list[str]:
    """Returns the engine of the answer, the reason for its choice, and its reliability."""
    if answer.engine is None:
        return []
    too_long = ""
    if answer.packets_s is not None:
        too_long = f"packets would take about {duration(answer.packets_s)} of one processor"
    if answer.engine == "packets":
        why = "" if answer.why_not_hybrid is None else f": {plain(answer.why_not_hybrid)}"
        outside = f"; {too_long}, and the hybrid engine does not apply here{why}"
        return [f"simulated by the packet engine{outside}"] if too_long else []
    lines = [f"simulated by the [bold]hybrid engine[/]{f': {too_long}' if too_long else ''}"]
    lines.append(in_words())
    if answer.doubt is not None:
        lines.append(f"an estimate: {plain(answer.doubt)}")
    lines.append(_with_the_error(answer.widened))
    return lines


def _with_the_error(found: Widened | None) -> str:
    """Returns the range of buffers that follows from the hybrid engine's measured error."""
    if found is None:
        return "no interval follows: the error of these engines on such links is not known"
    error = found.agreement
    if error.low is None and error.high is None:
        return (
            f"no interval follows from the hybrid engine's error: on some of {error.links} such "
            "links it kept the bound with every buffer, or with none"
        )
    above = "" if found.high is None else f" to {packets(found.high)}"
    low = "less than any tried" if error.low is None else f"{error.low:.2f}"
    high = "more than any tried" if error.high is None else f"{error.high:.2f}"
    return (
        f"with the hybrid engine's error: from {packets(found.low)}{above or ' upwards'}; on nine "
        f"tenths of {error.links} such links its buffer was {low} to {high} of the packet engine's"
    )


def _shortened(answer: Answer) -> list[str]:
    """Returns the factor by which replicates were shortened to fit into the budget."""
    if answer.share == 1 or answer.scenario is None:
        return []
    measured_s = answer.scenario.duration_s - answer.scenario.warmup_s
    epochs = "" if answer.epochs is None else f", {answer.epochs:.1f} loss epochs per flow"
    return [
        (
            "[yellow]shortened[/] to fit into the budget: a replicate measures "
            f"{number(measured_s, 3)} s{epochs} (in full {epochs_of(answer.link):.0f} epochs)"
        )
    ]


def short(answer: Answer) -> list[str]:
    """Returns that replicates have few loss epochs although they have their full length.

    Flows of a link that no buffer fills need not lose.
    """
    wanted = epochs_of(answer.link)
    at = answer.number
    if answer.link.for_bursts or answer.interval(at, "loss_rate").mean > FREQUENT_LOSS:
        return []
    if answer.share != 1 or answer.epochs is None or answer.epochs >= MIN_EPOCH_SHARE * wanted:
        return []
    is_file = answer.link.profile is None and not isinstance(answer, CaptureAnswer)
    longer = "; --set duration=... makes it longer" if is_file else ""
    return [
        (
            f"[yellow]short[/]: a replicate contained only {answer.epochs:.1f} loss epochs "
            f"per flow instead of {wanted:.0f}{longer}"
        )
    ]


def achieved(answer: Answer, limit: int) -> str:
    """Returns the figures at a limit that was run, with their intervals."""
    figures = answer.figures(limit)
    busy, loss, delay = (figures[name] for name in ("utilization", "loss_rate", DELAY))
    text = (
        f"utilisation {plus_minus(busy, 100, 2)} %, loss "
        f"{plus_minus(loss, 100, loss_digits(loss))} %, p99 queueing delay "
        f"{plus_minus(delay, 1000, digits(delay))} ms"
    )
    if "jain" in figures:
        text += f", fairness {plus_minus(figures['jain'], 1, 2)}"
    return text


def loss_digits(interval: Interval) -> int:
    """Returns the number of decimals of a loss in percent: more for small ones."""
    share = 100 * interval.mean
    return 2 if share >= 1 or share <= 0 else min(2 - math.floor(math.log10(share)), 5)


def digits(interval: Interval) -> int:
    """Returns the number of decimals of milliseconds: more for short delays."""
    return 1 if interval.mean >= SHORT_DELAY_S else 3


def plus_minus(interval: Interval, scale: float, places: int) -> str:
    """Returns a mean and its half width in another unit."""
    return interval.text(lambda value: f"{value * scale:.{places}f}")
