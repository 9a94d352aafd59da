"""`goodqueue smoothing`: closed forms, simulations beside them, and refusals."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest

import goodqueue as package
from conftest import ROOT, goodqueue, refused

if TYPE_CHECKING:
    from pathlib import Path

STREAM = ROOT / "python/goodqueue/sizing/smoothing/stream.toml"

THEORY = ("law of a saw-tooth", "formula for many random losses")
FOOT, ANYWHERE, RANDOM = (
    "simulated, from the foot of a tooth",
    "simulated, from all places on a tooth",
    "simulated, random losses",
)

Answer = dict[str, Any]


def answer(tmp_path: Path, *arguments: object) -> tuple[Answer, dict[str, Answer]]:
    """Returns the JSON output of the command, and its buffers by their source."""
    done = goodqueue("smoothing", *arguments, "--json", XDG_CACHE_HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    found: Answer = json.loads(done.stdout)
    return found, {one["by"]: one for one in found["buffers"]}


def test_the_law_equals_the_area_of_the_saw_tooth_in_every_unit(tmp_path: Path) -> None:
    # 3.2 Mb/s times 100 ms is 40 packets of 1000 B. The area of the saw-tooth above its mean is b^2
    # W^2 / (2 a (2 - b)^2).
    stream = ("--rate", "3.2Mbps", "--rtt", "100ms", "--duration", "60s", "--quick")
    for typed, a, b in (((), 1, 0.5), (("--alpha", "0.25", "--beta", "20%"), 0.25, 0.2)):
        found, buffers = answer(tmp_path, *stream, *typed)
        assert list(buffers) == list(THEORY)
        law = buffers[THEORY[0]]
        assert law["packets"] == pytest.approx(b**2 * 1600 / (2 * a * (2 - b) ** 2))
        assert law["bytes"] == pytest.approx(1000 * law["packets"])
        assert law["seconds"] == pytest.approx(8 * law["bytes"] / 3.2e6)
        assert law["bdp"] == pytest.approx(law["packets"] / 40)
        assert (law["low"], law["high"], law["replicates"]) == (None, None, 0)
        described = found["stream"]
        assert (described["alpha"], described["beta"]) == (a, b)
        assert described["bdp_packets"] == pytest.approx(40)
        # The window of the saw-tooth is W^2 = a (2 - b) / (2 b p).
        assert described["packets_per_loss"] == pytest.approx(
            1600 * 2 * b / (a * (2 - b)), rel=1e-3
        )


def test_the_default_decrease_makes_the_pair_as_fast_as_reno(tmp_path: Path) -> None:
    stream = ("--rate", "3.2Mbps", "--rtt", "100ms", "--duration", "60s", "--quick")
    _, buffers = answer(tmp_path, *stream, "--alpha", "0.5")
    # For the TCP-friendly pair the law is a (R T)^2 / 18.
    assert buffers[THEORY[0]]["packets"] == pytest.approx(0.5 * 1600 / 18)


def test_simulated_streams_need_the_buffer_of_theory(tmp_path: Path) -> None:
    # 16 Mb/s times 160 ms is 320 packets.
    stream = ("--rate", "16Mbps", "--rtt", "160ms", "--duration", "260s", "--replicates", "4")
    _, buffers = answer(tmp_path, *stream)
    law, foot, anywhere = (buffers[by]["packets"] for by in (THEORY[0], FOOT, ANYWHERE))
    # In-order delivery delays the data of one to two round trips during a repair.
    assert law < foot < law + 2 * 320
    # If a stream starts nearer to the peak of a tooth, more data have arrived than were played.
    assert anywhere < foot
    assert buffers[FOOT]["low"] is None
    assert buffers[ANYWHERE]["low"]["packets"] < anywhere < buffers[ANYWHERE]["high"]["packets"]


def test_random_losses_need_the_buffer_of_the_formula(tmp_path: Path) -> None:
    # There are 20 packets in a round trip and 267 packets between losses: 300 losses.
    stream = ("--rate", "1.6Mbps", "--rtt", "100ms", "--duration", "400s", "--replicates", "12")
    found, buffers = answer(tmp_path, *stream)
    assert found["stream"]["losses"] == pytest.approx(300, abs=1)
    formula = buffers[THEORY[1]]["packets"]
    assert formula == pytest.approx(math.sqrt(math.pi / 8 * 300) * 400 / 3, rel=0.01)
    # The largest fall of a Brownian bridge has a Rayleigh distribution: its deviation is 0.52 of
    # its mean.
    slack = 4 * 0.52 / math.sqrt(12) + 0.1
    assert buffers[RANDOM]["packets"] == pytest.approx(formula, rel=slack)
    interval = buffers[RANDOM]["low"]["packets"], buffers[RANDOM]["high"]["packets"]
    assert interval[0] < buffers[RANDOM]["packets"] < interval[1]


def test_the_law_of_a_scenario_uses_the_parameters_of_its_flow(tmp_path: Path) -> None:
    control = '{ kind = "gaimd", alpha = 0.25, beta = 0.3 }'
    settings = {
        "topology.bottleneck.loss": "{ probability = 0.002 }",
        "duration": "200s",
        "flow.stream.workload.segment": "20s",
        "flow.stream.tcp.congestion_control": control,
    }
    typed = [word for path, value in settings.items() for word in ("--set", f"{path}={value}")]
    found, buffers = answer(tmp_path, STREAM, *typed, "--replicates", "3")
    stream = found["stream"]
    assert (stream["alpha"], stream["beta"], stream["packet_bytes"]) == (0.25, 0.3, 1000)
    window = stream["bdp_packets"]
    law = 0.3**2 * window**2 / (2 * 0.25 * 1.7**2)
    assert buffers[THEORY[0]]["packets"] == pytest.approx(law)
    flows = [
        package.run(str(STREAM), set=settings, seed=seed).summary["flows"] for seed in (1, 2, 3)
    ]
    stored = [flow["stream"]["smoothing_buffer_bytes"] for flow in flows]
    assert buffers["simulated"]["bytes"] == pytest.approx(sum(stored) / 3)
    # The stream plays for 20 s at 8 Mb/s, the only bit rate of the video.
    assert stream["rate_bps"] * stream["duration_s"] == pytest.approx(160e6, rel=0.01)


DESCRIBED = ("--rate", "3Mbps", "--rtt", "100ms", "--duration", "60s")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "--rate, --rtt and --duration"),
        (("--rate", "3Mbit", *DESCRIBED[2:]), "3Mbps"),
        ((*DESCRIBED[:5], "1s"), "one saw-tooth of"),
        ((*DESCRIBED, "--beta", "0"), "--beta 0"),
        ((*DESCRIBED, "--alpha", "0"), "--alpha 0"),
        ((*DESCRIBED, "--alpha", "50"), "--alpha 50"),
        ((*DESCRIBED, "--packet", "1B"), "--packet 1B"),
        ((*DESCRIBED, "--quick", "--replicates", "3"), "--quick"),
        ((*DESCRIBED, "--flow", "stream"), "--flow"),
        (("--rate", "1Mbps", "--rtt", "1ms", "--duration", "60s"), "packets"),
        (("--rate", "1Gbps", "--rtt", "1s", "--duration", "900000s"), "--quick"),
        ((STREAM, "--rate", "3Mbps"), "--rate"),
        ((STREAM, "--flow", "strem"), "stream"),
        ((ROOT / "scenarios/s3.toml",), "video"),
    ],
)
def test_a_question_without_an_answer_is_refused(arguments: tuple[object, ...], said: str) -> None:
    done = goodqueue("smoothing", *arguments)
    refused(done)
    assert said in " ".join(done.stderr.split())
