"""Calls in processes of their own, for makers that evaluate much Python between runs."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, TypeVarTuple, Unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Ts = TypeVarTuple("Ts")


def in_parallel(call: Callable[[Unpack[Ts]], None], arguments: Iterable[tuple[*Ts]]) -> None:
    """Calls a function of a module once with each of the arguments, in as many processes."""
    waiting = list(arguments)
    with ProcessPoolExecutor(len(waiting)) as processes:
        for done in [processes.submit(call, *each) for each in waiting]:
            done.result()
