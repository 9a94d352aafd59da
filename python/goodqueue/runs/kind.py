"""Messages for scenario files and study files that were taken for each other."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any

from goodqueue import _core
from goodqueue.errors import ScenarioError


def keys_of(data: bytes) -> set[str]:
    """Returns the keys of the outermost table of a file.

    Raises:
        ScenarioError: if the file is not valid TOML.
    """
    return set(settings_in(data, "the file"))


def settings_in(data: bytes, name: str) -> dict[str, Any]:
    """Returns the tables of a file.

    Raises:
        ScenarioError: if the file is not valid TOML.
    """
    found: dict[str, Any] = json.loads(_core.toml_json(data, name))
    return found


def kind_of(data: bytes) -> str | None:
    """Returns `scenario` or `study` for a file with keys of one of them only; None otherwise."""
    try:
        keys = keys_of(data)
    except ScenarioError:
        return None
    is_study = not keys.isdisjoint({"scenario", "sweep"})
    is_scenario = not keys.isdisjoint({"topology", "flow"})
    if is_study == is_scenario:
        return None
    return "study" if is_study else "scenario"


def of_other_kind(error: ScenarioError, data: bytes, name: str, wanted: str) -> ScenarioError:
    """Returns the mistake of a file; if the file is of the other kind, a mistake that says so.

    Args:
        error: the mistake that its reader found.
        data: contents of the file.
        name: name by which messages call it.
        wanted: kind that the reader needs, `scenario` or `study`.
    """
    kind = kind_of(data)
    if kind in {None, wanted}:
        return error
    message = f"this is a {kind}, and no {wanted}"
    if kind == "study":
        help_ = f"goodqueue sweep {name} runs it"
    else:
        help_ = (
            f"goodqueue run {name} runs it; a study of it is a file beside it with "
            f'scenario = "{PurePath(name).name}" and a table [sweep] of values'
        )
    text = f"error: {name}: {message}\n  help: {help_}"
    return ScenarioError(text, file=name, message=message, help=help_)
