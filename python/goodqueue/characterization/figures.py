"""Figures of a section: their names for people, their units, and the direction that is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from goodqueue.study.compare import Figure

if TYPE_CHECKING:
    from goodqueue.characterization.guide import Measure

Better = Literal["higher", "lower", "neither"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of figure.

    Attributes:
        title: name for people.
        better: the direction that is better.
    """

    title: str
    better: Better


KINDS = {
    "utilization": Kind("utilisation", "higher"),
    "loss_rate": Kind("loss", "lower"),
    "mean_queueing_delay_s": Kind("queueing delay, mean", "lower"),
    "p99_queueing_delay_s": Kind("queueing delay, p99", "lower"),
    "max_queueing_delay_s": Kind("queueing delay, largest", "lower"),
    "mean_loss_burst_packets": Kind("packets lost in a burst", "lower"),
    "loss_synchronization": Kind("loss synchronisation", "lower"),
    "marks": Kind("marked packets", "neither"),
    "goodput_bps": Kind("goodput", "higher"),
    "goodput_bps.sum": Kind("goodput", "higher"),
    "goodput_bps.min": Kind("goodput of the slowest", "higher"),
    "goodput_bps.jain": Kind("Jain's index", "higher"),
    "packets_lost": Kind("packets lost", "lower"),
    "timeouts.sum": Kind("timeouts", "lower"),
    "retransmissions.sum": Kind("segments sent again", "lower"),
    "reordered": Kind("reordered packets", "neither"),
    "p99_latency_under_load_s": Kind("latency under load, p99", "lower"),
    "mean_transfer_time_s": Kind("transfer time, mean", "lower"),
    "p99_transfer_time_s": Kind("transfer time, p99", "lower"),
    "completion_time_s": Kind("transfer time, mean", "lower"),
    "p99_handshake_time_s": Kind("handshake time, p99", "lower"),
    "mean_page_time_s": Kind("page time, mean", "lower"),
    "p99_object_time_s": Kind("object time, p99", "lower"),
    "p99_pdv_s": Kind("delay variation, p99", "lower"),
    "mos": Kind("MOS", "higher"),
    "voice_loss": Kind("packets lost or late", "lower"),
    "video_bitrate_bps": Kind("video bit rate", "higher"),
    "stall_share": Kind("time in stalls", "lower"),
    "p99_up_delay_s": Kind("update delay, p99", "lower"),
    "up_loss": Kind("updates lost or late", "lower"),
}
"""Kinds of figures by the end of a metric's name."""

RATIO = Kind("", "neither")
"""Kind of a ratio of two metrics, whose measure has a label of its own."""

LOSS = ("packets_lost", "packets_sent")
"""Metrics whose ratio is a loss rate."""


def kind_of(measure: Measure) -> Kind:
    """Returns the kind of a measure."""
    if is_loss(measure):
        return KINDS["loss_rate"]
    if len(measure.parts) > 1:
        return RATIO
    return KINDS[measure.metric.split(".", 1)[1].removeprefix("reverse.")]


def is_loss(measure: Measure) -> bool:
    """Returns True if a measure is the packets lost over the packets sent."""
    return tuple(part.split(".", 1)[1] for part in measure.parts) == LOSS


def better_of(measure: Measure) -> Better:
    """Returns the direction of a measure that is better."""
    return measure.better or kind_of(measure).better


def figure_of(measure: Measure) -> Figure:
    """Returns a measure as a figure of comparisons."""
    if measure.label:
        return Figure(measure.metric, measure.label, "")
    owner, _, rest = measure.metric.partition(".")
    of_reverse = rest.startswith("reverse.")
    title = kind_of(measure).title
    owner = f"{owner}, reverse" if of_reverse else owner
    usual = owner in {"bottleneck", "flows"}
    return Figure(measure.metric, title if usual else f"{owner}: {title}", "")
