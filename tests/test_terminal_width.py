"""Tables on narrow terminals: no digit and no name is cut, and what is left out is named."""

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
from goodqueue.cli import run_command, terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

WIDTHS = (60, 80, 100, 200)
FIGURE = re.compile(r"\S*\d\S*")
LEFT_OUT = re.compile(r"left out for want of room: (.*?); a wider terminal or --json shows them")
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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small scenario, a study of it, its runs and a capture."""
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def command(name: str, folder: Path) -> list[str]:
    """The arguments of a command that prints tables."""
    small, study, store = (str(folder / one) for one in ("small.toml", "study.toml", "store"))
    if name == "results":
        assert run_command(["sweep", study, "--out", store]) == 0
    if name == "analyze":
        capture = ROOT / "tests" / "data" / "captures" / "reno-before.pcap.xz"
        (folder / "reno.pcap").write_bytes(lzma.decompress(capture.read_bytes()))
    return {
        "run": ["run", small],
        "run-evening": ["run", str(ROOT / "scenarios" / "evening.toml"), "--set", "duration=60s"],
        "size": ["size", small, "--target", "90%", "--replicates", "3", "--store", store],
        "size --quick": ["size", *LINK, "--quick"],
        "analyze": ["analyze", str(folder / "reno.pcap"), "--link", "10Mbps"],
        "sweep": ["sweep", study, "--dry-run"],
        "results": ["results", store],
        "reproduce": ["reproduce", "clustering-buffer", "shortest-rtt", "--store", store],
        "reproduce --list": ["reproduce", "--list"],
        "smoothing": ["smoothing", *STREAM],
        "qdisc": ["qdisc", "parse", "qdisc fq_codel 0: root limit 10240p flows 1024 quantum 1514"],
    }[name]


@pytest.fixture
def at_width(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[[list[str], int], str]]:
    """What a command prints on a terminal of so many columns."""

    def printed(arguments: list[str], width: int) -> str:
        monkeypatch.setattr(terminal, "ANY_WIDTH", width)
        terminal.stdout.cache_clear()
        capsys.readouterr()
        assert run_command(arguments) in (0, 3)
        return capsys.readouterr().out

    yield printed
    terminal.stdout.cache_clear()


def figures(page: str) -> set[str]:
    """Every word with a digit, without what is measured anew each time: how long runs take."""
    return {word.strip(",;") for word in FIGURE.findall(page.partition("\nabout ")[0])}


@pytest.mark.parametrize(
    "name",
    [
        *("run", "run-evening", "size", "size --quick", "analyze", "sweep", "results"),
        *("reproduce", "reproduce --list", "smoothing", "qdisc"),
    ],
)
def test_nothing_is_cut_at_any_width(
    name: str, folder: Path, at_width: Callable[[list[str], int], str]
) -> None:
    arguments = command(name, folder)
    pages = {width: at_width(arguments, width) for width in WIDTHS}
    known = figures(at_width(arguments, 10_000))
    known |= {key for word in known if word[0].isalpha() for key in word.split(".")}
    for width, page in pages.items():
        assert "…" not in page
        cut = figures(page) - known
        assert not cut, f"{cut} at {width} columns"


def test_a_run_at_80_columns_names_what_it_leaves_out(
    folder: Path, at_width: Callable[[list[str], int], str]
) -> None:
    narrow, wide = (at_width(["run", str(folder / "small.toml")], width) for width in (80, 200))
    told = LEFT_OUT.findall(" ".join(narrow.split()))
    assert len(told) == 2, "of links and of flows"
    assert "delay p50" in told[0]
    assert "completion, s" in told[1]
    assert not LEFT_OUT.search(wide)
    assert all(len(line) <= 80 for line in narrow.splitlines() if "  " in line)


def test_a_terminal_of_80_columns_shows_whole_names(folder: Path) -> None:
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {name: text for name, text in os.environ.items() if name != "COLUMNS"}
    with subprocess.Popen(
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
        except OSError:  # the terminal is gone when the process is
            pass
        assert process.wait(60) == 0
    os.close(parent)
    text = printed.decode()
    assert "…" not in text
    assert re.search(r"^bottleneck +1 Mb/s ", text, re.MULTILINE)


NAMES = st.text("abcdefghij", min_size=1, max_size=14)
NUMBERS = st.from_regex(r"[1-9]\d{0,7}\.\d{2} ± \d\.\d{3}", fullmatch=True)


@given(data=st.data(), width=st.integers(48, 200))
def test_a_kept_column_is_whole(data: st.DataObject, width: int) -> None:
    columns = data.draw(st.lists(NAMES, min_size=2, max_size=12, unique=True))
    rows = data.draw(
        st.lists(st.tuples(NAMES, *[NUMBERS] * (len(columns) - 1)), min_size=1, max_size=4)
    )
    console = Console(width=width, highlight=False, color_system=None)
    with console.capture() as capture:
        console.print(terminal.table("", columns, rows))
    page = capture.get()
    told = re.search(r"left out for want of room: (.*?); a wider", " ".join(page.split()))
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
    assert "left out for want of room: third; a wider" in " ".join(page.split())


def test_prose_wraps_and_is_not_left_out() -> None:
    console = Console(width=50, highlight=False)
    error = "the file names a link that does not exist, so the flow has no path to take"
    made = terminal.table("", ["seed", "error"], [["1", error]], prose=["error"])
    with console.capture() as capture:
        console.print(made)
    assert " ".join(capture.get().split()).endswith(f"1 {error}")
