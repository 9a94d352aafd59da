"""Ratio of output to input capacity: the best buffer depends on how loss falls with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.sizing.rules.rule import Advice, Rule, broken

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link

TYPICAL_EXPONENT = 0.5
"""Assumed b of p ~ B^-b if none was measured; the paper's fits lie between 0.3 and 1."""


def advise(link: Link) -> Advice:
    """Gamma < 1: B = b/(2 - b) C T, with a loss of p ~ B^-b; Gamma >= 1: nearly nothing."""
    inputs = link.input_rate_bps
    if inputs is not None and link.rate_bps >= inputs:
        return Advice(
            1.0,
            notes=("the inputs cannot exceed the output: loss falls exponentially with B",),
        )
    return Advice(
        best_bdps(TYPICAL_EXPONENT) * link.bdp_packets,
        broken(
            (inputs is None, "the capacity of the inputs is not known (--input-rate)"),
            (
                link.window_packets < 2,
                ("flows are too small for congestion avoidance; slow-start flows need much less"),
            ),
        ),
        (f"b = {TYPICAL_EXPONENT} assumed: between 0.18 C T (b = 0.3) and 1 C T (b = 1)",),
    )


def best_bdps(exponent: float) -> float:
    """Returns b/(2 - b), the BDPs that maximise 1/((T + B/C) sqrt(p)) for p ~ B^-b."""
    return exponent / (2 - exponent)


RULE = Rule(
    name="capacity_ratio",
    title="output over input capacity",
    equation="B = b/(2 - b) C T / 8M where loss ~ B^-b",
    source="Prasad, Dovrolis and Thottan, Router buffer sizing revisited, CoNEXT 2007",
    assumptions=(
        "throughput per flow is the aim: flows follow the square-root law",
        "loss falls as a power of the buffer: inputs exceed the output",
    ),
    advise=advise,
)
