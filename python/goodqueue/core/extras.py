"""Libraries that only some commands need, and the extra of the package that installs each."""

from __future__ import annotations

from importlib import import_module

from goodqueue.errors import LibraryError

EXTRAS = {
    "distributed": "cluster",
    "gymnasium": "gym",
    "matplotlib": "plots",
    "optuna": "tune",
    "pettingzoo": "gym",
    "polars": "tables",
    "scipy": "papers",
}
"""Extra of the package that installs a library, by the name of the library."""


EXTRA_OF_COMMAND = {
    "demo": "papers",
    "reproduce": "papers",
    "results": "study",
    "sweep": "study",
}
"""Extra that has all libraries of a command, if these are more than the library that is missed."""

INCLUDED = ("tables", "plots", "papers")
"""Extras each of which includes those before it."""


def is_installed(library: str) -> bool:
    """Returns True if a library of `EXTRAS` can be imported."""
    try:
        import_module(library)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != library:
            raise
        return False
    return True


def require(*libraries: str) -> None:
    """Raises LibraryError if one of these libraries is not installed, before anything runs."""
    missing = [library for library in libraries if not is_installed(library)]
    if missing:
        raise lacking(*missing)


def lacking(*libraries: str, command: str | None = None) -> LibraryError:
    """Returns the message about libraries of `EXTRAS` that are not installed.

    It names the extra of the command if the command has one, or else the extra that has all of
    these libraries.
    """
    extras = sorted({EXTRAS[library] for library in libraries}, key=_rank)
    extra = EXTRA_OF_COMMAND.get(command or "", extras[-1])
    *first, last = libraries
    named = f"libraries {', '.join(first)} and {last}" if first else f"library {last}"
    verb = "are" if first else "is"
    return LibraryError(
        f"this needs the {named}, which {verb} not installed\n"
        f"  help: pip install 'goodqueue[{extra}]', or 'goodqueue[all]' for every command",
        libraries,
    )


def _rank(extra: str) -> int:
    return INCLUDED.index(extra) if extra in INCLUDED else len(INCLUDED)
