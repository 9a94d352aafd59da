"""`goodqueue emulate FILE` runs the commands of a scenario and writes what `run` writes."""

from __future__ import annotations

import gzip
import json
import os
import shlex
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import conftest
from conftest import refused

if TYPE_CHECKING:
    from pathlib import Path

goodqueue = partial(conftest.goodqueue, timeout=300)
"""The command line in a process of its own, whose output includes that of the programs."""

ENDED = {0, 7}
"""Exit codes of a run that ended: 7 on a machine that is too busy to be trusted."""

SENDER = [sys.executable, "-m", "goodqueue.live.sender"]
"""Our own sender of bulk data, which needs no other program."""


@pytest.fixture(scope="module", autouse=True)
def namespaces() -> None:
    """Skips the tests where the operating system refuses what an emulation needs."""
    done = goodqueue("emulate", "--rate=10Mbps", "--rtt=40ms", "--", "echo", "it works")
    if "it works" not in done.stdout:
        reason = f"NO EMULATION ON THIS MACHINE: {done.stderr}"
        if os.environ.get("GOODQUEUE_NEEDS_EMULATION"):
            pytest.fail(reason)
        pytest.skip(reason)


def toml(command: list[str]) -> str:
    """Returns a command as a list of TOML."""
    return json.dumps(command)


def dumbbell(folder: Path, *flows: str, duration: str = "3s") -> Path:
    """Writes a scenario of a dumbbell whose flows have these lines."""
    text = (
        f'schema_version = 1\ntitle = "A dumbbell"\nduration = "{duration}"\n'
        '[topology]\nshape = "dumbbell"\naccess = { rate = "1Gbps" }\n'
        'bottleneck = { rate = "4Mbps", delay = "10ms", queue = { limit = "20p" } }\n'
    )
    file = folder / "scenario.toml"
    file.write_text(text + "".join(f"[[flow]]\n{flow}\n" for flow in flows))
    return file


def bulk(name: str, port: int, host: str = "") -> str:
    """Returns the lines of a flow that sends bulk data from its client."""
    return (
        f'name = "{name}"\nworkload = {{ kind = "bulk" }}\n{host}'
        f"command = {toml([*SENDER, 'send', 'server', str(port), '1'])}\n"
        f"server_command = {toml([*SENDER, 'serve', str(port)])}\n"
    )


def figures_of(*arguments: str) -> dict[str, Any]:
    """Returns the figures of an emulation."""
    done = goodqueue("emulate", "--json", "--allow-commands", *arguments)
    assert done.returncode in ENDED, done.stderr
    return dict(json.loads(done.stdout))


def test_commands_of_a_file_need_the_user_s_permission(tmp_path: Path) -> None:
    trace = tmp_path / "it-ran"
    flow = f'workload = {{ kind = "bulk" }}\ncommand = {toml(["touch", str(trace)])}'
    file = dumbbell(tmp_path, flow)
    done = goodqueue("emulate", str(file))
    assert f"flow0, client: touch {trace}" in refused(done)
    assert "--allow-commands" in done.stderr
    assert not trace.exists()
    assert goodqueue("emulate", str(file), "--allow-commands").returncode in ENDED
    assert trace.exists()


def test_a_refusal_shows_no_control_characters(tmp_path: Path) -> None:
    flow = 'workload = { kind = "bulk" }\ncommand = ["sh", "-c", "true\\u001b[2K"]'
    text = refused(goodqueue("emulate", str(dumbbell(tmp_path, flow))))
    assert "\x1b" not in text
    assert "true?[2K" in text


def test_run_simulates_and_executes_nothing(tmp_path: Path) -> None:
    trace = tmp_path / "it-ran"
    flow = f'workload = {{ kind = "bulk" }}\ncommand = {toml(["touch", str(trace)])}'
    done = goodqueue("run", str(dumbbell(tmp_path, flow)), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["links"]["bottleneck"]["utilization"] > 0.5
    assert "not executed" in done.stderr
    assert not trace.exists()


def test_a_flow_without_a_command_is_refused(tmp_path: Path) -> None:
    file = dumbbell(tmp_path, bulk("one", 5001), 'name = "two"\nworkload = { kind = "bulk" }')
    done = goodqueue("emulate", str(file), "--allow-commands")
    assert "'two' has no program to run" in refused(done)


def test_a_shared_buffer_is_refused(tmp_path: Path) -> None:
    file = dumbbell(tmp_path, bulk("one", 5001))
    pool = '[[topology.pool]]\nname = "memory"\ncapacity = "1MB"\n[[flow]]'
    file.write_text(
        file.read_text()
        .replace('{ limit = "20p" }', '{ limit = "20p" }, pool = "memory"')
        .replace("[[flow]]", pool, 1)
    )
    assert "buffers that links share" in refused(goodqueue("emulate", str(file)))


def test_flow_control_of_links_is_refused(tmp_path: Path) -> None:
    file = dumbbell(tmp_path, bulk("one", 5001))
    pause = 'pause = { xoff = "9kB", xon = "1kB", reaction = "1us" }'
    whole = file.read_text()
    for place in (f'{{ limit = "20p" }}, {pause}', f'{{ limit = "20p" }}, reverse = {{ {pause} }}'):
        file.write_text(whole.replace('{ limit = "20p" }', place))
        assert "no flow control of links: remove their `pause`" in refused(
            goodqueue("emulate", str(file))
        )


def test_a_program_that_sets_a_shaper_is_refused(tmp_path: Path) -> None:
    file = dumbbell(tmp_path, bulk("one", 5001))
    program = 'autorate = { kind = "sqm_autorate", ping = "ping" }'
    cake = f'{{ kind = "cake", bandwidth = "8Mbps" }}, {program}'
    ping = '\n[[flow]]\nname = "ping"\nworkload = { kind = "ping" }\n'
    file.write_text(file.read_text().replace('{ limit = "20p" }', cake) + ping)
    assert "no programs that set shapers" in refused(goodqueue("emulate", str(file)))


def test_an_interface_of_simulated_hosts_is_refused(tmp_path: Path) -> None:
    file = dumbbell(tmp_path, bulk("one", 5001, "interface = { super_segments = true }\n"))
    assert "'one' has an interface" in refused(goodqueue("emulate", str(file)))


def test_flows_share_a_link_and_each_is_counted(tmp_path: Path) -> None:
    file = dumbbell(
        tmp_path, bulk("one", 5001), bulk("two", 5002, 'host = "one"\n'), bulk("three", 5003)
    )
    figures = figures_of(str(file))
    link = figures["links"]["bottleneck"]
    assert 0 < link["throughput_bps"] <= 4e6
    rates = [flow["throughput_bps"] for flow in figures["flows"].values()]
    assert len(rates) == 3
    assert min(rates) > 0  # how they share is chance: three flows, 20 packets, three seconds
    assert sum(rates) == pytest.approx(link["throughput_bps"], rel=0.05)


def test_hosts_know_each_other_by_name(tmp_path: Path) -> None:
    names = "import socket as s; print([s.gethostbyname(n) for n in {}])"
    own = names.format("('client', 'server', 'client-1', 'server-1', 'server-2')")
    command = toml([sys.executable, "-c", own])
    flows = [
        f'name = "a"\nworkload = {{ kind = "bulk" }}\ncommand = {command}',
        'name = "b"\nhost = "a"\nworkload = { kind = "bulk" }\ncommand = ["true"]',
    ]
    done = goodqueue("emulate", str(dumbbell(tmp_path, *flows)), "--allow-commands")
    addresses = "['10.64.0.1', '10.64.0.2', '10.64.0.1', '10.64.0.2', '10.64.1.2']"
    assert addresses in done.stdout, done.stderr


def test_any_topology_is_emulated(tmp_path: Path) -> None:
    link = 'delay = "5ms"\nqueue = {{ limit = "50p" }}\nrate = "{}"\n'
    row = "".join(
        f'[[topology.link]]\nname = "{name}"\n{link.format(rate)}'
        for name, rate in (("first", "8Mbps"), ("second", "3Mbps"))
    )
    head = 'schema_version = 1\nduration = "3s"\n[topology]\nshape = "chain"\n'
    near, far = bulk("near", 5001), bulk("far", 5002)
    file = tmp_path / "chain.toml"
    flows = f"[[flow]]\nfrom = 0\nto = 1\n{near}[[flow]]\nfrom = 0\nto = 2\n{far}"
    file.write_text(head + row + flows)
    figures = figures_of(str(file))
    carried = {name: link["throughput_bps"] for name, link in figures["links"].items()}
    rates = {name: flow["throughput_bps"] for name, flow in figures["flows"].items()}
    assert 0 < rates["far"] <= 3e6
    assert carried["second"] == pytest.approx(rates["far"], rel=0.05)
    assert carried["first"] == pytest.approx(rates["near"] + rates["far"], rel=0.05)
    assert carried["second.reverse"] > 0


def test_a_flow_starts_at_its_time(tmp_path: Path) -> None:
    flow = 'start = "1500ms"\nworkload = { kind = "bulk" }\ncommand = ["true"]'
    figures = figures_of(str(dumbbell(tmp_path, flow, duration="60s")))
    assert 1.5 <= figures["measured_s"] < 60


def test_the_files_are_those_of_a_simulated_run(tmp_path: Path) -> None:
    out, flent, capture = tmp_path / "out", tmp_path / "run.flent.gz", tmp_path / "before.pcapng"
    file = dumbbell(tmp_path, bulk("one", 5001))
    figures = figures_of(str(file), f"--out={out}", f"--flent={flent}", f"--pcap=before={capture}")
    link = figures["links"]["bottleneck"]
    for name in ("delay.png", "backlog.png", "throughput.png", "delay-cdf.png", "scenario.toml"):
        assert (out / name).stat().st_size > 0, name
    written = json.loads((out / "summary.json").read_text())
    assert written["fidelity"] == figures["fidelity"]
    backlog = pl.read_parquet(out / "backlog.parquet").filter(pl.col("link") == "bottleneck")
    assert backlog["backlog_packets"].max() == link["max_backlog_packets"]
    waits = pl.read_parquet(out / "delays.parquet").filter(pl.col("link") == "bottleneck")
    assert 0 <= waits.height - link["departures"] <= 1  # one may be in transmission at the end
    assert waits["queueing_delay_s"].mean() == pytest.approx(link["mean_queueing_delay_s"])
    throughput = pl.read_parquet(out / "throughput.parquet")
    assert throughput["time_s"].max() <= 3.0  # type: ignore[operator]
    data = json.loads(gzip.decompress(flent.read_bytes()))
    sent = [bits for bits in data["results"]["TCP upload::1"] if bits is not None]
    assert max(sent) == pytest.approx(4, rel=0.2)


def test_a_capture_holds_the_bytes_of_the_packets(tmp_path: Path) -> None:
    say = (
        "import socket as s; a = s.socket(s.AF_INET, s.SOCK_DGRAM); a.sendto(b'{}', ('server', 9))"
    )
    words = "these bytes crossed the link"
    command = toml([sys.executable, "-c", say.format(words)])
    capture = tmp_path / "sender.pcapng"
    file = dumbbell(tmp_path, f'workload = {{ kind = "bulk" }}\ncommand = {command}')
    figures_of(str(file), f"--pcap=sender={capture}")
    assert words.encode() in capture.read_bytes()


def test_the_meter_prints_a_line_each_second(tmp_path: Path) -> None:
    file = dumbbell(tmp_path, bulk("one", 5001))
    done = goodqueue("emulate", str(file), "--allow-commands", "--meter", "--json")
    lines = [line for line in done.stderr.splitlines() if " s  bottleneck " in line]
    assert len(lines) >= 2
    assert "Mb/s" in lines[-1]
    assert "drop" in lines[-1]


def test_the_congestion_control_and_the_kernel_are_recorded(tmp_path: Path) -> None:
    figures = figures_of(str(dumbbell(tmp_path, bulk("one", 5001))), "--control=reno")
    assert figures["kernel"]["parameters"]["tcp_congestion_control"] == "reno"
    assert figures["kernel"]["release"]
    assert shlex.join(figures["programs"][0]["command"]).startswith(sys.executable)
