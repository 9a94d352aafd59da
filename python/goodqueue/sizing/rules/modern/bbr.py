"""The buffer that holds all that BBR may keep in flight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.sizing.controls import RATE_BASED
from goodqueue.sizing.rules.rule import Advice, Rule, broken

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link

WINDOW_GAIN = 2
"""Factor of BBR's window on its estimate of the BDP (cwnd_gain of the draft)."""


def advise(link: Link) -> Advice:
    """B = (2 - 1) C T."""
    has_bbr = any(name in RATE_BASED for name, _ in link.shares)
    return Advice(
        (WINDOW_GAIN - 1) * link.bdp_packets if has_bbr else None,
        broken(
            (
                not all(name in RATE_BASED for name, _ in link.shares),
                "only BBR bounds the data in flight by twice its estimate of the path",
            ),
            (
                link.flows > 1 and link.max_loss_rate is not None,
                (
                    "the estimates of several flows add up to more than the rate of the link, so "
                    "their windows overflow the buffer when all probe, and the rule does not bound "
                    "loss"
                ),
            ),
        ),
        ("a single flow never fills this buffer, if it knows rate and base round trip",),
    )


RULE = Rule(
    name="bbr_inflight",
    title="data in flight of BBR",
    equation="B = (2 - 1) C T / 8M",
    source="the window gain of BBR: Cardwell et al., BBR, ACM Queue 14(5), 2016; "
    "draft-ietf-ccwg-bbr, section on cwnd_gain",
    assumptions=(
        "all flows have BBR, and know rate and base round trip",
        "one flow, if loss is bounded; drop tail",
    ),
    advise=advise,
    trial="modern",
)
