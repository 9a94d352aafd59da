"""The wheel of `make wheel` works in an empty environment, without a checkout and a compiler."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from goodqueue import EXAMPLE

WHEELS = ROOT / "target" / "wheel" / "dist"
MAX_BYTES = 100 << 20
"""Bound on the disk space of the wheel and its libraries, most of which is NumPy's."""


@pytest.fixture(scope="module")
def wheel() -> Path:
    """Returns the wheel: the one of GOODQUEUE_WHEEL, or the one that `make wheel` built."""
    named = os.environ.get("GOODQUEUE_WHEEL")
    found = [Path(named)] if named else sorted(WHEELS.glob("*.whl"))
    if not found:
        pytest.skip(f"NO WHEEL IN {WHEELS}: `make wheel` builds it")
    return found[-1]


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of programs of an environment that has only the wheel."""
    folder = tmp_path_factory.mktemp("empty") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    install(folder / "bin", str(wheel))
    return folder / "bin"


def install(programs: Path, what: str) -> None:
    """Installs a wheel with its libraries from the configured index."""
    command = [str(programs / "python"), "-m", "pip", "install", "--quiet", what]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 and "No matching distribution" in done.stderr:
        pytest.skip(f"NO PACKAGE INDEX: the wheel was not tried: {done.stderr.strip()[-300:]}")
    assert done.returncode == 0, done.stderr


def goodqueue(programs: Path, folder: Path, *arguments: str, code: int = 0) -> str:
    """Runs a command in an empty folder; the environment has no other programs."""
    environment = {"PATH": str(programs), "HOME": str(folder), "LANG": "C.UTF-8"}
    done = subprocess.run(
        [programs / "goodqueue", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout


def test_the_wheel_alone_sizes_a_link(installed: Path, tmp_path: Path) -> None:
    link = ("--rate", "50Mbps", "--rtt", "40ms", "--flows", "20")
    sized = goodqueue(installed, tmp_path, "size", *link, "--quick", "--json", code=6)
    answer = json.loads(sized)
    assert answer["recommendation"]["packets"] > 0


def test_the_wheel_alone_runs_and_exports_a_scenario(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "uplink.toml").write_text(EXAMPLE)
    summary = json.loads(goodqueue(installed, tmp_path, "run", "uplink.toml", "--json"))
    assert summary["links"]["bottleneck"]["utilization"] > 0.8
    script = goodqueue(installed, tmp_path, "export", "uplink.toml", "--to", "ns3")
    assert "int main(int argc, char** argv)" in script


def test_the_wheel_alone_writes_the_static_lab(installed: Path, tmp_path: Path) -> None:
    goodqueue(installed, tmp_path, "lab", "--save", "lab")
    assert (tmp_path / "lab" / "index.html").exists()
    assert (tmp_path / "lab" / "engine" / "goodqueue_wasm_bg.wasm").read_bytes()[:4] == b"\0asm"


def test_the_wheel_and_its_libraries_are_small(installed: Path) -> None:
    (packages,) = installed.parent.glob("lib/python3*/site-packages")
    files = [path for path in packages.rglob("*") if path.is_file()]
    tools = {"pip", "setuptools", "_distutils_hack", "pkg_resources"}
    own = [
        path
        for path in files
        if path.relative_to(packages).parts[0] not in tools and path.suffix != ".pyc"
    ]
    assert sum(path.stat().st_size for path in own) < MAX_BYTES


def test_the_demonstration_needs_only_its_extra(
    wheel: Path, installed: Path, tmp_path: Path
) -> None:
    install(installed, f"{wheel}[papers]")
    goodqueue(installed, tmp_path, "demo")
    assert list((tmp_path / "demo-out").rglob("*.png"))


def test_a_released_wheel_runs_on_old_distributions(wheel: Path) -> None:
    if wheel.parent != WHEELS or not sys.platform.startswith("linux"):
        pytest.skip("NO RELEASED WHEEL: the tag of another wheel was not checked")
    assert "-cp311-abi3-" in wheel.name
    assert "manylinux_2_17_" in wheel.name
