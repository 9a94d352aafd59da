"""The hybrid engine compared with the packet engine: runs, error, and parts of docs/hybrid.md."""

from __future__ import annotations

from evidence.core.derived import Derived, relative
from evidence.hybrid import error, page, runs
from evidence.questions.make import cells

RUNS = ("links.py", "runs.py")
ERROR = (*RUNS, "error.py")

THINGS = [
    Derived(
        "hybrid/runs",
        runs.make,
        products=(relative(runs.FILE),),
        cells=cells,
        seeds="6 to 48 for each buffer of a link",
        programs=RUNS,
    ),
    Derived(
        "hybrid/error",
        error.make,
        products=(relative(error.FILE),),
        needs=("hybrid/runs",),
        programs=ERROR,
    ),
    Derived(
        "hybrid/page",
        page.write,
        products=tuple(f"{relative(page.PAGE)}#{name}" for name in page.PARTS),
        needs=("hybrid/error",),
        programs=(*ERROR, "page.py"),
    ),
]
