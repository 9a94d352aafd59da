"""Traces in ns-2's format, compared with those of ns-2, and read by scripts in common use."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import goodqueue
from conftest import ROOT
from conftest import goodqueue as command
from goodqueue.papers.experiment import experiments
from goodqueue.papers.table import TableExperiment
from goodqueue.runs.api import load

if TYPE_CHECKING:
    from pathlib import Path

NS2 = shutil.which("ns") or ""
AWK = shutil.which("awk") or ""
DATA = ROOT / "tests/data"

DUMBBELL = """
schema_version = 1
duration = "20s"
[topology]
shape = "dumbbell"
access = { rate = "10Mbps", delay = "2ms" }
bottleneck = { rate = "1Mbps", delay = "10ms", queue = { kind = "drop_tail", limit = "10p" } }
[tcp]
profile = "ns2"
recovery = "sack"
mss = "960B"
receive_window = "960000B"
[[flow]]
name = "ftp"
start = "500ms"
workload = { kind = "bulk" }
[[flow]]
name = "cbr"
start = "100ms"
workload = { kind = "cbr", rate = "200kbps", packet = "500B" }
"""


@pytest.mark.skipif(not NS2, reason="ns-2 is not installed")
def test_the_trace_is_the_one_that_ns2_writes(tmp_path: Path) -> None:
    theirs = tmp_path / "ns2.tr"
    subprocess.run([NS2, DATA / "dumbbell.tcl", theirs], check=True, cwd=tmp_path)
    ours = tmp_path / "out.tr"
    goodqueue.run(DUMBBELL, trace={"tr": ours})
    # TCP in ns-2 sets the flag for a reduced window (A) even without ECN.
    expected = theirs.read_text().replace("---A---", "-------").splitlines()
    assert len(expected) > 40_000
    assert ours.read_text().splitlines() == expected


def awk(program: str, trace: Path) -> float:
    done = subprocess.run([AWK, program, trace], capture_output=True, text=True, check=True)
    return float(done.stdout)


@pytest.mark.skipif(not AWK, reason="awk is not installed")
def test_common_one_line_scripts_give_our_figures(tmp_path: Path) -> None:
    trace = tmp_path / "out.tr"
    result = goodqueue.run(DUMBBELL, trace={"tr": trace})
    flows, link = result.summary["flows"], result.summary["links"]["bottleneck"]
    for node, kind, flow in ((4, "tcp", "ftp"), (5, "cbr", "cbr")):
        received = f'$1=="r" && $4=={node} && $5=="{kind}" {{ b += $6 }} END {{ print b }}'
        bits_per_second = awk(received, trace) * 8 / 20
        assert bits_per_second == pytest.approx(flows[flow]["throughput_bps"], rel=1e-9)
    assert awk('$1=="d" { d++ } END { print d }', trace) == link["drops"] > 0
    share = '$3==2 && $4==3 && $1=="+" { n++ } $1=="d" { d++ } END { printf "%.12f", d / n }'
    assert awk(share, trace) == pytest.approx(link["loss_rate"], rel=1e-9)


def test_a_directory_holds_every_trace(tmp_path: Path) -> None:
    folder = tmp_path / "traces"
    result = goodqueue.run(DUMBBELL, trace=folder, series=True)
    assert {path.name for path in folder.iterdir()} == {
        *("sender.pcapng", "receiver.pcapng", "before.pcapng", "after.pcapng"),
        *("out.tr", "out.nam", "queue.dat", "cwnd-ftp.dat", "plot.gp", "run.flent.gz"),
        ".goodqueue",  # the list of the files that goodqueue wrote
    }
    assert result.series is not None
    windows = result.series.windows.filter(flow="ftp")
    for line in (folder / "cwnd-ftp.dat").read_text().splitlines():
        time, segments = map(float, line.split())
        # A line has the window from its time on.
        held = windows.filter(windows["time_s"] <= time)["cwnd_bytes"][-1]
        assert segments == pytest.approx(held / 960)
    lines = (folder / "queue.dat").read_text().splitlines()
    queue = [tuple(map(float, line.split())) for line in lines]
    backlog = result.series.backlog.filter(link="bottleneck")
    assert queue == list(zip(backlog["time_s"], backlog["backlog_packets"], strict=True))


def test_the_nam_file_has_the_events_of_the_trace(tmp_path: Path) -> None:
    traces = {"tr": tmp_path / "out.tr", "nam": tmp_path / "out.nam"}
    goodqueue.run(DUMBBELL, trace=traces)
    played = []
    for line in traces["nam"].read_text().splitlines():
        if line[0] in "+-rd":
            words = line.replace("{", "").replace("}", "").split()
            fields = dict(zip(words[1:15:2], words[2:16:2], strict=True))
            source, destination, number, flags, _ = words[words.index("-x") + 1 :]
            moved = (line[0], fields["-t"], fields["-s"], fields["-d"], fields["-p"], fields["-e"])
            ends = (source, destination, number, fields["-i"])
            played.append(" ".join((*moved, flags, fields["-c"], *ends)))
    assert played == traces["tr"].read_text().splitlines()


GNUPLOT = shutil.which("gnuplot")
FITTED = ROOT / "python/goodqueue/papers/ahmad2020/fitted.toml"

# Figure 4 of Ahmad, Wisdom, Isaac and Arinze (2020), as far as it is legible: the first datagram is
# lost before the queue, and the next four pass.
FIGURE_4 = """\
+ 0.1 1 4 cbr 1000 ------- 2 1.0 7.0 0 0
- 0.1 1 4 cbr 1000 ------- 2 1.0 7.0 0 0
r 0.10204 1 4 cbr 1000 ------- 2 1.0 7.0 0 0
d 0.10204 4 5 cbr 1000 ------- 2 1.0 7.0 0 0
+ 0.5 1 4 cbr 1000 ------- 2 1.0 7.0 1 1
- 0.5 1 4 cbr 1000 ------- 2 1.0 7.0 1 1
r 0.50204 1 4 cbr 1000 ------- 2 1.0 7.0 1 1
+ 0.50204 4 5 cbr 1000 ------- 2 1.0 7.0 1 1
- 0.50204 4 5 cbr 1000 ------- 2 1.0 7.0 1 1
r 0.52804 4 5 cbr 1000 ------- 2 1.0 7.0 1 1
+ 0.52804 5 7 cbr 1000 ------- 2 1.0 7.0 1 1
- 0.52804 5 7 cbr 1000 ------- 2 1.0 7.0 1 1
r 0.53008 5 7 cbr 1000 ------- 2 1.0 7.0 1 1
+ 0.9 1 4 cbr 1000 ------- 2 1.0 7.0 2 2
- 0.9 1 4 cbr 1000 ------- 2 1.0 7.0 2 2
r 0.90204 1 4 cbr 1000 ------- 2 1.0 7.0 2 2
+ 0.90204 4 5 cbr 1000 ------- 2 1.0 7.0 2 2
- 0.90204 4 5 cbr 1000 ------- 2 1.0 7.0 2 2
r 0.92804 4 5 cbr 1000 ------- 2 1.0 7.0 2 2
+ 0.92804 5 7 cbr 1000 ------- 2 1.0 7.0 2 2
- 0.92804 5 7 cbr 1000 ------- 2 1.0 7.0 2 2
r 0.93008 5 7 cbr 1000 ------- 2 1.0 7.0 2 2
+ 1.3 1 4 cbr 1000 ------- 2 1.0 7.0 3 3
- 1.3 1 4 cbr 1000 ------- 2 1.0 7.0 3 3
r 1.30204 1 4 cbr 1000 ------- 2 1.0 7.0 3 3
+ 1.30204 4 5 cbr 1000 ------- 2 1.0 7.0 3 3
- 1.30204 4 5 cbr 1000 ------- 2 1.0 7.0 3 3
r 1.32804 4 5 cbr 1000 ------- 2 1.0 7.0 3 3
+ 1.32804 5 7 cbr 1000 ------- 2 1.0 7.0 3 3
- 1.32804 5 7 cbr 1000 ------- 2 1.0 7.0 3 3
r 1.33008 5 7 cbr 1000 ------- 2 1.0 7.0 3 3
+ 1.7 1 4 cbr 1000 ------- 2 1.0 7.0 4 4
- 1.7 1 4 cbr 1000 ------- 2 1.0 7.0 4 4
r 1.70204 1 4 cbr 1000 ------- 2 1.0 7.0 4 4
+ 1.70204 4 5 cbr 1000 ------- 2 1.0 7.0 4 4
- 1.70204 4 5 cbr 1000 ------- 2 1.0 7.0 4 4
"""


def test_a_published_trace_is_reproduced_character_for_character(tmp_path: Path) -> None:
    done = command("reproduce", "ahmad2020", "table4", "--traces", tmp_path / "cell")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "cell").iterdir()} == {
        ".goodqueue",
        "out.tr",
        "out.nam",
        "WinFile",
        "queue.dat",
        "plot.gp",
    }
    assert (tmp_path / "cell" / "out.tr").read_text().startswith(FIGURE_4)
    for refused in (
        ["ahmad2020"],
        ["ahmad2020", "figure5"],
        ["gijsbers2011", "figure2"],
        ["ahmad2020", "table3", "--row", "buffer=11"],
        ["ahmad2020", "table3", "--row", "size=10"],
        ["ahmad2020", "table3", "--row", "10"],
    ):
        wrong = command("reproduce", *refused, "--traces", tmp_path / "none")
        assert wrong.returncode == 2, wrong.stdout
        assert not (tmp_path / "none").exists()


SLOW_ROWS = ("--row", "scheme=existing", "--row", "rate_mbps=0.05", "--row", "buffer={}")


@pytest.mark.parametrize(("paper", "table"), [("ahmad2020", "table5"), ("wisdom2021", "table3")])
def test_any_row_of_the_ns_2_studies_has_traces(paper: str, table: str, tmp_path: Path) -> None:
    rows = [word.format(10) for word in SLOW_ROWS]
    done = command("reproduce", paper, table, "--traces", tmp_path, *rows, "--seed", "3", "--json")
    assert done.returncode == 0, done.stderr
    (cell,) = json.loads(done.stdout)["cells"]
    assert cell["cell"] == "scheme existing, rate_mbps 0.05, buffer 10, seed 3"
    # A datagram of 1000 bytes is sent every 0.4 s, from 0.1 s to 124 s.
    lines = [line.split() for line in (tmp_path / "out.tr").read_text().splitlines()]
    sent = [line for line in lines if line[0] == "+" and line[2:5] == ["1", "4", "cbr"]]
    assert len(sent) == 310
    # The SYN, segments and datagrams cross the link, at no more than its rate from 0.1 s to 124 s.
    taken = [line for line in lines if line[0] == "-" and line[2:4] == ["4", "5"]]
    assert {line[5] for line in taken} <= {"40", "592", "1000"}
    assert sum(int(line[5]) for line in taken) * 8 <= 0.05e6 * 123.9 + 1000 * 8
    waiting = [float(line.split()[1]) for line in (tmp_path / "queue.dat").read_text().splitlines()]
    # RED holds 5000 bytes before an arrival: nine packets of 592, or fewer with datagrams.
    assert 5 <= max(waiting) <= 9


def test_each_selected_row_has_a_directory(tmp_path: Path) -> None:
    rows = ["--row", "link=0.05 Mb/s", "--row", "loss_percent=5", "--row", "buffer=3"]
    one = command("reproduce", "ahmad2020", "conclusions", "--traces", tmp_path / "one", *rows)
    assert one.returncode == 0, one.stderr
    assert (tmp_path / "one" / "out.tr").is_file()
    others = [*rows[:2], *rows[4:]]
    two = command("reproduce", "wisdom2021", "conclusions", "--traces", tmp_path, *others)
    assert two.returncode == 0, two.stderr
    found = {path.parent.name for path in tmp_path.glob("*/out.tr")} - {"one"}
    assert found == {f"0.05_Mb_s-{loss}-3" for loss in (0, 1, 5)}


def test_nam_shows_hosts_that_send_nothing(tmp_path: Path) -> None:
    trace = tmp_path / "out.nam"
    settings = {"duration": "3s", "topology.link.bottleneck.rate": "50kbps"}
    goodqueue.run(str(FITTED), set=settings, trace={"nam": trace})
    lines = trace.read_text().splitlines()
    shapes = {int(line.split()[4]): line.split()[10] for line in lines if line.startswith("n ")}
    hosts, routers = dict.fromkeys((0, 1, 2, 3, 6, 7), "circle"), dict.fromkeys((4, 5), "box")
    assert shapes == hosts | routers
    queues = [line.split() for line in lines if line.startswith("q ")]
    assert {(words[4], words[6]) for words in queues} == {("4", "5"), ("5", "4")}
    drawn = [line.split()[-1] for line in lines if line.startswith("l ")]
    assert len(set(drawn)) >= 5, "senders fan out"


@pytest.mark.parametrize("paper", ["ahmad2020", "wisdom2021"])
def test_every_experiment_of_the_ns_2_studies_names_existing_traces(
    paper: str, tmp_path: Path
) -> None:
    for one in experiments(paper):
        if isinstance(one, TableExperiment):
            cells = one.traced(["all"])
            assert len(cells) == len(one.rows)
            assert len({cell.name for cell in cells}) == len(cells)
            short = load(cells[0].scenario.resolved_toml(), set={"duration": "3s"})
            replace(cells[0], scenario=short).write(tmp_path / one.name)
            written = {path.name for path in (tmp_path / one.name).iterdir()}
            assert written == {*cells[0].files.values(), "plot.gp", ".goodqueue"}


@pytest.mark.skipif(not GNUPLOT, reason="gnuplot is not installed")
def test_gnuplot_draws_the_scripts_pictures(tmp_path: Path) -> None:
    rows = [word.format(5) for word in SLOW_ROWS]
    command("reproduce", "wisdom2021", "table4", "--traces", tmp_path, *rows)
    done = subprocess.run(
        [str(GNUPLOT), "plot.gp"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    for picture in ("queue.svg", "cwnd.svg"):
        assert (tmp_path / picture).read_text().count("<path") > 5, picture


UP_AND_DOWN = """
[[flow]]
name = "down"
from = 1
to = 0
workload = { kind = "bulk" }
[[flow]]
name = "ping"
workload = { kind = "ping", interval = "100ms" }
"""


def test_a_data_file_of_flent_holds_goodput_and_pings(tmp_path: Path) -> None:
    file = tmp_path / "run.flent.gz"
    result = goodqueue.run(DUMBBELL + UP_AND_DOWN, trace={"flent": file})
    data = json.loads(gzip.decompress(file.read_bytes()))
    assert data["version"] == 4
    assert data["metadata"]["NAME"] == "rrul_be_nflows"
    assert data["metadata"]["TEST_PARAMETERS"] == {"upload_streams": "1", "download_streams": "1"}
    x, results = data["x_values"], data["results"]
    assert all(len(values) == len(x) for values in results.values())
    flows = result.summary["flows"]
    for name, flow in (("TCP upload BE::1", "ftp"), ("TCP download BE::1", "down")):
        raw = data["raw_values"][name]
        megabits = sum(point["val"] for point in raw) * 0.2
        # Flent counts payload that arrived, including duplicates and data before a gap was filled:
        # at least goodput, and at most the throughput.
        assert flows[flow]["goodput_bps"] * 20e-6 <= megabits + 0.2
        assert megabits <= flows[flow]["throughput_bps"] * 20e-6
    pings = [point["val"] for point in data["raw_values"]["Ping (ms) ICMP"]]
    assert 0 < len(pings) <= flows["ping"]["packets_received"]
    assert sum(pings) / len(pings) == pytest.approx(flows["ping"]["mean_rtt_s"] * 1e3, rel=1e-5)
