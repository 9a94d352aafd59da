"""Evaluation of the fitted corrections: utilisation, loss and delay with a buffer.

The table contains a few small networks that were fitted to different parts of the links. Their mean
is the correction to the published forms. Their disagreement adds to its error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from goodqueue.sizing.calibrated.groups import (
    GROUPS,
    IDLE_FLOOR,
    LOGARITHMS,
    LOSS_FLOOR,
    forms,
    full_delay_s,
    groups,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goodqueue.sizing.link import Link

    Floats = NDArray[np.float64]
    Layers = list[tuple[Floats, Floats]]

FIGURES = ("utilization", "loss_rate", "p99_delay_s")

IDLE, LOSS, DELAY = range(3)
"""Columns of predictions: logarithms of the idle share, of the loss, of the delay over the time of
a full buffer."""

ARRAYS = (
    *("centre", "scale", "offset", "stretch", "ranges"),
    *("widths", "tails", "theory_errors"),
)
"""Parts of the table that are single arrays."""

SLACK, FAR = 0.03, 0.25
"""Distances of a group from its range, as shares of the range: up to the first the link counts as
inside, and beyond the second only the published forms are used.
"""


@dataclass(frozen=True, slots=True)
class Predicted:
    """Predictions for several buffers.

    Attributes:
        packets: the buffers, shape (n,).
        means: logarithms, shape (n, 3): idle share, loss, delay over a full buffer's time.
        errors: their standard errors, of the same shape.
        full_s: seconds to send each full buffer.
    """

    packets: Floats
    means: Floats
    errors: Floats
    full_s: Floats

    def utilization(self, shift: float = 0.0) -> Floats:
        """Returns the utilisation for an idle share `shift` standard errors too high."""
        return 1 - np.clip(np.exp(self._shifted(IDLE, shift)) - IDLE_FLOOR, 0, 1)

    def loss_rate(self, shift: float = 0.0) -> Floats:
        """Returns the loss `shift` standard errors above the prediction."""
        return np.clip(np.exp(self._shifted(LOSS, shift)) - LOSS_FLOOR, 0, 1)

    def p99_delay_s(self, shift: float = 0.0) -> Floats:
        """Returns the shifted 99th percentile of the queueing delay, at most a full buffer's."""
        return self.full_s * np.exp(np.minimum(self._shifted(DELAY, shift), 0))

    def _shifted(self, column: int, shift: float) -> Floats:
        return self.means[:, column] + shift * self.errors[:, column]


@dataclass(frozen=True, slots=True)
class Surfaces:
    """The fitted table.

    Attributes:
        members: the networks of the correction.
        spread: the network of the logarithm of the error.
        centre: value subtracted from each group, which is then divided by `scale`.
        scale: see `centre`.
        offset: value added to the networks' outputs times `stretch`.
        stretch: see `offset`.
        ranges: least and largest value of each group that was fitted, shape (groups, 2).
        widths: factors on the errors, by figure, with which 90 % intervals cover 90 %.
        tails: standard errors below and above for the interval of a smallest buffer. They differ,
            because the simulated smallest buffer is more often far above than far below the
            prediction.
        theory_errors: root mean square error of the published forms alone, for each output.
    """

    members: tuple[Layers, ...]
    spread: Layers
    centre: Floats
    scale: Floats
    offset: Floats
    stretch: Floats
    ranges: Floats
    widths: Floats
    tails: Floats
    theory_errors: Floats

    def at(self, link: Link, packets: Floats) -> Predicted:
        """Returns the prediction for a link with each buffer.

        A group outside its range counts as at the range's end. There the correction stays constant,
        and the published forms alone continue. The error grows with the distance from the range to
        the error of the forms alone.
        """
        found = groups(link, packets)
        held = np.clip(found, self.ranges[:, 0], self.ranges[:, 1])
        inputs = (held - self.centre) / self.scale
        outputs = np.stack([values(member, inputs) for member in self.members])
        means = forms(link, packets) + outputs.mean(axis=0) * self.stretch + self.offset
        disagreement = outputs.std(axis=0) * self.stretch
        errors = np.hypot(np.exp(values(self.spread, inputs)), disagreement) * self.widths
        means[:, DELAY] = np.minimum(means[:, DELAY], 0)
        share = np.clip((self._beyond(found) - SLACK) / (FAR - SLACK), 0, 1)[:, None]
        if unlike_the_study(link):
            share = np.ones_like(share)
        errors += share * np.maximum(self.theory_errors - errors, 0)
        return Predicted(packets, means, errors, full_delay_s(link, packets))

    def outside(self, link: Link, packets: float) -> tuple[str, ...]:
        """Returns the differences of the link from those of the study, a few words each.

        Args:
            link: the link.
            packets: the buffer near the answer.
        """
        found = groups(link, np.array([packets]))
        low, high = self.ranges.T
        beyond = self._beyond(found, each=True)[0] > SLACK
        named = [
            f"{GROUPS[place]} {_value(found[0, place], place)} "
            f"(runs had {_value(low[place], place)} to {_value(high[place], place)})"
            for place in map(int, np.flatnonzero(beyond))
        ]
        return (*unlike_the_study(link), *named)

    def _beyond(self, found: Floats, *, each: bool = False) -> Floats:
        """Returns the distance of the worst group (or each) from its range, over the range."""
        low, high = self.ranges.T
        width = np.maximum(high - low, 1e-9)
        beyond = np.maximum(np.maximum(low - found, found - high) / width, 0)
        worst: Floats = beyond if each else beyond.max(axis=1)
        return worst


def unlike_the_study(link: Link) -> tuple[str, ...]:
    """Returns the properties of a link that no run of the study had, a few words each."""
    differs = {
        f"congestion control {link.congestion_control}": link.congestion_control
        not in {"reno", "cubic"},
        "mixed congestion controls": bool(link.controls),
        "slow access links": link.access_rate_bps is not None
        and link.access_rate_bps < 2 * link.rate_bps,
        "windows limited by receivers": link.max_window_packets is not None
        and link.max_window_packets < 4 * link.window_packets,
    }
    return tuple(words for words, does in differs.items() if does)


def _value(value: float, place: int) -> str:
    return f"{np.exp(value) if place < LOGARITHMS else value:.3g}"


def values(layers: Layers, inputs: Floats) -> Floats:
    """Returns a network's outputs, shape (rows, outputs)."""
    for matrix, offset in layers[:-1]:
        inputs = np.tanh(inputs @ matrix + offset)
    return inputs @ layers[-1][0] + layers[-1][1]


@cache
def surfaces() -> Surfaces:
    """Returns the table of the package."""
    with files(__package__).joinpath("table.npz").open("rb") as file:
        return from_arrays(dict(np.load(file)))


def to_arrays(made: Surfaces) -> dict[str, NDArray[np.float32]]:
    """Returns the table as arrays by name, in single precision."""
    arrays = {name: np.asarray(getattr(made, name), dtype=np.float32) for name in ARRAYS}
    for name, layers in (
        *((f"member{place}", member) for place, member in enumerate(made.members)),
        ("spread", made.spread),
    ):
        for depth, (matrix, offset) in enumerate(layers):
            arrays[f"{name}.{depth}.matrix"] = matrix.astype(np.float32)
            arrays[f"{name}.{depth}.offset"] = offset.astype(np.float32)
    return arrays


def from_arrays(arrays: dict[str, NDArray[np.float32]]) -> Surfaces:
    """Returns the table from the arrays of `to_arrays`."""
    wide = {name: array.astype(np.float64) for name, array in arrays.items()}

    def layers(name: str) -> Layers:
        found: Layers = []
        while f"{name}.{len(found)}.matrix" in wide:
            stem = f"{name}.{len(found)}"
            found.append((wide[f"{stem}.matrix"], wide[f"{stem}.offset"]))
        return found

    members: list[Layers] = []
    while one := layers(f"member{len(members)}"):
        members.append(one)
    return Surfaces(
        members=tuple(members),
        spread=layers("spread"),
        centre=wide["centre"],
        scale=wide["scale"],
        offset=wide["offset"],
        stretch=wide["stretch"],
        ranges=wide["ranges"],
        widths=wide["widths"],
        tails=wide["tails"],
        theory_errors=wide["theory_errors"],
    )
