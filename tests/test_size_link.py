"""`goodqueue size` of a link that is only described, from outside."""

from __future__ import annotations

import json
import re
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from goodqueue.cli import run_command
from goodqueue.sizing.answer import size_link
from goodqueue.sizing.laboratory import LinkLaboratory
from goodqueue.sizing.link import Link
from goodqueue.sizing.rules import RULES
from goodqueue.study.runner import Runner
from goodqueue.study.store import Store
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from pathlib import Path

SMALL = ["size", "--rate", "2Mbps", "--rtt", "40ms", "--flows", "1"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of other tests, or of the user, are not those of a test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def answered(capsys: pytest.CaptureFixture[str], *flags: str) -> tuple[int, dict[str, Any]]:
    code = run_command([*SMALL, *flags, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_theory_alone(capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = answered(capsys, "--quick")
    assert code == 0
    assert answer["link"]["bdp_packets"] == pytest.approx(20 / 3)
    assert [one["rule"] for one in answer["rules"]] == [rule.name for rule in RULES]
    bdp = answer["rules"][0]
    assert (bdp["packets"], bdp["bytes"], bdp["holds"], bdp["simulated"]) == (6, 9000, True, None)
    assert bdp["seconds"] == pytest.approx(0.036)
    assert answer["recommendation"]["by"] == "theory"


def test_one_flow_needs_what_its_saw_tooth_says(tmp_path: Path) -> None:
    """95 % of the link: 0.43 of a BDP of 50 packets, by the integral of the saw-tooth."""
    link = Link(6e6, (0.1,), 1, min_utilization=0.95)
    with closing(Store.open(tmp_path / "runs")) as store:
        laboratory = LinkLaboratory(Runner(store, Threads()))
        answer = size_link(link, laboratory, changes=False)
    assert answer.buffer is not None
    assert answer.buffer / link.bdp_packets == pytest.approx(0.43, abs=0.1)
    assert answer.epochs is not None
    assert answer.epochs >= 20


def test_simulation_stands_beside_theory(capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = answered(capsys)
    assert code == 0
    best = answer["recommendation"]
    assert best["by"] == "simulation"
    assert best["at_least_packets"] <= best["packets"]
    simulated = {one["rule"]: one["simulated"] for one in answer["rules"]}
    assert simulated["bdp"]["utilization"]["mean"] > 0.9
    limits = [one["packets"] for one in answer["curve"]]
    assert limits == sorted(limits)
    assert {one["queue"] for one in answer["alternatives"]} == {"codel", "fq_codel", "pie"}
    assert {one["change"] for one in answer["changes"]} >= {"flows / 4", "RTT x 2"}


def test_what_cannot_be_had_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    code = run_command([*SMALL, "--max-delay", "7ms", "--min-utilization", "99%"])
    out = capsys.readouterr().out
    assert code == 3
    assert "no buffer serves" in out
    assert "the delay allows at most" in out


def test_a_run_of_hours_is_theory_only(capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = answered(capsys, "--rate", "1Gbps", "--rtt", "300ms")
    assert code == 0
    assert answer["recommendation"]["by"] == "theory"
    assert "theory only" in answer["recommendation"]["why_theory_only"]
    assert answer["curve"] == []


def test_asked_again_nothing_is_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = answered(capsys)
    from goodqueue.study import threads

    def fail(*_arguments: object) -> None:
        raise AssertionError("a run was repeated")

    monkeypatch.setattr(threads, "perform", fail)
    assert answered(capsys) == first


def test_the_page_stands_alone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "answer.html"
    assert run_command([*SMALL, "--report", str(page)]) == 0
    printed = capsys.readouterr().out
    text = page.read_text(encoding="utf-8")
    recommended = re.search(r"recommended: (.* BDP)", printed)
    assert recommended is not None
    assert recommended.group(1) in text
    assert text.count("data:image/png;base64,") == 2
    assert not re.search(r"(src|href)=\"(?!data:)", text)
    for rule in RULES:
        assert rule.title in text
    assert "tc qdisc replace" in text


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ([], "describe the link with --rate, --rtt and --flows"),
        (["--rate", "2Mbps"], "describe the link"),
        (["file.toml", "--rate", "2Mbps"], "describes its own"),
        (["file.toml", "--mix", "50%"], "describes its own"),
        ([*SMALL[1:], "--quick", "--out", "x"], "--out belongs to a scenario file"),
        ([*SMALL[1:], "--quick", "--set", "a.b=1"], "--set belongs to a scenario file"),
        ([*SMALL[1:], "--quick", "--max-loss", "100%"], "below 100%"),
        (["--rate", "2mbps", "--rtt", "1ms", "--flows", "1"], "--rate"),
        (["--rate", "2Mbps", "--rtt", "1ms", "--flows", "0"], "at least one flow"),
        (["--rate", "2Mbps", "--rtt", "1ms", "--flows", "1", "--control", "cubik"], "cubic"),
        (
            ["--rate", "2Mbps", "--rtt", "9ms", "--flows", "1", "--report", "no/such/page.html"],
            "is not a directory",
        ),
    ],
)
def test_mistakes(flags: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["size", *flags]) == 2
    assert words in capsys.readouterr().err.replace("\n", " ")
