"""Emulations beside recordings of a real path: `python -m research.validation.emulated`.

The recordings are those of `linux-6.18.csv` (docs/validation.md): iperf3 over 10 Mb/s and 40 ms,
measured for 59 s after 11 s. Six emulations run at once. `cubic` needs permission for everybody:
`sysctl net.ipv4.tcp_allowed_congestion_control="reno cubic"`.
"""

from __future__ import annotations

import csv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from goodqueue.live.emulation import Emulation, Program, emulate, link_settings

RECORDINGS = Path(__file__).with_name("linux-6.18.csv")
WARMUP_S, DURATION_S = 11, 70
AT_ONCE = 6
CONTROLS = ("cubic", "reno")

Case = tuple[str, int, int]
"""Congestion control, number of flows, and limit in packets."""


def recordings() -> dict[Case, list[dict[str, str]]]:
    """Returns the recorded rows by case; some cases were recorded several times."""
    found: dict[Case, list[dict[str, str]]] = {}
    with RECORDINGS.open(encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            case = row["cc"], int(row["flows"]), int(row["limit_packets"])
            if case[0] in CONTROLS and case[1] in {1, 4} and case[2] in {8, 33, 133}:
                found.setdefault(case, []).append(row)
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
    return emulate(settings, [Program(server, server=True), Program(client)], control)


def row(case: Case, recorded: list[dict[str, str]], emulation: Emulation) -> str:
    """Returns a row of the table; recorded figures are in parentheses."""
    link, fidelity = emulation.summary["links"]["bottleneck"], emulation.fidelity
    busy = ", ".join(f"{100 * float(one['utilization']):.2f}" for one in recorded)
    queue = ", ".join(f"{float(one['mean_queue_packets']):.2f}" for one in recorded)
    drops = ", ".join(one["drops"] for one in recorded)
    cells = [
        "{}, {}, {}".format(*case),
        f"{100 * link['utilization']:.2f} ({busy})",
        f"{link['mean_backlog_packets']:.2f} ({queue})",
        f"{link['drops']} ({drops})",
        f"{1e3 * fidelity['p99_lateness_s']:.2f}",
        f"{100 * fidelity['later_than_rtt_percent_share']:.2f}",
        fidelity["verdict"],
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Prints the table."""
    recorded = recordings()
    print("| TCP, flows, limit | utilisation, % | mean queue, packets | drops | p99 late, ms "
          "| late, % | verdict |\n" + "| --- " * 7 + "|")  # fmt: skip
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for case, emulation in zip(recorded, pool.map(emulated, recorded), strict=True):
            print(row(case, recorded[case], emulation), flush=True)


if __name__ == "__main__":
    main()
