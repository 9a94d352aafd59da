"""Congestion controls of the flows of a described link: one, or several with their shares.

`cubic:70%,bbr3:30%` is a mix in which 70 % of the flows have CUBIC.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.errors import RequestError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

_KNOWN = _core.theory_controls()

DECREASE = {one["name"]: one["decrease"] for one in _KNOWN if one["decrease"] is not None}
"""Share of its window that a sender keeps after a loss."""

RATE_BASED = tuple(one["name"] for one in _KNOWN if one["rate_based"])
"""Controls that estimate a rate, and keep at most two BDPs in flight."""

NEED_MARKS = tuple(one["name"] for one in _KNOWN if one["needs_marks"])
"""Controls that need a queue that marks packets with ECN."""

CONTROLS = tuple(one["name"] for one in _KNOWN)
"""Names of all controls that a described link can have."""

PACE = tuple(one["name"] for one in _KNOWN if one["paces"])
"""Controls that always pace."""

EXACT = 1e-9
"""Largest rounding error of a sum of shares."""

Shares = tuple[tuple[str, float], ...]
"""Names of controls, each with its share of the flows; the shares add up to 1."""


def parse_controls(flag: str, text: str) -> Shares:
    """Returns the controls of `cubic`, or of `cubic:70%,bbr3:30%`, in the order as typed.

    Raises:
        RequestError: with the flag, the mistake, and the nearest valid choice.
        ScenarioError: if a share is not a fraction or a percentage.
    """
    shares: list[tuple[str, float]] = []
    parts = text.split(",")
    for part in parts:
        name, colon, share = (piece.strip() for piece in part.partition(":"))
        if name not in CONTROLS:
            raise RequestError(
                f"{flag} {text}: unknown congestion control {name!r}; {nearest(name, CONTROLS)}"
            )
        if name in dict(shares):
            raise RequestError(f"{flag} {text}: {name} occurs twice; add its shares")
        if not colon and len(parts) > 1:
            raise RequestError(
                f"{flag} {text}: {name} has no share; write {_even([one for one in parts if one])}"
            )
        value = _core.parse_fraction(flag, share) if colon else 1.0
        if not 0 < value <= 1:
            raise RequestError(
                f"{flag} {text}: the share of {name} must be above 0% and at most 100%"
            )
        shares.append((name, value))
    total = math.fsum(share for _, share in shares)
    if abs(total - 1) > EXACT:
        scaled = [(name, round(share / total, 4)) for name, share in shares[1:]]
        scaled.insert(0, (shares[0][0], 1 - math.fsum(share for _, share in scaled)))
        raise RequestError(
            f"{flag} {text}: the shares add up to {100 * total:.6g}% and not to 100%; the nearest "
            f"mix is {_core.control_words(tuple(scaled))}"
        )
    return tuple(shares)


def main_control(shares: Shares) -> str:
    """Returns the control with the largest share, the first one of equals."""
    return max(shares, key=lambda one: one[1])[0]


def counts(shares: Shares, flows: int) -> dict[str, int]:
    """Returns the number of flows of each control; the largest remainders get the rest."""
    exact = {name: share * flows for name, share in shares}
    whole = {name: math.floor(count + EXACT) for name, count in exact.items()}
    left = flows - sum(whole.values())
    for name in sorted(exact, key=lambda one: whole[one] - exact[one])[:left]:
        whole[name] += 1
    return whole


def problem(shares: Shares, congestion_control: str, flows: int) -> str | None:
    """Returns the mistake in a link's mix of controls; None if there is none."""
    known = ", ".join(CONTROLS)
    for name in (congestion_control, *dict(shares)):
        if name not in CONTROLS:
            return f'the rules do not know "{name}"; they know {known}'
    if not shares:
        return None
    total = math.fsum(share for _, share in shares)
    if abs(total - 1) > EXACT or not all(share > 0 for _, share in shares):
        return "the shares of the congestion controls must be positive and add up to 100%"
    if congestion_control != main_control(shares):
        return "the congestion control of a mix is the one with the largest share"
    absent = [name for name, count in counts(shares, flows).items() if not count]
    if flows and absent:
        mix = _core.control_words(shares)
        return (
            f"{mix}: {flows} flow{'s' * (flows > 1)} cannot be divided so that "
            f"{absent[0]} has one; use more flows or a larger share"
        )
    return None


def _even(parts: Sequence[str]) -> str:
    names = [part.partition(":")[0].strip() for part in parts]
    each = 100 // len(names)
    first = 100 - each * (len(names) - 1)
    return ",".join(f"{name}:{first if not place else each}%" for place, name in enumerate(names))
