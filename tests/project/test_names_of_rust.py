"""Tables in Python that repeat names of the core have all of these names, and no other."""

from __future__ import annotations

import ast
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from conftest import ROOT, tracked
from goodqueue import _core
from goodqueue.cli.live.emulate import COLOURS
from goodqueue.output.live.probe import QUEUES
from goodqueue.runs.memory import BY_FLOW, RECORDS, REMEDIES
from goodqueue.runs.results.explain import LIMITS
from goodqueue.runs.results.result import KINDS
from goodqueue.runs.results.throughput import WAYS
from goodqueue.sizing.link import PROFILES
from goodqueue.sizing.trials.described import HEADERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

SCHEMA: dict[str, Any] = json.loads(_core.schema())


def constants(node: object) -> Iterator[str]:
    """Yields the names that a part of the schema allows for a key."""
    if isinstance(node, dict):
        yield from node.get("enum", [])
        yield from [node["const"]] if "const" in node else []
        for value in node.values():
            yield from constants(value)
    elif isinstance(node, list):
        for item in node:
            yield from constants(item)


def source(file: str, begins: str, ends: str) -> str:
    """Returns the part of a Rust source between two texts, the first of which occurs once."""
    text = (ROOT / "crates" / file).read_text(encoding="utf-8")
    assert text.count(begins) == 1, f"{begins} occurs {text.count(begins)} times in {file}"
    return text.partition(begins)[2].partition(ends)[0]


def quoted(file: str, begins: str, ends: str = "\n    }\n") -> list[str]:
    """Returns the texts of a match or a list, in order."""
    found = re.findall(r'"(\w[\w ]*)"', source(file, begins, ends))
    assert found
    return found


def variants(file: str, name: str) -> list[str]:
    """Returns the variants of an enum in snake case, in order."""
    found = re.findall(r"^    (\w+),", source(file, f"pub enum {name} {{", "\n}"), re.MULTILINE)
    assert found
    return [re.sub(r"(?<!^)(?=[A-Z])", "_", one).lower() for one in found]


def workloads() -> set[str]:
    choices = SCHEMA["$defs"]["flow"]["properties"]["workload"]["oneOf"]
    return {one["allOf"][1]["properties"]["kind"]["const"] for one in choices}


LIMITED = quoted("tcp/src/sender/limits.rs", "pub fn name(self) -> &'static str {")
TABLES: dict[str, tuple[Iterable[str], Iterable[str]]] = {
    "memory": (REMEDIES, _core.memory_parts()),
    "verdicts": (COLOURS, quoted("live/src/fidelity.rs", "pub fn words(self) -> &'static str {")),
    "limits": (LIMITS, LIMITED),
    "workloads": (WAYS, workloads()),
    "disciplines": (QUEUES, variants("probe/src/estimate/queue.rs", "Discipline")),
    "headers": (HEADERS, PROFILES),
}
"""Tables with a row for each name of the core: the names of the table, and those of the core."""


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_a_row_for_each_name(table: str) -> None:
    ours, theirs = TABLES[table]
    assert set(ours) == set(theirs)


NAME = "pub fn name(self) -> &'static str {"
NUMBERED = {
    "event": quoted("trace/src/write/table.rs", "const EVENTS: [&str; 6] = [", "];"),
    "direction": quoted("trace/src/write/table.rs", "const DIRECTIONS: [&str; 2] = [", "];"),
    "limited_by": LIMITED,
    "drop_reason": quoted("types/src/packet.rs", NAME),
}
"""Names of the core that columns have as numbers from 0."""


def test_numbers_of_columns_stand_for_the_names_of_the_core() -> None:
    assert KINDS == NUMBERED


def test_parts_of_memory_have_kinds_of_their_own() -> None:
    parts = set(_core.memory_parts())
    assert parts >= RECORDS
    assert parts >= BY_FLOW
    assert not RECORDS & BY_FLOW


LITERAL = re.compile(r'"([^"\\\n]+)"')
MIN_SHARE = 0.7
"""A table repeats names of the core if at least this share of its names are texts of the core."""

WITH_OWN = {
    "cli/examples.py:FIRST",  # commands, most of which are words of the core, too
    "cli/sizing/smoothing.py:COLUMNS",  # heads of a table
    "core/metrics.py:OF_STUDIES",  # figures made of two parts, which a test of results compares
    "output/applications.py:TIMED",  # metrics of several applications, made of two parts
    "output/live/probe.py:QUEUES",  # variants, which the test above compares
    "passive/today.py:FIGURES",  # figures of a link under shorter names
    "passive/today.py:OF_LINK",
    "sizing/trials/meter.py:OF_LINK",
}
"""Tables that also have names of their own."""


def literals() -> set[str]:
    """Returns the texts of the core, and the keys of scenario files."""
    found = set(constants(SCHEMA))
    for table in SCHEMA["$defs"].values():
        found |= set(table.get("properties", {}))
    for path in tracked("crates/*.rs"):
        if "src" in path.parts:
            found |= set(LITERAL.findall(path.read_text(encoding="utf-8")))
    return found


def tables(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yields the names of a module's constants with several texts, and these texts or keys."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                pass
            case _:
                continue
        match value:
            case ast.Dict(keys=items) | ast.Set(elts=items):
                pass
            case ast.Tuple(elts=items) | ast.List(elts=items):
                pass
            case _:
                continue
        texts = [
            item.value
            for item in items
            if isinstance(item, ast.Constant) and isinstance(item.value, str)
        ]
        if len(texts) > 1:
            yield name, texts


def test_a_table_that_repeats_names_of_the_core_has_no_old_name() -> None:
    """A name that was changed in the core would otherwise be looked up in vain."""
    known = literals()
    package = ROOT / "python/goodqueue"
    seen, old = set(), []
    for path in tracked("python/goodqueue/*.py"):
        if "papers" in path.parts:
            continue
        for name, texts in tables(path):
            table = f"{path.relative_to(package)}:{name}"
            unknown = [text for text in texts if text not in known]
            if len(unknown) > (1 - MIN_SHARE) * len(texts):
                continue
            seen.add(table)
            if unknown and table not in WITH_OWN:
                old.append(f"{table}: {unknown}")
    assert not old, "these names are not in the core:\n" + "\n".join(old)
    assert seen >= WITH_OWN
    assert "runs/memory.py:REMEDIES" in seen
