"""Describes the answer of calibrated theory, and names the figures of all answers of `size`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.output.terminal import milliseconds, number, packets, percent, size_of
from goodqueue.sizing.answer.parts import buffer_dict
from goodqueue.sizing.calibrated.coverage import of_kind
from goodqueue.sizing.calibrated.record import fitted_version, is_older
from goodqueue.sizing.calibrated.smallest import least_loss, most_busy, without
from goodqueue.sizing.search.filled import offered_share

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goodqueue.sizing.answer.answer import Answer
    from goodqueue.sizing.calibrated.smallest import Calibrated
    from goodqueue.sizing.link import Link

FIGURE_NAMES = {
    "utilization": "utilisation",
    "loss_rate": "loss",
    "p99_delay_s": "queueing delay",
}
DELAY = "p99_delay_s"
SHORT_NAMES = {"utilization": "use", "loss_rate": "loss", "p99_delay_s": "delay"}
"""Names of the figures for a narrow column."""


def in_units(link: Link, limit: int) -> str:
    """Returns a buffer in packets, bytes, milliseconds and bandwidth-delay products."""
    buffer = buffer_dict(link, limit)
    text = f"{packets(limit)} = {size_of(buffer['bytes'])} = {milliseconds(buffer['seconds'])} ms"
    return text if buffer["bdp"] is None else f"{text} = {number(buffer['bdp'], 3)} BDP"


def names_of(figures: Iterable[str]) -> str:
    """Returns the names of figures, joined by "and"."""
    return " and ".join(FIGURE_NAMES[name] for name in figures)


def by_calibrated_theory(link: Link, found: Calibrated) -> list[str]:
    """Returns the answer of calibrated theory, with its error."""
    if found.high is None:
        ends = (
            f"{packets(found.low)} or more; no upper end is known, because no buffer may suffice "
            f"(probability {percent(1 - found.chance)})"
        )
    else:
        ends = f"{found.low:,} to {packets(found.high)}"
    at = found.packets or found.least
    lines = [
        (
            "by calibrated theory without simulation: with 90 % probability a simulation "
            f"finds {ends}"
        )
    ]
    if at is not None:
        lines.append(f"expected with {packets(at)}: {expected_figures(found)}")
    covered = of_kind(link, found)
    if covered is not None:
        kind, counts = covered
        share = percent(counts.held / counts.links)
        lines.append(
            f"such an interval held the simulated answer on {share} of {counts.links} held-out "
            f"links of its kind ({kind})"
        )
    if is_older():
        lines.append(
            "[yellow]older[/] than the engine: the theory was fitted to results version "
            f"{fitted_version()}, and the engine of today gives others on such links; the interval "
            "is therefore wider"
        )
    if found.outside:
        known = "; ".join(found.outside)
        lines.append(
            f"[yellow]outside[/] the links on which the theory was calibrated: {known}. "
            "The interval is therefore wider"
        )
    offered = offered_share(link)
    if offered < link.min_utilization:
        lines.append(
            f"[yellow]mind[/]: hosts or windows limit these flows to {percent(offered)} of the "
            "rate, so no buffer fills this link and no rule applies; leave out --quick to size it "
            "for bursts"
        )
    if link.profile is None:
        lines.append(
            "[yellow]mind[/]: theory knows the long flows alone, with the whole link: the interval "
            "does not contain what the other flows of the file, ACKs in the same queue and late "
            "starts do, which may be several times as much; leave out --quick to simulate the file"
        )
    return lines


def expected_figures(found: Calibrated) -> str:
    """Returns the expected figures, each with its 90 % interval."""
    parts = []
    for name, words in FIGURE_NAMES.items():
        mean, low, high = found.figures[name]
        if name == DELAY:
            text = f"{milliseconds(mean)} ms ({milliseconds(low)} to {milliseconds(high)})"
        else:
            text = f"{percent(mean)} ({percent(low)} to {percent(high)})"
        parts.append(f"{words} {text}")
    return ", ".join(parts)


def infeasible_by_theory(answer: Answer) -> list[str]:
    """Returns the buffer that each bound needs, and the bound to give up."""
    link, found = answer.link, answer.calibrated
    if not answer.by_rule:
        return [
            ("[bold]no recommendation[/]: no rule applies to this link, and nothing was simulated")
        ]
    if found is None:
        return [
            (
                "[bold]no recommendation[/]: theory is not calibrated for "
                f"{link.control_words}; leave out --quick to simulate it"
            )
        ]
    lines = [
        (
            "[bold]no buffer is expected to suffice[/]: the probability that one does is "
            f"{percent(found.chance)}"
        )
    ]
    if found.least is None:
        lines.append(_nowhere(link))
    else:
        lines += by_calibrated_theory(link, found)
    if found.most is not None and found.least is not None:
        lines.append(f"the delay allows {packets(found.most)}")
    ways = [
        f"give up the bound on {names_of([name])}: {in_units(link, limit)}"
        for name, limit in without(link).items()
    ]
    return [
        *lines,
        *(ways or ["giving up one bound does not help: reduce the flows or raise the rate"]),
    ]


def _nowhere(link: Link) -> str:
    """Returns the expected figures of the buffer that comes nearest to the bounds."""
    (lost, at), (busy, deepest) = least_loss(link), most_busy(link)
    if link.max_loss_rate is not None and lost > link.max_loss_rate:
        return (
            f"no buffer keeps a loss of {percent(link.max_loss_rate)}: the smallest "
            f"expected loss is {percent(lost)}, with {packets(at)}"
        )
    return (
        f"even {packets(deepest)} are expected to keep the link busy for only "
        f"{percent(busy)} of the time"
    )
