"""The answers of `goodqueue size`, with their cost."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from evidence.core.derived import ROOT

if TYPE_CHECKING:
    from evidence.answers_on_trial.draw import Question

CALL = "import sys; from goodqueue.cli import main; sys.exit(main())"

KEPT = ("packets", "shown", "impossible", "sets", "deciding_bound", "chance", "world", "engine")
"""Keys of a decision that are kept."""


def asked(question: Question) -> dict[str, Any]:
    """Returns the decision, the exit code and the processor time of a question.

    Raises:
        RuntimeError: if the command prints no answer.
    """
    with tempfile.TemporaryDirectory() as cache:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-c", CALL, "size", *question.flags, "--only", "answer", "--json"],
            cwd=ROOT,
            env={**os.environ, "XDG_CACHE_HOME": cache},
            capture_output=True,
            text=True,
            check=False,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if not done.stdout:
        raise RuntimeError(f"goodqueue size {' '.join(question.flags)}: {done.stderr}")
    decision = json.loads(done.stdout)["decision"]
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        **{name: decision[name] for name in KEPT},
        "code": done.returncode,
        "cpu_s": round(cpu_s, 2),
    }
