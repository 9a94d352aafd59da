"""What the rules recommend together, where nothing is simulated."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from goodqueue.sizing.rules import bdp, bscl, sqrt_n, window_decrease
from goodqueue.sizing.rules.rule import loss_rate

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link

PROMISING = (bdp.RULE, sqrt_n.RULE, window_decrease.RULE, bscl.RULE)
"""The rules that ask for utilisation. Their checks say where they do not promise what is asked."""

STEP = 1.05
MOST_BDPS = 100
"""Limits from one packet to so many bandwidth-delay products, in such steps, are looked at for the
loss of CUBIC: the estimate has a minimum, and no closed form."""


def promised(link: Link) -> dict[str, int]:
    """Packets by rule, of those whose assumptions hold: each promises utilisation and loss.

    Where none does, of those that keep the promise with more than it takes.
    """
    if not link.flows:
        return {}
    advice = {rule.name: rule.advise(link) for rule in PROMISING}
    holding = {name: one for name, one in advice.items() if one.holds}
    serving = holding or {name: one for name, one in advice.items() if one.suffices}
    return {name: one.whole_packets or 1 for name, one in serving.items()}


def theory_only(link: Link) -> int | None:
    """The buffer by theory, in packets; None where no rule that holds keeps the bounds.

    Rules differ in what they assume of flows, in step or not, which no description of a link
    settles. The largest suffices whichever is right; of those that the delay leaves.
    """
    most = math.inf if link.max_delay_s is None else link.max_delay_s
    fits = [packets for packets in promised(link).values() if link.seconds(packets) <= most]
    return max(fits, default=None)


def unmet_by_theory(link: Link, packets: int) -> tuple[str, ...]:
    """The bounds on loss and delay that a buffer breaks by formula: a full buffer is the delay."""
    lost = link.flows and link.congestion_control != "bbr" and link.max_loss_rate is not None
    late = link.max_delay_s is not None and link.seconds(packets) > link.max_delay_s
    broken = {
        "loss_rate": lost and loss_rate(link, packets) > (link.max_loss_rate or 0),
        "p99_delay_s": late,
    }
    return tuple(name for name, is_broken in broken.items() if is_broken)


def without(link: Link) -> dict[str, int]:
    """What theory recommends if one bound is given up, by the bound's name; where it can."""
    given_up = {
        "utilization": replace(link, min_utilization=1e-9),
        "loss_rate": replace(link, max_loss_rate=None),
        "p99_delay_s": replace(link, max_delay_s=None),
    }
    found = {
        name: theory_only(other) for name, other in given_up.items() if other != link and link.flows
    }
    return {name: packets for name, packets in found.items() if packets is not None}


def limits(link: Link) -> list[int]:
    """The limits at which the loss of CUBIC is estimated, in packets, rising."""
    last = max(MOST_BDPS * link.bdp_packets, MOST_BDPS * link.flows)
    steps = math.ceil(math.log(last) / math.log(STEP))
    return sorted({round(STEP**step) for step in range(steps + 1)})


def cubic_for_loss(link: Link) -> int | None:
    """The smallest limit in packets whose estimated loss of CUBIC keeps the bound on loss.

    None if no limit does: more buffer makes round trips longer, and so loses more.
    """
    bound = link.max_loss_rate
    assert bound is not None  # it was asked for
    return next((limit for limit in limits(link) if loss_rate(link, limit) <= bound), None)


def least_loss(link: Link) -> tuple[float, int]:
    """The least loss of CUBIC that is estimated for any limit, and that limit in packets."""
    return min((loss_rate(link, limit), limit) for limit in limits(link))
