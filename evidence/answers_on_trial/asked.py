"""The answers of `goodqueue size`, with their cost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from evidence.core.answers import answer_of

if TYPE_CHECKING:
    from evidence.answers_on_trial.draw import Question

KEPT = ("packets", "shown", "impossible", "sets", "deciding_bound", "chance", "world", "engine")
"""Keys of a decision that are kept."""


def asked(question: Question) -> dict[str, Any]:
    """Returns the decision, the exit code and the number of simulated packets of a question.

    Raises:
        RuntimeError: if the command prints no answer.
    """
    done = answer_of(["size", *question.flags, "--only", "answer", "--json"])
    whole = json.loads(done.stdout)
    return {
        **{name: whole["decision"][name] for name in KEPT},
        "code": done.returncode,
        "work": whole["budget"]["used_packets"],
    }
