"""The results version of stored runs: runs of different versions are not mixed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodqueue import _core

if TYPE_CHECKING:
    from collections.abc import Iterable

KEY = "results_version"
"""Key of the version in a stored document."""


def stamped(document: dict[str, Any]) -> dict[str, Any]:
    """Returns the document with the version of the present core."""
    return {**document, KEY: _core.results_version()}


def version_of(document: dict[str, Any]) -> int:
    """Returns the results version of a document, zero if it has none."""
    return int(document.get(KEY, 0))


def is_present(document: dict[str, Any]) -> bool:
    """Returns true for a document of the present core's results version."""
    return version_of(document) == _core.results_version()


def newest(documents: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the documents of the newest version among them."""
    found = list(documents)
    latest = max(map(version_of, found), default=0)
    return [one for one in found if version_of(one) == latest]
