"""Recommendations of vendors and operators, in milliseconds of the link's rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.sizing.rules.rule import Advice, Rule, broken
from goodqueue.sizing.rules.window.bdp import MANY_FLOWS

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link


def _time_rule(name: str, seconds: float, source: str) -> Rule:
    def advise(link: Link) -> Advice:
        return Advice(
            seconds / link.packet_time_s,
            broken(
                (
                    link.max_delay_s is not None and seconds > link.max_delay_s,
                    f"a full buffer delays by {seconds * 1e3:g} ms, above the bound",
                ),
                (
                    link.flows > MANY_FLOWS and len(set(link.rtts_s)) > 1,
                    f"{link.flows} flows of different round-trip times are not in step",
                ),
                (
                    seconds > 2 * max(link.rtts_s),
                    (
                        f"no flow here has a round trip near {seconds * 1e3:g} ms; the "
                        "rest of this buffer only adds delay"
                    ),
                ),
            ),
        )

    return Rule(
        name=name,
        title=f"{seconds * 1e3:g} ms of the rate",
        equation=f"B = C x {seconds * 1e3:g} ms / 8M",
        source=source,
        assumptions=(f"round trips of about {seconds * 1e3:g} ms, in step",),
        advise=advise,
        kind="claim",
    )


RULE_250 = _time_rule(
    "vendor_250ms",
    0.25,
    "the usual reading of Villamizar and Song for the Internet's round trips; quoted by "
    "Appenzeller et al. as the rule of thumb of the day",
)
RULE_500 = _time_rule(
    "vendor_500ms",
    0.5,
    "defaults of router vendors, quoted by Dhamdhere, Jiang and Dovrolis, INFOCOM 2005",
)
