"""Queues in Python that studies and searches run, by the names of their classes.

A run on another thread, process or machine finds the class by its name `module:Class` and refuses a
source other than the one with which the study began.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from goodqueue.errors import RequestError
from goodqueue.runs.plugins import checksum_of, class_of, name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goodqueue._core import Scenario
    from goodqueue.runs.queues import QueueDiscipline, QueueFactory

LIMIT = "limit_packets"
"""Parameter of a queue's constructor that gets the limit of the link's queue in the scenario."""


@dataclass(frozen=True, slots=True)
class OwnQueue:
    """A queue in Python in place of that of a link.

    Attributes:
        link: name of the link.
        name: its class, as `module:Class`.
        checksum: checksum of the class's source.
    """

    link: str
    name: str
    checksum: str

    def factory(self) -> Callable[..., QueueDiscipline]:
        """Returns the class.

        Raises:
            RequestError: if it is not found, or if its source has another checksum.
        """
        found = checksum_of(self.name)
        if found != self.checksum:
            raise RequestError(f"the source of {self.name} has changed: its checksum is {found}")
        made: Callable[..., QueueDiscipline] = class_of(self.name)  # type: ignore[assignment]
        return made


def own_queues(queues: Mapping[str, QueueFactory] | None) -> tuple[OwnQueue, ...]:
    """Returns the queues by the names of their classes, sorted by link.

    Raises:
        RequestError: if a class is not found by its name, or if it has no source.
    """
    found = []
    for link, factory in sorted((queues or {}).items()):
        name = name_of(factory)
        found.append(OwnQueue(link, name, checksum_of(name)))
    return tuple(found)


def takes_limit(factory: Callable[..., object]) -> bool:
    """Returns True if a class takes the limit of its link."""
    try:
        return LIMIT in inspect.signature(factory).parameters
    except (TypeError, ValueError):
        return False


def limited(
    scenario: Scenario, queues: Sequence[tuple[str, Callable[..., QueueDiscipline]]]
) -> list[tuple[str, QueueFactory]]:
    """Returns functions that make empty queues, which get the limit of their link if they take it.

    Raises:
        ScenarioError: if there is no such link.
    """
    return [
        (
            link,
            partial(factory, **{LIMIT: scenario.buffer(link)["limit_packets"]})
            if takes_limit(factory)
            else factory,
        )
        for link, factory in queues
    ]


def digest_text(queues: Sequence[OwnQueue]) -> str:
    """Returns the part of a variant's canonical form that identifies its queues in Python."""
    return "".join(f"\nqueue of {one.link}: {one.name} {one.checksum}\n" for one in queues)
