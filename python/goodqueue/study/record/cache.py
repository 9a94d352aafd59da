"""The user's cache of runs: a store of which no fault ends a command.

A damaged cache is set aside and made again. If a cache cannot be used, because it is read-only,
full or locked, the command goes on without it. A warning names the cache in each case.
"""

from __future__ import annotations

import os
import warnings
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue.core.files.unfinished import scratch
from goodqueue.errors import CacheWarning, DamageError, ForeignError, RequestError
from goodqueue.study.model import Keep
from goodqueue.study.record.ledger import readable_errors
from goodqueue.study.record.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from goodqueue.study.model import RunResult

NOWHERE = Path(os.devnull)
"""Place of the cache of a user without a home directory: none can be made there."""

PATIENCE_S = 5.0
"""Time for which a cache may be locked by another command, whose changes take milliseconds."""


class Cache(Store):
    """The store of a cache. After a fault it is used no more, and is not `lasting`."""

    def record(self, results: Sequence[RunResult], keep: Keep = Keep()) -> None:  # noqa: B008
        """Records runs, if the cache can be written."""
        if self.lasting:
            with self._leaving():
                super().record(results, keep)

    def values(
        self, identities: Iterable[bytes], metrics: Sequence[str]
    ) -> Iterator[tuple[bytes, list[float]]]:
        """Returns metrics of runs as a store does, without runs that cannot be read."""
        if self.lasting:
            with self._leaving():
                yield from super().values(identities, metrics)

    @contextmanager
    def _leaving(self) -> Iterator[None]:
        try:
            with readable_errors(self.folder):
                yield
        except RequestError as error:
            self.lasting = False
            warn_unused(self.folder, error)


@contextmanager
def cached(name: str) -> Iterator[Store]:
    """Opens a store in the user's cache.

    If the cache cannot be used, the store exists for this call only, and is not `lasting`.
    """
    folder = cache_folder(name)
    try:
        store = _opened(folder)
    except RequestError as error:
        warn_unused(folder, error)
        with scratch() as place, closing(Store.open(place / name)) as store:
            store.lasting = False
            yield store
        return
    with closing(store):
        yield store


def warn_unused(place: Path, error: Exception) -> None:
    """Warns that a cache cannot be used."""
    reason = str(error.__cause__ or error).partition(";")[0].partition("\n")[0]
    text = f"the cache {place} cannot be used ({reason}); runs of this command are not kept"
    warnings.warn(text, CacheWarning, stacklevel=2)


def set_aside(place: Path) -> None:
    """Renames a damaged file or folder of a cache, and warns.

    Raises:
        OSError: if it cannot be renamed.
    """
    names = (place.with_name(f"{place.name}.damaged-{number}") for number in count(1))
    free = next(name for name in names if not name.exists())
    place.rename(free)
    text = f"the cache {place} was damaged; it is now {free}, and a new one is in use"
    warnings.warn(text, CacheWarning, stacklevel=2)


def cache_folder(name: str) -> Path:
    """Returns a folder of the user's cache, which need not exist."""
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # the user is not in the system's list
        home = NOWHERE
    return home / "goodqueue" / name


def _opened(folder: Path) -> Store:
    try:
        return Cache.open(folder, keep_both=True, patience_s=PATIENCE_S)
    except (DamageError, ForeignError):
        with readable_errors(folder):
            set_aside(folder)
    return Cache.open(folder, keep_both=True, patience_s=PATIENCE_S)
