"""Queue disciplines of one's own, in Python: docs/queues/own.md has an example."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from goodqueue import _core
from goodqueue.errors import RuleError

if TYPE_CHECKING:
    from goodqueue._core import Packet, QueueContext


class QueueDiscipline(Protocol):
    """A queue of packets waiting for a link; the packet in transmission has left it.

    A queue that holds packets back (a shaper) also has `next_ready(now_s) -> float | None`: when
    `dequeue` may next give one, in seconds, and None when nothing waits.
    """

    def enqueue(self, context: QueueContext, packet: Packet) -> object:
        """Takes a packet, or drops it or others through the context."""

    def dequeue(self, context: QueueContext) -> Packet | None:
        """Gives the next packet to transmit, if one may go now."""

    def backlog(self) -> tuple[int, int]:
        """Packets waiting, and their bytes as `context.frame_bytes` counts them."""


QueueFactory = Callable[[], QueueDiscipline]
"""Makes an empty queue: the class itself, if it can be called without arguments."""


@dataclass(frozen=True)
class QueueReport:
    """What happened while a queue discipline was tried, in packets.

    Attributes:
        offered: that arrived at the queue.
        sent: that it gave to the link.
        dropped: that it dropped.
        marked: marks that it set.
    """

    offered: int
    sent: int
    dropped: int
    marked: int


def check_queue(
    factory: QueueFactory,
    *,
    work_conserving: bool = True,
    largest_packet: int = 1500,
    seed: int = 1,
) -> QueueReport:
    """Tries a queue discipline under light, even and heavy load, in bursts, and with ECN.

    Args:
        factory: makes an empty queue. Queues are copied with `copy.deepcopy`.
        work_conserving: whether it claims never to leave the link idle while something waits.
        largest_packet: the largest IP packet it is offered, in bytes, from 40 to 65,535.
        seed: of the packets and of the queue's random stream.

    Raises:
        RuleError: names the first rule that it broke and says how.
        ValueError: for a packet size out of range.
    """
    if not 40 <= largest_packet <= 65_535:
        raise ValueError(f"largest_packet is {largest_packet}: write 40 to 65535 bytes")
    counts, violation = _core.check_queue(
        factory, seed=seed, work_conserving=work_conserving, largest_packet=largest_packet
    )
    if violation is not None:
        raise RuleError(*violation)
    return QueueReport(**counts)
