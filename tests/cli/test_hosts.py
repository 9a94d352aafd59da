"""One default of hosts in files, in Python, in `size` and in the lab, and the notes on it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import goodqueue as package
from conftest import goodqueue
from goodqueue.runs.settings import settings_of
from goodqueue.sizing.link import Link
from goodqueue.sizing.question import Question

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]

LINK = """schema_version = {version}
duration = "3s"
[topology]
shape = "dumbbell"
bottleneck = {{ rate = "10Mbps", delay = "10ms", queue = {{ limit = "20p" }} }}
[[flow]]
name = "upload"
workload = {{ kind = "bulk" }}
tcp = {{ {tcp} }}
"""


def text(version: int, tcp: str = "") -> str:
    return LINK.format(version=version, tcp=tcp)


def tcp_of(source: str | Mapping[str, Any], **changes: str) -> dict[str, Any]:
    """Returns the switches of TCP of the first flow."""
    found: dict[str, Any] = settings_of(package.load(source, set=changes))["flow"][0]["tcp"]
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "link.toml"
    path.write_text(text(2), encoding="utf-8")
    return path


def test_a_file_flags_and_the_lab_have_the_same_hosts() -> None:
    ours = tcp_of(text(2))
    assert ours == tcp_of(text(1, 'profile = "linux"'))
    assert ours["congestion_control"]["kind"] == "cubic"
    link = Question(rate="10Mbps", rtt="20ms", flows=1).link()
    assert (link.profile, link.congestion_control) == ("linux", "cubic")
    assert (Link(1e7, (0.02,), 1).profile, Link(1e7, (0.02,), 1).congestion_control) == (
        "linux",
        "cubic",
    )
    page = ROOT / "python" / "goodqueue" / "lab" / "page" / "question" / "state.js"
    found = dict(
        re.findall(r'^  (profile|control): "(\w+)",$', page.read_text("utf-8"), re.MULTILINE)[:2]
    )
    assert found == {"profile": "linux", "control": "cubic"}


def test_python_reads_a_mapping_as_it_reads_the_file() -> None:
    flow = {"name": "upload", "workload": {"kind": "bulk"}}
    bottleneck = {"rate": "10Mbps", "delay": "10ms", "queue": {"limit": "20p"}}
    shape = {"shape": "dumbbell", "bottleneck": bottleneck}
    mapping = {"schema_version": 2, "duration": "3s", "topology": shape, "flow": [flow]}
    assert tcp_of(mapping) == tcp_of(text(2))
    assert package.load(mapping).assumed_hosts == ("linux", ["upload"])


def test_files_written_before_keep_their_meaning() -> None:
    assert tcp_of(text(1)) == tcp_of(text(2, 'profile = "rfc"'))
    assert package.load(text(1)).assumed_hosts == ("rfc", ["upload"])
    assert tcp_of(text(1), schema_version="2") == tcp_of(text(2))


def test_run_names_the_hosts_that_no_file_names(file: Path) -> None:
    done = goodqueue("run", file)
    assert 'hosts of upload without tcp.profile: Linux 6.18 (the default, "linux")' in done.stderr
    file.write_text(text(1), encoding="utf-8")
    done = goodqueue("run", file, "--json")
    assert 'hosts of upload without tcp.profile: TCP of the RFCs ("rfc"' in done.stderr
    assert "with schema_version = 2 it" in done.stderr
    wanted = {"profile": "rfc", "groups": ["upload"]}
    assert json.loads(done.stdout)["assumed_hosts"] == wanted


def test_run_says_nothing_of_hosts_that_the_file_names(file: Path) -> None:
    done = goodqueue("run", file, "--set", "tcp.profile=rfc", "--json")
    assert "hosts of" not in done.stderr
    assert json.loads(done.stdout)["assumed_hosts"] is None
    assert package.load(package.load(file).resolved_toml()).assumed_hosts is None


def test_compare_and_sweep_name_the_hosts(file: Path, tmp_path: Path) -> None:
    variants = ("--variant", "duration=2s", "--variant", "duration=3s", "--replicates", "2")
    assert "hosts of upload without tcp.profile" in goodqueue("compare", file, *variants).stderr
    study = tmp_path / "study.toml"
    study.write_text(
        'schema_version = 1\nscenario = "link.toml"\n[sweep]\ntopology.bottleneck.queue.limit = '
        '["9p", "20p"]\n',
        encoding="utf-8",
    )
    done = goodqueue("sweep", study, "--dry-run", "--out", tmp_path / "runs")
    assert "hosts of upload without tcp.profile" in done.stderr


def test_size_and_tune_name_the_hosts(file: Path) -> None:
    sized = goodqueue("size", file, "--only", "answer", "--budget", "1M")
    assert "hosts of upload without tcp.profile" in sized.stderr
    limits = "topology.bottleneck.queue.limit=5p..9p"
    tuned = goodqueue(
        *("tune", file, "--vary", limits, "--keep", "upload.goodput>=1Mbps", "--replicates", "8"),
    )
    assert "hosts of upload without tcp.profile" in tuned.stderr
    named = goodqueue(
        *("size", file, "--only", "answer", "--budget", "1M", "--set", "tcp.profile=rfc"),
    )
    assert "hosts of" not in named.stderr
