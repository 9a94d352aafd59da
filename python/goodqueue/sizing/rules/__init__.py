"""Published rules for buffer sizes, one file each, by what they follow from; `RULES` lists them.

A rule is a function from a `goodqueue.sizing.link.Link` to an `Advice`: a number of packets, the
assumptions that this link breaks, and what else the rule says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.sizing.rules import configured
from goodqueue.sizing.rules.advice import claims, vendor
from goodqueue.sizing.rules.loss import bscl, capacity_ratio, fpq
from goodqueue.sizing.rules.modern import bbr, marks, variance
from goodqueue.sizing.rules.rule import Advice, Rule
from goodqueue.sizing.rules.smooth import core_to_access, small_queue, tiny
from goodqueue.sizing.rules.window import bdp, fluid, sqrt_n, window_decrease

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link

__all__ = ["RULES", "Advice", "Rule", "rules_for"]

RULES: tuple[Rule, ...] = (
    bdp.RULE,
    sqrt_n.RULE,
    window_decrease.RULE,
    bscl.RULE,
    fpq.RULE,
    tiny.RULE,
    capacity_ratio.RULE,
    core_to_access.RULE,
    small_queue.RULE_MM1K,
    small_queue.RULE_MD1K,
    fluid.RULE,
    vendor.RULE_250,
    vendor.RULE_500,
    claims.RULE_UPLINK,
    claims.RULE_KILOBYTES,
    claims.RULE_PACKETS,
    variance.RULE_VARIANCE,
    variance.RULE_PACED,
    bbr.RULE,
    marks.RULE_STEP,
    marks.RULE_DCTCP,
)


def rules_for(link: Link) -> tuple[Rule, ...]:
    """Returns the published rules, and the buffer of the link's device today if that is known."""
    return RULES if link.configured_packets is None else (*RULES, configured.RULE)
