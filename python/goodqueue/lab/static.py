"""The page of the lab as files for any static host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.errors import RequestError
from goodqueue.lab.server import POLICY, page_files

if TYPE_CHECKING:
    from pathlib import Path

ENGINE = "/engine/goodqueue_wasm_bg.wasm"

HEAD = '<meta charset="utf-8">'

# A policy in a page cannot forbid other sites to embed it. Its worker has the policy of the host.
META = POLICY.removesuffix("; frame-ancestors 'none'")


def write_static(folder: Path) -> None:
    """Writes the page with its engine.

    Raises:
        RequestError: the engine was not built.
    """
    files = page_files()
    if ENGINE not in files:
        raise RequestError("the lab's engine for browsers is missing: build it with make wasm")
    index = files["/index.html"].decode()
    policy = f'<meta http-equiv="Content-Security-Policy" content="{META}">'
    files["/index.html"] = index.replace(HEAD, f"{HEAD}\n{policy}", 1).encode()
    for name, data in files.items():
        path = folder / name.removeprefix("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
