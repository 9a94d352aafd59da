"""Draws experiments for the documentation: `python -m research.papers.draw PAPER EXPERIMENT ...`.

Run it in the root of the source tree. The pictures are written to docs/img/PAPER.
"""

from __future__ import annotations

import sys
from pathlib import Path

from goodqueue.papers.experiment import experiment
from goodqueue.study.runner import Runner, user_store
from goodqueue.study.threads import Threads


def main(paper: str, names: list[str]) -> None:
    """Draws the pictures of a paper's experiments."""
    folder = Path("docs/img") / paper
    folder.mkdir(parents=True, exist_ok=True)
    with user_store("papers") as store:
        runner = Runner(store, Threads(None))
        for name in names:
            for picture in experiment(paper, name).reproduce(runner).pictures():
                path = picture.save(folder)
                print(f"{path}: {picture.caption}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
