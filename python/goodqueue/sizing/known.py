"""Measured properties of a link's traffic: the parameters of BSCL.

Dhamdhere, Jiang and Dovrolis (INFOCOM 2005) use the mean loss-burst length L or its ratio alpha to
the number of flows (17), the effective round-trip time T_e (12), and the growth of windows, which
depends on the receivers' ACKs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.errors import RequestError

if TYPE_CHECKING:
    from goodqueue.sizing.link import Link

MAX_BURST = 1e6
"""Largest mean loss-burst length that is accepted, in packets."""


@dataclass(frozen=True, slots=True)
class Known:
    """Flags for measured properties of the traffic, as typed; None if absent.

    Attributes:
        synchronization: alpha, packets of a loss burst over number of flows.
        loss_burst: L, mean number of packets of a loss burst.
        effective_rtt: T_e, such as `40ms`.
        ack_every: segments per ACK.
        byte_counting: True if windows grow by the bytes acknowledged (RFC 3465).
    """

    synchronization: float | None = None
    loss_burst: float | None = None
    effective_rtt: str | None = None
    ack_every: int | None = None
    byte_counting: bool | None = None

    def applied(self, link: Link) -> Link:
        """Returns the link with these properties.

        Raises:
            RequestError: if a value is impossible, with its flag.
        """
        changes: dict[str, Any] = {}
        if self.synchronization is not None and self.loss_burst is not None:
            raise RequestError(
                "--loss-burst equals --synchronization times the number of flows; give "
                "only one of them"
            )
        if self.synchronization is not None:
            changes["synchronization"] = _positive("--synchronization", self.synchronization)
        if self.loss_burst is not None:
            burst = _positive("--loss-burst", self.loss_burst)
            changes["synchronization"] = burst / max(link.flows, 1)
        if self.effective_rtt is not None:
            rtt_s = _core.parse_span("--effective-rtt", self.effective_rtt)
            if not rtt_s > 0:
                raise RequestError(f"--effective-rtt {self.effective_rtt}: write a time above 0s")
            changes["effective_rtt_s"] = rtt_s
        if self.ack_every is not None:
            changes["ack_every"] = self.ack_every
        if self.byte_counting is not None:
            changes["byte_counting"] = self.byte_counting
        return replace(link, **changes)


def _positive(flag: str, value: float) -> float:
    if not 0 < value <= MAX_BURST:
        raise RequestError(f"{flag} {value:g}: write a number above 0 and at most {MAX_BURST:,.0f}")
    return value
