"""Exit codes of the command line; the package's docstring says what each means."""

from __future__ import annotations

from typing import Protocol

EXIT_BAD_INPUT = 2
EXIT_NOT_FEASIBLE = 3
EXIT_FAILED_RUNS = 4
EXIT_DAMAGED = 5
EXIT_UNPROVED = 6
EXIT_NOT_TRUSTED = 7
EXIT_PROGRAM_FAILED = 8
EXIT_INTERRUPTED = 130


class Found(Protocol):
    """Answer of a search over one or more parameters."""

    @property
    def interrupted(self) -> bool:
        """True if Ctrl-C ended the search."""

    @property
    def impossible(self) -> bool:
        """True if runs showed that no value keeps the bounds."""

    @property
    def proved(self) -> bool:
        """True if runs showed the answer."""


def exit_code_of(answer: Found) -> int:
    """Returns the exit code of an answer."""
    if answer.interrupted:
        return EXIT_INTERRUPTED
    if answer.impossible:
        return EXIT_NOT_FEASIBLE
    return 0 if answer.proved else EXIT_UNPROVED
