"""The bandwidth-delay product."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.sizing.rules.rule import Advice, Rule, broken, loss_checks, saw_tooth_checks

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link

MANY_FLOWS = 10
"""Number of flows above which saw-teeth are assumed out of step unless all round trips are equal.
"""


def advise(link: Link) -> Advice:
    """B = C T: the smallest queue that a halved window does not leave empty."""
    generous = broken(
        (
            link.flows > MANY_FLOWS and len(set(link.rtts_s)) > 1,
            (
                f"{link.flows} flows of different round-trip times do not halve at once, "
                "so the sum of their windows varies less than one window does, and a "
                "smaller buffer suffices"
            ),
        ),
        (
            link.decrease not in {None, 0.5},
            (
                f"{link.control_words} keeps {link.decrease} of its window and not "
                "half, so a smaller buffer suffices (window_decrease)"
            ),
        ),
    )
    return Advice(
        link.bdp_packets,
        broken(
            *saw_tooth_checks(link, link.bdp_packets),
            *loss_checks(link, link.bdp_packets),
        )
        + generous,
    )


RULE = Rule(
    name="bdp",
    title="bandwidth-delay product",
    equation="B = C T / 8M",
    source="Villamizar and Song, High performance TCP in ANSNET, CCR 24(5), 1994",
    assumptions=(
        "one flow, or flows whose losses are synchronised",
        "Reno: a window is halved by a loss",
        "drop tail; full utilisation is the aim",
    ),
    advise=advise,
)
