"""The queue or congestion control that is characterised, in the scenarios of the guidelines."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodqueue.core.text import shortened
from goodqueue.errors import ScenarioError
from goodqueue.runs.api import NamedText, load
from goodqueue.runs.plugins import table_of
from goodqueue.runs.settings import inline_table, queue_table, settings_of, toml_of
from goodqueue.study.plan import variant_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodqueue._core import Scenario
    from goodqueue.characterization.guide import Case
    from goodqueue.runs.controls import ControlFactory
    from goodqueue.runs.queues import QueueFactory
    from goodqueue.runs.settings import Settings
    from goodqueue.study.model import Variant


@dataclass(frozen=True, eq=False)
class Subject:
    """A queue or a congestion control.

    Attributes:
        name: name in tables and pictures.
        value: its settings in a scenario.
        allow_python: True if the scenario may name a class in Python.
    """

    name: str
    value: Any
    allow_python: bool = False

    def scenario(self, case: Case, placeholder: str) -> Scenario:
        """Returns the scenario of a case with this subject in the places of the placeholder.

        Raises:
            ScenarioError: if the subject does not fit the scenario.
        """
        text = toml_of(self.settings(case, placeholder))
        source = NamedText(text, f"scenario with {self.name}")
        return load(source, set=case.changes, allow_python=self.allow_python)

    def variant(self, case: Case, placeholder: str, index: int) -> Variant:
        """Returns what is run of a case, under an index.

        Raises:
            ScenarioError: if the subject does not fit the scenario.
        """
        return variant_of(self.scenario(case, placeholder), {}, index)

    def settings(self, case: Case, placeholder: str) -> Settings:
        """Returns the settings of a case with this subject, without the case's changes.

        Raises:
            ScenarioError: if the case changes the set point of a queue in Python.
        """
        value = self.value
        if case.ecn and "ecn" in resolved(value):
            value = {**value, "ecn": True}
        if case.set_point != 1.0:
            if value.get("kind") == "python":
                raise ScenarioError("error: the set point of a queue in Python is not known")
            value = with_set_point(value, case.set_point)
        return dict(_filled(case.settings, placeholder, value))


def queue_of(text: str, *, allow_python: bool = False) -> Subject:
    """Returns a queue written as in `tc` or as a table of scenario files.

    Raises:
        ScenarioError: if the queue cannot be read; the message names the mistake.
    """
    return _named(" ".join(text.split()), queue_table(text), allow_python=allow_python)


def own(factory: QueueFactory | ControlFactory) -> Subject:
    """Returns a queue or a congestion control that is written in Python.

    Raises:
        RequestError: if the class is not found by its name.
    """
    table = table_of(factory)
    return _named(table["class"], table, allow_python=True)


def control_of(text: str, *, allow_python: bool = False) -> Subject:
    """Returns a congestion control: its name, or a table of scenario files.

    Raises:
        ScenarioError: if the table cannot be read.
    """
    name = " ".join(text.split())
    if not name.startswith("{"):
        return Subject(name, name)
    try:
        table = inline_table(name, f"--control {name}")
    except ScenarioError as error:
        raise ScenarioError(
            f"error: --control {shortened(name)}: {error.message}\n"
            "  help: write a name, or a table such as "
            '{ kind = "cubic", beta = 0.8 }'
        ) from None
    return _named(name, table, allow_python=allow_python)


def _named(text: str, table: Mapping[str, Any], *, allow_python: bool) -> Subject:
    """Returns the subject of a table, whose name is the class if that is its only setting."""
    if set(table) == {"kind", "class"} and table["kind"] == "python":
        text = str(table["class"]).rpartition(":")[2]
    return Subject(text, table, allow_python=allow_python)


def resolved(queue: Mapping[str, Any] | str) -> Settings:
    """Returns the table of a queue with its defaults, on the path of RFC 7928's sections.

    Returns:
        The table; empty for anything but the table of a built-in queue.
    """
    if isinstance(queue, str) or queue.get("kind") == "python":
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
    scenario = settings_of(load(settings))
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
