"""Figures of one link, flow or large group of flows, by their keys and as attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from goodqueue.core.shown import html_of, words_of
from goodqueue.errors import nearest


class Figures(Mapping[str, Any]):
    """Figures by their keys, which are attributes, too; docs/results.md describes each key.

    Attributes:
        name: name of the link, the flow or the group, or of the figure that has several values.
        kind: `link`, `flow` or `group`.

    Examples:
        >>> import goodqueue
        >>> bottleneck = goodqueue.run(goodqueue.EXAMPLE)["bottleneck"]
        >>> bottleneck.utilization > 0.99, bottleneck["limit"].packets
        (True, 100)
    """

    name: str
    kind: str

    def __init__(self, kind: str, name: str, figures: Mapping[str, Any]) -> None:
        self.__dict__.update(kind=kind, name=name, _figures=figures)

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - a number, a text or further figures
        value = self._figures[key]
        if isinstance(value, Mapping):
            return Figures(self.kind, f"{self.name}: {key}", value)
        return value

    def __getattr__(self, key: str) -> Any:  # noqa: ANN401
        if key.startswith("_"):  # methods that Python itself looks for
            raise AttributeError(key)
        if key not in self._figures:
            hint = nearest(key, self._figures)
            raise AttributeError(f"{self.kind} {self.name} has no figure {key!r}; {hint}")
        return self[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._figures)

    def __len__(self) -> int:
        return len(self._figures)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._figures]

    def __repr__(self) -> str:
        return words_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)
