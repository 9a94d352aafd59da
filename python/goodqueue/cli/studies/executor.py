"""The executor that `--jobs` or `--cluster` names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.errors import RequestError
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from goodqueue.study.model import Executor


def executor_of(cluster: str | None, jobs: int | None, limit: int) -> Executor:
    """Returns the executor: threads with this limit of memory in bytes, or a cluster.

    Raises:
        RequestError: if both are named.
    """
    if cluster is None:
        return Threads(jobs, limit)
    if jobs is not None:
        raise RequestError(
            "--jobs counts threads of this machine, and --cluster has its own; omit one of them"
        )
    from goodqueue.study.cluster import Cluster

    return Cluster(cluster)
