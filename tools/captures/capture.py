"""Makes captures of Linux TCP at a bottleneck of known rate and limit, and stores the true values.

    sudo python3 tools/captures/capture.py DIRECTORY [SCENE ...]     (none: all the small ones)

Needs Linux with tbf, veth and TUN, iproute2, iperf3, tcpdump, ethtool and ping. For each scene it
writes SCENE-before.pcap.xz and SCENE-after.pcap.xz (both directions, as seen on either side of the
bottleneck's queue, headers only, nanoseconds) and SCENE.json: the configuration, the round-trip
times of ping on the idle and on the loaded path, the counts of the queue, and the report of iperf3.
"""

import json
import lzma
import os
import platform
import re
import signal
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from network import (
    AFTER,
    BEFORE,
    RECEIVER_ADDRESS,
    background,
    counters,
    inside,
    network,
    offer_window,
    run,
    sender_address,
    shape,
)
from scenes import SCENES, Flow, Scene

SNAPLEN = 96  # Ethernet 14 + IPv4 20 + the longest TCP header 60 = 94
FIRST_PORT = 5201
TAPS = {"before": BEFORE, "after": AFTER}


def _round_trips(pings: str) -> dict[str, float]:
    samples = [float(value) for value in re.findall(r"time=([\d.]+) ms", pings)]
    return {
        "count": len(samples),
        "min_ms": min(samples),
        "median_ms": round(statistics.median(samples), 3),
        "max_ms": max(samples),
    }


def _ping(flow: int, *options: str) -> tuple[str, ...]:
    return inside("sender", "ping", "-n", "-I", sender_address(flow), *options, RECEIVER_ADDRESS)


def _client(index: int, flow: Flow, seconds: float) -> tuple[str, ...]:
    pace = ("-b", str(flow.pace_bps)) if flow.pace_bps else ()
    # A write lasts at most a tenth of a second at the pacing rate, because iperf3 sends it in one
    # burst.
    length = ("-l", str(max(flow.pace_bps // 80, 128))) if flow.pace_bps else ()
    return inside(
        "sender",
        *("iperf3", "--json", "--client", RECEIVER_ADDRESS, "--port", str(FIRST_PORT + index)),
        *("--bind", sender_address(index), "--congestion", flow.congestion_control),
        *("--time", f"{seconds - flow.start_s:.0f}", "--repeating-payload", *pace, *length),
    )


def _transfers(stack: ExitStack, scene: Scene) -> list[dict[str, Any]]:
    """Runs the scene's flows to their ends; returns iperf3's report of each."""
    for port, flow in enumerate(scene.flows, FIRST_PORT):
        offer_window(flow.window_bytes)
        server = inside("receiver", "iperf3", "--server", "--one-off", "--port", str(port))
        stack.enter_context(background(*server, stdout=subprocess.DEVNULL))
        time.sleep(0.3)
    begin = time.monotonic()
    clients = []
    for index, flow in enumerate(scene.flows):
        time.sleep(max(begin + flow.start_s - time.monotonic(), 0))
        command = _client(index, flow, scene.seconds)
        clients.append(stack.enter_context(background(*command, stdout=subprocess.PIPE)))
    reports = []
    for client in clients:
        report = json.loads(client.communicate(timeout=scene.seconds + 60)[0])
        if "error" in report:
            raise RuntimeError(f"{scene.name}: iperf3: {report['error']}")
        reports.append(report)
    return reports


def _tap(stack: ExitStack, device: str, file: Path) -> subprocess.Popen[str]:
    command = inside(
        "router",
        *("tcpdump", "-i", device, "-s", str(SNAPLEN), "-w", str(file), "-B", "16384"),
        "--time-stamp-precision=nano",
    )
    tap = stack.enter_context(background(*command, stderr=subprocess.PIPE))
    assert tap.stderr is not None
    while "listening on" not in tap.stderr.readline():
        pass
    return tap


def _stop(tap: subprocess.Popen[str]) -> int:
    """Ends a tap and returns its number of packets; refuses a capture that lacks packets."""
    time.sleep(1.5)  # the kernel hands over a part-filled block after a second
    tap.send_signal(signal.SIGINT)
    said = tap.communicate(timeout=30)[1]
    counts = {what: int(n) for n, what in re.findall(r"(\d+) packets (captured|dropped)", said)}
    if counts["dropped"]:
        raise RuntimeError(f"the tap missed {counts['dropped']} packets")
    return counts["captured"]


def _flow_truth(flow: Flow, report: dict[str, Any], idle: str, loaded: str) -> dict[str, Any]:
    (stream,) = report["end"]["streams"]
    sender, receiver = stream["sender"], stream["receiver"]
    (connection,) = report["start"]["connected"]
    return {
        "sender": f"{connection['local_host']}:{connection['local_port']}",
        "receiver": f"{connection['remote_host']}:{connection['remote_port']}",
        "congestion_control": flow.congestion_control,
        "start_s": flow.start_s,
        "far_delay_ms": flow.far_ms,
        "near_delay_ms": flow.near_ms,
        "pace_bps": flow.pace_bps,
        "window_bytes": flow.window_bytes,
        "ping_idle": _round_trips(idle),
        "ping_loaded": _round_trips(loaded),
        "goodput_bps": round(receiver["bits_per_second"]),
        "retransmitted_segments": sender["retransmits"],
        "kernel_rtt_ms": {what: sender[f"{what}_rtt"] / 1e3 for what in ("min", "mean", "max")},
    }


def capture(scene: Scene, directory: Path) -> dict[str, Any]:
    """Makes the captures of a scene and returns its true values."""
    near = [flow.near_ms for flow in scene.flows]
    far = [flow.far_ms for flow in scene.flows]
    files = {name: directory / f"{scene.name}-{name}.pcap" for name in TAPS}
    with network(near, far, offloads=scene.offloads), ExitStack() as stack:
        shape(scene.rate_bps, scene.limit_bytes)
        idle = [run(*_ping(i, "-c", "20", "-i", "0.05")) for i in range(len(scene.flows))]
        earlier = counters()
        taps = {name: _tap(stack, device, files[name]) for name, device in TAPS.items()}
        pings = [
            stack.enter_context(
                background(
                    *_ping(i, "-i", "0.25", "-w", f"{scene.seconds:.0f}"), stdout=subprocess.PIPE
                )
            )
            for i in range(len(scene.flows))
        ]
        reports = _transfers(stack, scene)
        loaded = [ping.communicate()[0] for ping in pings]
        captured = {name: _stop(tap) for name, tap in taps.items()}
        counted = {name: value - earlier[name] for name, value in counters().items()}
    missing = captured["before"] - captured["after"] - counted["drops"]
    if missing and not scene.offloads:
        raise RuntimeError(f"{scene.name}: the taps and the queue differ by {missing} packets")
    for file in files.values() if scene.small else ():
        packed = lzma.compress(file.read_bytes(), preset=9 | lzma.PRESET_EXTREME)
        file.with_name(file.name + ".xz").write_bytes(packed)
        file.unlink()
    return {
        "scene": scene.name,
        "kernel": platform.release().split("-")[0],
        "offloads": scene.offloads,
        "bottleneck": {
            "rate_bps": scene.rate_bps,
            "limit_bytes": scene.limit_bytes,
            "counts": "bytes of the IP packet and Ethernet's 14 B header",
            "counted": counted,
        },
        "captured_packets": captured,
        "flows": [
            _flow_truth(*each) for each in zip(scene.flows, reports, idle, loaded, strict=True)
        ],
    }


def main() -> None:
    """Captures the scenes named on the command line, or all scenes if none is named."""
    directory, *names = sys.argv[1:] or sys.exit(__doc__)
    if unknown := set(names) - {scene.name for scene in SCENES}:
        sys.exit(f"no such scene: {', '.join(sorted(unknown))}")
    os.nice(-15)  # Other work of the machine must not delay the packets.
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    for scene in SCENES:
        if scene.name in names or (not names and scene.small):
            truth = capture(scene, folder)
            (folder / f"{scene.name}.json").write_text(json.dumps(truth, indent=1) + "\n")
            print(f"{scene.name}: {truth['bottleneck']['counted']}", flush=True)


if __name__ == "__main__":
    main()
