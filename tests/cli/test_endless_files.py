"""Files that never end, and files that other parsers would need gigabytes for, are refused."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from conftest import COMMAND, ROOT, goodqueue

if TYPE_CHECKING:
    from pathlib import Path

CAPTURE = str(next((ROOT / "tests/data/captures").glob("*.pcap*")))
LINK = ("--rate", "10Mbps", "--rtt", "40ms", "--flows", "9", "--quick")

READERS = {
    "run": ("run", "FILE"),
    "size": ("size", "FILE", "--quick"),
    "sweep": ("sweep", "FILE", "--out", "runs"),
    "export": ("export", "FILE", "--to", "ns2"),
    "compare": ("compare", "FILE", "FILE"),
    "lab": ("lab", "--no-browser", "FILE"),
    "lab, a report": ("lab", "--no-browser", "FILE.html"),
    "emulate": ("emulate", "FILE"),
    "device": ("size", *LINK, "--device", "FILE"),
    "flows": ("flows", "FILE"),
    "flows of size": ("size", *LINK[:4], "--flows-from", "FILE", "--quick"),
    "capture": ("analyze", "FILE"),
    "capture of size": ("size", "--from", "FILE", "--link", "1Gbps"),
    "drops": ("analyze", CAPTURE, "--drops", "FILE"),
    "script": ("import", "FILE"),
    "token": ("probe", "127.0.0.1", "--token", "FILE"),
    "queue": ("emulate", *LINK[:4], "--queue", "TABLE", "--", "true"),
    "control": ("characterize", "--control", "TABLE"),
}
"""A command for each option that names a file, or has a table in TOML."""

MAX_BYTES = 3_000_000_000
"""Address space of a command. Python and its libraries take about a gigabyte of it."""


def limited(
    command: tuple[str, ...], folder: Path, **options: object
) -> subprocess.CompletedProcess[str]:
    """Runs a command in a limited address space."""
    limit = shutil.which("prlimit")
    if limit is None:
        pytest.skip("only util-linux has a program that limits memory")
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        [limit, f"--as={MAX_BYTES}", COMMAND, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **options,
    )


def check_refused(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 2, done.stderr[-2000:]
    assert done.stderr.startswith("error: ")
    assert len(done.stderr) < 1000, "a message is short, whatever the file contains"


@pytest.mark.parametrize("reader", READERS)
def test_a_device_that_never_ends_is_refused(reader: str, tmp_path: Path) -> None:
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "zero.html").symlink_to("/dev/zero")
    if "TABLE" in READERS[reader]:
        pytest.skip("this option names no file")
    check_refused(limited(tuple(w.replace("FILE", "zero") for w in READERS[reader]), tmp_path))


DOTTED = "a." * 40_000 + "a = 1"


@pytest.mark.parametrize(
    "reader", [name for name in READERS if name not in {"token", "lab, a report"}]
)
def test_a_dotted_key_of_80_kilobytes_is_refused(reader: str, tmp_path: Path) -> None:
    (tmp_path / "dots").write_text(DOTTED + "\n")
    words = {"FILE": "dots", "TABLE": f"{{ {DOTTED} }}"}
    command = tuple(words.get(word, word) for word in READERS[reader])
    check_refused(limited(command, tmp_path))


def test_standard_input_that_never_ends_is_refused(tmp_path: Path) -> None:
    for command in (("run", "-"), ("import", "-"), ("qdisc", "parse", "-"), ("sweep", "-")):
        with open("/dev/zero", "rb") as zero:  # noqa: PTH123 - a device, not a path
            check_refused(limited(command, tmp_path, stdin=zero))


def test_a_study_of_a_folder_is_read_by_one_parser(small: Path, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        f'schema_version = 1\ntitle = ""\nscenario = "{small.name}"\nseeds = 1\n[sweep]\n'
        'topology.bottleneck.queue.limit = ["5p", "6p"]\n'
    )
    assert goodqueue("sweep", study, "--out", tmp_path / "runs").returncode == 0
    (tmp_path / "runs/study.toml").write_text(DOTTED)
    for report in ((), ("--report", "page.html")):
        check_refused(limited(("results", "runs", *report), tmp_path))
