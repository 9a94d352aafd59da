"""The command line.

Exit codes: 0 the question was answered; 2 the request or its input is wrong (one message says
where, and what to write instead); 3 `size`, `tune` or `home` showed that no buffer or value keeps
the bounds, or `characterize` that a figure is outside its band; 4 `sweep` ran and some of its runs
failed; 5 `results --verify` found damage; 6 the answer of `size`, `tune` or `home` is an estimate,
or too few seeds of `characterize` show if a figure is outside its band; 7 `emulate` ran and is not
to be trusted; 8 a program that `emulate` ran has failed; 130 interrupted, with the finished parts
kept; 1 a fault of goodqueue itself.
"""

from __future__ import annotations

import errno
import io
import os
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from goodqueue.cli.exits import EXIT_BAD_INPUT, EXIT_INTERRUPTED
from goodqueue.core.extras import EXTRAS, lacking
from goodqueue.core.text import print_message
from goodqueue.errors import CacheWarning, LibraryError, RequestError, ScenarioError, os_error

if TYPE_CHECKING:
    from collections.abc import Iterator


def main() -> NoReturn:
    """Runs the command line and ends the process with its exit code."""
    for stream in (sys.stdout, sys.stderr):  # a C locale must not turn an answer into a traceback
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        code = run_command(sys.argv[1:])
        sys.stdout.flush()
        sys.exit(code)
    except (BrokenPipeError, SystemExit) as error:
        if not _reader_left(error):
            raise
        # Remaining output is discarded, because Python flushes its streams once more when it ends.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        sys.exit(0)
    except KeyboardInterrupt:  # before a command began, or after it ended
        sys.exit(EXIT_INTERRUPTED)


def _reader_left(error: BaseException) -> bool:
    """Returns True if the reader of our output has ended (`| head`).

    typer and rich convert the BrokenPipeError of this case to an exit with code 1.
    """
    cause = error if isinstance(error, BrokenPipeError) else error.__context__
    return isinstance(cause, BrokenPipeError) and cause.filename is None


def run_command(arguments: list[str]) -> int:
    """Runs one command and returns its exit code."""
    from typer.exceptions import TyperException

    from goodqueue.cli.app import command_of, is_command

    try:
        # The arguments as typed are passed on, because a page shows the command that repeats it.
        with _notes():
            code = command_of(arguments)(
                arguments or ["--help"], prog_name="goodqueue", standalone_mode=False, obj=arguments
            )
    except ScenarioError as error:
        return _refuse(str(error))
    except (RequestError, ModuleNotFoundError) as error:
        return _refuse(f"error: {_of_request(error, next(iter(arguments), None))}")
    except TyperException as error:
        command = " ".join(["goodqueue", *arguments[:1]]) if is_command(arguments) else "goodqueue"
        # typer names the option if one is wrong; for several options it would only report a
        # mistake.
        message = error.format_message().removeprefix("Invalid value: ")
        return _refuse(f"error: {message}\n  help: see `{command} --help`")
    except Exception as error:
        if _reader_left(error):
            raise
        refused = os_error(error)
        if refused is None:
            raise
        return _refuse(_of_file(refused))
    if code == EXIT_INTERRUPTED:  # a command's, or what typer makes of a KeyboardInterrupt
        print_message("interrupted")
    return code if isinstance(code, int) else 0


def _of_request(error: RequestError | ModuleNotFoundError, command: str | None) -> Exception:
    """Returns the message about a request; the extra of a missing library is the command's."""
    if isinstance(error, LibraryError):
        return lacking(*error.libraries, command=command)
    if isinstance(error, RequestError):
        return error
    if error.name not in EXTRAS:
        raise error
    return lacking(error.name, command=command)


@contextmanager
def _notes() -> Iterator[None]:
    """Prints warnings about caches as notes on standard error."""
    with warnings.catch_warnings():
        others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: object) -> None:
            if issubclass(category, CacheWarning):
                print_message(f"Note: {message}.")
            else:
                others(message, category, *where)  # type: ignore[arg-type]

        warnings.showwarning = show  # type: ignore[assignment]
        warnings.simplefilter("always", CacheWarning)
        yield


def _of_file(error: OSError) -> str:
    """Returns the system's message about a file, with a remedy."""
    place = f"{error.filename}: " if error.filename else ""
    reason = os.strerror(error.errno) if error.errno else error.strerror or str(error)
    cures = {
        errno.ENOENT: "name an existing file in an existing directory",
        errno.EACCES: "obtain permission to read or write it, or choose another place",
        errno.ENOSPC: "free some space, or choose another place",
        errno.EISDIR: "name a file",
    }
    return f"error: {place}{reason}\n  help: {cures.get(error.errno or 0, 'choose another place')}"


def _refuse(message: str) -> int:
    print_message(message)
    return EXIT_BAD_INPUT
