"""`goodqueue probe` finds the queue of an emulated link, and its server refuses strangers."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conftest import COMMAND, ROOT, refused
from helpers.commands import interrupted
from helpers.emulation import ENDED, goodqueue, need_emulation
from helpers.processes import started

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT = 40
"""Limit of the emulated FIFO, in packets."""


@pytest.fixture
def token(tmp_path: Path) -> Path:
    """Returns a file with a token."""
    file = tmp_path / "token"
    file.touch(mode=0o600)
    file.write_text("the token of a test\n")
    return file


@contextmanager
def server(token: Path, *arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Runs a server; yields its address and its process."""
    command = [str(COMMAND), "probe", "server", "--token", str(token), "--listen=127.0.0.1:0"]
    with started([*command, *arguments], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r"listening on (\S+)", process.stderr.readline())
        assert found is not None
        try:
            yield found[1], process
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(10)


def keys(value: object, at: str = "") -> set[str]:
    """Returns the paths of all keys of a document."""
    if isinstance(value, dict):
        return {
            path for key, one in value.items() for path in {f"{at}{key}", *keys(one, f"{at}{key}.")}
        }
    if isinstance(value, list):
        return {path for one in value for path in keys(one, at)}
    return set()


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """Returns what the probe of an emulated FIFO found, and the folder of its files."""
    need_emulation()
    folder = tmp_path_factory.mktemp("probe")
    secret = folder / "token"
    secret.touch(mode=0o600)
    secret.write_text("the token of a test\n")
    serve = shlex.join(
        [str(COMMAND), "probe", "server", "--token", str(secret), "--listen=0.0.0.0"]
    )
    files = [f"--report={folder}/page.html", f"--flent={folder}/found.flent.gz"]
    done = goodqueue(
        *("emulate", "--rate=4Mbps", "--rtt=30ms", f"--queue=pfifo limit {LIMIT}"),
        *(f"--server={serve}", f"--out={folder}/emulated", "--", str(COMMAND), "probe"),
        *("server:4823", "--token", str(secret), "--load", "--size", f"--out={folder}/out", *files),
    )
    assert done.returncode in ENDED, done.stderr
    assert (folder / "out").is_dir(), done.stderr
    return json.loads((folder / "out" / "summary.json").read_text()), folder


def is_busy(folder: Path) -> bool:
    """Returns True if the machine was too busy for the emulation to be trusted."""
    emulated = json.loads((folder / "emulated" / "summary.json").read_text())
    return bool(emulated["fidelity"]["verdict"] == "not trusted")


def test_the_rate_the_rtt_and_the_buffer_of_an_emulated_link_are_found(
    found: tuple[dict[str, Any], Path],
) -> None:
    figures, folder = found
    assert figures["base_rtt_s"]["value"] == pytest.approx(0.03, abs=0.003)
    for direction in ("up", "down"):
        one = figures[direction]
        assert one["rate_bps"]["value"] == pytest.approx(4e6, rel=0.05)
        if not is_busy(folder):
            assert one["discipline"] == "fifo"
            assert one["buffer"]["packets"]["value"] == pytest.approx(LIMIT, abs=5)
            assert one["buffer"]["unit"] == "packets"


def test_a_tcp_flow_delays_pings_by_the_buffer(found: tuple[dict[str, Any], Path]) -> None:
    figures, folder = found
    full_s = LIMIT * 1500 * 8 / 4e6
    for load in figures["tcp"]:
        assert load["goodput_bps"] < 4e6
        assert load["responsiveness_rpm"] < 60 / 0.03
        assert load["flow_rtt_p50_s"] > 0.03
        if not is_busy(folder):
            # Pings and the flow share the queue of a FIFO.
            assert load["flow_rtt_p50_s"] == pytest.approx(load["rtt_p50_s"], rel=0.3)
            assert load["sparse_share"] == pytest.approx(1, abs=0.4)
            assert load["goodput_bps"] > 3.4e6
            assert 0.05 < load["rtt_p95_s"] < 0.03 + 1.2 * full_s


def test_the_keys_of_the_results_are_those_of_the_documentation(
    found: tuple[dict[str, Any], Path],
) -> None:
    text = (ROOT / "docs" / "probe.md").read_text(encoding="utf-8")
    rows = text.partition("## Results as JSON")[2].partition("\n## ")[0]
    documented = set(re.findall(r"^\| `([\w.]+)`", rows, re.MULTILINE))
    figures = {
        ("direction" if key in {"up", "down"} else key): one for key, one in found[0].items()
    }
    found_keys = {re.sub(r"\.(value|low|high)$", "", key) for key in keys(figures)}
    assert {key for key in found_keys if ".features." not in key} == documented


def test_a_path_is_probed_by_ipv6(token: Path, tmp_path: Path) -> None:
    need_emulation()
    if not Path("/proc/net/if_inet6").exists():
        pytest.skip("this kernel has no IPv6")
    serve = shlex.join([str(COMMAND), "probe", "server", "--token", str(token), "--listen=::"])
    out = tmp_path / "found.json"
    client = [str(COMMAND), "probe", "server6:4823", "--token", str(token), "--json", "--no-load"]
    asked = f"{shlex.join(client)} >{shlex.quote(str(out))}"
    done = goodqueue(
        *("emulate", "--rate=4Mbps", "--rtt=30ms", f"--queue=pfifo limit {LIMIT}"),
        *(f"--server={serve}", "--", "sh", "-c", asked),
    )
    assert done.returncode in ENDED, done.stderr
    figures = json.loads(out.read_text())
    # Half of a millisecond is the transmission of both pings, which a probe without load includes.
    assert figures["base_rtt_s"]["value"] == pytest.approx(0.03, abs=0.003)
    assert [load["path"] for load in figures["tcp"]] == ["up", "down"]


def test_the_size_says_what_the_buffer_costs(found: tuple[dict[str, Any], Path]) -> None:
    for one in found[0]["size"]:
        assert one["needed_packets"] >= 1
        assert one["excess_s"] == pytest.approx(one["present_s"] - one["needed_s"])


def test_the_page_and_the_flent_file_show_both_flows(
    found: tuple[dict[str, Any], Path],
) -> None:
    _, folder = found
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "Latency under load" in page
    assert "data:image/png" in page
    with gzip.open(folder / "found.flent.gz", "rt") as file:
        document = json.load(file)
    assert {"TCP upload", "TCP download", "Ping (ms) ICMP"} <= set(document["results"])


def test_without_consent_no_buffer_is_filled(token: Path) -> None:
    with server(token, "--max-rate=10Mbps") as (address, _):
        done = goodqueue("probe", address, "--token", str(token), "--no-load", "--json")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert not figures["consented"]
    assert figures["up"] is None
    assert [load["path"] for load in figures["tcp"]] == ["up", "down"]


def test_another_token_is_refused(token: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch(mode=0o600)
    other.write_text("another token of a test\n")
    with server(token) as (address, _):
        done = goodqueue("probe", address, "--token", str(other))
    assert "the client has another token" in refused(done)


def test_a_token_that_others_may_read_is_refused(token: Path) -> None:
    token.chmod(0o644)
    for host in ("server", "127.0.0.1"):
        message = refused(goodqueue("probe", host, "--token", str(token)))
        assert "mode is 644" in message
        assert f"chmod 600 {token}" in message


def test_a_short_token_is_refused(token: Path) -> None:
    token.write_text("short\n")
    assert "16 to 4096 bytes" in refused(goodqueue("probe", "server", "--token", str(token)))


def test_a_host_without_a_server_is_named(token: Path) -> None:
    message = refused(goodqueue("probe", "127.0.0.1:9", "--token", str(token)))
    assert "127.0.0.1:9: Connection refused" in message


@pytest.mark.parametrize(
    "arguments", [("server", "--size"), ("127.0.0.1", "--sessions=2"), ("127.0.0.1", "--flows=2")]
)
def test_options_of_the_other_end_are_refused(token: Path, arguments: tuple[str, ...]) -> None:
    assert "belongs to" in refused(goodqueue("probe", *arguments, "--token", str(token)))


def test_a_server_ends_within_a_second_of_an_interrupt(token: Path) -> None:
    with server(token) as (_, process):
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        assert process.wait(10) == 130
        assert time.monotonic() - begun < 1


def test_a_client_ends_within_a_second_of_an_interrupt(token: Path, tmp_path: Path) -> None:
    with server(token) as (address, process):
        took, _ = interrupted(["probe", address, "--token", token], 2.0, tmp_path)
        assert took < 1
        assert process.poll() is None
