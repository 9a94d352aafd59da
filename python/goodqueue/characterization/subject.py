"""The queue or congestion control that is characterised, in the scenarios of the guidelines."""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodqueue.errors import RequestError, ScenarioError
from goodqueue.runs.api import NamedText, load
from goodqueue.runs.plugins import class_of, name_of
from goodqueue.runs.settings import queue_table, toml_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodqueue._core import Scenario
    from goodqueue.characterization.guide import Case
    from goodqueue.runs.controls import ControlFactory
    from goodqueue.runs.queues import QueueFactory
    from goodqueue.runs.settings import Settings

STAND_IN: Settings = {"kind": "drop_tail", "limit": "1000p"}
"""Queue of a scenario whose packets wait in a queue that is written in Python."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A queue or a congestion control.

    Attributes:
        name: name in tables and pictures.
        value: its settings in a scenario.
        factory: function that makes a queue that is written in Python, if it is one.
        allow_python: True if the scenario may name a control that is written in Python.
    """

    name: str
    value: Any
    factory: QueueFactory | None = None
    allow_python: bool = False

    def scenario(self, case: Case, placeholder: str) -> Scenario:
        """Returns the scenario of a case with this subject in the places of the placeholder.

        Raises:
            ScenarioError: if the subject does not fit the scenario.
        """
        text = toml_of(self.settings(case, placeholder))
        source = NamedText(text, f"scenario with {self.name}")
        return load(source, set=case.changes, allow_python=self.allow_python)

    def settings(self, case: Case, placeholder: str) -> Settings:
        """Returns the settings of a case with this subject, without the case's changes.

        Raises:
            ScenarioError: if the case changes the set point of a queue in Python.
        """
        value = self.value
        if case.ecn and "ecn" in resolved(value):
            value = {**value, "ecn": True}
        if case.set_point != 1.0:
            if self.factory is not None:
                raise ScenarioError("error: the set point of a queue in Python is not known")
            value = with_set_point(value, case.set_point)
        return dict(_filled(case.settings, placeholder, value))

    def queues(self, case: Case, placeholder: str) -> list[tuple[str, QueueFactory]]:
        """Returns the queues in Python of a case, by the name of their link."""
        if self.factory is None:
            return []
        return [(link, self.factory) for link in _links(case.settings, placeholder)]


def queue_of(text: str) -> Subject:
    """Returns a queue written as in `tc` or as a table of scenario files.

    Raises:
        ScenarioError: if the queue cannot be read; the message names the mistake.
    """
    return Subject(" ".join(text.split()), queue_table(text))


def python_queue(factory: QueueFactory) -> Subject:
    """Returns a queue that is written in Python."""
    return Subject(getattr(factory, "__name__", type(factory).__name__), STAND_IN, factory)


def named_queue(text: str, *, allow_python: bool) -> Subject | None:
    """Returns the queue in Python that a table `{ kind = "python", class = "module:Class" }` names.

    Returns:
        The queue; None for any other text.

    Raises:
        RequestError: if code in Python is not allowed, or if there is no such class.
    """
    if not text.lstrip().startswith("{"):
        return None
    try:
        table = tomllib.loads(f"queue = {text.strip()}")["queue"]
    except tomllib.TOMLDecodeError:
        return None  # the reader of queues describes the mistake
    if table.get("kind") != "python":
        return None
    name = table.get("class")
    if set(table) != {"kind", "class"} or not isinstance(name, str) or ":" not in name:
        raise RequestError(
            f'{text} names no class: write {{ kind = "python", class = "module:Class" }}'
        )
    if not allow_python:
        raise RequestError(
            f"{name} is code in Python, which is not allowed: add --allow-python if you trust it"
        )
    factory: Any = class_of(name)
    return python_queue(factory)


def python_control(factory: ControlFactory) -> Subject:
    """Returns a congestion control that is written in Python.

    Raises:
        RequestError: if the class is not found by its name.
    """
    name = name_of(factory)
    value = {"kind": "python", "class": name}
    return Subject(name.rpartition(":")[2], value, allow_python=True)


def control_of(text: str) -> Subject:
    """Returns a congestion control: its name, or a table of scenario files.

    Raises:
        ScenarioError: if the table cannot be read.
    """
    name = " ".join(text.split())
    if not name.startswith("{"):
        return Subject(name, name)
    try:
        return Subject(name, tomllib.loads(f"control = {name}")["control"])
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(
            f"error: --control {name}: {error}\n  help: write a name, or a table such as "
            '{ kind = "cubic", beta = 0.8 }'
        ) from None


def resolved(queue: Mapping[str, Any] | str) -> Settings:
    """Returns the table of a queue with its defaults, on the path of RFC 7928's sections.

    Returns:
        The table; empty for anything but the table of a queue.
    """
    if isinstance(queue, str):
        return {}
    settings = {
        "schema_version": 1,
        "duration": "1s",
        "topology": {
            "shape": "dumbbell",
            "bottleneck": {"rate": "10Mbps", "delay": "50ms", "queue": dict(queue)},
        },
        "flow": [{"workload": {"kind": "bulk"}}],
    }
    scenario = tomllib.loads(load(settings).resolved_toml())
    table: Settings = scenario["topology"]["bottleneck"]["queue"]
    return table


SET_POINTS = ("target", "rtt", "step_thresh", "threshold", "min", "max", "packets_per_flow")
"""Keys of queues for the delay or length at which they aim."""


def with_set_point(queue: Mapping[str, Any], factor: float) -> Settings:
    """Returns a queue whose set points are multiplied by a factor.

    Those of a queue within it are multiplied in place of its own. The limit is the set point of a
    queue that has no other.

    Args:
        queue: the table of the queue.
        factor: the factor.
    """
    return {**queue, **_scaled(queue, resolved(queue), factor)}


def _scaled(own: Mapping[str, Any], every: Mapping[str, Any], factor: float) -> Settings:
    if "queue" in every:
        inner = own.get("queue", {})
        return {"queue": {**inner, **_scaled(inner, every["queue"], factor)}}
    if "bands" in every:
        bands = zip(own.get("bands", every["bands"]), every["bands"], strict=True)
        return {"bands": [{**one, **_scaled(one, whole, factor)} for one, whole in bands]}
    known = {key: every[key] for key in SET_POINTS if every.get(key, "none") != "none"}
    chosen = known or {"limit": every["limit"]}
    return {key: _times(one, factor) for key, one in chosen.items()}


def _times(value: str | float, factor: float) -> str | float:
    """Returns a number, or a text of a number with its unit, times a factor."""
    if not isinstance(value, str):
        return type(value)(value * factor)
    number = re.match(r"[\d.]+", value)
    assert number is not None
    unit = value[number.end() :]
    scaled = float(number[0]) * factor
    return f"{math.ceil(scaled) if unit in {'p', 'B'} else scaled:g}{unit}"


def _filled(value: Any, placeholder: str, subject: Any) -> Any:  # noqa: ANN401 - any TOML value
    """Returns a value in which the subject is in the places of the placeholder."""
    match value:
        case dict():
            return {key: _filled(one, placeholder, subject) for key, one in value.items()}
        case list():
            return [_filled(one, placeholder, subject) for one in value]
        case str() if value == placeholder:
            return subject
        case _:
            return value


def _links(settings: Settings, placeholder: str) -> list[str]:
    """Returns the links of a scenario whose queue is the placeholder."""
    topology = settings["topology"]
    links = topology.get("link", [])
    if "bottleneck" in topology:
        links = [*links, {"name": "bottleneck", **topology["bottleneck"]}]
    found = []
    for link in links:
        if link.get("queue") == placeholder:
            found.append(link["name"])
        if link.get("reverse", {}).get("queue") == placeholder:
            found.append(f"{link['name']}.reverse")
    return found
