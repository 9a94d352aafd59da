"""Inputs of the comparison with ns-2: links, TCP variants, criteria, and recorded figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

METRICS = (
    "utilization",
    "loss_rate",
    "mean_backlog_packets",
    "goodput_bps",
    "duplicate_share",
)

RELATIVE_TOLERANCE = {"mean_backlog_packets": 0.05, "loss_rate": 0.10}
"""Relative difference from ns-2's figure that is allowed in addition to three standard errors."""

UTILIZATION_TOLERANCE = 0.005
"""Allowed difference in utilisation: half a percentage point."""


@dataclass(frozen=True)
class Case:
    """One link with its flows, for both simulators.

    Attributes:
        name: name of the scenario file, in capitals.
        ns2: settings of tools/ns2/dumbbell.tcl; `buffer` is ns-2's queue-limit, our limit + 1.
        judged: the figures that have to agree.
        variants: ns-2's agents that are compared in addition to Sack1.
        ns3: figures recorded from ns-3.
    """

    name: str
    ns2: Mapping[str, str]
    judged: tuple[str, ...]
    variants: tuple[str, ...]
    ns3: Mapping[str, float]

    @property
    def scenario(self) -> str:
        """The path of the scenario file."""
        return f"scenarios/{self.name.lower()}.toml"


RECOVERY = {"Sack1": "sack", "Newreno": "newreno", "Reno": "reno", "Tahoe": "tahoe"}
"""Our loss recovery that corresponds to each of ns-2's agents."""

_ALL = ("utilization", "mean_backlog_packets", "loss_rate")
_VARIANTS = ("Newreno", "Reno", "Tahoe")

# The recorded figures are from ns-3.44, NewReno with SACK and classic recovery, one seed each.
CASES = (
    Case(
        "S1",
        {"flows": "100", "rate": "50", "buffer": "688", "duration": "200"},
        _ALL,
        _VARIANTS,
        {
            "utilization": 1.000,
            "loss_rate": 0.0108,
            "mean_backlog_packets": 567,
            "goodput_bps": 473e3,
        },
    ),
    Case(
        "S2",
        {"flows": "400", "rate": "50", "buffer": "3200", "duration": "200"},
        _ALL,
        (),
        {
            "utilization": 1.000,
            "loss_rate": 0.0068,
            "mean_backlog_packets": 2317,
            "goodput_bps": 101.0e3,
            "duplicate_share": 0.17,
        },
    ),
    Case(
        "S3",
        {
            "flows": "1",
            "rate": "10",
            "buffer": "33",
            "rtt_min": "40",
            "classes": "1",
            "duration": "1000",
        },
        _ALL,
        _VARIANTS,
        {
            "utilization": 0.99817,
            "loss_rate": 0.000516,
            "mean_backlog_packets": 17.9,
            "goodput_bps": 9716e3,
        },
    ),
    Case(
        "S4",
        {
            "flows": "10",
            "rate": "1000",
            "buffer": "1667",
            "rtt_min": "20",
            "classes": "1",
            "duration": "20",
        },
        ("utilization",),
        (),
        {
            "utilization": 1.000,
            "loss_rate": 0.000022,
            "mean_backlog_packets": 1048,
            "goodput_bps": 97333e3,
        },
    ),
)
