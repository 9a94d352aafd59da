"""The answer for the link of a capture: with the comparison of the capture and its model."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

from goodqueue.passive.carry import carried
from goodqueue.sizing.answer.answer import Answer

if TYPE_CHECKING:
    from goodqueue.passive.carry import Carried
    from goodqueue.passive.today import Today


@dataclass(frozen=True, repr=False)
class CaptureAnswer(Answer):
    """The answer for the link of a capture.

    Attributes:
        today: comparison of the capture with its model; None if nothing was simulated.
        carried: range of buffers that follows from the error of the model.
    """

    today: Today | None = None
    carried: Carried | None = None

    @classmethod
    def compared(cls, answer: Answer, today: Today | None) -> Self:
        """Returns an answer with the comparison, and with the range that follows from it."""
        held = {field.name: getattr(answer, field.name) for field in fields(Answer)}
        return cls(**held, today=today, carried=carried(answer, today))

    @property
    def firm(self) -> bool:
        """Returns False if the model does not reproduce the capture."""
        return self.today is None or self.today.agrees

    def as_dict(self) -> dict[str, Any]:
        """Returns the answer as plain values, as `--json` prints it; docs/cli.md lists the keys."""
        plain = super().as_dict()
        if self.today is not None:
            plain["today"] = self.today.as_dict()
        if self.carried is not None:
            plain["recommendation"]["carried"] = self.carried.as_dict()
        return plain
