"""Translation between queue commands of Linux's tc and queues of a scenario."""

from __future__ import annotations

import json

from conftest import ROOT, goodqueue

SHOWN = (
    "qdisc fq_codel 8001: root refcnt 2 limit 10240p flows 1024 quantum 1514 target 5ms "
    "interval 100ms memory_limit 32Mb ecn drop_batch 64"
)
SCENARIO = str(ROOT / "scenarios" / "s1.toml")


def test_a_line_of_tc_becomes_a_queue_of_a_scenario_and_a_line_again() -> None:
    answer = json.loads(goodqueue("qdisc", "parse", SHOWN, "--json").stdout)
    queue = answer["queue"]
    assert (queue["kind"], queue["limit"], queue["ecn"]) == ("fq_codel", "10240p", True)
    assert answer["notes"] == []
    table = goodqueue("qdisc", "parse", SHOWN).stdout.splitlines()[0].removeprefix("queue = ")
    put = ["--set", f"topology.bottleneck.queue={table}"]
    printed = goodqueue("qdisc", "print", SCENARIO, *put, "--json")
    assert json.loads(printed.stdout)["tc"] == answer["tc"]
    (command,) = answer["tc"]
    assert json.loads(goodqueue("qdisc", "parse", command, "--json").stdout)["queue"] == queue


def test_settings_that_a_line_of_tc_lacks_are_reported() -> None:
    line = "qdisc red 8001: root refcnt 2 limit 200000b min 20000b max 40000b ecn"
    done = goodqueue("qdisc", "parse", line)
    assert "Note: avpkt is not shown: 1000 B assumed." in done.stdout


def test_options_without_an_equivalent_are_refused_with_the_reason() -> None:
    done = goodqueue("qdisc", "parse", "qdisc htb 1: root refcnt 2")
    assert (done.returncode, done.stdout) == (2, "")
    assert "htb is a hierarchy of classes" in done.stderr
    gentle = 'topology.bottleneck.queue={ kind = "ns2_red", limit = "90kB" }'
    done = goodqueue("qdisc", "print", SCENARIO, "--set", gentle)
    assert done.returncode == 2
    assert "gentle RED has no equivalent" in done.stderr
    assert 'write kind = "red"' in done.stderr


def test_parameters_that_do_not_fit_each_other_are_refused() -> None:
    done = goodqueue("qdisc", "parse", "qdisc codel 8001: root target 200ms interval 100ms")
    assert done.returncode == 2
    assert "target: the target is above the interval" in done.stderr
