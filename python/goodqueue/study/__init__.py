"""Studies: many runs of one scenario, stored in one folder.

    study.toml ── plan ──> [Run] ── executor ──> [RunResult] ── store ──> Results ── pictures

docs/studies.md describes the file, the store and the frames.
"""

from goodqueue.study.model import (
    Bound,
    Executor,
    Keep,
    PlotSpec,
    Run,
    RunResult,
    Samples,
    Stop,
    StoppingRule,
    StopSpec,
    StudyPlan,
    Variant,
)

__all__ = [
    "Bound",
    "Executor",
    "Keep",
    "PlotSpec",
    "Run",
    "RunResult",
    "Samples",
    "Stop",
    "StopSpec",
    "StoppingRule",
    "StudyPlan",
    "Variant",
]
