"""The buffer that the device has today, beside the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.sizing.rules.rule import Advice, Rule

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link


def _advise(link: Link) -> Advice:
    return Advice(link.configured_packets)


RULE = Rule(
    name="configured",
    title="The buffer of the device today",
    equation="B as read from the device",
    source="the output of tc, or the configuration of SONiC",
    assumptions=(),
    advise=_advise,
    kind="claim",
)
