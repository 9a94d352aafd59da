"""The scenario that is tuned, with any value of one of its parameters."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodqueue.errors import RequestError, ScenarioError
from goodqueue.runs.api import load, text_of
from goodqueue.runs.plugins import with_queues
from goodqueue.runs.settings import settings_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goodqueue._core import Scenario
    from goodqueue.runs.api import Source


@dataclass(frozen=True, slots=True)
class Subject:
    """A scenario and the values that replace those of its file.

    Attributes:
        source: path of a scenario file, its text, or a mapping of the same shape.
        set_: values that replace the file's, by path.
        seed: seed of the first replicate; None for the scenario's own.
        allow_python: True if the scenario may name classes in Python.
        queues: queues in Python in place of those of links: link, class and checksum.
    """

    source: Source
    set_: tuple[tuple[str, str], ...] = ()
    seed: int | None = None
    allow_python: bool = False
    queues: tuple[tuple[str, str, str], ...] = ()

    def scenario(self, settings: Sequence[tuple[str, str]] = ()) -> Scenario:
        """Returns the scenario, with other values at the paths of settings.

        Raises:
            ScenarioError: with place, mistake and remedy.
        """
        given = [*self.set_, *settings]
        made = load(self.source, set=given, seed=self.seed, allow_python=self.allow_python)
        return with_queues(made, self.queues)

    def own_value(self, path: str) -> str | None:
        """Returns the number at a path as the file writes it; None if there is none."""
        for name, value in reversed(self.set_):
            if name == path:
                return value
        data, _ = text_of(self.source)
        parts = path.split(".")
        found = _at(tomllib.loads(data.decode("utf-8", "replace")), parts)
        if found is None:  # a default, which the resolved scenario has
            found = _at(settings_of(self.scenario()), parts)
        if isinstance(found, bool) or not isinstance(found, str | int | float):
            return None
        return str(found)

    def check(self, settings: Sequence[tuple[str, str]], option: str) -> None:
        """Refuses values that the scenario cannot have at their paths.

        Raises:
            RequestError: with the mistake and the remedy; `option` begins the message.
        """
        try:
            self.scenario(settings)
        except ScenarioError as error:
            whole = self._whole(settings[0][0]) if len(settings) == 1 else ""
            help_ = f"write the whole path: {whole}" if whole else error.help
            values = " and ".join(f"{path} = {value}" for path, value in settings)
            message = f"{option}: {values}: {error.message}\n  help: {help_}"
            raise RequestError(message) from None

    def _whole(self, path: str) -> str:
        """Returns the paths of the scenario that end in a short one, in words."""
        paths = _paths(settings_of(self.scenario()), "")
        return " or ".join([one for one in paths if one.endswith(f".{path}")][:3])


def _at(node: Any, parts: Sequence[str]) -> Any:  # noqa: ANN401 - any value of a TOML file
    """Returns the value at a path: keys of tables, and indices or names of lists."""
    for part in parts:
        if isinstance(node, list):
            named = [one for one in node if isinstance(one, dict) and one.get("name") == part]
            by_place = node[int(part) : int(part) + 1] if part.isdecimal() else []
            node = next(iter([*named, *by_place]), None)
        else:
            node = node.get(part) if isinstance(node, dict) else None
    return node


def _paths(node: Any, path: str) -> Iterator[str]:  # noqa: ANN401 - any value of a TOML file
    """Yields the paths of all values, with the names of list entries."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _paths(value, f"{path}.{key}" if path else key)
    elif isinstance(node, list) and node and isinstance(node[0], dict):
        for place, item in enumerate(node):
            yield from _paths(item, f"{path}.{item.get('name', place)}")
    else:
        yield path
