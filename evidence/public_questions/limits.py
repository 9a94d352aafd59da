"""Limits of queues: packets of fq_codel, memory of CAKE, and the buffer of a switch."""

from __future__ import annotations

from evidence.public_questions.question import Figures, Question, interval, sides, variants

ESNET = "https://fasterdata.es.net/network-tuning/router-switch-buffer-size-issues"

ENOUGH = 0.99
"""Share of the largest goodput from which on a limit is enough."""

LONG = "long.goodput_bps"

PACKETS = (300, 600, 1001, 2000, 10_240)

MEBIBYTES = (2, 4, 8, 16)

QUEUE = "topology.bottleneck.queue"


def _fq_codel(packets: int) -> str:
    return f'{QUEUE}={{kind="fq_codel",limit="{packets}p"}}'


def _cake(mebibytes: int) -> str:
    return f'{QUEUE}={{kind="cake",bandwidth="1Gbps",memory_limit="{mebibytes}MiB"}}'


def least(found: list[list[float]]) -> int:
    """Returns the place of the first goodput that is enough."""
    most = max(mean for mean, _, _ in found)
    return next(place for place, (mean, _, _) in enumerate(found) if mean >= ENOUGH * most)


def limits_text(found: Figures) -> str:
    """Returns the answer about fq_codel and CAKE."""
    goodput = [side[LONG] for side in found.values()]
    fq_codel, cake = goodput[: len(PACKETS)], goodput[len(PACKETS) :]
    packets, memory = PACKETS[least(fq_codel)], MEBIBYTES[least(cake)]
    four = cake[MEBIBYTES.index(4)]
    enough = "is enough" if memory <= 4 else "is too little in some runs"
    first = (
        f"**{packets:,} packets for fq_codel at 1 Gb/s, and 4 MiB {enough} for CAKE, which needs "
        f"{memory} MiB.** These are the first limits of the table with which the long flows get "
        "99 % of the most that they get; those before them are too small. With 4 MiB they get "
        f"{interval(four, 1e6, 0)} Mb/s."
    )
    rows = [f"| fq_codel, {limit:,} packets |" for limit in PACKETS]
    rows += [f"| CAKE, {limit} MiB |" for limit in MEBIBYTES]
    lines = [first, "", "| queue | long flows, Mb/s |", "| --- | --- |"]
    lines += [f"{row} {interval(one, 1e6, 0)} |" for row, one in zip(rows, goodput, strict=True)]
    return "\n".join(lines)


LIMITS = Question(
    "limits",
    "Which limit does fq_codel need above 200 Mb/s, and are 4 MB of memory enough for CAKE?",
    (
        "https://github.com/tohojo/sqm-scripts/issues/42",
        "https://github.com/openwrt/openwrt/issues/22281",
    ),
    "compare scenarios/which-queue.toml --set topology.bottleneck.rate=1Gbps "
    "--set topology.access.rate=10Gbps --set topology.bottleneck.reverse.queue.limit=20000p "
    "--set flow.web.count=40 --set warmup=1s --set duration=11s --replicates 10"
    + variants([*map(_fq_codel, PACKETS), *map(_cake, MEBIBYTES)]),
    sides(LONG),
    limits_text,
    "Four CUBIC flows of Linux over 20 to 60 ms in their first eleven seconds, and 40 short ones. "
    "The need comes from the start of few flows: a loss by overflow ends it early, and the window "
    "grows slowly afterwards. Many flows, slower links or a longer time need less. CAKE counts the "
    "kernel's memory, 2,304 bytes for a full packet: 4 MiB hold 1,820 of them.",
)

BUFFERS_MB = {"cubic": (4, 8, 16, 32, 64), "bbr": (4, 16, 64)}

NAMES = {"cubic": "CUBIC", "bbr": "BBR"}

TCP, LOSS = "tcp.goodput_bps", "loss_rate"

CASES = [(control, buffer) for control, buffers in BUFFERS_MB.items() for buffer in buffers]
"""Congestion controls and buffers in megabytes, in the order of the command."""


def _switch(control: str, megabytes: int) -> str:
    limit = f"topology.bottleneck.queue.limit={megabytes}MB"
    return f"flow.tcp.tcp.congestion_control={control},{limit}"


def switch_text(found: Figures) -> str:
    """Returns the answer about the buffer of a switch."""
    cases = dict(zip(CASES, found.values(), strict=True))
    needs = {}
    for control, buffers in BUFFERS_MB.items():
        goodput = [cases[control, buffer][TCP] for buffer in buffers]
        needs[control] = buffers[least(goodput)]
    losses = [100 * side[LOSS][0] for (control, _), side in cases.items() if control == "bbr"]
    first = (
        f"**CUBIC needs {needs['cubic']} MB, and BBR no more than {needs['bbr']} MB**, for 99 % of "
        "the most that they get. The 64 MB are one bandwidth-delay product (62.5 MB), which a "
        "single flow needs that halves its window at a loss; CUBIC decreases it by 30 %. BBR loses "
        f"{min(losses):.1f} to {max(losses):.1f} % of all packets, those of UDP among them."
    )
    lines = [
        first,
        "",
        "| sender | buffer, MB | TCP, Gb/s | loss, % |",
        "| --- | --- | --- | --- |",
    ]
    for (control, buffer), side in cases.items():
        rate, loss = interval(side[TCP], 1e9, 2), 100 * side[LOSS][0]
        lines.append(f"| {NAMES[control]} | {buffer} | {rate} | {loss:.2g} |")
    return "\n".join(lines)


SWITCH = Question(
    "switch-buffer",
    "Does this switch have enough buffer for 10 Gb/s over 50 ms? ESnet says 64 MB; what do CUBIC "
    "and BBR need?",
    (f"{ESNET}/switch-buffer-testing",),
    "compare scenarios/switch-buffer.toml --set duration=60s --set warmup=20s --replicates 4"
    + variants([_switch(*case) for case in CASES]),
    sides(TCP, LOSS),
    switch_text,
    "Two streams of Linux beside 2 Gb/s of evenly spaced UDP, packets of 9,000 bytes, 40 s after "
    "the first 20. The hosts have receive windows of 256 MB and send without the bursts of "
    "segmentation offload; with such bursts a switch needs more.",
)
