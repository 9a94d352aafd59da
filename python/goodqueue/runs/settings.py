"""Conversion of scenarios to and from nested tables of settings, and changes of single keys.

No other module writes scenarios as TOML text for the core, or reads such text from it.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from goodqueue import _core
from goodqueue._core import Scenario
from goodqueue.core.text import printable, shortened
from goodqueue.errors import ScenarioError
from goodqueue.runs.plugins import checksum_of, names_python, table_of

BARE = re.compile(r"[A-Za-z0-9_-]+")
"""Pattern of keys that TOML writes without quotes."""

Settings = dict[str, Any]
"""A table of settings by key; a value with a unit is a text, such as `50ms`."""

Overrides = Mapping[str, object] | Sequence[tuple[str, str]]
"""Values by the path of their key, such as `topology.bottleneck.queue.limit`."""


def scenario_of(settings: Mapping[str, Any], name: str) -> Scenario:
    """Returns the scenario that has these settings, and defaults for all others.

    Args:
        settings: the tables of a scenario file.
        name: name of the scenario in messages.

    Raises:
        ScenarioError: if a setting is wrong; the message names it.
    """
    return Scenario.parse(toml_of(settings), name, [])


def settings_of(scenario: Scenario) -> Settings:
    """Returns all settings of a scenario, defaults included."""
    return tomllib.loads(scenario.resolved_toml())


def changed(scenario: Scenario, changes: Overrides) -> Scenario:
    """Returns the scenario with other values of some settings.

    Raises:
        ScenarioError: if a path or a value is wrong; the message names it.
    """
    text = scenario.resolved_toml().encode()
    checksum = checksum_of if names_python(scenario) else None
    return Scenario.parse(text, "<changed scenario>", overrides(changes), checksum)


def queue_table(text: str) -> Settings:
    """Returns the settings of a queue, written as in `tc` or as a table of scenario files.

    Raises:
        ScenarioError: if the queue cannot be read; the message names the mistake.
    """
    table, _ = _queue(text)
    try:
        return inline_table(table, f"queue {text}")
    except ScenarioError as error:
        raise ScenarioError(
            f"error: queue {shortened(text)}: {error.message}\n  help: write a line of tc, as in "
            "'fq_codel limit 1000p', or a table, as in '{ kind = \"codel\", target = \"5ms\" }'"
        ) from None


def inline_table(text: str, name: str) -> Settings:
    """Returns an inline table of scenario files, such as `{ kind = "cubic", beta = 0.8 }`.

    Raises:
        ScenarioError: if it is none; the message has the name that is given for it.
    """
    found = json.loads(_core.toml_json(f"table = {text}".encode(), name))
    if found.keys() != {"table"} or not isinstance(found["table"], dict):
        raise ScenarioError(f"error: {name}: this is no table", message="this is no table")
    return dict(found["table"])


def queue_notes(text: str) -> list[str]:
    """Returns what a queue written as in `tc` states without an equivalent here.

    Raises:
        ScenarioError: if the queue cannot be read; the message names the mistake.
    """
    return _queue(text)[1]


def _queue(text: str) -> tuple[str, list[str]]:
    """Returns a queue as a table of scenario files, and notes if it is written as in `tc`."""
    if text.lstrip().startswith("{"):
        return text, []
    kind, _, options = text.strip().partition(" ")
    table, _, notes = _core.parse_qdisc(f"qdisc {kind} 0: root {options}")
    return table, notes


def overrides(pairs: Overrides) -> list[tuple[str, str]]:
    """Returns overrides as pairs of a path and a value, as `--set` takes them."""
    items = tuple(pairs.items()) if isinstance(pairs, Mapping) else pairs
    return [(path, _plain(value)) for path, value in items]


def toml_of(settings: Mapping[str, Any]) -> bytes:
    """Returns tables as TOML, one line for each key of the outermost table."""
    lines = [f"{_key(key)} = {_toml(value)}\n" for key, value in settings.items()]
    return "".join(lines).encode()


def sweep_toml(sweep: Mapping[str, Any]) -> str:
    """Returns the table `[sweep]` of a study as TOML.

    Args:
        sweep: values by the path of their key, in the order of the axes; `zip` and `exclude` are
            lists of such tables.
    """
    lines = ["[sweep]"]
    for path, values in sweep.items():
        if path in {"zip", "exclude"}:
            tables = ", ".join(_by_path(table) for table in values)
            lines.append(f"{path} = [{tables}]")
        else:
            lines.append(f"{_path(path)} = {_toml(values)}")
    return "\n".join([*lines, ""])


def _by_path(table: Mapping[str, Any]) -> str:
    pairs = (f"{_path(path)} = {_toml(values)}" for path, values in table.items())
    return "{ " + ", ".join(pairs) + " }"


def _path(path: str) -> str:
    return ".".join(map(_key, path.split(".")))


def readable_toml(settings: Mapping[str, Any], comments: Mapping[str, str]) -> str:
    """Returns tables as TOML for people, one line for each key, with comments.

    Args:
        settings: the tables of a scenario file.
        comments: comments by the path of their table, such as `topology.bottleneck` or `flow.0`;
            the comment of the empty path begins the text.
    """
    blocks = [_block("", "", {k: v for k, v in settings.items() if not _is_table(v)}, comments)]
    for key, value in settings.items():
        if isinstance(value, Mapping):
            own = {k: v for k, v in value.items() if not _is_table(v)}
            blocks.append(_block(f"[{_key(key)}]", key, own, comments))
            for part, table in value.items():
                if _is_table(table):
                    blocks += _tables(f"{_key(key)}.{_key(part)}", f"{key}.{part}", table, comments)
        elif _is_table(value):
            blocks += _tables(_key(key), key, value, comments)
    return "\n".join(blocks)


def _tables(head: str, path: str, value: Any, comments: Mapping[str, str]) -> list[str]:  # noqa: ANN401
    """Returns the blocks of a table, or of each table of a list."""
    if isinstance(value, Mapping):
        return [_block(f"[{head}]", path, value, comments)]
    return [
        _block(f"[[{head}]]", f"{path}.{place}", table, comments)
        for place, table in enumerate(value)
    ]


def _is_table(value: object) -> bool:
    is_list = isinstance(value, Sequence) and bool(value) and isinstance(value[0], Mapping)
    return is_list or isinstance(value, Mapping)


def records_packets(scenario: Scenario) -> bool:
    """Returns True if a scenario asks for its packet events (`record.packets`)."""
    return bool(settings_of(scenario).get("record", {}).get("packets", False))


def _block(head: str, path: str, table: Mapping[str, Any], comments: Mapping[str, str]) -> str:
    lines = [f"# {printable(comments[path])}"] if path in comments else []
    lines += [head] if head else []
    lines += [f"{_key(key)} = {_toml(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"


def _plain(value: object) -> str:
    """Formats a value for `--set key=`, where a text needs no quotes."""
    return value if isinstance(value, str) else _toml(value)


def _key(key: object) -> str:
    text = str(key)
    return text if BARE.fullmatch(text) else _quoted(text)


def _quoted(text: str) -> str:
    """Returns a text in quotes. TOML has JSON's escapes, and also requires one for U+007F."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml(value: object) -> str:  # noqa: PLR0911 - one for each kind of value
    """Formats a value as TOML on one line."""
    match value:
        case bool():
            return str(value).lower()
        case Integral():  # The repr of a number of NumPy may name its type.
            return int.__repr__(int(value))
        case Real():
            return float.__repr__(float(value))  # TOML also writes nan and inf
        case str():
            return _quoted(value)
        case Mapping():
            pairs = (f"{_key(key)} = {_toml(item)}" for key, item in value.items())
            return "{ " + ", ".join(pairs) + " }"
        case type():
            return _toml(table_of(value))
        case set() | frozenset():
            raise TypeError(f"a set has no order: write a list in place of {value!r}")
        case Iterable():
            return "[" + ", ".join(map(_toml, value)) + "]"
        case _:
            raise TypeError(f"a scenario cannot hold a {type(value).__name__}: {value!r}")
