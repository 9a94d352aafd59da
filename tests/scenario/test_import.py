"""Scripts of ns-2 as scenarios, which have the figures of ns-2 where it is installed."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import tomllib
from statistics import fmean, variance
from typing import TYPE_CHECKING, Any

import pytest

from conftest import ROOT, goodqueue
from goodqueue.errors import RequestError, ScenarioError
from goodqueue.exchange import export, import_ns2
from goodqueue.runs.api import load
from goodqueue.runs.settings import settings_of

if TYPE_CHECKING:
    from pathlib import Path

Figures = dict[str, Any]

S3 = str(ROOT / "scenarios/s3.toml")
S5 = str(ROOT / "scenarios/s5.toml")
TOOLS = ROOT / "tools/ns2"


def exported(file: str, settings: dict[str, object], folder: Path) -> Path:
    """Returns the script of a scenario for ns-2."""
    script = folder / "link.tcl"
    script.write_text(export(load(file, set=settings), "ns2", file).text)
    return script


def theirs(script: Path, arguments: list[str], ns2: str) -> Figures:
    """Returns the figures that a script prints in ns-2."""
    done = subprocess.run(
        [ns2, str(script), *arguments], capture_output=True, text=True, check=True
    )
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def ours(script: Path, arguments: list[str], seed: int | None = None) -> Figures:
    """Returns the figures of an imported script's bottleneck in goodqueue."""
    scenario = load(import_ns2(script, arguments).toml, seed=seed)
    figures: Figures = json.loads(scenario.run().summary_json())["links"]["bottleneck"]
    return figures


@pytest.fixture
def ns2() -> str:
    """Path of ns-2."""
    path = shutil.which("ns")
    if path is None:
        pytest.skip("NO NS-2 ON THIS MACHINE: imported scripts were not run (Debian: ns2)")
    return path


@pytest.mark.parametrize(
    ("file", "settings"),
    [
        (S3, {}),
        (S3, {"topology.bottleneck.queue.limit": "48000B"}),
        (S3, {"tcp.ack_every": 2, "tcp.recovery": "newreno", "tcp.rto.minimum": "1s"}),
        (S3, {"topology.framing": "38B", "tcp.congestion_control": "cubic"}),
        (S3, {"flow.bulk.workload.size": "1460kB", "flow.bulk.start": "2s"}),
        (S5, {}),
        (S5, {"topology.bottleneck.reverse": {"rate": "20Mbps", "queue": {"limit": "50p"}}}),
    ],
    ids=["drop tail", "bytes", "delayed ACKs", "framing", "size", "RED", "reverse"],
)
def test_an_exported_scenario_is_imported_as_the_same(
    file: str, settings: dict[str, object], tmp_path: Path
) -> None:
    before = settings_of(load(file, set=settings))
    after = settings_of(load(import_ns2(exported(file, settings, tmp_path)).toml))
    # A script has no title and no names of flows, and ns-2's ssthresh begins at the window.
    for resolved in (before, after):
        del resolved["title"]
        for flow in resolved["flow"]:
            del flow["name"]
            del flow["tcp"]["initial_ssthresh"]
            del flow["rtt"]  # one of its forms; compared below
            if flow["count"] == 1:
                del flow["start_interval"]
        queue = resolved["topology"]["bottleneck"]["queue"]
        # Scripts have thresholds with twelve digits.
        queue |= {key: round(queue[key], 6) for key in ("min", "max", "weight") if key in queue}
    assert after == before


def test_round_trip_times_of_an_exported_scenario_are_imported(tmp_path: Path) -> None:
    (flow,) = tomllib.loads(import_ns2(exported(S5, {}, tmp_path)).toml)["flow"]
    assert flow["rtt"] == {"from": "20ms", "to": "534ms", "classes": 18}


ONE_FLOW = ["flows=1", "rate=10", "buffer=33", "rtt_min=40", "classes=1", "duration=60", "jitter=0"]


@pytest.mark.parametrize("tcp", ["Sack1", "Newreno", "Reno", "Tahoe"])
def test_one_flow_has_the_figures_of_ns2(tcp: str, ns2: str) -> None:
    """These runs have no random element."""
    arguments = [*ONE_FLOW, f"tcp={tcp}"]
    script = TOOLS / "dumbbell.tcl"
    measured, own = theirs(script, arguments, ns2), ours(script, arguments)
    assert own["utilization"] == pytest.approx(measured["utilization"], abs=2e-5)
    assert own["loss_rate"] == pytest.approx(measured["loss_rate"], rel=1e-3)
    key = "mean_backlog_packets"
    assert own[key] == pytest.approx(measured[key], rel=1e-3)


@pytest.mark.parametrize("queue", ["DropTail", "RED"])
def test_many_flows_have_nearly_the_figures_of_ns2(queue: str, ns2: str) -> None:
    """Spread of ns-2's own TCP variants and starts: 0.5 points, 10 % (queue), 30 % (loss)."""
    arguments = ["duration=40", f"queue={queue}"]
    script = TOOLS / "dumbbell.tcl"
    lines = subprocess.run(
        [ns2, str(script), *arguments], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    measured, own = json.loads(lines[0]), ours(script, arguments)
    assert own["utilization"] == pytest.approx(measured["utilization"], abs=0.005)
    assert own["loss_rate"] == pytest.approx(measured["loss_rate"], rel=0.3)
    key = "mean_backlog_packets"
    assert own[key] == pytest.approx(measured[key], rel=0.1)


LESSON = ROOT / "crates/ns2/tests/scripts/lesson.tcl"
TOTALS = """
set watched [$ns monitor-queue $n2 $n3 ""]
proc finish {} {
    global watched
    puts "{[join [list \\
        "\\"arrivals\\": [$watched set parrivals_]" \\
        "\\"departures\\": [$watched set pdepartures_]" \\
        "\\"drops\\": [$watched set pdrops_]"] ,]}"
    exit 0
}
$ns run
"""


def test_a_lesson_with_datagrams_has_the_packets_of_ns2(tmp_path: Path, ns2: str) -> None:
    """Ties at full queues are decided in another order (195 drops here, 197 there)."""
    script = tmp_path / "lesson.tcl"
    text = LESSON.read_text().replace("lesson.tr", str(tmp_path / "tr"))
    text = text.replace("lesson.nam", str(tmp_path / "nam"))
    script.write_text(text.replace("$ns run\n", TOTALS))
    done = subprocess.run([ns2, str(script)], capture_output=True, text=True, check=True)
    measured = json.loads(done.stdout.splitlines()[-1])
    own = ours(LESSON, [])
    assert own["arrivals"] == pytest.approx(measured["arrivals"], rel=0.002)
    assert own["departures"] == pytest.approx(measured["departures"], rel=0.002)
    assert own["drops"] == pytest.approx(measured["drops"], rel=0.05)


VEGAS_OR_STOP = """
set ns [new Simulator]
set a [$ns node]; set r [$ns node]; set b [$ns node]
$ns duplex-link $a $r 10Mb 1ms DropTail
$ns duplex-link $r $b 1Mb %(delay)s DropTail
$ns queue-limit $r $b %(limit)s
set tcp [new Agent/TCP%(variant)s]; set sink [new Agent/TCPSink]
$tcp set window_ 100
$ns attach-agent $a $tcp; $ns attach-agent $b $sink; $ns connect $tcp $sink
set ftp [new Application/FTP]; $ftp attach-agent $tcp
set watched [$ns monitor-queue $r $b ""]
$ns at 0.1 "$ftp start"
%(more)s
proc finish {} {
    global watched
    puts "{\\"drops\\": [$watched set pdrops_], \\"departures\\": [$watched set pdepartures_]}"
    exit 0
}
$ns at %(end)s finish
$ns run
"""


@pytest.mark.parametrize(
    "given",
    [
        {"variant": "/Vegas", "delay": "20ms", "limit": "50", "more": "", "end": "40.0"},
        {"variant": "/Vegas", "delay": "90ms", "limit": "12", "more": "", "end": "40.0"},
        # The queue is full when the application stops, where a FIN would be lost.
        {
            "variant": "",
            "delay": "1ms",
            "limit": "7",
            "more": '$ns at 1.9 "$ftp stop"',
            "end": "2.0",
        },
    ],
    ids=["Vegas", "Vegas on a long path", "stop"],
)
def test_vegas_and_a_stopped_flow_have_the_packets_of_ns2(
    given: dict[str, str], tmp_path: Path, ns2: str
) -> None:
    """These runs have no random element."""
    script = tmp_path / "one.tcl"
    script.write_text(VEGAS_OR_STOP % given)
    measured, own = theirs(script, [], ns2), ours(script, [])
    assert own["drops"] == measured["drops"]
    assert own["departures"] == pytest.approx(measured["departures"], rel=0.002, abs=1)


RANDOM_CBR = """
ns-random [lindex $argv 0]
set ns [new Simulator]
foreach n {a u r b} { set $n [$ns node] }
$ns duplex-link $a $r 10Mb 5ms DropTail
$ns duplex-link $u $r 10Mb 5ms DropTail
$ns duplex-link $r $b 2Mb 20ms DropTail
$ns queue-limit $r $b 10
set tcp [new Agent/TCP/Reno]; set sink [new Agent/TCPSink]
$ns attach-agent $a $tcp; $ns attach-agent $b $sink; $ns connect $tcp $sink
set ftp [new Application/FTP]; $ftp attach-agent $tcp
set udp [new Agent/UDP]; set null [new Agent/Null]
$ns attach-agent $u $udp; $ns attach-agent $b $null; $ns connect $udp $null
set cbr [new Application/Traffic/CBR]
$cbr set packetSize_ 500
$cbr set rate_ 1Mb
$cbr set random_ 1
$cbr attach-agent $udp
$ns at 0.0 "$ftp start"
$ns at 1.0 "$cbr start"
$ns at 18.0 "$cbr stop"
set watched [$ns monitor-queue $r $b ""]
proc finish {} {
    global watched
    puts "{\\"drops\\": [$watched set pdrops_]}"
    exit 0
}
$ns at 20.0 finish
$ns run
"""


def test_random_gaps_of_cbr_lose_as_many_packets_as_in_ns2(tmp_path: Path, ns2: str) -> None:
    script = tmp_path / "cbr.tcl"
    script.write_text(RANDOM_CBR)
    seeds = range(1, 11)
    theirs_lost = [theirs(script, [str(seed)], ns2)["drops"] for seed in seeds]
    ours_lost = [ours(script, ["1"], seed)["drops"] for seed in seeds]
    # The standard errors of the two means, added in quadrature.
    error = math.sqrt((variance(theirs_lost) + variance(ours_lost)) / len(seeds))
    assert abs(fmean(ours_lost) - fmean(theirs_lost)) < 3 * error


def test_a_script_beside_the_script_is_read(tmp_path: Path) -> None:
    whole = LESSON.read_text()
    part = tmp_path / "part.tcl"
    part.write_text(whole)
    script = tmp_path / "main.tcl"
    script.write_text("source part.tcl\n")
    same = import_ns2(script).toml.replace("main.tcl", "lesson.tcl")
    assert same.splitlines()[1:] == import_ns2(LESSON).toml.splitlines()[1:]
    part.write_text("\nset x $y\n")
    with pytest.raises(ScenarioError) as refused:
        import_ns2(script)
    assert (refused.value.file, refused.value.line) == (str(part), 2)


def test_the_lossy_link_is_that_of_the_papers() -> None:
    """The set-up that was written by hand for ns-2's own script, but for what no flow uses."""
    imported = tomllib.loads(import_ns2(TOOLS / "lossy-link.tcl", ["end=124"]).toml)
    fitted = tomllib.loads((ROOT / "python/goodqueue/papers/ahmad2020/fitted.toml").read_text())
    links = {link["name"]: link for link in imported["topology"]["link"]}
    link, by_hand = links["bottleneck"], fitted["topology"]["link"][0]
    assert (link["rate"], link["queue"]) == (by_hand["rate"], by_hand["queue"])
    assert link["loss"]["probability"] == pytest.approx(0.01)
    assert imported["tcp"] == {
        key: value for key, value in fitted["tcp"].items() if key != "initial_window"
    }
    ftp, cbr = imported["flow"]
    assert (ftp["start"], ftp["workload"]) == ("2s", {"kind": "bulk"})
    assert (cbr["start"], cbr["workload"]) == ("100ms", fitted["flow"][1]["workload"])


def test_a_refused_command_has_its_file_and_line(tmp_path: Path) -> None:
    script = tmp_path / "tcp.tcl"
    script.write_text("set ns [new Simulator]\nset tcp [new Agent/TCP/FullTcp]\n")
    with pytest.raises(ScenarioError) as refused:
        import_ns2(script)
    assert (refused.value.file, refused.value.line) == (str(script), 2)
    with pytest.raises(RequestError, match="cannot be read"):
        import_ns2(tmp_path / "none.tcl")


def test_the_command_prints_and_writes_the_scenario(tmp_path: Path) -> None:
    printed = goodqueue("import", LESSON)
    assert tomllib.loads(printed.stdout)["duration"] == "45s"
    file = tmp_path / "lesson.toml"
    written = goodqueue("import", LESSON, "-o", file)
    assert (written.stdout, file.read_text()) == ("", printed.stdout)
    assert "Note: type_ of" not in printed.stderr
