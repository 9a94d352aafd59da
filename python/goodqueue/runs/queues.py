"""Queue disciplines written in Python by the user; docs/queues/own.md has an example."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from goodqueue import _core
from goodqueue.errors import RuleError

if TYPE_CHECKING:
    from goodqueue._core import Packet, QueueContext


class QueueDiscipline(Protocol):
    """A queue of packets waiting for a link; it does not include the packet in transmission.

    A queue that delays packets (a shaper) also has `next_ready(now_s) -> float | None`. It returns
    the time, in seconds, at which `dequeue` may next return a packet, and None if no packet waits.

    Examples:
        >>> from collections import deque
        >>> class DropTail:
        ...     def __init__(self):
        ...         self.waiting, self.bytes = deque(), 0
        ...     def enqueue(self, context, packet):
        ...         if len(self.waiting) == 10:
        ...             context.drop(packet)
        ...         else:
        ...             self.waiting.append(packet)
        ...             self.bytes += context.frame_bytes(packet)
        ...     def dequeue(self, context):
        ...         if not self.waiting:
        ...             return None
        ...         packet = self.waiting.popleft()
        ...         self.bytes -= context.frame_bytes(packet)
        ...         return packet
        ...     def backlog(self):
        ...         return len(self.waiting), self.bytes
        >>> import goodqueue
        >>> run = goodqueue.run(goodqueue.EXAMPLE, queues={"bottleneck": DropTail}, series=True)
        >>> run.summary["links"]["bottleneck"]["max_backlog_packets"]
        10.0
    """

    def enqueue(self, context: QueueContext, packet: Packet) -> object:
        """Takes a packet, or drops it or other packets through the context."""

    def dequeue(self, context: QueueContext) -> Packet | None:
        """Returns the next packet to transmit; None if none may be sent now."""

    def backlog(self) -> tuple[int, int]:
        """Returns the number of waiting packets and their `context.frame_bytes` in total."""


QueueFactory = Callable[[], QueueDiscipline]
"""Function that makes an empty queue: the class itself, if it can be called without arguments."""


@dataclass(frozen=True)
class QueueReport:
    """Counts of packets in a trial of a queue discipline.

    Attributes:
        offered: packets that arrived at the queue.
        sent: packets that the queue gave to the link.
        dropped: packets that the queue dropped.
        marked: packets that the queue marked.

    Examples:
        >>> import goodqueue
        >>> report = goodqueue.QueueReport(offered=12, sent=9, dropped=2, marked=0)
        >>> report.offered - report.sent - report.dropped  # still waiting
        1
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
        work_conserving: True if the discipline claims never to leave the link idle while packets
            wait.
        largest_packet: largest IP packet that is offered, in bytes, from 40 to 65,535.
        seed: seed of the packets and of the queue's random stream.

    Raises:
        RuleError: if the queue broke a rule; the message names the first and describes the
            violation.
        ValueError: if the packet size is out of range.

    Examples:
        A queue that forgets packets does not keep its backlog:

        >>> class Forgetful:
        ...     def enqueue(self, context, packet):
        ...         pass
        ...     def dequeue(self, context):
        ...         return None
        ...     def backlog(self):
        ...         return 0, 0
        >>> import goodqueue
        >>> try:
        ...     goodqueue.check_queue(Forgetful)
        ... except goodqueue.RuleError as broken:
        ...     print(broken.rule)
        Backlog
    """
    if not 40 <= largest_packet <= 65_535:
        raise ValueError(f"largest_packet is {largest_packet}: write 40 to 65535 bytes")
    counts, violation = _core.check_queue(
        factory, seed=seed, work_conserving=work_conserving, largest_packet=largest_packet
    )
    if violation is not None:
        raise RuleError(*violation)
    return QueueReport(**counts)
