"""Stamps: the engine, inputs and programs that a thing came from, and its state today."""

from __future__ import annotations

import json
import resource
import time
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from evidence.core import cells
from evidence.core.derived import HOME, everything
from goodqueue import _core
from goodqueue.core.files.unfinished import unfinished_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evidence.core.derived import Derived


UNSTAMPED = "it has no stamp"


class State(StrEnum):
    """State of a thing, compared with the engine of the checkout."""

    FRESH = "fresh"
    """Programs, inputs and products are those of the stamp, and the canary has the same figures."""
    STALE = "stale"
    """The canary has other figures, or something that the thing needs is stale."""
    UNKNOWN = "unknown"
    """The thing has no stamp, or a program, an input or a product changed since."""


@dataclass(frozen=True)
class Stamp:
    """Origin of a thing.

    Attributes:
        results_version: the engine's version of results.
        date: day on which it was made (UTC).
        cpu_s: processor time that this took, in seconds.
        seeds: seeds of the runs, in words.
        digests: digests of programs and inputs, by name.
        products: digests of the products, by name.
        canary: cells with their figures.
    """

    results_version: int
    date: str
    cpu_s: float
    seeds: str
    digests: dict[str, str]
    products: dict[str, str | None]
    canary: list[dict[str, Any]] = field(default_factory=list)


def path_of(thing: Derived) -> Path:
    """Returns the file that has the stamps of the thing's folder."""
    return HOME / thing.folder / "stamp.json"


def read(thing: Derived) -> Stamp | None:
    """Returns the stamp of a thing, None if it has none."""
    path = path_of(thing)
    stamps = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if thing.name not in stamps:
        return None
    found = stamps[thing.name]
    if isinstance(found["canary"], str):
        found["canary"] = stamps[found["canary"]]["canary"]
    return Stamp(**found)


def write(thing: Derived, stamp: Stamp) -> None:
    """Writes the stamp of a thing beside those of the other things of its folder."""
    path = path_of(thing)
    stamps = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    stamps[thing.name] = asdict(stamp)
    text = json.dumps(_with_shared_canaries(stamps), indent=1, ensure_ascii=False)
    with unfinished_file(path) as unfinished:
        unfinished.write_text(text + "\n", encoding="utf-8")


def _with_shared_canaries(stamps: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Returns stamps in which a canary stands once; others name the first thing that has it."""
    whole = {
        name: one | {"canary": stamps[one["canary"]]["canary"]}
        if isinstance(one["canary"], str)
        else one
        for name, one in sorted(stamps.items())
    }
    firsts: dict[str, str] = {}
    for name, one in whole.items():
        if one["canary"]:
            first = firsts.setdefault(json.dumps(one["canary"]), name)
            if first != name:
                whole[name] = one | {"canary": first}
    return whole


def state_of(thing: Derived) -> State:
    """Returns how a thing stands to the engine of this checkout."""
    return _states()[thing.name][0]


def reason_of(thing: Derived) -> str:
    """Returns the grounds of a thing's state in words; empty for a fresh thing."""
    return _states()[thing.name][1]


def forget() -> None:
    """Lets the next call find all states anew."""
    _states.cache_clear()


@cache
def _states() -> dict[str, tuple[State, str]]:
    found: dict[str, tuple[State, str]] = {}
    for name, thing in everything().items():
        state, why = _own_state(thing)
        for need in thing.needs:
            theirs = found[need][0]
            if theirs is State.STALE or (theirs is State.UNKNOWN and state is State.FRESH):
                state, why = theirs, f"{need} is {theirs}"
        found[name] = state, why
    return found


def _own_state(thing: Derived) -> tuple[State, str]:
    stamp = read(thing)
    if stamp is None:
        return State.UNKNOWN, UNSTAMPED
    if not cells.agree(stamp.canary):
        return State.STALE, "the canary has other figures"
    now = {**thing.digests(), **thing.product_digests()}
    changed = [
        name for name, old in {**stamp.digests, **stamp.products}.items() if now.get(name) != old
    ]
    changed += [name for name in now if name not in stamp.digests | stamp.products]
    if changed:
        return State.UNKNOWN, f"changed since: {', '.join(changed)}"
    return State.FRESH, ""


def make(thing: Derived) -> Stamp:
    """Makes a thing, and writes its stamp."""
    before = _cpu_s()
    list(cells.RECORDER.taken())
    thing.make()
    recorded = list(cells.RECORDER.taken())
    cpu_s = _cpu_s() - before
    cells_of = list(thing.cells()) if thing.cells else recorded
    stamp = Stamp(
        results_version=_core.results_version(),
        date=time.strftime("%Y-%m-%d", time.gmtime()),
        cpu_s=round(cpu_s, 1),
        seeds=thing.seeds,
        digests=thing.digests(),
        products=thing.product_digests(),
        canary=[one.document(one.run()) for one in cells.chosen(cells_of)],
    )
    absent = [name for name, digest in stamp.products.items() if digest is None]
    if absent:
        raise ValueError(f"{thing.name} did not make {', '.join(absent)}")
    write(thing, stamp)
    return stamp


def _cpu_s() -> float:
    """Returns the processor time of this process and of its children, in seconds."""
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = [resource.getrusage(who) for who in whose]
    return sum(one.ru_utime + one.ru_stime for one in used)
