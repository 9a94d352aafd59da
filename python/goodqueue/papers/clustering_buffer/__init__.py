"""The follow-up of the bufferbloat study, which proposes a "dynamic clustering buffer"."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goodqueue.papers.experiment import Experiment


def experiments() -> list[Experiment]:
    """Returns the computed experiments: the smoothing buffers of the paper's related work."""
    from goodqueue.papers.clustering_buffer.chance import Chance
    from goodqueue.papers.clustering_buffer.saw_tooth import SawTooth

    return [SawTooth(), Chance()]
