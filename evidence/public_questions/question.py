"""A question of public threads, and what answers have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Figures = dict[str, Any]


@dataclass(frozen=True)
class Question:
    """A question of public threads.

    Attributes:
        name: name in `answers.json`.
        words: the question.
        threads: addresses of the threads.
        command: the command without `goodqueue` and `--json`, as a shell takes it.
        read: returns the figures from the command's JSON.
        text: returns the answer in Markdown from the figures.
        assumes: circumstances under which the answer holds.
    """

    name: str
    words: str
    threads: tuple[str, ...]
    command: str
    read: Callable[[Any], Figures]
    text: Callable[[Figures], str]
    assumes: str


ENDS = ("mean", "low", "high")


def sides(*keys: str) -> Callable[[Any], Figures]:
    """Returns a reader of the answer of `compare`: mean and interval of these figures by side."""

    def read(answer: Any) -> Figures:  # noqa: ANN401 - JSON
        return {
            side["name"]: {key: [side["figures"][key][end] for end in ENDS] for key in keys}
            for side in answer["sides"]
        }

    return read


def variants(values: list[str]) -> str:
    """Returns the options of `compare` for these settings, as a shell takes them."""
    return "".join(f" --variant '{value}'" for value in values)


def interval(figure: list[float], scale: float = 1.0, digits: int = 2) -> str:
    """Returns a mean and its interval, divided by a scale."""
    mean, low, high = (f"{value / scale:.{digits}f}" for value in figure)
    return f"{mean} ({low} to {high})"
