"""`goodqueue.size`: the answer of the command line from Python, and how it is shown."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

import goodqueue
from conftest import SMALL
from goodqueue.cli import run_command
from goodqueue.sizing import Effort, Link, as_in_theory, judge_rules, rtt_range

if TYPE_CHECKING:
    from pathlib import Path

    from goodqueue.sizing import Answer

pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> Answer:
    effort = Effort(8, (), changes=False, rules=False, store=tmp_path_factory.mktemp("sized"))
    return goodqueue.size(rate="1Mbps", rtt="20ms", flows=1, max_loss="5%", effort=effort)


def ends(low: int | None, high: int | None) -> str:
    return f"{low} packets" if low == high else f"{low} to {high} packets"


def quick(**described: Any) -> Answer:  # noqa: ANN401 - the arguments of the call
    return goodqueue.size(quick=True, **described)


def test_texts_with_units_describe_the_link() -> None:
    found = quick(
        rate="20Mbps",
        rtt="20ms..80ms",
        flows=4,
        packet="1000B",
        max_loss="1%",
        max_delay="50ms",
        min_utilization="95%",
        access_rate="100Mbps",
    )
    assert found.link == Link(
        20e6,
        rtt_range(0.020, 0.080),
        flows=4,
        packet_bytes=1000,
        max_loss_rate=0.01,
        max_delay_s=0.05,
        min_utilization=0.95,
        access_rate_bps=100e6,
    )


def test_the_tcp_of_the_hosts_is_described() -> None:
    described = {"rate": "20Mbps", "rtt": "30ms", "flows": 4}
    plain = quick(**described).link
    assert quick(**described, as_in_theory=True).link == as_in_theory(plain)
    mixed = quick(**described, control="cubic:75%,bbr3:25%", profile="rfc").link
    assert (mixed.controls, mixed.profile) == ((("cubic", 0.75), ("bbr3", 0.25)), "rfc")


def test_the_answer_is_that_of_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--rate", "20Mbps", "--rtt", "30ms", "--flows", "4", "--max-loss", "1%"]
    run_command(["size", *flags, "--quick", "--json"])
    printed = json.loads(capsys.readouterr().out)
    found = quick(rate="20Mbps", rtt="30ms", flows=4, max_loss="1%")
    told = printed["recommendation"]
    told["why_theory_only"] = told["why_theory_only"].removeprefix("--quick: ")
    assert json.loads(json.dumps(found.as_dict())) == printed


def test_a_scenario_is_a_path_a_text_or_a_mapping(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    found = [
        goodqueue.size(source, max_delay="100ms", quick=True)
        for source in (file, str(file), SMALL, tomllib.loads(SMALL))
    ]
    assert found[0].link.max_delay_s == 0.1
    assert found[0].link.rate_bps == 1e6
    assert all(one.as_dict() == found[0].as_dict() for one in found)


def test_settings_and_the_link_of_a_scenario_are_chosen() -> None:
    change = {"topology.bottleneck.rate": "4Mbps"}
    assert goodqueue.size(SMALL, set=change, quick=True).link.rate_bps == 4e6
    reverse = goodqueue.size(SMALL, link="bottleneck.reverse", quick=True)
    assert reverse.link.flows == 0


def test_a_simulation_follows_a_scenario(tmp_path: Path) -> None:
    few = Effort(3, (), changes=False, rules=False, hosts=False, store=tmp_path)
    found = goodqueue.size(SMALL, min_utilization="80%", effort=few, seed=3)
    assert found.trials is not None
    assert found.buffer is not None
    assert found.buffer < 20


@pytest.mark.parametrize(
    ("described", "message"),
    [
        ({"rate": "20Mbps"}, r"give rtt and flows, too"),
        ({}, r"a scenario, or rate, rtt and flows"),
        ({"rate": "20Mbs", "rtt": "30ms", "flows": 4}, r"^error: rate: \"Mbs\" is not a unit"),
        ({"rate": "20Mbps", "rtt": "30ms", "flows": 0}, r"^flows 0: a buffer rule"),
        ({"rate": "20Mbps", "rtt": "30ms", "flows": 4, "max_loss": "100%"}, r"^max_loss 100%"),
        ({"rate": 20e6, "rtt": "30ms", "flows": 4}, r"^rate is 20000000\.0: .* a text with its"),
        ({"scenario": SMALL, "rate": "20Mbps"}, r"^rate describes a link, but the scenario"),
        ({"scenario": SMALL, "paced": True}, r"^paced describes a link, but the scenario"),
        ({"rate": "2Mbps", "rtt": "3ms", "flows": 4, "link": "a"}, r"^link belongs to a scenario"),
        ({"scenario": SMALL, "link": "botleneck"}, r"^link botleneck: there is no such link"),
    ],
)
def test_mistakes_name_the_argument(described: dict[str, Any], message: str) -> None:
    with pytest.raises((goodqueue.RequestError, goodqueue.ScenarioError)) as refused:
        quick(**described)
    assert re.search(message, str(refused.value))
    assert "--" not in str(refused.value)


def test_the_repr_is_a_paragraph_that_begins_with_the_answer(answer: Answer) -> None:
    text = " ".join(repr(answer).split())
    assert "\n\n" not in repr(answer)
    assert text.startswith(f"Buffer of {answer.buffer} packets = ")
    assert len(text.split()) < 90
    assert answer.world is not None
    assert f"by chance (95 %) is {ends(*answer.chance)}" in text
    assert re.search(r"over hosts that were not described it is \d+ to \d+ packets", text)
    assert "1 Mb/s" in text
    assert "--" not in text


def test_the_repr_of_theory_has_its_interval() -> None:
    answer = judge_rules(Link(20e6, (0.030,), flows=4, max_loss_rate=0.01))
    text = " ".join(repr(answer).split())
    assert text.startswith(f"Buffer of {answer.buffer} packets = ")
    assert f"by the error of theory (90 %) is {ends(*answer.chance)}" in text


def test_the_repr_without_a_buffer_names_the_reason(tmp_path: Path) -> None:
    few = Effort(8, (), changes=False, rules=False, hosts=False, store=tmp_path)
    found = goodqueue.size(
        rate="1Mbps", rtt="20ms", flows=1, max_loss="0.01%", max_delay="30ms", effort=few
    )
    assert found.buffer is None
    text = " ".join(repr(found).split())
    assert re.match(r"No buffer (suffices|was found that suffices); nearest: \d+ packets?", text)
    assert "not known" not in text


def test_a_notebook_shows_the_paragraph_and_the_rules(answer: Answer) -> None:
    page = answer._repr_html_()
    assert f"Buffer of {answer.buffer:,} packets = " in page
    assert "over hosts that were not described" in page
    assert "<td>bdp</td>" in page
