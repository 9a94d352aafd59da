"""Canaries of answers: cheap questions to a command, whose decisions are compared whole.

Runs of the engine do not show that a search over them changed. An answer is read off the runs by
the package's search, so a thing that consists of answers has some of them in its canary.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from typing import Any

from evidence.core.derived import ROOT

CALL = "import sys; from goodqueue.cli import main; sys.exit(main())"


@dataclass(frozen=True)
class Asked:
    """A question to a command that prints a decision as JSON.

    Attributes:
        command: the command with its arguments, as a shell takes them, without `goodqueue`.
    """

    command: str

    @property
    def kind(self) -> str:
        """The command itself: each question is a kind of its own."""
        return self.command

    def run(self) -> dict[str, Any]:
        """Asks the question and returns the exit code and the decision.

        Raises:
            RuntimeError: if the command prints no answer.
        """
        return _asked(self.command)

    def within(self, room: float) -> Asked:  # noqa: ARG002 - a question is cheap or is not chosen
        """Returns the question: it has no shorter form."""
        return self

    def document(self, figures: dict[str, Any]) -> dict[str, Any]:
        """Returns the question and its decision as they are stored."""
        return {"command": self.command, "figures": figures}


@cache
def _asked(command: str) -> dict[str, Any]:
    done = answer_of(shlex.split(command))
    decision = json.loads(done.stdout)["decision"]
    return {"exit_code": done.returncode, "decision": decision}


def answer_of(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs a command of the package with an empty cache, so that nothing is known beforehand.

    Raises:
        RuntimeError: if the command prints nothing.
    """
    with tempfile.TemporaryDirectory() as cache_folder:
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-c", CALL, *arguments],
            cwd=ROOT,
            env={**os.environ, "XDG_CACHE_HOME": cache_folder},
            capture_output=True,
            text=True,
            check=False,
        )
    if not done.stdout:
        raise RuntimeError(f"goodqueue {shlex.join(arguments)}: {done.stderr}")
    return done
