"""Exceptions about requests that cannot be met, whose texts are messages for the user."""

from __future__ import annotations

import errno
import os
import re
from contextlib import contextmanager
from difflib import get_close_matches
from inspect import unwrap
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

Decorated = TypeVar("Decorated", bound="Callable[..., Any]")


class ScenarioError(ValueError):
    """A mistake in a scenario file, an override or a value with a unit.

    Its text is the whole message: the place, the mistake and the remedy.

    Attributes:
        file: the file or the override that holds the mistake.
        line: line in the file, from 1; None if the mistake concerns no single line.
        column: column in that line, from 1.
        key: path of the key, such as `topology.bottleneck.rate`; empty for the file as a whole.
        message: the mistake.
        help: the remedy.

    Examples:
        >>> import goodqueue
        >>> try:
        ...     goodqueue.load(goodqueue.EXAMPLE, set={"topology.bottleneck.rate": "2Mbs"})
        ... except goodqueue.ScenarioError as mistake:
        ...     print(mistake.key)
        topology.bottleneck.rate
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
    """A request that cannot be met, whatever the scenario; raised before anything runs.

    Examples:
        >>> import goodqueue
        >>> try:
        ...     goodqueue.run(goodqueue.EXAMPLE).plot("cwnd")
        ... except goodqueue.RequestError as refused:
        ...     print(refused)
        no picture 'cwnd'; choose from delay-cdf (run with series=True for pictures over time)
    """


class LibraryError(RequestError, ImportError):
    """A library that is not installed; the text names the extra that installs it.

    Attributes:
        libraries: names of the libraries.
    """

    def __init__(self, text: str, libraries: tuple[str, ...]) -> None:
        super().__init__(text)
        self.libraries = libraries


class DamageError(RequestError):
    """Damage of a study's files on the disk; raised instead of figures that may be wrong."""


class ForeignError(RequestError):
    """A file in place of a study's that is none: damaged in its first bytes, or of a program."""


class CacheWarning(UserWarning):
    """A cache that is damaged or cannot be used. Figures are right without it."""


OPTION = re.compile(r"--([a-z][a-z-]+)")

ARGUMENTS = ("message", "help", "file")
"""Attributes of a `ScenarioError` with texts."""


@contextmanager
def as_arguments() -> Iterator[None]:
    """Names options in messages as arguments of a function: `max_loss` for `--max-loss`.

    It also decorates a function, which the commands call without it (`as_typed`).
    """
    try:
        yield
    except (RequestError, ScenarioError) as error:
        error.args = tuple(argument_names(one) for one in error.args)
        for name in ARGUMENTS:
            if hasattr(error, name):
                setattr(error, name, argument_names(getattr(error, name)))
        raise


def as_typed(function: Decorated) -> Decorated:
    """Returns a function that `as_arguments` decorates without it: its messages name options."""
    return cast("Decorated", unwrap(function))


def argument_names(text: str) -> str:
    """Returns a text whose options are named as arguments of a function."""
    return OPTION.sub(lambda option: option[1].replace("-", "_"), text)


def nearest_file(path: Path, what: str) -> str:
    """Returns a hint for a file that cannot be read: the file of its folder with the nearest name.

    Args:
        path: the path that was given.
        what: kind of the file that is needed, for a hint without a near name.
    """
    try:
        names = [file.name for file in path.parent.iterdir()]
    except (OSError, ValueError):
        names = []
    near = [] if path.name in names else get_close_matches(path.name, names, 1)
    return f"did you mean {path.with_name(near[0])}?" if near else f"give the path of {what}"


def nearest(wanted: str, known: Collection[str]) -> str:
    """Returns a hint for an unknown name: the nearest known one, or all of them if none is near."""
    in_lower_case = {name.lower(): name for name in known}
    near = get_close_matches(wanted.lower(), in_lower_case, 1)
    return (
        f"did you mean {in_lower_case[near[0]]!r}?" if near else f"choose from {', '.join(known)}"
    )


def os_error(error: BaseException) -> OSError | None:
    """Returns the operating system's error behind an exception; None if it has none.

    polars raises exceptions of its own for such errors: their text has the number of the error, or
    calls it a transport error.
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
    """A violation of a rule that all queue disciplines or all congestion controls must keep.

    Attributes:
        rule: the rule: Conservation, Backlog, Account, FlowOrder, WorkConservation, Readiness,
            Replay, Marks or Contents for queues; Window, Loss, Timeout, Unused, Setting or Replay
            for controls.
        load: the load, or the TCP profile, under which the violation occurred.
        call: the call, counted from 1, that showed it.
        message: description of the violation.

    Examples:
        >>> import goodqueue
        >>> broken = goodqueue.RuleError("Backlog", "light load", 7, "3 packets wait, not 2")
        >>> print(broken)
        Backlog (light load, call 7): 3 packets wait, not 2
    """

    def __init__(self, rule: str, load: str, call: int, message: str) -> None:
        super().__init__(f"{rule} ({load}, call {call}): {message}")
        self.rule = rule
        self.load = load
        self.call = call
        self.message = message
