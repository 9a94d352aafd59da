"""Emulations of one flow whose receiving program reads at once, as it is scheduled, or late.

`chrt -f 1 python -m evidence.validation.linux.readers`, as root, prints the table of
docs/emulate.md.

One Reno flow crosses 10 Mb/s and 40 ms behind 8 packets, measured from 6 s to 31 s. The emulator
has real-time scheduling, so packets are on time on a busy machine too. The programs have none,
unless this program gives it to them (`real time`). A late reader sleeps after each read.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from evidence.validation.linux.emulated import BUFFERS, figures_of
from goodqueue.live.emulation import Program, emulate, link_settings

ROUNDS, AT_ONCE = 4, 3
READERS = {"real time": 0.0, "ordinary": 0.0, "5 ms late": 0.005}
"""Pause after each read in seconds, by the name of the reader."""

READ = (
    "import socket, sys, time\n"
    "pause, _ = float(sys.argv[1]), sys.argv[2]\n"
    "stream, _ = socket.create_server(('', 5001)).accept(); block = bytearray(1 << 17)\n"
    "while stream.recv_into(block):\n"
    " if pause: time.sleep(pause)"
)
SEND = (
    "import sys; from goodqueue.live.sender import send\nsend('server', '5001', '1', sys.argv[1])"
)


def hurry(mark: str) -> None:
    """Gives the two programs with this argument real-time scheduling, as soon as they run."""
    until = time.monotonic() + 5
    hurried: set[str] = set()
    while len(hurried) < 2 and time.monotonic() < until:
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = file.read_bytes().split(b"\0")
            except OSError:
                continue
            if mark.encode() in words and b"-c" in words and b"goodqueue.live.stage" not in words:
                command = ["chrt", "-f", "-p", "1", file.parent.name]
                subprocess.run(command, check=False, capture_output=True)  # noqa: S603 - a number
                hurried.add(file.parent.name)
        time.sleep(0.05)


def run(reader: str, number: int) -> str:
    """Emulates the flow. Returns a row of the table."""
    mark = f"readers-{reader}-{number}"
    settings = link_settings("10Mbps", 0.04, '{ limit = "8p" }', "31s")
    settings["warmup"] = "6s"
    settings["topology"]["bottleneck"]["reverse"] = {"queue": {"limit": "unlimited"}}
    server = (sys.executable, "-c", READ, str(READERS[reader]), mark)
    programs = [Program(server, server=True), Program((sys.executable, "-c", SEND, "reno", mark))]
    if reader == "real time":
        threading.Thread(target=hurry, args=(mark,), daemon=True).start()
    emulation = emulate(settings, programs, "reno", parameters=BUFFERS)
    used, queue, drops = figures_of(emulation)
    late = 100 * emulation.fidelity["later_than_rtt_percent_share"]
    cells = [reader, f"{used:.2f}", f"{queue:.2f}", str(drops), f"{late:.2f}"]
    quantiles = [1e3 * emulation.fidelity[f"p{p}_ack_delay_s"] for p in (50, 99)]
    share = 100 * emulation.fidelity["late_ack_share"]
    cells += [", ".join(f"{value:.2f}" for value in quantiles), f"{share:.1f}"]
    return f"| {' | '.join([*cells, emulation.fidelity['verdict']])} |"


def main() -> None:
    """Prints the table."""
    print(
        "| reader | utilisation, % | mean queue, packets | drops | late, % "
        "| p50, p99 of due ACKs, ms | ACKs late, % | verdict |"
    )
    print("|" + " --- |" * 8)
    wanted = [(reader, number) for number in range(ROUNDS) for reader in READERS]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for row in pool.map(lambda one: run(*one), wanted):
            print(row, flush=True)


if __name__ == "__main__":
    main()
