"""`goodqueue emulate --uplink nat`, on a machine with an Internet, both made of namespaces."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conftest import COMMAND
from goodqueue import RequestError
from goodqueue.live.uplink import nat
from helpers.emulation import ENDED, LINK, need_emulation, within
from helpers.internet import MACHINE, OUTSIDE, WEB_PORT, Machine, internet
from helpers.processes import started

if TYPE_CHECKING:
    from collections.abc import Iterator

EMULATE = (str(COMMAND), "emulate", *LINK, "--uplink=nat")
FETCH = (
    "import sys, urllib.request as u\n"
    "sys.stdout.write(u.urlopen(sys.argv[1], timeout=10).read().decode())"
)
CONNECT = (
    "import socket, sys, time\n"
    "for _ in range(3):\n"
    "    began = time.monotonic()\n"
    "    socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=10).close()\n"
    "    sys.stdout.write(f'{time.monotonic() - began}\\n')\n"
)
PAGE = f"http://{OUTSIDE}:{WEB_PORT}/"
ROUTES = (
    "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
    "wlan0\t00000000\t010200C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
    "eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
    "eth0\t000200C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n"
)


@pytest.fixture(name="machine", scope="module")
def made_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """Yields a machine with an Internet."""
    need_emulation()
    with internet(tmp_path_factory.mktemp("machine")) as machine:
        yield machine


def emulated(machine: Machine, *words: str) -> tuple[str, dict[str, Any]]:
    """Runs a program behind a link. Returns its output, and the figures of the run."""
    command = machine.command(*EMULATE, "--json", "--", *words)
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode in ENDED, done.stderr
    return done.stderr, json.loads(done.stdout)


def root_of(folder: Path, **settings: str) -> Path:
    """Makes a directory that looks like the root of a machine which can have an uplink."""
    texts = {
        "proc/self/status": "Name:\tx\nCapEff:\t000001ffffffffff\n",
        "proc/net/route": ROUTES,
        "proc/sys/net/ipv4/conf/eth0/forwarding": "1\n",
        **settings,
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_what_is_missing_is_named_with_its_remedy(tmp_path: Path) -> None:
    nat.check(root_of(tmp_path))
    status = {"proc/self/status": "CapEff:\t0000000000000000\n"}
    with pytest.raises(RequestError, match=r"needs root .*`--uplink socks` works without"):
        nat.check(root_of(tmp_path / "user", **status))
    forwarding = {"proc/sys/net/ipv4/conf/eth0/forwarding": "0\n"}
    with pytest.raises(RequestError, match=r"`sysctl net\.ipv4\.conf\.eth0\.forwarding=1`"):
        nat.check(root_of(tmp_path / "closed", **forwarding))
    with pytest.raises(RequestError, match="default route"):
        nat.check(root_of(tmp_path / "alone", **{"proc/net/route": ROUTES.splitlines()[0]}))


def test_the_default_route_is_that_of_the_smallest_metric() -> None:
    assert nat.default_device(ROUTES) == "eth0"
    refused = ROUTES.replace("eth0\t00000000\t010200C0\t0003", "eth0\t00000000\t00000000\t0201")
    assert nat.default_device(refused) == "wlan0"
    assert nat.default_device("") is None


def test_name_servers_on_the_machine_itself_are_not_passed_on(tmp_path: Path) -> None:
    local = root_of(tmp_path / "local", **{"etc/resolv.conf": "nameserver 127.0.0.53\n"})
    assert nat.name_servers(local) == []
    real = {"run/systemd/resolve/resolv.conf": "nameserver 2001:db8::1\nnameserver 192.0.2.53\n"}
    assert nat.name_servers(root_of(local, **real)) == ["192.0.2.53"]
    plain = {"etc/resolv.conf": "# by hand\nnameserver 192.0.2.1\noptions edns0\nnameserver\n"}
    assert nat.name_servers(root_of(tmp_path / "plain", **plain)) == ["192.0.2.1"]


def test_programs_reach_the_outside_by_name_over_the_emulated_link(machine: Machine) -> None:
    named = PAGE.replace(OUTSIDE, "page.example")
    page, figures = emulated(machine, sys.executable, "-c", FETCH, named)
    # The address that the outside sees is the machine's.
    assert page.strip() == MACHINE
    assert figures["uplink"] == {"kind": "nat", "split_tcp": False, "name_servers": [OUTSIDE]}
    back = figures["links"]["bottleneck.reverse"]
    assert back["throughput_bps"] * figures["measured_s"] > 8 * 60_000
    assert within(10, lambda: not machine.traces_of_uplinks())


def test_a_round_trip_to_the_outside_takes_that_of_the_link(machine: Machine) -> None:
    printed, _ = emulated(machine, sys.executable, "-c", CONNECT, OUTSIDE, str(WEB_PORT))
    times_s = [float(word) for word in printed.split()]
    assert len(times_s) == 3
    assert min(times_s) >= 0.040


def test_two_runs_at_once_have_uplinks_of_their_own(machine: Machine) -> None:
    fetch = f"import time; time.sleep(1)\n{FETCH}"
    command = machine.command(*EMULATE, "--json", "--", sys.executable, "-c", fetch, PAGE)
    with ExitStack() as stack:
        output = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        runs = [stack.enter_context(started(command, text=True, **output)) for _ in range(2)]
        printed = [run.communicate(timeout=120)[1] for run in runs]
    assert [text.split()[0] for text in printed] == [MACHINE, MACHINE]


def test_the_outside_does_not_reach_hosts_by_itself(machine: Machine) -> None:
    """A server of the far host is closed to the outside, even with a route there."""
    outside = machine.outside
    assert outside is not None
    server = f"--server={sys.executable} -m http.server 80"
    inside = machine.command(*EMULATE, server, "--", "sleep", "300")
    with started(inside, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        assert within(60, lambda: bool(machine.traces_of_uplinks()))
        [routed] = [
            line for line in machine.run("ip", "-o", "route").splitlines() if " dev gq" in line
        ]
        far = routed.split()[0]
        asked = (sys.executable, "-c", FETCH.replace("=10", "=3"), f"http://{far}/")
        assert within(20, lambda: "<html" in _output(machine.command(*asked)))
        outside.run("ip", "route", "add", far, "via", MACHINE)
        assert not _output(outside.command(*asked))
        outside.run("ip", "route", "del", far)
        run.terminate()


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=False, capture_output=True, text=True).stdout


@pytest.mark.parametrize("victim", range(4))
def test_nothing_is_left_of_a_run_of_which_a_process_was_killed(
    machine: Machine, victim: int
) -> None:
    command = machine.command(*EMULATE, "--", "sleep", "345.678")
    with started(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        assert within(60, lambda: len(_below(run.pid)) == 4)
        # A device, and a table of rules.
        assert within(60, lambda: len(machine.traces_of_uplinks()) == 2)
        of_run = _below(run.pid)
        os.kill(of_run[victim], signal.SIGKILL)
        assert within(10, lambda: run.poll() is not None)
        assert within(10, lambda: not machine.traces_of_uplinks())
        assert within(10, lambda: not any(Path(f"/proc/{one}").exists() for one in of_run))


def _below(top: int) -> list[int]:
    """Returns a process and its only descendants, in order."""
    found = [top]
    while True:
        try:
            text = Path(f"/proc/{found[-1]}/task/{found[-1]}/children").read_text()
        except OSError:
            return found
        if not text.split():
            return found
        found.append(int(text.split()[0]))


def test_a_machine_that_does_not_forward_is_refused(machine: Machine) -> None:
    machine.set_forwarding(False)
    try:
        command = machine.command(*EMULATE, "--", "true")
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
        assert done.returncode == 2
        assert "sysctl net.ipv4.conf.wan.forwarding=1" in done.stderr
        assert not machine.traces_of_uplinks()
    finally:
        machine.set_forwarding(True)
