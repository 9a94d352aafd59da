"""Classes of the user that a scenario names, as in `controls:Aimd`, and checksums of their source.

A scenario file never runs code by itself: a class is imported only where the caller allows it.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from goodqueue.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goodqueue._core import Scenario

HEX_DIGITS = 16
"""Length of a checksum."""

LIMIT = "limit_packets"
"""Parameter of a queue's constructor that gets the limit of the link's queue in the scenario."""


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


def unchanged_class(name: str, checksum: str) -> Callable[..., object]:
    """Returns a class whose source has this checksum.

    Raises:
        RequestError: if it is not found, or if its source has another checksum.
    """
    found = checksum_of(name)
    if found != checksum:
        raise RequestError(f"the source of {name} has changed: its checksum is {found}")
    return class_of(name)


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


def table_of(factory: object) -> dict[str, str]:
    """Returns the table by which a scenario names a class.

    Raises:
        RequestError: if the class is not found by its name.
    """
    return {"kind": "python", "class": name_of(factory)}


def takes_limit(factory: Callable[..., object]) -> bool:
    """Returns True if the constructor of a queue takes the limit of its link."""
    try:
        return LIMIT in inspect.signature(factory).parameters
    except (TypeError, ValueError):
        return False


def limited(factory: Callable[..., object], limit_packets: int | None) -> Callable[..., object]:
    """Returns a function that makes empty queues, which get a limit if their class takes one."""
    return partial(factory, **{LIMIT: limit_packets}) if takes_limit(factory) else factory


def named_queues(queues: Mapping[str, object] | None) -> tuple[tuple[str, str, str], ...]:
    """Returns the link, the name and the checksum of each class, as `with_queues` takes them.

    Args:
        queues: classes by the name of a link.

    Raises:
        RequestError: if a class is not found by its name, or if it has no source.
    """
    named = [(link, name_of(queue)) for link, queue in sorted((queues or {}).items())]
    return tuple((link, name, checksum_of(name)) for link, name in named)


def with_queues(scenario: Scenario, queues: Sequence[tuple[str, str, str]]) -> Scenario:
    """Returns a scenario with these queues in place of those of links, which keep their limits.

    Raises:
        ScenarioError: if there is no such link.
    """
    for link, name, checksum in queues:
        scenario = scenario.with_python_queue(link, name, checksum)
    return scenario


def names_python(scenario: Scenario) -> bool:
    """Returns True if a scenario names classes."""
    return bool(scenario.python_controls() or scenario.python_queues())


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
