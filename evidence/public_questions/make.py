"""The section of docs/questions.md with questions of public threads, in our words.

Each question has one command, whose JSON is read into a sentence or a table. `answers.json` has
the figures that the page shows, for the tests of their claims.
"""

from __future__ import annotations

import json
import shlex
from typing import Any

from evidence.core.answers import answer_of
from evidence.core.derived import ROOT, Derived, relative
from evidence.core.homes import RATED, homes
from evidence.core.pages import with_part
from evidence.public_questions.changing import AUTORATE, STARLINK
from evidence.public_questions.limits import LIMITS, SWITCH
from evidence.public_questions.question import Figures, Question, interval, sides

PAGE = ROOT / "docs" / "questions.md"
PART = "threads"
ANSWERS = ROOT / "evidence" / "public_questions" / "answers.json"

LINE_BPS = 10e6
"""Rate of the DSL line up, in scenarios/home-dsl.toml."""


def shaper(answer: Any) -> Figures:  # noqa: ANN401 - JSON
    """Returns the rate of the shaper, and the upload with it and at the rate of the line."""
    best = answer["recommended"]
    goodput = {one["value"]: one["figures"]["upload.goodput_bps.sum"] for one in answer["values"]}
    whole = next(value for value in goodput if value == LINE_BPS)
    return {
        "rate_bps": best["value"],
        "interval_bps": best["interval"],
        "upload_bps": goodput[best["value"]]["mean"],
        "upload_at_line_bps": goodput[whole]["mean"],
        "shown": best["shown"],
    }


def shaper_text(found: Figures) -> str:
    """Returns the answer about the shaper."""
    share, low, high = (100 * bps / LINE_BPS for bps in (found["rate_bps"], *found["interval_bps"]))
    with_, without = (found[key] / 1e6 for key in ("upload_bps", "upload_at_line_bps"))
    return (
        f"At **{share:.1f} %** of the line's rate ({low:.1f} to {high:.1f} % with 95 % confidence) "
        "99 of 100 packets wait at most 5 ms in the modem. The upload gets "
        f"{with_:.2f} Mb/s in place of {without:.2f}: it loses {100 * (1 - with_ / without):.1f} %."
    )


QUEUES = (
    "the modem's FIFO of 250 packets",
    "a shaper of 9.5 Mb/s before the same FIFO",
    "the same shaper before `fq_codel`",
    "`cake` with this bandwidth",
)
"""Descriptions of the sides, in the order of the command."""


def calls_text(found: Figures) -> str:
    """Returns the answer about calls: the best queue, and a table."""
    sides = list(found.values())
    good = [name for name, side in zip(QUEUES, sides, strict=True) if side["call.mos"][1] > GOOD]
    best = f"Yes, with {' or '.join(good)}." if good else "No, with none of these queues."
    first = (
        f"**{best}** A shaper alone does not help, because its packets wait in a FIFO, "
        "too. The score of the call is a mean opinion score (ITU-T G.107): 4.4 at best, and below "
        f"{GOOD} some users are dissatisfied."
    )
    lines = [
        first,
        "",
        "| queue | score of the call | a page, p95, s | upload, Mb/s |",
        "| --- | --- | --- | --- |",
    ]
    for name, side in zip(QUEUES, sides, strict=True):
        score = interval(side["call.mos"])
        page, upload = side["web.p95_page_time_s"][0], side["upload.goodput_bps"][0] / 1e6
        lines.append(f"| {name} | {score} | {page:.1f} | {upload:.2f} |")
    return "\n".join(lines)


def switch(answer: Any) -> Figures:  # noqa: ANN401 - JSON
    """Returns the memory, the senders and the sessions of a switch, and the load of its incast."""
    incast, searches = answer["incast"], answer["searches"]
    port_bps = answer["ports"][0]["rate_bps"]
    sizes = {name: searches[name]["recommended"] for name in ("memory", "alpha", "degree")}
    return {
        "load": incast["senders"] * incast["size_bytes"] * 8 / PERIOD_S / port_bps,
        "memory_bytes": sizes["memory"]["value"],
        "memory_interval": sizes["memory"]["interval"],
        "hosts_bytes": list(searches["memory"]["world"]["hosts"].values()),
        "alpha": sizes["alpha"]["value"],
        "alpha_hosts": list(searches["alpha"]["world"]["hosts"].values()),
        "senders": sizes["degree"]["value"],
        "sessions": answer["sessions"],
    }


PERIOD_S = 0.020
"""Time between the queries of `goodqueue box`."""


def switch_text(found: Figures) -> str:
    """Returns the answer about a switch."""
    first, last = found["sessions"][0], found["sessions"][-2]
    low, high = (bytes_ / 1e6 for bytes_ in (min(found["hosts_bytes"]), max(found["hosts_bytes"])))
    return (
        f"**Tune for {1e3 * last['cubic_rtt_s']:.1f} ms, which is {last['cubic_m'] / 1e3:,.0f} km "
        f"of fibre, with an alpha of {last['alpha']:g}**: over this distance one CUBIC session "
        "fills a port of 10 Gb/s while the others are idle, and a Reno session over "
        f"{last['reno_m'] / 1e3:,.0f} km. The microbursts need {found['memory_bytes'] / 1e6:.2f} "
        "MB with an alpha of 1, so that 99 of 100 answers take at most 5 ms "
        f"({low:.2f} to {high:.2f} MB with other hosts), at an average load of "
        f"{100 * found['load']:.0f} %. With 12 MB an alpha of {found['alpha']:g} suffices, and "
        f"{max(found['alpha_hosts']):g} with all hosts that were tried. With the smallest alpha "
        f"a session fills a port over {first['cubic_m'] / 1e3:,.0f} km only."
    )


def marks(answer: Any) -> Figures:  # noqa: ANN401 - JSON
    """Returns the threshold, and the goodput and the queries' time behind every one tried."""
    keys = {"goodput_bps": "background.goodput_bps.sum", "query_s": "query.p99_exchange_time_s"}
    return {
        "threshold": answer["recommended"]["value"],
        "lower_end": answer["sets"][0]["low"]["interval"],
        "values": [
            {
                "threshold": one["value"],
                **{name: one["figures"][key]["mean"] for name, key in keys.items()},
            }
            for one in answer["values"]
        ],
    }


FRAME_BYTES = 1538
"""Bytes of a full frame of Ethernet on the line."""

NAMED_BYTES = (80e3, 8e6)
"""The two thresholds of the question."""

RTT_S, RATE_BPS = 20e-6, 25e9
"""Base round-trip time and rate of the command."""


def marks_text(found: Figures) -> str:
    """Returns the answer about marking thresholds."""
    low, high = (
        min(found["values"], key=lambda one: abs(one["threshold"] * FRAME_BYTES - named))
        for named in NAMED_BYTES
    )
    best = next(one for one in found["values"] if one["threshold"] == found["threshold"])
    kilobytes = found["threshold"] * FRAME_BYTES / 1e3
    share = found["threshold"] * FRAME_BYTES * 8 / (RATE_BPS * RTT_S)
    return (
        f"**{kilobytes:.0f} kB at 25 Gb/s ({found['threshold']:.0f} packets, {share:.1f} of the "
        "bandwidth-delay product), so 80 kB and not 8 MB.** With it two long flows keep "
        f"{best['goodput_bps'] / 1e9:.2f} Gb/s, and 99 of 100 queries take at most "
        f"{1e6 * best['query_s']:.0f} µs. Near 80 kB they take {1e6 * low['query_s']:.0f} µs, and "
        f"near 8 MB {1e3 * high['query_s']:.0f} ms, with no more goodput. The law of DCTCP, "
        f"K > C RTT / 7, is {RATE_BPS * RTT_S / 8 / 7 / 1e3:.0f} kB here, and scales with rate and "
        "round trip: take four times as much at 100 Gb/s and sixteen times at 400 Gb/s over the "
        "same round trip. "
        "Kmin and Kmax may both be this K."
    )


def lossless(answer: Any) -> Figures:  # noqa: ANN401 - JSON
    """Returns the headroom, and what a metre of cable adds to it."""
    cable = sum(one["buffer_bytes"] for one in answer["parts"] if one["part"].startswith("cable"))
    return {
        "xoff_bytes": answer["xoff_bytes"],
        "full_frames_bytes": answer["full_frames_bytes"],
        "metre_bytes": cable / answer["cable_m"],
        "cell_bytes": answer["cell_bytes"],
    }


def lossless_text(found: Figures) -> str:
    """Returns the answer about headroom."""
    cells = (found["xoff_bytes"] + 200 * found["metre_bytes"]) / found["cell_bytes"]
    longer = round(cells) * found["cell_bytes"]
    return (
        f"**{found['xoff_bytes']:,} B for each lossless priority, and you may use the values of "
        f"500 m.** They are about {longer:,} B: a metre adds {found['metre_bytes']:.0f} B, and no "
        "other part depends on the cable. The longer values lose nothing on the shorter cable, and "
        "reserve memory that the switch could share. If all packets are full frames, "
        f"{found['full_frames_bytes']:,} B suffice over 300 m."
    )


GOOD = 4.03
"""Score from which on users are satisfied: R = 80 in table B.1 of ITU-T G.107."""

SONIC = "https://github.com/sonic-net/sonic-buildimage/pull"


QUESTIONS = (
    Question(
        "shaper",
        "DSL at home: how far below the line's rate must my shaper be so that the modem's queue "
        "stays empty, and what does it cost?",
        (f"{AUTORATE}/225", f"{AUTORATE}/332", f"{AUTORATE}/335"),
        "tune scenarios/home-dsl.toml --vary topology.link.shaper.rate=70%..100% "
        "--keep 'modem.p99<=5ms' --most upload.goodput --replicates 16",
        shaper,
        shaper_text,
        "VDSL2 with PPPoE, and a shaper that counts IP packets. A full packet takes 1,554 bytes on "
        "this line, so that no more than 96.5 % can fit. A shaper that is told of the framing may "
        "have almost the rate of the line: `goodqueue home` finds it for your line "
        "([home.md](home.md)).",
    ),
    STARLINK,
    LIMITS,
    Question(
        "calls",
        "Will calls stay good while a backup uploads through 10 Mb/s, and with which queue?",
        (
            "https://github.com/versatica/mediasoup/pull/922",
            "https://github.com/openwrt/openwrt/issues/14306",
        ),
        "compare scenarios/home-web.toml --replicates 8 --variant '' "
        f"--variant 'topology.bottleneck.queue={{{RATED},queue={{limit=\"250p\"}}}}' "
        f"--variant 'topology.bottleneck.queue={{{RATED},queue={{kind=\"fq_codel\"}}}}' "
        '--variant \'topology.bottleneck.queue={kind="cake",bandwidth="9500kbps"}\'',
        sides("call.mos", "web.p95_page_time_s", "upload.goodput_bps"),
        calls_text,
        "The sound of a call with G.711 and a playout buffer of 60 ms, beside one CUBIC upload, "
        "web pages and short downloads. The picture of a video call is not rated.",
    ),
    Question(
        "switch",
        "48 ports of 10G and 4 of 100G with 12 MB shared: for which distance do I tune if one TCP "
        "session must fill a customer's port, and what happens in microbursts at 7 % of load?",
        (
            "https://mailman.nanog.org/pipermail/nanog/2020-December/210880.html",
            "https://networkengineering.stackexchange.com/questions/1508",
        ),
        "box --ports 48x10Gbps,4x100Gbps --memory 12MB --incast 32x55kB --keep 'query.p99<=5ms'",
        switch,
        switch_text,
        "The session arrives faster than its port sends, and its distance follows from dynamic "
        "thresholds and CUBIC's decrease ([box.md](box.md#the-closed-forms)). A microburst is 32 "
        "answers of 55 kB at the same instant, every 20 ms; cells have 256 B.",
    ),
    SWITCH,
    Question(
        "marks",
        "Kmin, Kmax and pmax for DCTCP at 25, 100 and 400 Gb/s: 80 kB or 8 MB?",
        (
            "https://github.com/alibaba-edu/High-Precision-Congestion-Control/issues/21",
            "https://github.com/sonic-net/sonic-buildimage/pull/1439",
            "https://github.com/openconfig/featureprofiles/pull/1894",
        ),
        "tune scenarios/incast-dctcp.toml --set topology.port.rate=25Gbps "
        "--set topology.port.delay=5us --set topology.port.queue.limit=6000p "
        "--set duration=40ms --set warmup=10ms --set flow.query.workload.pause=2ms "
        "--set flow.background.start_jitter=1ms "
        "--vary topology.port.queue.threshold=4p..5200p "
        "--keep 'background.goodput>=23.3Gbps' --least query.p99 --replicates 16",
        marks,
        marks_text,
        "DCTCP of Linux at a port of 25 Gb/s with a round trip of 20 µs, which marks every packet "
        "above one threshold (pmax 1). The other rates follow from the law and were not run, and "
        "DCQCN is not modelled.",
    ),
    Question(
        "headroom",
        "How much PFC headroom does 100G over 300 m need, and may I use the values of 500 m?",
        tuple(f"{SONIC}/{number}" for number in (24903, 25208, 29565)),
        "headroom --speed 100Gbps --cable 300m --mtu 9100",
        lossless,
        lossless_text,
        "Cells of 256 B that small frames fill worst, and the reaction time of IEEE 802.3. "
        "[headroom.md](headroom.md) has the formula, and compares it with tables of switches.",
    ),
)


def make() -> None:
    """Asks every question, records the figures and writes them into the page."""
    found: dict[str, Figures] = {}
    for one in QUESTIONS:
        done = answer_of([*shlex.split(one.command), "--json"])
        if done.returncode != 0:
            raise RuntimeError(f"goodqueue {one.command}: exit code {done.returncode}")
        found[one.name] = one.read(json.loads(done.stdout))
    ANSWERS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_part(text, PART, shown(found)), encoding="utf-8")


def recorded() -> dict[str, Figures]:
    """Returns the figures of all answers as they were recorded."""
    found: dict[str, Figures] = json.loads(ANSWERS.read_text(encoding="utf-8"))
    return found


def shown(found: dict[str, Figures]) -> str:
    """Returns the part of the page."""
    return "".join(_shown(one, found[one.name]) for one in QUESTIONS) + "\n"


def _shown(one: Question, figures: Figures) -> str:
    threads = ", ".join(f"[{_thread(place)}]({place})" for place in one.threads)
    command = one.command.replace(" --", " \\\n        --")
    return (
        f"\n### {one.words}\n\nAsked in {threads}.\n\n    goodqueue {command}\n\n"
        f"{one.text(figures)}\n\nAssumed: {one.assumes}\n"
    )


def _thread(address: str) -> str:
    """Returns the repository and the number of a thread."""
    *_, repository, _, number = address.split("/")
    return f"{repository} {number.removesuffix('.html')}"


THINGS = [
    Derived(
        "public_questions",
        make,
        products=(f"{relative(PAGE)}#{PART}", relative(ANSWERS)),
        inputs=(
            "scenarios/home-dsl.toml",
            "scenarios/home-web.toml",
            "scenarios/incast-dctcp.toml",
            "scenarios/starlink.toml",
            "scenarios/switch-buffer.toml",
            "scenarios/which-queue.toml",
        ),
        cells=homes,
        seeds="1 to 16",
    )
]
