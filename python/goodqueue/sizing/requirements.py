"""What a buffer is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue.errors import RequestError

if TYPE_CHECKING:
    from goodqueue.sizing.curve import Point


@dataclass(frozen=True, slots=True)
class Requirements:
    """The bounds a buffer must keep; a request nobody could meet is refused here.

    Attributes:
        target_utilization: least share of the time the link must be busy.
        max_loss_rate: largest share of arriving packets the link may lose, if bounded.
        max_delay_s: largest 99th percentile of the queueing delay in seconds, if bounded.
    """

    target_utilization: float = 0.98
    max_loss_rate: float | None = None
    max_delay_s: float | None = None

    def __post_init__(self) -> None:
        target = self.target_utilization
        if not 0 < target <= 1:
            raise RequestError(
                f"the target utilisation is {target:.4g} of the link's rate: no link can be busy "
                "for more than 100 % of the time, nor for 0 % or less; ask for, say, 98%"
            )
        loss = self.max_loss_rate
        if loss is not None and not 0 <= loss <= 1:
            raise RequestError(
                f"the largest loss is {loss:.4g} of the packets; it must lie between 0% and 100%"
            )
        delay = self.max_delay_s
        if delay is not None and not delay > 0:
            raise RequestError(
                "the largest queueing delay must be more than 0s: a queue that may never "
                "wait is no queue"
            )

    def utilization_met(self, point: Point) -> bool:
        """Whether utilisation reaches the target with the lower end of its interval."""
        return point.utilization.low >= self.target_utilization

    def loss_met(self, point: Point) -> bool:
        """Whether the upper end of the loss rate's interval stays within its bound."""
        return self.max_loss_rate is None or point.loss_rate.high <= self.max_loss_rate

    def delay_met(self, point: Point) -> bool:
        """Whether the upper end of the p99 delay's interval stays within its bound."""
        return self.max_delay_s is None or point.p99_delay_s.high <= self.max_delay_s

    def floor_met(self, point: Point) -> bool:
        """Whether the bounds that ask for more buffer, utilisation and loss, are kept."""
        return self.utilization_met(point) and self.loss_met(point)
