"""`goodqueue analyze` from outside: tables, JSON, files, a scenario, and refusals."""

from __future__ import annotations

import json
import lzma
import re
import struct
import subprocess
from typing import TYPE_CHECKING

import polars as pl
import pytest

import goodqueue
from conftest import COMMAND, ROOT
from conftest import goodqueue as command
from goodqueue.cli import run_command
from goodqueue.core.files.outdir import check_output
from goodqueue.errors import RequestError
from goodqueue.output.passive import tables as capture_tables
from goodqueue.output.passive.page import write_page
from goodqueue.output.terminal import counted, rate
from goodqueue.passive import analyze
from goodqueue.passive.link import link_of
from helpers.processes import started

if TYPE_CHECKING:
    from pathlib import Path

CAPTURES = ROOT / "tests/data" / "captures"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Returns captures of several flows: one is limited by its window, one by its application."""
    folder = tmp_path_factory.mktemp("pair")
    for tap in ("before", "after"):
        packed = CAPTURES / f"mixed-{tap}.pcap.xz"
        (folder / f"{tap}.pcap").write_bytes(lzma.decompress(packed.read_bytes()))
    return folder / "before.pcap", folder / "after.pcap"


def test_tables_name_the_link_the_flows_and_the_parameters(pair: tuple[Path, Path]) -> None:
    done = command("analyze", pair[0], "--after", pair[1])
    assert done.returncode == 0
    assert done.stderr == ""
    for words in ("of a FIFO", "receiver window", "congestion, local", "N_b:"):
        assert words in done.stdout
    assert f"goodqueue size --from {pair[0]} --after {pair[1]}\n" in done.stdout


def test_a_page_has_the_link_the_flows_the_parameters_and_the_pictures(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    """It stands alone: it loads nothing, and it names the command that made it."""
    page = tmp_path / "page.html"
    done = command("analyze", pair[0], "--after", pair[1], "--report", page)
    assert done.returncode == 0
    text = page.read_text()
    for words in ("of a FIFO", "receiver window", "N_b:", "goodqueue analyze", "data:image/png"):
        assert words in text
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "[bold]" not in text
    [(first, rest)] = re.findall('<p class="number"><b>(.*?)</b> (.*?)</p>', text)
    assert f"Its buffer holds {first} {rest.split(' of ', maxsplit=1)[0]}" in text
    assert text.count('<div class="tile">') == 3
    refused = command("analyze", pair[0], "--report", pair[0])
    assert refused.returncode == 2
    assert "--report" in refused.stderr


def test_a_page_without_a_delay_begins_with_the_throughput(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    """Its third tile names the capture that is missing."""
    page = tmp_path / "page.html"
    analysis = analyze(pair[0])
    analysis.summary["link"] |= {"buffer": None, "queueing_delay_s": None}
    write_page(analysis, [], ["analyze"], page)
    [first] = re.findall('<p class="number"><b>(.*?)</b> pass the link</p>', page.read_text())
    assert first == rate(analysis.summary["link"]["throughput_bps"])
    assert "needs a capture behind the queue (--after)" in page.read_text()


def test_files_are_whole_and_may_be_replaced(pair: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = command("analyze", pair[0], "--after", pair[1], "--json", "--out", out)
    summary = json.loads(done.stdout)
    assert summary == json.loads((out / "summary.json").read_text())
    flows = pl.read_parquet(out / "flows.parquet")
    assert flows["bytes"].sum() == sum(of["bytes"] for of in summary["classes"].values())
    captions = (out / "captions.txt").read_text().splitlines()
    drawn = sorted(path.name for path in out.glob("*.png"))
    assert drawn == ["classes.png", "link.png", "loss-bursts.png", "rtts.png"]
    assert sorted(line.split(":")[0] for line in captions) == drawn
    check_output(out)


def test_swapped_captures_are_refused(
    pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert not any("swapped" in note for note in analyze(pair[0], after=pair[1]).summary["notes"])
    assert "the captures are swapped" in refusal(capsys, pair[1], "--after", pair[0])


def test_captures_with_different_clocks_are_refused(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    early = tmp_path / "early.pcap"
    early.write_bytes(shifted(pair[1].read_bytes(), -1))
    with pytest.raises(RequestError, match="different clocks"):
        analyze(pair[0], after=early)


def shifted(capture: bytes, seconds: int) -> bytes:
    """Returns the capture with all times later by `seconds`."""
    data, place = bytearray(capture), 24
    while place < len(data):
        time, _, kept = struct.unpack_from("<3I", data, place)
        struct.pack_into("<I", data, place, time + seconds)
        place += 16 + kept
    return bytes(data)


def test_the_scenario_repeats_the_captured_link_and_flows(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    file = tmp_path / "link.toml"
    assert command("analyze", pair[0], "--after", pair[1], "--to-scenario", file).returncode == 0
    real = analyze(pair[0], after=pair[1])
    simulated = goodqueue.run(file, series=False).summary
    link = simulated["links"]["bottleneck"]
    assert link["rate_bps"] == pytest.approx(real.summary["link"]["rate_bps"], abs=1)
    # The longest wait equals the buffer less at most one packet, because 40 kB are no whole number
    # of packets.
    packet_s = 8 * 1500 / link["rate_bps"]
    assert link["limit"]["ms"] / 1e3 == pytest.approx(
        real.summary["link"]["buffer"]["s"], abs=packet_s
    )
    of = simulated["flows"]
    limits = [of[f"tcp{number}"]["class"] for number in range(4)]
    # The fourth flow writes 300 kb/s. The simulator's class `size` means that the application has
    # no more data.
    assert limits == ["congestion", "congestion", "window", "size"]
    assert of["short"]["class"] == "size"


def test_the_link_of_the_rules_has_the_estimates(pair: tuple[Path, Path]) -> None:
    analysis = analyze(pair[0], after=pair[1])
    link, found = link_of(analysis), analysis.parameters
    assert link.congestion_control == "cubic"
    assert (link.packet_bytes, link.framing_bytes) == (1500, 14)  # Ethernet
    assert found["T_e_s"] is not None
    assert link.harmonic_rtt_s == pytest.approx(found["T_e_s"].value)
    assert found["C_e_bps"] is not None
    assert link.local_rate_bps == pytest.approx(found["C_e_bps"].value)
    assert link.flows == 2


def test_size_from_a_capture_uses_its_estimates(
    pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    capture = ["--from", str(pair[0]), "--after", str(pair[1]), "--max-delay", "50ms"]
    assert run_command(["size", *capture, "--quick", "--json"]) == 6
    answer = json.loads(capsys.readouterr().out)
    link = link_of(analyze(pair[0], after=pair[1]))
    asked = answer["link"]
    assert (asked["flows"], asked["rate_bps"]) == (link.flows, link.rate_bps)
    assert asked["local_share"] == pytest.approx(link.local_share)
    assert asked["max_delay_s"] == 0.05
    assert "T_e 48" in answer["notes"][0]


def test_a_rate_below_the_throughput_is_unknown(pair: tuple[Path, Path]) -> None:
    """A given rate that contradicts the capture gives a note, and no utilisation above 100 %."""
    analysis = analyze(pair[0], link_rate_bps=100_000)
    link = analysis.summary["link"]
    assert (link["rate_bps"], link["utilization"], link["buffer"]) == (None, None, None)
    assert any("below the throughput" in note for note in analysis.summary["notes"])
    with pytest.raises(RequestError, match="below the throughput"):
        link_of(analysis)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--from", "CAPTURE", "--flows", "3"), "--flows is estimated from"),
        (("--after", "CAPTURE"), "name it with --from"),
    ],
)
def test_size_refuses_options_that_a_capture_excludes_or_requires(
    options: tuple[str, ...],
    says: str,
    pair: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = [str(pair[0]) if option == "CAPTURE" else option for option in options]
    assert run_command(["size", *arguments]) == 2
    assert says in capsys.readouterr().err


def test_a_truncated_capture_is_read_up_to_its_end(
    pair: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(pair[0].read_bytes()[:100_000])
    assert run_command(["analyze", str(cut)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "1 cut record" in printed
    assert "the file ends within a record at byte" in printed


def test_captures_without_common_packets_are_refused(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    other = tmp_path / "other.pcap"
    other.write_bytes(lzma.decompress((CAPTURES / "bbr2-after.pcap.xz").read_bytes()))
    with pytest.raises(RequestError, match="no packet in common"):
        analyze(pair[0], after=other)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"hello\n", "it is text"),
        (b"", "it is empty"),
        (b"\xd4\xc3\xb2\xa1\2\0\4\0" + bytes(16), "it holds no frames"),
    ],
)
def test_a_file_that_is_no_capture_is_refused(
    content: bytes, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "some.pcap"
    file.write_bytes(content)
    assert says in refusal(capsys, file)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--link", "4"), 'write "4Mbps"'),
        (("--threshold", "speed=1"), "unknown threshold 'speed'"),
        (("--threshold", "speed"), "write --threshold NAME=VALUE"),
        (("--threshold", "least_decrease=3"), "did you mean 'least_decreases'?"),
        (("--threshold", "least_decreases=nan"), "--threshold least_decreases=nan: write a number"),
        (("--threshold", "reduction=-1"), "from 0 to"),
        (("--threshold", "least_decreases=0"), "from 1 to"),
        (("--threshold", "slow_start_segments=0.5"), "from 1 to"),
        (("--threshold", "idle_s=1e10"), "from 0 to"),
        (("--drops", "DROPS"), "DROPS:3: 'soon' has no time"),
        (("--drops", "CAPTURE"), "is not a drop log"),
        (("--seed", "-1"), "from 0 to"),
        (("--seed", "9" * 20), "from 0 to"),
        (("--to-scenario", "."), ". is a directory"),
        (("--to-scenario", "no/such/place.toml"), "is not a directory"),
    ],
)
def test_wrong_options_are_refused(
    options: tuple[str, str],
    says: str,
    pair: tuple[Path, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    drops = tmp_path / "drops.csv"
    drops.write_text("flow,time_s\n1,2.5\nsoon\n")
    flag, value = options
    value = value.replace("DROPS", str(drops)).replace("CAPTURE", str(pair[1]))
    message = refusal(capsys, pair[0], flag, value)
    assert says.replace("DROPS", str(drops)) in message


@pytest.mark.parametrize("time", ["nan", "inf", "-5"])
def test_a_drop_log_with_invalid_times_is_refused(
    time: str, pair: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drops = tmp_path / "drops.csv"
    drops.write_text(f"2.5\n{time}\n")
    assert f"{drops}:2: '{time}' has no time" in refusal(capsys, pair[0], "--drops", drops)


@pytest.mark.parametrize(
    ("text", "note"),
    [("time_s\n", "contains no drop"), ("2.5\n", "no entry (1 in all)")],
)
def test_a_drop_log_that_does_not_fit_the_capture_gives_a_note(
    text: str,
    note: str,
    pair: tuple[Path, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    drops = tmp_path / "drops.csv"
    drops.write_text(text)
    assert run_command(["analyze", str(pair[0]), "--drops", str(drops)]) == 0
    printed = capsys.readouterr().out
    assert note in printed
    assert run_command(["analyze", str(pair[0]), "--drops", str(drops), "--json"]) == 0
    assert sum(note in one for one in json.loads(capsys.readouterr().out)["notes"]) == 1


def records(capture: Path) -> tuple[bytes, list[tuple[int, bytes]]]:
    """Returns the header of a little-endian pcap file, and each record with its frame's length."""
    content, at, found = capture.read_bytes(), 24, []
    while at < len(content):
        kept, frame = struct.unpack_from("<II", content, at + 8)
        found.append((frame, content[at : at + 16 + kept]))
        at += 16 + kept
    return content[:24], found


def test_a_capture_of_a_handshake_has_its_files(
    pair: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header, found = records(pair[0])
    three = [record for frame, record in found if frame < 100][:3]
    (tmp_path / "three.pcap").write_bytes(header + b"".join(three))
    out = tmp_path / "out"
    command = ["analyze", str(tmp_path / "three.pcap"), "--link", "10Mbps", "--out", str(out)]
    assert run_command(command) == 0
    assert "written to" in capsys.readouterr().out
    assert not (out / "classes.png").exists()


def test_one_packet_makes_no_scenario(
    pair: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The capture holds only the first packet that carries data."""
    header, found = records(pair[0])
    alone = tmp_path / "one.pcap"
    alone.write_bytes(header + next(record for frame, record in found if frame > 1000))
    target = tmp_path / "scenario.toml"
    message = refusal(capsys, alone, "--link", "10Mbps", "--to-scenario", target)
    assert "too short for a scenario" in message
    assert not target.exists()


def test_the_scenario_is_written_if_stdout_is_closed(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    target = tmp_path / "scenario.toml"
    with started(
        [COMMAND, "analyze", pair[0], "--after", pair[1], "--to-scenario", target],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        process.wait(timeout=60)
    assert goodqueue.load(target).links


def test_notes_that_are_not_shown_are_counted(
    pair: tuple[Path, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture_tables, "MAX_NOTES_PRINTED", 1)
    assert run_command(["analyze", str(pair[0])]) == 0
    more = len(analyze(pair[0]).summary["notes"]) - 1
    assert f"... and {counted(more, 'more note')}; --json prints them" in capsys.readouterr().out


def test_brackets_in_a_name_are_no_markup(pair: tuple[Path, Path], tmp_path: Path) -> None:
    capture, page = tmp_path / "a[bold]x.pcap", tmp_path / "page.html"
    capture.write_bytes(pair[0].read_bytes())
    command = ["size", "--from", str(capture), "--after", str(pair[1]), "--quick"]
    run_command([*command, "--report", str(page)])
    assert "estimated from a[bold]x.pcap," in page.read_text(encoding="utf-8")


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Asserts that the command refuses with a message and no output, and returns the message."""
    assert run_command(["analyze", *map(str, arguments)]) == 2
    printed = capsys.readouterr()
    assert not printed.out
    return printed.err
