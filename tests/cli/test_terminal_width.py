"""Tables on narrow terminals: no digit and no name is cut, and omitted columns are named."""

from __future__ import annotations

import fcntl
import lzma
import os
import pty
import re
import struct
import subprocess
import termios
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from conftest import COMMAND, ROOT, SMALL
from goodqueue.cli import run_command
from goodqueue.cli.app import application
from goodqueue.output import terminal
from helpers.processes import started

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

WIDTHS = (60, 80, 100, 200)
FIGURE = re.compile(r"\S*\d\S*")
LEFT_OUT = re.compile(r"omitted for lack of space: (.*?); a wider terminal or --json shows them")
STREAM = ("--rate", "1Mbps", "--rtt", "60ms", "--duration", "30s", "--replicates", "2")
LINK = ("--rate", "10Mbps", "--rtt", "40ms", "--flows", "10", "--max-loss", "1%")

STUDY = """\
schema_version = 1
title = "Buffers and rates"
scenario = "small.toml"
seeds = 2

[sweep]
topology.bottleneck.queue.limit = ["10p", "20p"]
topology.bottleneck.rate = ["1Mbps", "2Mbps"]
flow.probe.workload.interval = ["100ms"]
topology.bottleneck.delay = ["10ms"]
"""

LONG = "an-upload-of-the-nightly-backup-from-the-office-in-the-north"
"""A name of sixty letters."""

CROWD = f"""
schema_version = 1
title = "Long names, 10 Gb/s and a hundred flows"
duration = "60ms"
warmup = "20ms"
[topology]
shape = "dumbbell"
access = {{ rate = "100Gbps", delay = "1ms" }}
bottleneck = {{ rate = "10Gbps", delay = "1ms", queue = {{ kind = "drop_tail", limit = "1bdp" }} }}
[[flow]]
name = "{LONG}"
count = 100
start_jitter = "1ms"
workload = {{ kind = "bulk" }}
[[flow]]
name = "web-{LONG[4:]}"
workload = {{ kind = "web", think = "1ms" }}
[[flow]]
name = "ping-{LONG[5:]}"
workload = {{ kind = "ping", interval = "10ms" }}
"""
assert len(LONG) == 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with scenarios, a study and its runs, and a capture."""
    folder = tmp_path_factory.mktemp("width")
    (folder / "small.toml").write_text(SMALL)
    (folder / "crowd.toml").write_text(CROWD)
    (folder / "study.toml").write_text(STUDY)
    crowd = STUDY.replace("small.toml", "crowd.toml").replace(
        "flow.probe.workload.interval", f"flow.ping-{LONG[5:]}.workload.interval"
    )
    (folder / "crowd-study.toml").write_text(
        crowd.replace('["1Mbps", "2Mbps"]', '["5Gbps", "10Gbps"]').replace('["10ms"]', '["1ms"]')
    )
    for study in ("study", "crowd-study"):
        file, store = str(folder / f"{study}.toml"), str(folder / f"{study}-runs")
        assert run_command(["sweep", file, "--out", store]) == 0
    capture = ROOT / "tests" / "data" / "captures" / "reno-before.pcap.xz"
    (folder / "reno.pcap").write_bytes(lzma.decompress(capture.read_bytes()))
    records = ROOT / "tests" / "data" / "flows" / "mixed.csv.xz"
    (folder / "mixed.csv").write_bytes(lzma.decompress(records.read_bytes()))
    return folder


EVENING = str(ROOT / "scenarios" / "evening.toml")
CASES: dict[str, tuple[str, ...]] = {
    "run": ("run", "@small.toml"),
    "run, much traffic": ("run", EVENING, "--set", "duration=60s"),
    "run, a crowd": ("run", "@crowd.toml"),
    "run, a flow explained": ("run", "@small.toml", "--explain", "upload", "--to", "2s"),
    "run, a flow of a crowd": ("run", "@crowd.toml", "--explain", f"{LONG}[7]"),
    "compare": (
        *("compare", "@small.toml", "--replicates", "2", "--store", "@compared"),
        *("--variant", "", "--variant", "topology.bottleneck.queue.limit=5p"),
        *("--variant", "topology.bottleneck.queue={kind='codel'}"),
    ),
    "compare, a crowd": (
        *("compare", "@crowd.toml", "--replicates", "2", "--store", "@compared"),
        *("--variant", "", "--variant", "topology.bottleneck.queue.limit=0.5bdp"),
    ),
    "size": ("size", "@small.toml", "--target", "90%", "--replicates", "8", "--store", "@sized"),
    "size, every table": (
        *("size", "@small.toml", "--explain", "--target", "90%"),
        "--store",
        "@sized",
    ),
    "run, pauses": ("run", str(ROOT / "scenarios" / "lossless.toml")),
    "size, theory": ("size", *LINK, "--quick"),
    "size, a fast link": (
        *("size", "--rate", "10Gbps", "--rtt", "10ms..120ms", "--flows", "100", "--quick"),
    ),
    "analyze": ("analyze", "@reno.pcap", "--link", "10Mbps"),
    "sweep": ("sweep", "@study.toml", "--dry-run"),
    "sweep, a crowd": ("sweep", "@crowd-study.toml", "--dry-run"),
    "sweep, done": ("sweep", "@study.toml", "--out", "@study-runs"),
    "results": ("results", "@study-runs"),
    "results, runs": ("results", "@study-runs", "--runs"),
    "results, long": ("results", "@study-runs", "--long"),
    "results, checked": ("results", "@study-runs", "--verify"),
    "results, a crowd": ("results", "@crowd-study-runs"),
    "results, goodput of a crowd": (
        *("results", "@crowd-study-runs", "--metric", f"{LONG}.goodput_bps.sum"),
        *("--metric", f"{LONG}.goodput_bps.jain"),
    ),
    "reproduce": ("reproduce", "clustering-buffer", "shortest-rtt", "--store", "@papers"),
    "reproduce, the list": ("reproduce", "--list"),
    "characterize": (
        *("characterize", "fq_codel", "--section", "5.1.1,8.2.5", "--seeds", "2"),
        *("--store", "@characterized"),
    ),
    "headroom": ("headroom", "--speed", "100Gbps", "--cable", "300m"),
    "tune": (
        *("tune", "@small.toml", "--vary", "topology.bottleneck.queue.limit=5p..50p"),
        *("--keep", "bottleneck.utilization>=50%", "--replicates", "8", "--store", "@tuned"),
    ),
    "box": (
        *("box", "--ports", "12x1Gbps", "--memory", "400kB", "--incast", "8x16kB"),
        *("--keep", "query.p99<=10ms", "--replicates", "8", "--store", "@boxes"),
    ),
    "tune, two parameters": (
        *("tune", "@small.toml", "--vary", "topology.bottleneck.queue.limit=5p..50p"),
        *("--vary", "topology.bottleneck.rate=800kbps..1Mbps", "--replicates", "8"),
        *("--keep", "bottleneck.utilization>=50%", "--least", "upload.p99", "--store", "@tuned"),
    ),
    "home": (
        *("home", "--line", "cable", "--down", "10Mbps", "--up", "2Mbps", "--traffic"),
        *("game, web, upload", "--replicates", "8", "--store", "@home"),
    ),
    "home, every rate": (
        *("home", "--line", "cable", "--down", "10Mbps", "--up", "2Mbps", "--traffic"),
        *("game, web, upload", "--replicates", "8", "--store", "@home", "--explain"),
    ),
    "smoothing": ("smoothing", *STREAM),
    "smoothing, theory": ("smoothing", *STREAM[:6], "--quick"),
    "qdisc parse": (
        *("qdisc", "parse", "qdisc fq_codel 0: root limit 10240p flows 1024 quantum 1514"),
    ),
    "qdisc print": ("qdisc", "print", str(ROOT / "scenarios" / "s1.toml")),
    "export": ("export", str(ROOT / "scenarios" / "s1.toml"), "--to", "ns2"),
    "import": ("import", str(ROOT / "tools" / "ns2" / "dumbbell.tcl")),
    "flows": ("flows", "@mixed.csv"),
    "schema": ("schema",),
}
"""Arguments of every command; `@` stands for the folder of the tests."""


def command(name: str, folder: Path) -> list[str]:
    """Returns the arguments of a case."""
    return [str(folder / word[1:]) if word.startswith("@") else word for word in CASES[name]]


def commands() -> set[str]:
    """Returns every command of the application, including those of its groups."""
    names = {one.name for one in application().registered_commands}
    for group in application().registered_groups:
        assert group.typer_instance is not None
        names |= {f"{group.name} {one.name}" for one in group.typer_instance.registered_commands}
    return {name for name in names if name is not None}


def test_every_command_is_tried_at_every_width() -> None:
    tried = {" ".join(words[:count]) for words in CASES.values() for count in (1, 2)}
    assert commands() >= {"run", "compare", "qdisc parse"}
    figures_differ_each_time = {"calibrate", "demo", "emulate", "lab", "probe"}
    assert commands() - figures_differ_each_time <= tried, "add a case for the new command"


@pytest.fixture
def at_width(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[[list[str], int], str]]:
    """Returns the output of a command on a terminal with this many columns."""

    def printed(arguments: list[str], width: int) -> str:
        monkeypatch.setattr(terminal, "ANY_WIDTH", width)
        terminal.stdout.cache_clear()
        capsys.readouterr()
        assert run_command(arguments) in (0, 3, 6)
        return capsys.readouterr().out

    yield printed
    terminal.stdout.cache_clear()


def figures(page: str) -> set[str]:
    """Returns every word with a digit, except the durations of runs, which differ each time."""
    return {word.strip(",;") for word in FIGURE.findall(page.partition("\nabout ")[0])}


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_cut_at_any_width(
    name: str, folder: Path, at_width: Callable[[list[str], int], str]
) -> None:
    arguments = command(name, folder)
    pages = {width: at_width(arguments, width) for width in WIDTHS}
    whole = at_width(arguments, 10_000)
    if name in {"export", "schema"}:  # documents for programs
        assert set(pages.values()) == {whole}
        return
    known = figures(whole)
    names = [word for word in known if word[0].isalpha()]
    known |= {key for word in names for key in word.split(".")}
    for width, page in pages.items():
        assert "…" not in page
        # A name that is longer than half of a terminal continues in the next line.
        cut = [
            word
            for word in figures(page) - known
            if not any(one.endswith(word) and one.partition(word)[0] in page for one in names)
        ]
        assert not cut, f"{cut} at {width} columns"
        rows = [line.rstrip() for line in page.splitlines() if re.search(r"\S {2,}\S", line)]
        wide = [line for line in rows if len(line) > width]
        assert not wide, f"{wide} at {width} columns"


def test_a_run_at_80_columns_names_omitted_columns(
    folder: Path, at_width: Callable[[list[str], int], str]
) -> None:
    narrow, wide = (at_width(["run", str(folder / "small.toml")], width) for width in (80, 200))
    told = LEFT_OUT.findall(" ".join(narrow.split()))
    assert len(told) == 2, "of links and of flows"
    assert "delay p50" in told[0]
    assert "completion, s" in told[1]
    assert not LEFT_OUT.search(wide)
    assert all(len(line) <= 80 for line in narrow.splitlines() if "  " in line)


@pytest.mark.parametrize("width", [60, 80])
def test_a_terminal_shows_whole_names(width: int, folder: Path) -> None:
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    environment = {name: text for name, text in os.environ.items() if name != "COLUMNS"}
    with started(
        [COMMAND, "run", folder / "small.toml"],
        stdout=child,
        stderr=subprocess.DEVNULL,
        env={**environment, "TERM": "dumb"},
    ) as process:
        os.close(child)
        printed = b""
        try:
            while chunk := os.read(parent, 4096):
                printed += chunk
        except OSError:  # the terminal ends with its process
            pass
        assert process.wait(60) == 0
    os.close(parent)
    text = printed.decode()
    assert "…" not in text
    assert re.search(r"^bottleneck +1 Mb/s ", text, re.MULTILINE)
    assert max(len(line) for line in text.splitlines() if "  " in line) <= width


NAMES = st.text("abcdefghij", min_size=1, max_size=14)
NUMBERS = st.from_regex(r"[1-9]\d{0,7}\.\d{2} ± \d\.\d{3}", fullmatch=True)


@given(data=st.data(), width=st.integers(48, 200))
def test_a_column_that_is_shown_is_not_cut(data: st.DataObject, width: int) -> None:
    columns = data.draw(st.lists(NAMES, min_size=2, max_size=12, unique=True))
    rows = data.draw(
        st.lists(st.tuples(NAMES, *[NUMBERS] * (len(columns) - 1)), min_size=1, max_size=4)
    )
    console = Console(width=width, highlight=False, color_system=None)
    with console.capture() as capture:
        console.print(terminal.table("", columns, rows))
    page = capture.get()
    told = re.search(r"omitted for lack of space: (.*?); a wider", " ".join(page.split()))
    left_out = set() if told is None else set(told[1].split(", "))
    assert all(len(line) <= width for line in page.splitlines())
    assert columns[0] not in left_out
    for column, *cells in zip(columns, *rows, strict=True):
        if column not in left_out:
            assert all(cell in page for cell in (column, *cells))


def test_the_most_important_columns_stay() -> None:
    console = Console(width=42, highlight=False)
    columns = ["name", "first", "second", "third", "verdict"]
    made = terminal.table("", columns, [["x", "1" * 12, "2" * 12, "3" * 12, "yes"]], ["verdict"])
    with console.capture() as capture:
        console.print(made)
    page = capture.get()
    assert "yes" in page
    assert "1" * 12 in page
    assert "omitted for lack of space: third; a wider" in " ".join(page.split())


def test_columns_of_prose_wrap_and_are_not_omitted() -> None:
    console = Console(width=50, highlight=False)
    error = "the file names a link that does not exist, so the flow has no path to take"
    made = terminal.table("", ["seed", "error"], [["1", error]], prose=["error"])
    with console.capture() as capture:
        console.print(made)
    assert " ".join(capture.get().split()).endswith(f"1 {error}")
