"""Classes of the user that a scenario names, as in `controls:Aimd`, and checksums of their source.

A scenario file never runs code by itself: a class is imported only where the caller allows it.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from goodqueue.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

HEX_DIGITS = 16
"""Length of a checksum."""


def class_of(name: str) -> Callable[..., object]:
    """Imports a class, or another callable that makes objects, by `module:Class`.

    Raises:
        RequestError: if there is no such module or class; the message has the reason.
    """
    module_name, _, path = name.partition(":")
    try:
        found: Any = import_module(module_name)
    except ImportError as error:
        raise RequestError(f"{name} cannot be imported: {error}") from error
    for part in path.split("."):
        if not hasattr(found, part):
            raise RequestError(f"{name} does not exist: {module_name} has no {part}")
        found = getattr(found, part)
    if not callable(found):
        raise RequestError(f"{name} is no class, but {found!r}")
    made: Callable[..., object] = found
    return made


def checksum_of(name: str) -> str:
    """Returns a checksum of the source on which a class `module:Class` depends.

    It is the source of the whole module, or of the class alone in a script or notebook.

    Raises:
        RequestError: if there is no such class, or if it has no source.
    """
    found = class_of(name)
    module = sys.modules.get(name.partition(":")[0])
    whole = module is not None and module.__name__ != "__main__"
    try:
        source = inspect.getsource(module if whole and module is not None else found)
    except (OSError, TypeError) as error:
        text = f"{name} has no source, so its results cannot be identified"
        raise RequestError(f"{text}: define it in a file") from error
    return hashlib.sha256(source.encode()).hexdigest()[:HEX_DIGITS]


def name_of(factory: object) -> str:
    """Returns the name `module:Class` by which other threads and processes find a class.

    Raises:
        RequestError: if the class is not found by its name.
    """
    name = f"{getattr(factory, '__module__', '?')}:{getattr(factory, '__qualname__', '?')}"
    try:
        found = class_of(name)
    except (RequestError, ValueError):
        found = None
    if found is not factory:
        raise RequestError(
            f"{factory!r} is not found as {name}: define the class at the top of a module"
        )
    return name


def named_controls(controls: Mapping[str, object] | None) -> list[tuple[str, str]]:
    """Returns settings that give groups of flows these congestion controls.

    Args:
        controls: classes by the name of a group of flows.

    Raises:
        RequestError: if a class is not found by its name.
    """
    return [
        (
            f"flow.{group}.tcp.congestion_control",
            f'{{ kind = "python", class = "{name_of(control)}" }}',
        )
        for group, control in (controls or {}).items()
    ]


def search_here() -> None:
    """Makes modules of the working directory importable, as they are for `python -m`."""
    if "" not in sys.path:
        sys.path.insert(0, "")
