"""Compares `htb` with that of Linux 6.18, and answers a public question about it.

`record.py` records the kernel's part. `make evidence NAME=htb/kernel` replays the record with the
test of crates/tc, and writes the table of docs/queues/htb.md. `make evidence NAME=htb/question`
asks how much rate the parent of 2,000 plans needs, and writes a part of docs/questions.md.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from typing import Any

from evidence.core.answers import answer_of
from evidence.core.derived import ROOT, Derived, MissingError
from evidence.core.homes import homes
from evidence.core.pages import with_part
from evidence.htb.drawn import TREES, tree

RECORD = "evidence/htb/6.18.txt"
PAGE, PART = "docs/queues/htb.md", "htb kernel"
QUESTIONS, THREADS = "docs/questions.md", "threads of providers"

TEST = ("cargo", "test", "--locked", "--quiet", "-p", "goodqueue-tc", "--test", "htb_kernel")
LINE = re.compile(r"tree (\d+): (\d+) of (\d+) in order, (\d+) late, rates within ([\d.]+) %")


def compare() -> None:
    """Replays the record, and writes the table."""
    try:
        done = subprocess.run(  # noqa: S603 - our own
            [*TEST, "--", "--nocapture"], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise MissingError("htb/kernel needs cargo: https://rustup.rs") from error
    rows = [
        f"| {number} | {len(tree(int(number)).lines)} | {len(tree(int(number)).leaves)} "
        f"| {same} of {packets} | {late} | {rate} % |\n"
        for number, same, packets, late, rate in LINE.findall(done.stdout)
    ]
    if len(rows) != TREES:
        raise RuntimeError(done.stdout + done.stderr)
    head = (
        "| tree | classes | of them with packets | packets in the kernel's order | of them late "
        "| largest difference of a rate |\n| --- | --- | --- | --- | --- | --- |\n"
    )
    path = ROOT / PAGE
    text = with_part(path.read_text(encoding="utf-8"), PART, head + "".join(rows))
    path.write_text(text, encoding="utf-8")


WORDS = (
    "One queue for each customer or one for all, and how much rate for the parent of 2,000 plans?"
)
LIBREQOS = "https://github.com/LibreQoE/LibreQoS/issues"

SCENARIO = "scenarios/isp-tree.toml"
RATE = "topology.bottleneck.queue.classes.0.rate"
RATES_MBPS = (1000, 1100, 1200, 1400, 1600)
LONGEST_S = 0.8
"""Twice the time that 1 MB takes at the rate of the plan."""
DEMAND_MBPS = 1990 * 0.5 + 10 * 20
"""Sum of what the customers load, without headers; the heavy ones use all of their plans."""
ONE_QUEUE = (
    'topology.bottleneck.queue={kind="tbf",rate="1600Mbps",burst="100kB",queue={limit="20ms"}}'
)

COMMAND = (
    f"compare {SCENARIO} --replicates 4 "
    + " ".join(f"--variant '{RATE}={rate}Mbps'" for rate in RATES_MBPS)
    + f" --variant '{ONE_QUEUE}'"
)

KEYS = ("download.p95_transfer_time_s", "loss_rate", "heavy.goodput_bps")


def ask() -> None:
    """Asks the question, and writes its part of the page."""
    done = answer_of([*shlex.split(COMMAND), "--json"])
    if done.returncode != 0:
        raise RuntimeError(f"goodqueue {COMMAND}: exit code {done.returncode}\n{done.stderr}")
    path = ROOT / QUESTIONS
    text = with_part(path.read_text(encoding="utf-8"), THREADS, answered(json.loads(done.stdout)))
    path.write_text(text, encoding="utf-8")


def answered(answer: Any) -> str:  # noqa: ANN401 - JSON
    """Returns the question with its answer."""
    sides = [side["figures"] for side in answer["sides"]]
    within = [
        rate
        for rate, side in zip(RATES_MBPS, sides, strict=False)
        if side[KEYS[0]]["high"] <= LONGEST_S
    ]
    best = (
        f"{min(within) / 1e3:.1f} Gb/s" if within else f"more than {RATES_MBPS[-1] / 1e3:.1f} Gb/s"
    )
    share = f", which is {min(within) / DEMAND_MBPS:.2f} times what they ask for" if within else ""
    names = [f"one for each, parent of {rate / 1e3:.1f} Gb/s" for rate in RATES_MBPS]
    rows = [
        f"| {name} | {side[KEYS[0]]['mean']:.2f} ({side[KEYS[0]]['low']:.2f} to "
        f"{side[KEYS[0]]['high']:.2f}) | {100 * side[KEYS[1]]['mean']:.2f} % "
        f"| {side[KEYS[2]]['mean'] / 1e6:.1f} |"
        for name, side in zip([*names, "one for all, 1.6 Gb/s"], sides, strict=True)
    ]
    command = COMMAND.replace(" --", " \\\n        --")
    table = "\n".join(rows)
    return f"""
### {WORDS}

Asked in [LibreQoS 120]({LIBREQOS}/120), [LibreQoS 127]({LIBREQOS}/127).

    goodqueue {command}

**{best} for 2,000 plans of 20 Mb/s{share}, with a queue for each customer.** 95 of 100 downloads \
of 1 MB then take at most {LONGEST_S:g} s, twice the time at the rate of the plan. One queue for \
all keeps nobody to a plan.

| queues | a download of 1 MB, p95, s | loss | all heavy customers, Mb/s |
| --- | --- | --- | --- |
{table}

Assumed: in the busy hour 1,990 customers load 0.5 Mb/s each on average, in files of 1 MB, and 10 \
customers load without end. `htb` of Linux has a class for each ([queues/htb.md](queues/htb.md)).

"""


THINGS = [
    Derived(
        "htb/kernel",
        compare,
        products=(f"{PAGE}#{PART}",),
        inputs=(RECORD, "crates/queue/src/shaper/htb", "crates/tc/tests/kernel/mod.rs"),
        measured="Linux 6.18",
    ),
    Derived(
        "htb/question",
        ask,
        products=(f"{QUESTIONS}#{THREADS}",),
        inputs=(SCENARIO,),
        cells=homes,
        seeds="1 to 4",
    ),
]
