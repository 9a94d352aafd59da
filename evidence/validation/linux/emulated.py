"""Emulations beside recordings of a real path.

`python -m evidence.validation.linux.emulated [HOGS]` prints the table of docs/emulate.md.

The recordings are those of `6.18.csv` (docs/validation.md): iperf3 over 10 Mb/s and 40 ms, measured
from 11 s to 69 s, with socket buffers of 4 MB and a ping of 84 bytes ten times a second in the same
queue. The dropped packets include pings. Six emulations run at once.

The command prints a table, and compares it with the verdicts: a run whose figures exceed the
tolerance must have the verdict "not trusted". HOGS is the number of processes that compete for the
processors during the runs. `cubic` needs permission for everybody:
`sysctl net.ipv4.tcp_allowed_congestion_control="reno cubic"`.
"""

from __future__ import annotations

import csv
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue.live.emulation import Emulation, Program, emulate, link_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RECORDINGS = Path(__file__).with_name("6.18.csv")
WARMUP_S, DURATION_S = 11, 69
AT_ONCE = 6
CONTROLS = ("cubic", "reno")
ROUNDS = 2
"""Runs of each case. Disagreements of the second round are only counted."""

BUFFERS = {"tcp_rmem": "4096 4194304 33554432", "tcp_wmem": "4096 4194304 33554432"}
"""Socket buffers of the recordings: at least 4 MB."""

ECHO = (
    "import socket\n"
    "port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); port.bind(('', 7007))\n"
    "while True: port.sendto(*port.recvfrom(99))"
)
PING = (
    "import socket, time\n"
    "port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); due = time.monotonic()\n"
    "while True:\n"
    " port.sendto(bytes(56), ('server', 7007)); due += 0.1\n"
    " time.sleep(max(0, due - time.monotonic()))"
)
"""Programs that send and answer packets of 84 bytes, like `ping`, which not every machine has."""

Case = tuple[str, int, int]
"""Congestion control, number of flows, and limit in packets."""

Figures = tuple[float, float, int]
"""Utilisation in percent, mean queue in packets, and drops."""


def recordings() -> dict[Case, list[Figures]]:
    """Returns the recorded figures by case; some cases were recorded several times."""
    found: dict[Case, list[Figures]] = {}
    with RECORDINGS.open(encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            case = row["cc"], int(row["flows"]), int(row["limit_packets"])
            if case[0] in CONTROLS and case[1] in {1, 4} and case[2] in {8, 33, 133}:
                used, queue = 100 * float(row["utilization"]), float(row["mean_queue_packets"])
                found.setdefault(case, []).append((used, queue, int(row["drops"])))
    return found


def emulated(case: Case) -> Emulation:
    """Runs iperf3 behind the link of a case, longer than the emulation lasts."""
    control, flows, limit = case
    settings = link_settings("10Mbps", 0.04, f'{{ limit = "{limit}p" }}', f"{DURATION_S}s")
    settings["warmup"] = f"{WARMUP_S}s"
    settings["topology"]["bottleneck"]["reverse"] = {"queue": {"limit": "unlimited"}}
    seconds = str(DURATION_S + 5)
    client = ("iperf3", "-c", "server", "-t", seconds, "-P", str(flows), "--logfile", "/dev/null")
    server = ("iperf3", "-s", "--logfile", "/dev/null")
    programs = [
        Program((sys.executable, "-c", ECHO), server=True),
        Program(server, server=True),
        Program((sys.executable, "-c", PING)),
        Program(client),
    ]
    return emulate(settings, programs, control, parameters=BUFFERS)


def figures_of(emulation: Emulation) -> Figures:
    """Returns the figures of an emulated link."""
    link = emulation.summary["links"]["bottleneck"]
    return 100 * link["utilization"], link["mean_backlog_packets"], link["drops"]


def agrees(found: Figures, recorded: Sequence[Figures]) -> bool:
    """Returns true if figures are within tolerance of the range of their recordings.

    The tolerance is 1 point of utilisation, 5 % or half a packet of the mean queue, and 25 % or 2
    of the drops.
    """
    below = [min(values) for values in zip(*recorded, strict=True)]
    above = [max(values) for values in zip(*recorded, strict=True)]
    tolerances = [1, max(0.5, 0.05 * above[1]), max(2, 0.25 * above[2])]
    ranges = zip(found, below, above, tolerances, strict=True)
    return all(low - near <= value <= high + near for value, low, high, near in ranges)


def row(case: Case, recorded: Sequence[Figures], emulation: Emulation) -> str:
    """Returns a row of the table; recorded figures are in parentheses."""
    fidelity = emulation.fidelity
    found = figures_of(emulation)
    used, queue, drops = (list(values) for values in zip(*recorded, strict=True))
    cells = [
        "{}, {}, {}".format(*case),
        f"{found[0]:.2f} ({', '.join(f'{value:.2f}' for value in used)})",
        f"{found[1]:.2f} ({', '.join(f'{value:.2f}' for value in queue)})",
        f"{found[2]} ({', '.join(map(str, drops))})",
        "yes" if agrees(found, recorded) else "no",
        f"{1e3 * fidelity['p99_lateness_s']:.2f}",
        f"{100 * fidelity['later_than_rtt_percent_share']:.2f}",
        f"{1e6 * fidelity['cpu_s'] / fidelity['packets']:.1f}",
        fidelity["verdict"],
    ]
    return f"| {' | '.join(cells)} |"


@contextmanager
def hogs(count: int) -> Iterator[None]:
    """Runs processes that use all the processor time they get."""
    command = [sys.executable, "-c", "while True: pass"]
    running = [subprocess.Popen(command) for _ in range(count)]  # noqa: S603 - our own interpreter
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def main() -> None:
    """Prints the table, and how verdicts and figures agree."""
    recorded = recordings()
    print("| TCP, flows, limit | utilisation, % | mean queue, packets | drops | agrees "
          "| p99 late, ms | late, % | CPU, µs per packet | verdict |\n"
          + "| --- " * 9 + "|")  # fmt: skip
    cases = list(recorded) * ROUNDS
    called = {(good, verdict): 0 for good in (True, False) for verdict in (True, False)}
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    with hogs(count), ThreadPoolExecutor(AT_ONCE) as pool:
        for case, emulation in zip(cases, pool.map(emulated, cases), strict=True):
            print(row(case, recorded[case], emulation), flush=True)
            trusted = emulation.fidelity["verdict"] == "trusted"
            called[agrees(figures_of(emulation), recorded[case]), trusted] += 1
    print(
        f"\n{called[True, True]} of {called[True, True] + called[True, False]} runs within "
        f"tolerance were trusted; {called[False, False]} of "
        f"{called[False, True] + called[False, False]} runs out of tolerance were not."
    )


if __name__ == "__main__":
    main()
