"""Congestion controls written in Python by the user; docs/own-control.md has an example."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from goodqueue import _core
from goodqueue.errors import RuleError

if TYPE_CHECKING:
    from goodqueue._core import Ack, Connection, IntervalReport, Loss


class CongestionControl(Protocol):
    """A congestion control that changes its window with every ACK.

    The methods change `window_bytes`, which the sender reads after each call. A control may also
    have the following attributes and methods.

    - `pacing_rate_bps`: rate at which segments leave, in bits per second; None without pacing.
    - `ssthresh_bytes`: slow-start threshold. Without it the threshold is the window that `on_loss`
      leaves, and half of the bytes in flight after a timeout.
    - `on_timeout(loss)`: a retransmission timeout. Without it the window becomes one segment.
    - `on_other_ack(ack)`: an ACK that cannot change the window, because recovery sets it or because
      it was not used.
    - `on_marks(marks)`: congestion marks that an ACK reports, on a connection with ECN.
    - `on_undo(now_s)`: the last decrease was spurious. Without it the window and the threshold
      return to their values before.

    Attributes:
        window_bytes: congestion window, in bytes. The sender also sets it, at the end of recovery
            and after idle times.

    Examples:
        >>> class Aimd:
        ...     def __init__(self, connection):
        ...         self.mss = connection.mss_bytes
        ...         self.window_bytes = connection.initial_window_bytes
        ...     def on_ack(self, ack):
        ...         self.window_bytes += self.mss * ack.acked_bytes / self.window_bytes
        ...     def on_loss(self, loss):
        ...         self.window_bytes = max(0.5 * loss.basis_bytes, 2 * self.mss)
        >>> import goodqueue
        >>> goodqueue.check_control(Aimd).calls > 1000
        True
    """

    window_bytes: float

    def on_ack(self, ack: Ack) -> object:
        """Handles an ACK after which the window may grow."""

    def on_loss(self, loss: Loss) -> object:
        """Handles a loss event or an ECN echo, at most one in a round trip.

        A control without this method ignores losses: it keeps its window in fast recovery too.
        """


class IntervalControl(Protocol):
    """A congestion control that decides once in an interval, as learned controls do.

    Its class has `interval_s`, a length in seconds, or `interval_rtts`, a number of smoothed
    round-trip times; by default one round-trip time. It may have the attributes and methods of
    `CongestionControl`.

    Attributes:
        window_bytes: congestion window, in bytes.

    Examples:
        >>> class Double:
        ...     interval_s = 0.1
        ...     def __init__(self, connection):
        ...         self.window_bytes = connection.initial_window_bytes
        ...     def on_interval(self, report):
        ...         self.window_bytes *= 0.5 if report.lost_bytes else 2
        >>> import goodqueue
        >>> result = goodqueue.run(goodqueue.EXAMPLE, controls={"upload": Double})
        >>> result.summary["flows"]["upload"]["packets_lost"] > 0
        True
    """

    window_bytes: float

    def on_interval(self, report: IntervalReport) -> object:
        """Decides at the flow's first ACK after the interval.

        The window and the pacing rate that it sets hold from the flow's next ACK or timeout.
        """


ControlFactory = Callable[["Connection"], CongestionControl | IntervalControl]
"""Function that makes the control of a connection: the class itself, if it takes the connection."""


@dataclass(frozen=True)
class ControlReport:
    """Extent of a trial of a congestion control.

    Attributes:
        calls: number of ACKs, losses and timeouts that the controls got.

    Examples:
        >>> import goodqueue
        >>> goodqueue.ControlReport(calls=12).calls
        12
    """

    calls: int


def check_control(
    factory: ControlFactory,
    *,
    reacts_to_loss: bool = True,
    restarts_after_timeout: bool = True,
    waits_when_unused: bool = True,
    seed: int = 1,
) -> ControlReport:
    """Tries a congestion control under every TCP profile, with ACKs, losses and timeouts.

    Args:
        factory: makes the control of a connection.
        reacts_to_loss: True if the control claims that a loss event leaves a smaller window.
        restarts_after_timeout: True if it claims that a timeout leaves one segment.
        waits_when_unused: True if it claims that its window does not grow while the application
            limits sending.
        seed: seed of the times of ACKs and of the bytes that they acknowledge.

    Raises:
        RuleError: if the control broke a rule; the message names the first and describes the
            violation.

    Examples:
        A control that ignores losses breaks a rule:

        >>> class Fixed:
        ...     def __init__(self, connection):
        ...         self.window_bytes = 10 * connection.mss_bytes
        ...     def on_ack(self, ack):
        ...         pass
        ...     def on_loss(self, loss):
        ...         pass
        >>> import goodqueue
        >>> try:
        ...     goodqueue.check_control(Fixed)
        ... except goodqueue.RuleError as broken:
        ...     print(broken.rule)
        Loss
    """
    calls, violation = _core.check_control(
        factory,
        reacts_to_loss=reacts_to_loss,
        restarts_after_timeout=restarts_after_timeout,
        waits_when_unused=waits_when_unused,
        seed=seed,
    )
    if violation is not None:
        raise RuleError(*violation)
    return ControlReport(calls)
