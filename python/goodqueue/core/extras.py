"""Libraries that only some commands need, and the extra of the package that installs each."""

from __future__ import annotations

from importlib.util import find_spec

from goodqueue.errors import RequestError

EXTRAS = {
    "distributed": "cluster",
    "gymnasium": "gym",
    "matplotlib": "plots",
    "pettingzoo": "gym",
    "polars": "tables",
    "scipy": "papers",
}
"""Extra of the package that installs a library, by the name of the library."""


def require(*libraries: str) -> None:
    """Raises RequestError if one of these libraries is not installed, before anything runs."""
    for library in libraries:
        if find_spec(library) is None:
            raise lacking(library)


def lacking(library: str) -> RequestError:
    """Returns the message about a library of `EXTRAS` that is not installed."""
    extra = EXTRAS[library]
    return RequestError(
        f"this needs the library {library}, which is not installed\n"
        f"  help: pip install 'goodqueue[{extra}]', or 'goodqueue[all]' for every command"
    )
