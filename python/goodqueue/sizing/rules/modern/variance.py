"""Buffers from the variance of many windows out of step, for any control and for mixes."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

from goodqueue.sizing.controls import DECREASE
from goodqueue.sizing.rules.rule import (
    Advice,
    Rule,
    broken,
    burst_checks,
    few_in_flight,
    loss_checks,
)
from goodqueue.sizing.rules.window.sqrt_n import FEWEST_FLOWS

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link

DEVIATIONS = {
    "reno": 1 / (3 * math.sqrt(3)),
    "abe": 1 / (3 * math.sqrt(3)),
    "scalable": 0.0385,
    "cubic": 0.0919,
    "bbr": 0.125,
    "bbr3": 0.125,
}
"""Standard deviation of a window over one cycle, as a share of its mean. A line from k to 1 has
(1 - k)/(sqrt(3) (1 + k)): 1/(3 sqrt 3) for Reno, as in Appenzeller et al. CUBIC's curve 1 - 0.3
(1 - u)^3 has a mean of 0.925 and a variance of 0.09 (1/7 - 1/16). Scalable TCP grows exponentially
from 0.875. BBR has 1.25, 0.75 and six times 1 of its estimate in turn; BBRv3 probes less often, so
its value is an upper bound."""

FOLLOWS_MARKS = "windows of Prague follow marks, so their variance depends on the marking queue"

MOST_UTILIZATION = 0.9999
"""Largest utilisation for which the Gaussian bound is inverted; it never reaches 1."""


def advise_variance(link: Link) -> Advice:
    """B = x C T / (1 - x), with x from the variance of the sum of the windows."""
    if link.needs_marks:
        return Advice(None, (FOLLOWS_MARKS,))
    packets = window_packets(link)
    return Advice(
        packets,
        broken(*_checks(link, packets), *burst_checks(link, packets)),
        _notes(link),
    )


def advise_paced(link: Link) -> Advice:
    """The buffer above, and the packets that single packets of paced senders need."""
    if link.needs_marks:
        return Advice(None, (FOLLOWS_MARKS,))
    packets = window_packets(link) + single_packets(link)
    return Advice(
        packets,
        broken(
            (not link.paces, "senders do not pace, so their packets arrive in bursts"),
            *_checks(link, packets),
        ),
        _notes(link),
    )


def window_packets(link: Link) -> float:
    """Returns the buffer in packets that the variance of the windows needs.

    The sum of N windows has the mean C T + B/2, and the deviation s (C T + B)/sqrt(N). The link is
    idle if the sum is below C T. Its utilisation is at least erf(B/(2 sqrt(2) deviation)).
    """
    share = (1 + min(link.min_utilization, MOST_UTILIZATION)) / 2
    part = 2 * NormalDist().inv_cdf(share) * deviation(link) / math.sqrt(link.flows)
    # The Gaussian bound exceeds C T for few flows, for which the rule is not derived.
    return link.bdp_packets * min(part / (1 - part), 1.0) if part < 1 else link.bdp_packets


def single_packets(link: Link) -> float:
    """Returns the buffer in packets of a queue of single packets that idles for the allowed share.

    Poisson arrivals at the rate of the link leave a buffer of B packets idle for 1/(2 B) of the
    time (Harrison, Brownian Motion and Stochastic Flow Systems, 1985).
    """
    return 1 / (2 * (1 - min(link.min_utilization, MOST_UTILIZATION)))


def deviation(link: Link) -> float:
    """Returns the standard deviation of a window over its mean, for the mix of the controls."""
    shares = [(share, DEVIATIONS[name]) for name, share in link.shares]
    return math.sqrt(math.fsum(share * each * each for share, each in shares))


def _checks(link: Link, packets: float) -> tuple[tuple[bool, str], ...]:
    saw_tooth = all(name in DECREASE for name, _ in link.shares)
    return (
        (
            link.flows < FEWEST_FLOWS,
            f"the number of flows ({link.flows}) is too small for them to be out of step",
        ),
        (
            len(set(link.rtts_s)) == 1 and link.flows > 1,
            (
                "all round-trip times are equal, so flows tend to lose at the same time and stay "
                "in step"
            ),
        ),
        *((few_in_flight(link, packets),) if saw_tooth else ()),
        *loss_checks(link, packets),
    )


def _notes(link: Link) -> tuple[str, ...]:
    each = deviation(link)
    return (f"a window deviates from its mean by {each:.1%} (standard deviation over a cycle)",)


_SOURCE = (
    "the Gaussian bound of Appenzeller et al. 2004 with the variance of each control's window; "
    "Spang, Arslan and McKeown, Updating the theory of buffer sizing, 2021, show that the square "
    "root of N holds for CUBIC and BBR; the constant is our derivation"
)

RULE_VARIANCE = Rule(
    name="window_variance",
    title="variance of the windows",
    equation="B = x/(1 - x) C T / 8M, x = 2 sqrt(2) erfinv(u) s / sqrt(N)",
    source=_SOURCE,
    assumptions=(
        "many long flows, out of step with one another and with equal shares",
        "utilisation u is the only aim; s is the deviation of a window over its mean",
        "packets paced, or bursts small beside the buffer; drop tail",
    ),
    advise=advise_variance,
    trial="modern",
)

RULE_PACED = Rule(
    name="paced_flows",
    title="variance of the windows and single packets",
    equation="B = x/(1 - x) C T / 8M + 1/(2 (1 - u))",
    source=f"{_SOURCE}; single packets after Harrison, Brownian Motion and Stochastic Flow "
    "Systems, 1985",
    assumptions=(
        "all senders pace, so that packets arrive singly",
        "many long flows, out of step with one another and with equal shares; drop tail",
    ),
    advise=advise_paced,
    trial="modern",
)
