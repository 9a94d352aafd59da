"""Buffer for a sender's decrease factor beta: (1/beta - 1) bandwidth-delay products."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.sizing.controls import RATE_BASED
from goodqueue.sizing.rules.rule import Advice, Rule, broken, few_in_flight, loss_checks
from goodqueue.sizing.rules.window.bdp import MANY_FLOWS

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link

BBR_PROBE_GAIN = 1.25
"""Factor on its estimated rate at which BBR sends for one round trip in eight, before it drains."""


def advise(link: Link) -> Advice:
    """(1/beta - 1) C T; for BBR the queue of its probing. A mix needs the most of its controls."""
    share = max(map(_share, link.parts()))
    packets = share * link.bdp_packets
    generous = broken(
        (
            link.flows > MANY_FLOWS and len(set(link.rtts_s)) > 1,
            (
                f"{link.flows} flows of different round-trip times are out of step, so a "
                "smaller buffer suffices"
            ),
        ),
        (
            link.needs_marks,
            "Prague reduces its window in proportion to marks, by no fixed share",
        ),
    )
    notes: tuple[str, ...] = ()
    if any(name in RATE_BASED for name, _ in link.shares):
        notes = (
            (
                "BBR needs a buffer of (1.25 - 1) C T for its probe; several BBR flows keep a "
                "queue of up to one C T"
            ),
        )
    return Advice(
        packets,
        broken(
            *(() if link.decrease is None else (few_in_flight(link, packets),)),
            *loss_checks(link, packets),
        )
        + generous,
        notes,
    )


def _share(link: Link) -> float:
    """Returns the BDPs that one flow of a link with one control needs."""
    if link.congestion_control in RATE_BASED:
        return BBR_PROBE_GAIN - 1
    # Prague halves its window after a loss, as Reno does.
    return bdps(0.5 if link.decrease is None else link.decrease)


def bdps(kept: float) -> float:
    """Returns the BDPs that one flow needs if it keeps this share of its window."""
    return 1 / kept - 1


RULE = Rule(
    name="window_decrease",
    title="window decrease",
    equation="B = (1/beta - 1) C T / 8M",
    source="the argument of Villamizar and Song with another decrease; RFC 9438 (CUBIC, 0.7), "
    "Scalable TCP (0.875); Spang, Arslan and McKeown, Updating the theory of buffer sizing, 2021",
    assumptions=("one flow, or flows in step", "drop tail; full utilisation is the aim"),
    advise=advise,
)
