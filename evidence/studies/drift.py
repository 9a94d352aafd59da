"""Coverage of an older table of calibrated theory on searches of the present engine.

`git show REVISION:python/goodqueue/sizing/calibrated/table.npz > FILE` writes an older table, and
`python -m evidence.studies.drift FILE` prints the share of the ordinary links of the check
whose interval holds the searched buffer, by the factor on the intervals' ends.
"""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path

import numpy as np

from evidence.rules_on_trial import draw
from evidence.rules_on_trial.fitting.fit import KINDS
from evidence.rules_on_trial.fitting.made import covers, searches
from goodqueue._core import Surfaces
from goodqueue.sizing.calibrated.smallest import calibrated
from goodqueue.sizing.calibrated.surface import widened

FACTORS = (1.0, 1.1, 1.2, 1.3, 1.5, 2.0)


def main(file: Path) -> None:
    """Prints the coverage of a table, of all links and of those with hosts of Linux."""
    table = _with_ends_by_kind(file.read_bytes())
    of = [one for one in searches(draw.CHECK_SEED) if one.index < draw.FIRST_OF_OPERATORS]
    for factor in FACTORS:
        wider = Surfaces(widened(table, factor))
        held = []
        for search in of:
            found = calibrated(search.link, wider)
            held.append(found is not None and covers(found, search))
        pairs = zip(held, of, strict=True)
        linux = [one for one, search in pairs if search.link.profile == "linux"]
        print(
            f"factor {factor:g}: {sum(held) / len(held):.1%} of {len(held)}, "
            f"hosts of Linux {sum(linux) / len(linux):.1%} of {len(linux)}"
        )


def _with_ends_by_kind(file: bytes) -> bytes:
    """Returns a table whose two ends, if it has no others, are those of every kind."""
    arrays = dict(np.load(BytesIO(file)))
    arrays["tails"] = np.broadcast_to(arrays["tails"], (KINDS, 2)).copy()
    made = BytesIO()
    np.savez(made, **arrays)
    return made.getvalue()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
