"""Compares quinn behind `goodqueue emulate` with the same version of quinn in simulated time.

`make evidence NAME=quinn_live` sends 20 real transfers, one after the other, which takes eight
minutes and little processor time, and writes the table of docs/foreign-stacks.md. It needs the
programs of examples/quic and Linux. A run that the emulator does not trust is repeated; this
verdict depends on the lateness of its packets, and not on the figures of quinn.
"""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from evidence.core.derived import ROOT, Derived, MissingError, relative
from evidence.core.pages import with_part
from goodqueue.runs.settings import toml_of

if TYPE_CHECKING:
    from goodqueue.runs.settings import Settings

PAGE = ROOT / "docs" / "foreign-stacks.md"
PART = "quinn in real time"
RUNS = Path(__file__).parent / "runs.csv"
SOURCES = ("examples/quic/src", "examples/quic/Cargo.lock")
BUILT = ROOT / "examples" / "quic" / "target" / "release"
SIMULATED, REAL = BUILT / "goodqueue-quinn", BUILT / "goodqueue-quinn-real"
EMULATE = Path(sys.executable).with_name("goodqueue")

SEEDS = (1, 2, 3, 4, 5)
REPEATS = 4
"""Number of real transfers over each link."""
ATTEMPTS = 5
"""Most attempts at a run that the emulator trusts."""
SECONDS = 20
"""Time of a transfer at the rate of its link."""
PACKET_BYTES = 1500
FIGURES = ("handshake_s", "goodput_bps", "lost_packets")


@dataclass(frozen=True)
class Place:
    """A link that one transfer crosses.

    Attributes:
        rate_bps: rate in bit/s.
        rtt_s: round-trip time without queueing, in s.
        fraction: buffer in bandwidth-delay products.
    """

    rate_bps: float
    rtt_s: float
    fraction: float

    @property
    def packets(self) -> int:
        """Packets of the buffer."""
        return round(self.fraction * self.rate_bps * self.rtt_s / (8 * PACKET_BYTES))

    @property
    def name(self) -> str:
        """Rate, round-trip time and buffer."""
        return f"{self.rate_bps / 1e6:g} Mb/s, {1e3 * self.rtt_s:g} ms, {self.packets} packets"

    @property
    def size(self) -> int:
        """Bytes of the transfer."""
        return round(self.rate_bps * SECONDS / 8)


PLACES = (
    Place(2e6, 0.080, 1.0),
    Place(5e6, 0.040, 1.0),
    Place(10e6, 0.020, 1.0),
    Place(10e6, 0.060, 0.5),
    Place(20e6, 0.040, 1.0),
)
"""Rates are low, so that a machine with other work to do emulates them on time."""


def settings(place: Place) -> Settings:
    """Returns the scenario of a link, with the programs of the real run."""
    return {
        "schema_version": 2,
        "title": place.name,
        "duration": f"{3 * SECONDS}s",
        "warmup": "0s",
        "topology": {
            "shape": "dumbbell",
            "access": {"rate": "1Gbps"},
            "bottleneck": {
                "rate": f"{round(place.rate_bps)}bps",
                "delay": "5ms",
                "queue": {"limit": f"{place.packets}p"},
            },
        },
        "flow": [
            {
                "name": "long",
                "rtt": f"{round(1e3 * place.rtt_s)}ms",
                "workload": {"kind": "bulk", "size": f"{place.size}B"},
                "command": [str(REAL), "client", "server:4433", str(place.size), "cubic"],
                "server_command": [str(REAL), "server", "0.0.0.0:4433"],
            }
        ],
    }


Figures = dict[str, float]
"""Time of the handshake, goodput over handshake and transfer, packets that quinn takes for lost."""


def simulated(place: Place, file: Path, seed: int) -> Figures:
    """Returns the figures of a simulated transfer."""
    call = (SIMULATED, file, "--control", "cubic", "--seed", str(seed))
    done = subprocess.run(call, check=True, capture_output=True, text=True)  # noqa: S603 - our own
    flow = json.loads(done.stdout)["flows"]["long"]
    return {
        "handshake_s": flow["mean_handshake_time_s"],
        "goodput_bps": 8 * place.size / flow["completion_time_s"],
        "lost_packets": flow["retransmissions"],
    }


def real(place: Place, file: Path) -> tuple[Figures, int]:
    """Returns the figures of a real transfer, and the runs that were not trusted before it."""
    call = (EMULATE, "emulate", file, "--allow-commands", "--json")
    for attempt in range(ATTEMPTS):
        done = subprocess.run(call, check=False, capture_output=True, text=True)  # noqa: S603 - our own
        verdict = json.loads(done.stdout)["fidelity"]["verdict"] if done.stdout else done.stderr
        if verdict == "not trusted":
            continue
        line = next(line for line in done.stderr.splitlines() if line.startswith('{"handshake_s"'))
        printed = json.loads(line)
        return {
            "handshake_s": printed["handshake_s"],
            "goodput_bps": 8 * place.size / printed["transfer_s"],
            "lost_packets": printed["lost_packets"],
        }, attempt
    raise MissingError(f"quinn_live needs a machine with less other work: {verdict}")


Rows = list[tuple[Place, str, int, Figures]]
"""Link, kind, number of the run or its seed, and figures."""


def make() -> None:
    """Makes all runs, and writes them and the table."""
    for program in (SIMULATED, REAL):
        if not program.exists():
            build = "cd examples/quic && cargo build --release --locked --features real"
            raise MissingError(f"quinn_live needs {relative(program)}: {build}")
    rows: Rows = []
    repeated = 0
    with TemporaryDirectory() as folder:
        for number, place in enumerate(PLACES):
            file = Path(folder) / f"{number}.toml"
            file.write_bytes(toml_of(settings(place)))
            rows += [(place, "simulated", seed, simulated(place, file, seed)) for seed in SEEDS]
            for run in range(1, REPEATS + 1):
                figures, failed = real(place, file)
                rows.append((place, "real", run, figures))
                repeated += failed
    with RUNS.open("w", encoding="utf-8", newline="") as file_out:
        writer = csv.writer(file_out, lineterminator="\n")
        writer.writerow(("link", "kind", "run", *FIGURES))
        for place, kind, run, figures in rows:
            writer.writerow((place.name, kind, run, *(f"{figures[one]:.6g}" for one in FIGURES)))
    before = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_part(before, PART, table(rows, repeated)), encoding="utf-8")


def table(rows: Rows, repeated: int) -> str:
    """Returns the table of the page, and how many real runs were repeated."""
    heads = (
        "| link | handshake, simulated | real | goodput, simulated | real | difference "
        "| packets lost, simulated | real | difference |"
    )
    lines = [
        heads,
        "| --- " * 9 + "|",
        *(row(rows, place) for place in PLACES),
        "",
        f"Of the real runs {repeated} were repeated, because the emulator did not trust them.",
    ]
    return "\n".join(lines) + "\n"


def row(rows: Rows, place: Place) -> str:
    """Returns the row of a link: means, and differences of the real from the simulated runs."""
    cells = [place.name]
    for figure, factor, digits, unit in (
        ("handshake_s", 1e3, 1, " ms"),
        ("goodput_bps", 1e-6, 3, " Mb/s"),
        ("lost_packets", 1, 1, ""),
    ):
        own, other = (
            [figures[figure] for at, kind, _, figures in rows if (at, kind) == (place, wanted)]
            for wanted in ("simulated", "real")
        )
        cells += [
            f"{factor * fmean(own):.{digits}f}{unit}",
            f"{factor * fmean(other):.{digits}f}{unit}",
        ]
        if figure == "lost_packets":
            spread = math.hypot(stdev(own), stdev(other))
            share = 100 * (fmean(other) / fmean(own) - 1)
            cells.append(f"{share:+.0f} %, sd {spread:.1f}")
        elif figure == "goodput_bps":
            cells.append(f"{100 * (fmean(other) / fmean(own) - 1):+.2f} %")
    return f"| {' | '.join(cells)} |"


THINGS = [
    Derived(
        "quinn_live",
        make,
        products=(f"docs/foreign-stacks.md#{PART}", relative(RUNS)),
        inputs=SOURCES,
        seeds=f"{SEEDS[0]} to {SEEDS[-1]}",
        measured="quinn 0.11 in real time, on the kernel of this machine",
    )
]
