"""The command line from outside: exit codes, streams, terminals, pipes, files."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import COMMAND, LONG, ROOT, SMALL, goodqueue, refused
from goodqueue.cli import run_command
from goodqueue.core.files.outdir import write_whole
from goodqueue.study import runner
from helpers.commands import ANSI, on_terminal
from helpers.processes import started


def processor_time_of_children() -> float:
    """Returns the processor time of child processes, in seconds; other load does not change it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_help_answers_at_once() -> None:
    goodqueue("--help")  # the first start may compile bytecode
    times = []
    for _ in range(5):
        start = processor_time_of_children()
        done = goodqueue("--help")
        times.append(processor_time_of_children() - start)
        assert done.returncode == 0
    assert min(times) < 0.3, times
    assert all(command in done.stdout for command in ("run", "size", "schema", "reproduce"))


@pytest.mark.parametrize("command", ["run", "compare", "size", "schema", "reproduce"])
def test_every_command_has_a_help_text(command: str) -> None:
    done = goodqueue(command, "--help")
    assert done.returncode == 0
    assert "Usage: goodqueue " + command in done.stdout


def test_the_version_is_printed_with_the_kind_of_build() -> None:
    done = goodqueue("--version")
    kinds = r"debug build|release build(, profile-guided)?"
    assert re.fullmatch(rf"goodqueue \d+\.\d+\.\d+ \(({kinds})\)\n", done.stdout)


def test_run_prints_tables_without_colour_into_a_pipe(small: Path) -> None:
    done = goodqueue("run", small)
    assert done.returncode == 0
    assert done.stderr == ""
    assert ANSI not in done.stdout
    for word in ("bottleneck", "upload", "probe", "utilisation", "frames waiting"):
        assert word in done.stdout


def test_run_prints_marks_and_waiting_times_of_applications() -> None:
    scenario = str(ROOT / "scenarios" / "home-web.toml")
    queue = 'topology.bottleneck.queue={ kind = "fq_codel" }'
    arguments = ["run", scenario, "--set", "duration=30s", "--set", queue]
    done = goodqueue(*arguments, "--set", "tcp.ecn=rfc3168")
    assert done.returncode == 0, done.stderr
    assert "marks" in done.stdout
    assert re.search(r"^web +pages +\d+ ", done.stdout, re.MULTILINE)
    assert re.search(r"^downloads +transfers +\d+ ", done.stdout, re.MULTILINE)
    assert re.search(r"^downloads +handshakes +\d+ ", done.stdout, re.MULTILINE)
    slowdown = done.stdout.split("Slowdown of transfers")[1]
    row = re.search(r"^downloads +([\d.]+) +[\d.]+ +([\d.]+) ", slowdown, re.MULTILINE)
    assert row is not None, slowdown
    assert 1 < float(row[1]) < float(row[2]), "a mean below the 99th percentile, neither below 1"
    plain = goodqueue(*arguments)
    assert "marks" not in plain.stdout


def test_run_prints_the_quality_of_calls(small: Path) -> None:
    done = goodqueue("run", small, "--set", 'flow.probe.workload={ kind = "voice" }')
    assert done.returncode == 0, done.stderr
    # Columns: packets, share lost or late, five delays, R and MOS.
    row = re.search(
        r"^probe +(\d+) +[\d.]+ %(?: +[\d.]+){4} +([\d.-]+) +([\d.]+) *$", done.stdout, re.MULTILINE
    )
    assert row is not None, done.stdout
    assert int(row[1]) > 0
    assert 1 <= float(row[3]) <= 4.41


def test_run_prints_the_quality_of_videos_and_games(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", str(ROOT / "scenarios" / "evening.toml"), "--set", "duration=60s"]
    assert run_command(arguments) == 0
    printed = capsys.readouterr().out
    assert run_command([*arguments, "--json"]) == 0
    flows = json.loads(capsys.readouterr().out)["flows"]
    video, game = flows["video"], flows["game"]
    row = re.search(
        r"^video +(\d+) +([\d.]+) +(\d+) +([\d.]+) +([\d.]+) Mb/s +(\d+) *$", printed, re.MULTILINE
    )
    assert row is not None, printed
    keys = ("segments", "startup_delay_s", "stalls", "stall_time_s")
    expected = [*(video[key] for key in keys), video["video_bitrate_bps"] / 1e6]
    expected.append(video["bitrate_switches"])
    assert [float(figure) for figure in row.groups()] == pytest.approx(expected, rel=1e-2)
    for way in ("up", "down"):
        row = re.search(
            rf"^game +{way} +([\d,]+) +([\d,]+) +([\d.]+) % +[\d.]+ +[\d.]+ +([\d.]+) *$",
            printed,
            re.MULTILINE,
        )
        assert row is not None, printed
        updates, late, loss, p99 = (float(figure.replace(",", "")) for figure in row.groups())
        assert [updates, late] == [game[f"{way}_updates"], game[f"{way}_late"]]
        assert loss == pytest.approx(100 * game[f"{way}_loss"], rel=1e-3)
        assert p99 == pytest.approx(1e3 * game[f"p99_{way}_delay_s"], rel=1e-3)


def test_json_has_the_documented_keys(small: Path) -> None:
    done = goodqueue("run", small, "--json")
    summary = json.loads(done.stdout)
    link, flow = summary["links"]["bottleneck"], summary["flows"]["upload"]
    assert 0.8 < link["utilization"] <= 1
    assert link["drops"] > 0
    assert link["loss_rate"] == pytest.approx(link["drops"] / link["arrivals"])
    assert link["mean_backlog_packets"] > 1
    assert flow["goodput_bps"] > 7e5
    assert flow["mean_rtt_s"] > 0.034
    documented = (ROOT / "docs" / "results.md").read_text()
    statistics = re.compile("^(mean|p50|p95|p99|max)_")
    for key in {*summary, *link, *flow, *link["limit"], *summary["totals"]}:
        mean_of = statistics.sub("mean_", key)
        assert re.search(rf"[`.]({key}|{mean_of})\b", documented), key


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(small: Path) -> None:
    jitter = ("--set", "flow.upload.start_jitter=1s")
    once, again, other = (
        goodqueue("run", small, "--json", "--seed", seed, *jitter).stdout for seed in (7, 7, 8)
    )
    assert once == again
    assert once != other


def test_set_replaces_values(small: Path) -> None:
    limit = ("--set", "topology.bottleneck.queue.limit=3p")
    summary = json.loads(goodqueue("run", small, "--json", *limit).stdout)
    assert summary["links"]["bottleneck"]["limit"]["packets"] == 3
    assert summary["links"]["bottleneck"]["max_backlog_packets"] == 3


# Columns: the correct text, its replacement, the column of the mistake, and a part of the message.
def test_size_recommends_and_exports(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    size = ("size", small, "--target", "95%", "--replicates", 8)
    done = goodqueue(*size, "--out", out, XDG_CACHE_HOME=str(tmp_path))
    assert done.returncode == 0
    assert done.stderr == ""
    assert ANSI not in done.stdout
    answer = json.loads((out / "summary.json").read_text())
    best = answer["recommendation"]
    points = {point["packets"]: point for point in answer["curve"]}
    assert points[best["packets"]]["simulated"]["utilization"]["mean"] >= 0.95
    assert points[best["packets"] - 1]["simulated"]["utilization"]["mean"] < 0.95
    assert list(points) == sorted(points)
    assert best["bytes"] == best["packets"] * 583
    assert best["seconds"] == pytest.approx(best["bytes"] * 8 / 1e6)
    line = f"pfifo limit {best['packets']}"
    assert line in answer["exports"][0]["lines"][0]
    assert line in done.stdout
    assert {"curve.png", "pareto.png", "rules.csv"} <= {path.name for path in out.iterdir()}
    printed = goodqueue(*size, "--json", "--jobs", 1, XDG_CACHE_HOME=str(tmp_path / "another"))
    assert json.loads(printed.stdout) == answer, "threads must not change the answer"


def test_an_infeasible_sizing_says_which_bounds_conflict(small: Path, tmp_path: Path) -> None:
    delay = ("--replicates", 8, "--max-delay", "5ms")
    done = goodqueue("size", small, *delay, XDG_CACHE_HOME=str(tmp_path))
    assert done.returncode == 3
    assert "no buffer suffices; nearest: " in done.stdout
    assert "for the bound on the queueing delay alone: 1 packet " in done.stdout
    assert "the bounds contradict each other" in done.stdout


def test_traffic_that_cannot_fill_the_link_is_infeasible(small: Path, tmp_path: Path) -> None:
    window = ("--set", "flow.upload.tcp.receive_window=1000B")
    sized = ("size", small, "--replicates", 8, *window)
    done = goodqueue(*sized, "--min-utilization", "97%", XDG_CACHE_HOME=str(tmp_path))
    assert done.returncode == 3
    assert "so a larger one has no effect" in done.stdout
    for_bursts = goodqueue(*sized, XDG_CACHE_HOME=str(tmp_path))
    assert for_bursts.returncode == 0
    assert "no buffer fills this link" in for_bursts.stdout
    assert "bounds: utilisation at least" in for_bursts.stdout
    assert "drops of the full queue at most 0.1000 %" in for_bursts.stdout


def test_out_holds_pictures_captions_frames_summary_and_scenario(
    small: Path, tmp_path: Path
) -> None:
    out = tmp_path / "deep" / "out"
    done = goodqueue("run", small, "--out", out)
    assert done.returncode == 0
    assert all(f"{picture}.png" in done.stdout for picture in ("backlog", "cwnd", "delay-cdf"))
    captions = (out / "captions.txt").read_text()
    for picture in ("backlog", "cwnd", "delay-cdf"):
        assert (out / f"{picture}.png").read_bytes().startswith(b"\x89PNG")
        assert f"{picture}.png: " in captions
    backlog = pl.read_parquet(out / "backlog.parquet")
    assert backlog.columns == ["link", "time_s", "backlog_packets", "backlog_bytes"]
    summary = json.loads((out / "summary.json").read_text())
    largest = backlog.filter(pl.col("link") == "bottleneck")["backlog_packets"].max()
    assert largest == summary["links"]["bottleneck"]["max_backlog_packets"]
    assert not (out / "packets.parquet").exists(), "not asked for"
    again = json.loads(goodqueue("run", out / "scenario.toml", "--json").stdout)
    assert again["links"] == summary["links"], "the resolved scenario is the same run"
    # A second run replaces the whole directory.
    assert goodqueue("run", small, "--out", out, "--no-series").returncode == 0
    assert not (out / "backlog.parquet").exists()
    assert list(out.parent.iterdir()) == [out]


def test_out_refuses_a_directory_with_other_files(small: Path, tmp_path: Path) -> None:
    precious = tmp_path / "thesis" / "chapter.tex"
    precious.parent.mkdir()
    precious.write_text("x")
    for command in ("run", "size"):
        refused(goodqueue(command, small, *LONG, "--out", precious.parent))
        refused(goodqueue(command, small, *LONG, "--out", precious))
    assert precious.read_text() == "x"


def test_out_never_removes_foreign_files_beside_results(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert goodqueue("run", small, "--out", out, "--no-series").returncode == 0
    (out / "notes.txt").write_text("x")
    for command in ("run", "size"):
        assert "notes.txt" in refused(goodqueue(command, small, *LONG, "--out", out, timeout=60))
    assert (out / "notes.txt").read_text() == "x"
    (out / "notes.txt").unlink()
    assert goodqueue("run", small, "--out", out).returncode == 0
    assert goodqueue("size", small, "--quick", "--out", out).returncode == 6
    assert goodqueue("run", small, "--out", out, "--set", "record.packets=true").returncode == 0


@pytest.mark.parametrize("command", ["run", "size"])
def test_out_where_nothing_can_be_written_is_refused_before_any_run(
    small: Path, command: str
) -> None:
    done = goodqueue(command, small, *LONG, "--out", "/proc/nowhere/out", timeout=60)
    assert "nothing can be written to /proc" in refused(done)


def test_titles_and_paths_are_printed_unchanged(small: Path, tmp_path: Path) -> None:
    title = "a [/b] [red]c\\u001b[31m\\nd"
    small.write_text(SMALL.replace("One flow, one ping", title))
    out = tmp_path / "out[" / "bold]"
    done = goodqueue("run", small, "--out", out)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("a [/b] [red]c [31m d: 20 s measured")
    assert f"written to {out}:" in done.stdout


@pytest.mark.parametrize("arguments", [["schema"], ["reproduce", "--list"], ["--help"]])
def test_a_closed_pipe_on_stdout_is_no_error(arguments: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)  # before a byte is written, so that the first write fails
    try:
        done = subprocess.run(
            [str(COMMAND), *arguments], stdout=write, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (0, "")
    piped = f"set -o pipefail; {COMMAND} {' '.join(arguments)} | head -n 1"
    done = subprocess.run(["/bin/bash", "-c", piped], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1


def piped_in(text: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs the command line with a text as its standard input."""
    command = [str(COMMAND), *arguments]
    return subprocess.run(
        command, input=text, capture_output=True, text=True, check=False, cwd=cwd, timeout=60
    )


def test_a_scenario_may_come_by_standard_input(small: Path, tmp_path: Path) -> None:
    by_file = goodqueue("run", small, "--json").stdout
    assert piped_in(SMALL, "run", "-", "--json", cwd=tmp_path).stdout == by_file
    sized = piped_in(SMALL, "size", "-", "--quick", "--json", cwd=tmp_path)
    assert json.loads(sized.stdout)["link"]["rate_bps"] == 1_000_000
    printed = piped_in(SMALL, "qdisc", "print", "-", cwd=tmp_path)
    assert printed.stdout == goodqueue("qdisc", "print", small).stdout
    wrong = piped_in(SMALL.replace("20s", "20x"), "run", "-", cwd=tmp_path)
    assert "<stdin>:3:" in refused(wrong)


def test_scenarios_to_compare_and_studies_may_come_by_standard_input(
    small: Path, tmp_path: Path
) -> None:
    flags = ("--replicates", "2", "--json", "--store", str(tmp_path / "store"))
    sides = ("--variant", "", "--variant", "topology.bottleneck.queue.limit=5p")
    compared = piped_in(SMALL, "compare", "-", *sides, *flags, cwd=tmp_path)
    assert compared.stdout == goodqueue("compare", small, *sides, *flags).stdout
    other = small.with_name("other.toml")
    other.write_text(SMALL.replace('"20p"', '"5p"'))
    sides_of = json.loads(piped_in(SMALL, "compare", "-", str(other), *flags, cwd=tmp_path).stdout)
    assert [side["name"] for side in sides_of["sides"]] == ["stdin", "other"]
    twice = piped_in(SMALL, "compare", "-", "-", *flags, cwd=tmp_path)
    assert "- is named twice" in refused(twice)
    study = f'schema_version = 1\nscenario = "{small}"\n[sweep]\nflow.upload.count = [1, 2]\n'
    planned = piped_in(study, "sweep", "-", "--dry-run", "--json", cwd=tmp_path)
    assert json.loads(planned.stdout)["runs"] == 2
    assert "with --out" in refused(piped_in(study, "sweep", "-", cwd=tmp_path))
    out = str(tmp_path / "runs")
    done = piped_in(study, "sweep", "-", "--out", out, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    wrong = piped_in(study.replace("[1, 2]", "[1, 1]"), "sweep", "-", "--out", out, cwd=tmp_path)
    assert "<stdin>:4:" in refused(wrong)


def test_files_of_a_scenario_from_standard_input_are_in_the_working_directory(
    tmp_path: Path,
) -> None:
    text = (ROOT / "scenarios" / "web-search.toml").read_text()
    missing = piped_in(text, "qdisc", "print", "-", cwd=tmp_path)
    assert "sizes-web-search.csv" in refused(missing)
    found = piped_in(text, "qdisc", "print", "-", cwd=ROOT / "scenarios")
    assert "sizes-web-search.csv" not in found.stderr


def test_a_line_of_tc_may_come_by_standard_input(tmp_path: Path) -> None:
    line = "qdisc codel 8001: root refcnt 2 limit 1000p target 5ms interval 100ms"
    by_word = goodqueue("qdisc", "parse", line).stdout
    assert 'kind = "codel"' in by_word
    assert piped_in(f"{line}\n", "qdisc", "parse", "-", cwd=tmp_path).stdout == by_word


def test_only_terminals_get_colour_and_progress_and_no_color_is_respected(small: Path) -> None:
    size = ("size", small, "--replicates", 8, "--target", "90%", "--store", small.parent / "runs")
    coloured = on_terminal(*size, "--seed", 2)
    assert "\x1b[1m" in coloured
    assert "sizing bottleneck" in coloured
    plain = on_terminal(*size, NO_COLOR="1")
    assert not re.search(r"\x1b\[(3[0-7]|38|9[0-7])", plain)


def wait_until_running(process: subprocess.Popen[str]) -> None:
    """Waits until the process has used more processor time than its start can take."""
    ticks = os.sysconf("SC_CLK_TCK")
    while process.poll() is None:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        if (int(fields[11]) + int(fields[12])) / ticks > 2:
            return
        time.sleep(0.05)


@pytest.mark.parametrize("command", ["run", "size"])
def test_ctrl_c_ends_at_once_with_130(small: Path, command: str, tmp_path: Path) -> None:
    # One run takes far longer than the test waits.
    long = LONG if command == "run" else ("--set", "duration=13900s", "--jobs", "1")
    with started(
        [COMMAND, command, small, *long],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},
    ) as process:
        wait_until_running(process)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=20)
    assert process.returncode == 130
    assert stderr == "interrupted\n"


def test_ctrl_c_keeps_the_finished_part_of_an_answer(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record = runner.Runner.figures
    rounds = iter(range(3))

    def interrupted_in_round_4(*arguments: Any) -> list[list[float]]:  # noqa: ANN401
        if next(rounds, None) is None:
            raise KeyboardInterrupt
        return record(*arguments)

    monkeypatch.setattr(runner.Runner, "figures", interrupted_in_round_4)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    out = tmp_path / "out"
    assert run_command(["size", str(small), "--out", str(out)]) == 130
    printed = capsys.readouterr()
    assert "not shown: Ctrl-C came before the search ended" in printed.out
    assert "the same command continues" in printed.out
    assert printed.err == "interrupted\n"
    answer = json.loads((out / "summary.json").read_text())
    assert (answer["interrupted"], answer["recommendation"]["feasible"]) == (True, None)
    # One buffer shows that the flows fill the link. The search then tries a coarse grid up to
    # beyond the buffer that theory expects, and halves the bracket.
    limits = [point["packets"] for point in answer["curve"]]
    assert limits == [1, 5, 9, 17]
    assert (out / "curve.png").exists()


def test_the_module_runs_like_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from goodqueue.cli import main; main()"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in {0, 2}
    assert "Usage" in done.stdout + done.stderr


def test_a_switch_with_many_ports_prints_the_busiest(tmp_path: Path) -> None:
    text = """schema_version = 1
duration = "100ms"
[topology]
shape = "star"
ports = 16
port = { rate = "10Mbps", delay = "1ms", queue = { limit = "10p" } }
[[flow]]
name = "answer"
from = "host12..15"
to = "host11"
start_jitter = "0s"
workload = { kind = "bulk" }
"""
    file = tmp_path / "star.toml"
    file.write_text(text)
    done = goodqueue("run", str(file), "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done
    rows = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("port")]
    # Rows are in the order of the scenario; port 11 has the data, and ports 12 to 15 have the ACKs.
    assert len(rows) == 20
    assert {"port11", "port12", "port15.reverse"} <= set(rows)
    assert "... and 12 links with less traffic" in done.stdout
    captions = (tmp_path / "out" / "captions.txt").read_text()
    assert "Packets waiting at port11 over time" in captions
    again = goodqueue("run", str(tmp_path / "out" / "scenario.toml"), "--json")
    first = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert json.loads(again.stdout)["links"] == first["links"]


def test_links_that_only_delay_have_no_rate_and_no_picture(tmp_path: Path) -> None:
    text = """schema_version = 1
duration = "5s"
[topology]
shape = "dumbbell"
access = { rate = "10Mbps", delay = "1ms", queue = { limit = "50p" } }
bottleneck = { rate = "unlimited", delay = "20ms", reverse = { rate = "1Mbps" } }
[[flow]]
name = "upload"
workload = { kind = "bulk", size = "500kB" }
"""
    file = tmp_path / "far.toml"
    file.write_text(text)
    done = goodqueue("run", str(file), "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("bottleneck")]
    assert [row[1] for row in rows[:2]] == ["unlimited", "1"]
    captions = (tmp_path / "out" / "captions.txt").read_text()
    assert "Packets waiting at bottleneck.reverse over time" in captions
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["links"]["bottleneck"]["rate_bps"] is None
    assert 'rate = "unlimited"' in (tmp_path / "out" / "scenario.toml").read_text()
    size = goodqueue("size", str(file), "--target", "95%")
    assert size.returncode == 2
    assert "has no queue: its rate is unlimited" in size.stderr


def test_a_missing_file_is_reported_in_the_systems_words(small: Path, tmp_path: Path) -> None:
    missing = tmp_path / "none" / "a.pcap"
    for command in (("run", small, "--pcap", f"before:bottleneck={missing}"), ("analyze", missing)):
        message = refused(goodqueue(*command))
        assert "No such file or directory" in message
        assert "help: name an existing file in an existing directory" in message


def test_reproduce_names_finished_experiments_when_interrupted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    figures, calls = runner.Runner.figures, []

    def interrupted(*arguments: Any, **more: Any) -> Any:  # noqa: ANN401
        calls.append(arguments)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return figures(*arguments, **more)

    monkeypatch.setattr(runner.Runner, "figures", interrupted)
    page = tmp_path / "x[red]y.html"
    command = ["reproduce", "gijsbers2011", "--json", "--store", str(tmp_path / "store")]
    command += ["--report", str(page)]
    assert run_command(command) == 130
    printed = capsys.readouterr()
    answer = json.loads(printed.out)
    assert len({cell["experiment"] for cell in answer["cells"]}) == 1
    assert (answer["schema_version"], answer["interrupted"]) == (1, True)
    assert printed.err.count("interrupted") == 1
    assert "finished runs are stored" in printed.err
    assert f"wrote {page}\n" in printed.err, "whatever brackets a path has"
    one = answer["experiments"][0]
    assert one["title"] in page.read_text(encoding="utf-8")
    assert len(answer["experiments"]) == 1
    assert {"tolerance", "weak"} <= set(answer["cells"][0])


def test_an_interrupt_without_a_cache_says_that_results_are_lost(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The cache cannot be made because a file has its name, so nothing is kept."""

    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "cache").write_text("x")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(runner.Runner, "figures", interrupted)
    assert run_command(["size", str(small)]) == 130
    assert "finished runs are lost" in capsys.readouterr().out
    assert run_command(["reproduce", "gijsbers2011"]) == 130
    assert "finished runs are lost" in capsys.readouterr().err


def test_a_table_in_a_pipe_is_not_cut() -> None:
    link = ("--rate", "2Gbps", "--rtt", "100ms", "--flows", "2000", "--max-loss", "1%")
    printed = goodqueue("size", *link, "--quick", "--explain").stdout
    assert "fluid_stability (most)  " in printed
    assert max(map(len, printed.splitlines())) > 120


def test_a_file_is_replaced_whole_and_a_pipe_is_written_to_directly(tmp_path: Path) -> None:
    target, link = tmp_path / "page.html", tmp_path / "link.html"
    target.write_text("before")
    link.symlink_to(target)
    with pytest.raises(UnicodeEncodeError):
        write_whole(link, "half of it, and then \ud800")
    assert target.read_text() == "before"
    write_whole(link, "after")
    assert (target.read_text(), link.is_symlink()) == ("after", True)
    assert {path.name for path in tmp_path.iterdir()} == {"page.html", "link.html"}
    read, write = os.pipe()
    write_whole(Path(f"/dev/fd/{write}"), "through")
    assert os.read(read, 100) == b"through"
    os.close(read)
    os.close(write)
