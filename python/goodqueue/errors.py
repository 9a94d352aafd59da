"""What can be wrong with what a user asks."""

from __future__ import annotations

import errno
import os
import re


class ScenarioError(ValueError):
    """A mistake in a scenario file, an override or a value with a unit.

    Its text is the whole message: place, what is wrong, and what to write instead.

    Attributes:
        file: the file, or the override, that holds the mistake.
        line: line in the file, from 1, if the mistake is in a line.
        column: column in that line, from 1.
        key: path of the key, such as `topology.bottleneck.rate`; empty for the file as a whole.
        message: what is wrong.
        help: what to write instead.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - raised by the bindings with all they know
        self,
        text: str,
        file: str = "",
        line: int | None = None,
        column: int | None = None,
        key: str = "",
        message: str = "",
        help: str = "",  # noqa: A002 - the word that compilers use
    ) -> None:
        super().__init__(text)
        self.file = file
        self.line = line
        self.column = column
        self.key = key
        self.message = message or text
        self.help = help


class RequestError(ValueError):
    """A request that cannot be met whatever the scenario: said before anything runs."""


class DamageError(RequestError):
    """What a study recorded is damaged on the disk: said in place of figures that may be wrong."""


def os_error(error: BaseException) -> OSError | None:
    """What the system refused, if an exception comes of that.

    polars has exceptions of its own for what the system refuses: it names the number in the text,
    or calls it an error of transport.
    """
    if isinstance(error, OSError) and error.errno is not None:
        return error
    if isinstance(error, OSError) or type(error).__module__.startswith("polars"):
        number = re.search(r"\(os error (\d+)\)", str(error))
        if number is not None:
            return OSError(int(number[1]), os.strerror(int(number[1])))
        if "transport error" in str(error):
            return OSError(errno.EIO, os.strerror(errno.EIO))
    return error if isinstance(error, OSError) else None


class RuleError(AssertionError):
    """A queue discipline broke a rule that all must keep.

    Attributes:
        rule: the rule: Conservation, Backlog, Account, FlowOrder, WorkConservation, Readiness,
            Replay, Marks or Contents.
        load: the load under which it happened.
        call: the call of `enqueue` or `dequeue`, counted from 1, at which it was seen.
        message: what was seen.
    """

    def __init__(self, rule: str, load: str, call: int, message: str) -> None:
        super().__init__(f"{rule} ({load}, call {call}): {message}")
        self.rule = rule
        self.load = load
        self.call = call
        self.message = message
