"""Plan of a link's runs: buffers, durations, engine and cost."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from evidence.rules_on_trial.draw import ORDINARY, Draw
from goodqueue.sizing.rules import RULES
from goodqueue.sizing.trials.length import Length, epoch_s

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodqueue.sizing.link import Link

CAP_PACKETS = ORDINARY.cap_packets
"""Largest number of packets of a run of ordinary links."""

PACKETS_PER_S, CROWDED_FLOWS = 2.5e6, 600
FLOW_S = 5e-5
"""Cost of a run in seconds of one core: packets, which take longer with many flows, and the start
of each flow."""

DEAR_RUN_S = 0.15
"""Cost of a run above which the second stage of a link is a single buffer."""

FEWEST_BUFFERS = 3
LINK_S = 0.5
"""Estimated seconds of one core for all rules' buffers of a link."""

START_UP_EPOCHS = 2.5
FEWEST_EPOCHS = 4.0
EPOCHS_OF_FEW = 12.0
FEW_FLOWS = 30
ROUND_TRIPS = 20
LEAST_S = 5.0

SECOND_STAGE = (0.6, 1.0, 1.6)
"""Buffers of the second stage, relative to the smallest buffer of the first that kept the bounds.
"""

FARTHEST = 64.0
"""Largest buffer of a rule that is run, in bandwidth-delay products (or packets per flow)."""

CLASSIC_RULES = tuple(rule for rule in RULES if rule.trial == "classic")
"""The rules of this study. `evidence/modern_buffers` has that of the others."""

Engine = Literal["packets", "hybrid"]


def engine_for(link: Link, cap: int = CAP_PACKETS) -> Engine:
    """Returns the engine that a link's runs need, by the cost of a run at C T / sqrt(N)."""
    middle = max(link.bdp_packets / math.sqrt(link.flows), 4.0)
    return "packets" if length(link, middle, cap) is not None else "hybrid"


def length(link: Link, packets: float, cap: int = CAP_PACKETS) -> Length | None:
    """Returns the length of a run with this buffer; None if it would send more than `cap`.

    A run has twelve loss epochs if flows are few, and four if they are many, because the mean of
    many flows fluctuates less.
    """
    epoch, longest = epoch_s(link, packets), max(link.rtts_s) + link.seconds(packets)
    wanted = max(EPOCHS_OF_FEW * min(1, (FEW_FLOWS / link.flows) ** 0.4), FEWEST_EPOCHS)
    start_up = max(START_UP_EPOCHS * epoch, 6 * longest)
    least = max(FEWEST_EPOCHS * epoch, ROUND_TRIPS * longest)
    room_s = cap * link.packet_time_s - start_up
    if least > room_s:
        return None
    measured = min(max(wanted * epoch, least, LEAST_S), room_s)
    duration = start_up + measured
    return Length(start_up, duration, duration / link.packet_time_s, warm=True)


def cost_s(link: Link, reach: Length) -> float:
    """Returns the approximate cost of a run in seconds of one core."""
    crowd = 1 + link.flows / CROWDED_FLOWS
    return reach.packets / PACKETS_PER_S * crowd + link.flows * FLOW_S + 0.002


def rules_buffers(link: Link) -> dict[str, int]:
    """Returns packets by rule, for the rules that have a number for the link."""
    advice = {rule.name: rule.advise(link).whole_packets for rule in CLASSIC_RULES}
    return {name: packets for name, packets in advice.items() if packets is not None}


def anywhere(link: Link, seed: int, index: int) -> int:
    """Returns a buffer from one packet to twice the larger of C T and 4 N, log-uniform."""
    most = 2 * max(link.bdp_packets, 4.0 * link.flows)
    return max(1, round(Draw(seed, index, 0).logarithmic("anywhere", (1.0, most))))


def first_stage(link: Link, seed: int, index: int, cap: int = CAP_PACKETS) -> list[int]:
    """Returns a random buffer, and those of the rules, as many as the link's time allows."""
    most = FARTHEST * max(link.bdp_packets, link.flows)
    chosen: list[int] = []
    spent = 0.0
    for packets in dict.fromkeys((anywhere(link, seed, index), *rules_buffers(link).values())):
        reach = length(link, packets, cap)
        if reach is None or packets > most:
            continue
        spent += cost_s(link, reach)
        if spent > LINK_S and len(chosen) >= FEWEST_BUFFERS:
            break
        chosen.append(packets)
    return chosen


def second_stage(
    link: Link, seen: Mapping[int, tuple[float, float]], cap: int = CAP_PACKETS
) -> list[int]:
    """Returns buffers around the smallest that keeps the bounds, by the results of the first stage.

    Args:
        link: the link with its bounds.
        seen: utilisation and loss by buffer in packets.
        cap: largest number of packets of one run.
    """
    rising = sorted(seen)
    if not rising:
        return []
    knee = max(1, round(_crossing(link, rising, seen)))
    reach = length(link, knee, cap)
    if reach is None or cost_s(link, reach) > DEAR_RUN_S:
        return [knee] if knee not in seen else []
    wanted = {max(1, round(knee * factor)) for factor in SECOND_STAGE}
    return sorted(wanted - set(seen))


def _crossing(link: Link, rising: list[int], seen: Mapping[int, tuple[float, float]]) -> float:
    """Returns the interpolated buffer from which on the bounds are kept, or one just outside."""
    shortfall = [_shortfall(link, *seen[packets]) for packets in rising]
    if shortfall[0] <= 0:
        return rising[0] / 2
    if shortfall[-1] > 0:
        return rising[-1] * 2.0
    above = max(place for place, short in enumerate(shortfall) if short > 0) + 1
    below = above - 1
    share = shortfall[below] / (shortfall[below] - shortfall[above])
    logs = np.log([rising[below], rising[above]])
    return float(np.exp(logs[0] + share * (logs[1] - logs[0])))


def _shortfall(link: Link, utilization: float, loss_rate: float) -> float:
    """Returns the logarithm by which the worse of utilisation and loss misses its bound."""
    idle = math.log((1 - utilization + 1e-3) / (1 - link.min_utilization + 1e-3))
    if link.max_loss_rate is None:
        return idle
    return max(idle, math.log((loss_rate + 1e-4) / (link.max_loss_rate + 1e-4)))


def replicates(reach: Length, cap: int = CAP_PACKETS) -> int:
    """Returns the number of replicates: two for cheap runs."""
    return 2 if reach.packets < cap / 12 else 1


def run_seed(seed: int, index: int, packets: int, replicate: int) -> int:
    """Returns the seed of a run, which no other run has."""
    text = f"run/{seed}/{index}/{packets}/{replicate}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1
