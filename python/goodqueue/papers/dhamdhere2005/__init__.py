"""Dhamdhere, Jiang and Dovrolis, "Buffer Sizing for Congested Internet Links", INFOCOM 2005."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.papers.experiment import Experiment


def experiments() -> Sequence[Experiment]:
    """Returns Table I, the simulated figures, those from captures, and the trees."""
    from goodqueue.papers.dhamdhere2005.figures import FIGURES
    from goodqueue.papers.dhamdhere2005.second_pass import SHARES, CapturesExperiment
    from goodqueue.papers.dhamdhere2005.statements import FigureExperiment
    from goodqueue.papers.dhamdhere2005.table1 import Table1
    from goodqueue.papers.dhamdhere2005.tree_search import TreesExperiment

    return [
        Table1(),
        *(FigureExperiment(name) for name in FIGURES),
        *(CapturesExperiment(name) for name in SHARES),
        TreesExperiment(),
    ]
