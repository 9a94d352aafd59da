"""The engine in WebAssembly answers as the compiled core does, and the page runs with it."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from goodqueue import _core

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted((ROOT / "scenarios").glob("*.toml"))
PAGE = resources.files("goodqueue.lab") / "page"
ENGINE = Path(str(PAGE / "engine"))
NODE = shutil.which("node")
BROTLI = shutil.which("brotli")

MAX_BYTES, MAX_PACKED, MAX_PAGE = 1_300_000, 500_000, 560_000
"""Bounds on the engine, on the engine compressed, and on the whole page compressed, in bytes."""

built = pytest.mark.skipif(
    not (ENGINE / "goodqueue_wasm_bg.wasm").exists(),
    reason="the engine in WebAssembly is not built (make wasm): its bytes are not compared",
)


def compressed_bytes(file: Path) -> int:
    """Returns the size of a file compressed by brotli."""
    command = [str(BROTLI), "--quality=11", "--stdout", str(file)]
    return len(subprocess.run(command, capture_output=True, check=True).stdout)


def question(path: Path) -> dict[str, Any]:
    """Returns the question for the first picture of a ready scenario."""
    files = {file.name: file.read_text() for file in path.parent.glob("*.csv")}
    text = path.read_text()
    body = {"text": text, "files": files, "columns": 200, "flows": 4, "first_packets": 20_000}
    return {"action": "picture", "body": body}


def native(asked: dict[str, Any]) -> dict[str, Any]:
    """Returns status and digest of the core's answer."""
    status, text = _core.LabJob(asked["action"], json.dumps(asked["body"])).answer()
    return {"status": status, "sha256": hashlib.sha256(text.encode()).hexdigest()}


def in_wasm(questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the answers of the engine in WebAssembly under node."""
    command = [str(NODE), str(ROOT / "tools" / "wasm" / "answers.mjs"), str(ENGINE)]
    done = subprocess.run(
        command, input=json.dumps(questions), capture_output=True, text=True, check=True
    )
    return list(json.loads(done.stdout))


@built
@pytest.mark.skipif(NODE is None, reason="no node on this machine: bytes are not compared")
def test_answers_have_the_same_bytes_natively_and_in_webassembly() -> None:
    """Every ready scenario, theory, names, packets, and refusals."""
    text = SCENARIOS[0].read_text()
    link = {"rate": "10Mbps", "rtt": "20ms..80ms", "flows": 7, "control": "cubic"}
    questions = [
        *map(question, SCENARIOS),
        *({"action": "open", "body": question(path)["body"]} for path in SCENARIOS),
        {"action": "start", "body": {}},
        {"action": "open", "body": {"text": text}},
        {"action": "theory", "body": link},
        {"action": "theory", "body": link | {"rate": "1 parsec"}},
        {"action": "packets", "body": {"text": text, "from_ms": 500, "to_ms": 900}},
        {"action": "picture", "body": {"text": "[topolgy]", "columns": 9, "flows": 1}},
    ]
    names = [f"{one['action']} {place}" for place, one in enumerate(questions)]
    expected = [native(one) for one in questions]
    found = in_wasm(questions)
    assert {one["status"] for one in found} == {200, 422}
    for name, one, other in zip(names, found, expected, strict=False):
        assert one["status"] == other["status"], name
        assert one["sha256"] == other["sha256"], name
    refused = [
        path.stem for path, one in zip(SCENARIOS, found, strict=False) if one["status"] != 200
    ]
    assert refused == []


@built
def test_the_engine_is_small() -> None:
    """The first visit loads the engine, perhaps over a slow link."""
    assert (ENGINE / "goodqueue_wasm_bg.wasm").stat().st_size <= MAX_BYTES


@built
@pytest.mark.skipif(BROTLI is None, reason="no brotli on this machine: the page is not compressed")
def test_the_page_and_its_engine_are_small_when_compressed() -> None:
    """Static hosts send files compressed by brotli."""
    files = [file for file in Path(str(PAGE)).rglob("*") if file.is_file()]
    packed = {file: compressed_bytes(file) for file in files}
    assert packed[ENGINE / "goodqueue_wasm_bg.wasm"] <= MAX_PACKED
    assert sum(packed.values()) <= MAX_PAGE
