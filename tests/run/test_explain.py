"""`goodqueue run --explain` prints lines with an event, its place and its reason."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import goodqueue
from conftest import ROOT
from conftest import goodqueue as command
from goodqueue.cli import run_command
from goodqueue.cli.runs import explain
from goodqueue.output import terminal
from goodqueue.runs.results.explain import Line, life_of, lines_of

if TYPE_CHECKING:
    from pathlib import Path

TIMEOUT = ROOT / "tests" / "golden" / "timeout.toml"
CODEL = ROOT / "tests" / "golden" / "codel-ecn.toml"


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Any:  # noqa: ANN401 - a function
    def call(*arguments: object) -> str:
        terminal.stdout.cache_clear()
        capsys.readouterr()
        assert run_command(["run", *map(str, arguments)]) == 0
        terminal.stdout.cache_clear()
        return capsys.readouterr().out

    return call


def texts(lines: list[Line], tone: str) -> list[str]:
    return [f"{line.place}: {line.text}" for line in lines if line.tone == tone]


def life(file: Path, flow: str, from_s: float = 0, to_s: float | None = None) -> dict[str, Any]:
    return life_of(goodqueue.load(str(file)), flow, from_s=from_s, to_s=to_s)


def test_a_timeout_has_its_cause_and_its_effect() -> None:
    lines = lines_of(life(TIMEOUT, "second", 0.3, 1.5))
    first_drop = next(place for place, line in enumerate(lines) if line.text.startswith("DROPS"))
    assert lines[first_drop].place == "bottleneck"
    assert "data 1-14600 in 10 segments" in lines[first_drop].text
    assert "has reached its limit of 2 packets" in lines[first_drop].text
    timeout = next(line for line in lines if "TIMEOUT" in line.text)
    assert timeout.place == "sender"
    # The timer of 1 s began when the first window was sent (RFC 6298, section 5).
    assert timeout.time_s == pytest.approx(lines[first_drop].time_s + 1, abs=1e-9)
    assert "no new data were acknowledged for 1 s" in timeout.text
    assert "window 1 segment (slow start)" in timeout.text
    assert "the next timeout comes after 2 s" in timeout.text
    after = lines[lines.index(timeout) + 1]
    assert after.text == "sends data 1-1460 again (a retransmission)"


def test_every_drop_mark_and_timeout_has_a_line() -> None:
    for file, flow in ((TIMEOUT, "first"), (CODEL, "marked"), (CODEL, "dropped")):
        told = life(file, flow)
        lines = lines_of(told)
        loss, mark = texts(lines, "loss"), texts(lines, "mark")
        segments = [re.search(r" in (\d+) segments", text) for text in loss if "DROPS" in text]
        dropped = sum(1 if found is None else int(found[1]) for found in segments)
        assert dropped == len(told["turns"]["dropped"])
        assert len(mark) == len(told["turns"]["marked"])
        timeouts = [text for text in loss if "TIMEOUT" in text]
        assert len(timeouts) == len(told["turns"]["timeout"])
        begun = [text for text in texts(lines, "turn") if "FAST RECOVERY" in text]
        assert len(begun) == len(told["turns"]["fast_retransmit"])


def test_a_drop_by_codel_has_its_reason_and_its_waiting_time() -> None:
    drops = texts(lines_of(life(CODEL, "dropped")), "loss")
    assert drops
    for drop in drops:
        assert re.match(r"bottleneck: DROPS data \d+-\d+ after [\d.]+ ms in the queue: ", drop)
        assert "codel signals congestion, because packets have waited longer than its" in drop


def test_a_mark_comes_back_to_the_sender_and_reduces_its_window() -> None:
    lines = lines_of(life(CODEL, "marked", 0, 0.5))
    order = ["MARKS data", "which is marked (CE)", "reports a mark (ECE)", "reduces its window"]
    places = [next(n for n, line in enumerate(lines) if text in line.text) for text in order]
    assert places == sorted(places)
    assert [lines[n].place for n in places] == ["bottleneck", "receiver", "receiver", "sender"]


def test_lines_are_in_order_of_time() -> None:
    times = [line.time_s for line in lines_of(life(CODEL, "dropped"))]
    assert times == sorted(times)


def test_a_part_of_a_life_knows_what_was_sent_before() -> None:
    lines = lines_of(life(TIMEOUT, "second", 1.38, 1.4))
    assert [line.text for line in lines][1:2] == ["sends data 1-1460 again (a retransmission)"]


def test_pings_and_sessions_have_lines_of_packets(small: Path) -> None:
    lines = lines_of(life(small, "probe", 0, 0.2))
    told = [(line.place, line.text) for line in lines]
    expected = [
        ("client", "sends ping 0"),
        ("server", "receives ping 0"),
        ("server", "sends ping reply 0"),
        ("client", "receives ping reply 0"),
    ]
    assert [one for one in told if one in expected] == expected


def rows_of(page: str) -> list[str]:
    """Returns the first row of each line of a flow's life.

    The number of new bytes is not compared, because a part cannot know the number for its first
    ACK.
    """
    rows = [row for row in page.splitlines() if re.match(r"\d+\.\d{6}  ", row)]
    return [re.sub(r": \d+ new bytes", "", row) for row in rows]


def test_the_first_lines_are_printed_with_the_command_for_the_rest(printed: Any) -> None:  # noqa: ANN401
    page = printed(TIMEOUT, "--explain", "first", "--lines", 10)
    both = rows_of(printed(TIMEOUT, "--explain", "first", "--lines", 20))
    assert len(both) == 20
    assert rows_of(page) == both[:10]
    more = re.search(r"Go on with --from (\S+)s, or show more with --lines 20", page)
    assert more is not None
    rest = rows_of(printed(TIMEOUT, "--explain", "first", "--from", f"{more[1]}s", "--lines", 20))
    # The second part begins with the microsecond of the first line that is missing.
    begin = rest.index(both[10])
    assert all(float(row.split()[0]) <= float(both[10].split()[0]) for row in rest[:begin])
    assert rest[begin : begin + 10] == both[10:]


@pytest.mark.parametrize("same", [0.25, 0.2500004])
def test_a_page_that_would_repeat_itself_asks_for_more_lines(
    same: float,
    printed: Any,  # noqa: ANN401
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lines(_: object) -> list[Line]:
        return [Line(same, "sender", f"line {number}") for number in range(25)]

    monkeypatch.setattr(explain, "lines_of", lines)
    page = printed(TIMEOUT, "--explain", "first", "--lines", 10)
    assert "15 lines not shown. Go on with --from 0.25s, or show more with --lines 20" in page
    again = printed(TIMEOUT, "--explain", "first", "--from", "250ms", "--lines", 10)
    assert "15 lines not shown. Show more with --lines 20; --json has the records." in again
    assert "--from" not in again


@pytest.mark.parametrize("records", [{}, {"records": []}], ids=["some", "none"])
def test_records_that_never_fit_ask_for_more_of_them(
    records: dict[str, Any],
    printed: Any,  # noqa: ANN401
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*arguments: Any, **options: Any) -> dict[str, Any]:  # noqa: ANN401
        return life_of(*arguments, **options) | {"whole_before_s": 0.25} | records

    monkeypatch.setattr(explain, "life_of", full)
    page = printed(TIMEOUT, "--explain", "first", "--from", "0s", "--lines", 100000)
    assert "Later records did not fit. Go on with --from 0.25s." in page
    page = printed(TIMEOUT, "--explain", "first", "--from", "250ms", "--lines", 100000)
    assert "Later records did not fit. Show more with --json --lines 200000." in page


def test_the_head_names_the_turns_of_the_whole_run(printed: Any) -> None:  # noqa: ANN401
    page = printed(TIMEOUT, "--explain", "second", "--to", "1ms")
    assert (
        "In the whole run of 5 s: 11 packets dropped from 0.388864 to 1.66906; 2 timeouts" in page
    )
    assert "Nothing happens to the flow from 0 s to 0.001 s; it starts at 0.3 s." in page


@pytest.mark.parametrize("width", [60, 80, 200])
def test_lines_fit_the_terminal(
    width: int,
    printed: Any,  # noqa: ANN401
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wide = printed(CODEL, "--explain", "dropped", "--from", "400ms", "--to", "500ms")
    monkeypatch.setattr(terminal, "ANY_WIDTH", width)
    page = printed(CODEL, "--explain", "dropped", "--from", "400ms", "--to", "500ms")
    assert max(map(len, page.splitlines())) <= width
    assert " ".join(page.split()) == " ".join(wide.split())


def test_json_has_the_records(printed: Any) -> None:  # noqa: ANN401
    told = json.loads(printed(TIMEOUT, "--explain", "first", "--to", "100ms", "--json"))
    assert told == life(TIMEOUT, "first", 0, 0.1)
    assert told["whole_before_s"] is None
    few = json.loads(printed(TIMEOUT, "--explain", "first", "--json", "--lines", 5))
    assert few["records"] == told["records"][: len(few["records"])]
    assert 0 < len(few["records"]) <= 5


def test_a_pipe_gets_plain_text() -> None:
    done = command("run", TIMEOUT, "--explain", "first", "--to", "50ms", FORCE_COLOR="")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    assert re.search(
        r"^0\.041664  bottleneck  DROPS data 2921-14600 in 8", done.stdout, re.MULTILINE
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--explain", "frist"), 'did you mean "first"?'),
        (("--explain", "first[7]"), 'there is no flow "first[7]"'),
        (("--explain", "first", "--from", "2s", "--to", "1s"), "--from 2s is later than --to 1s"),
        (("--explain", "first", "--from", "6s"), "is after the end of the run"),
        (("--explain", "first", "--from", "soon"), "--from"),
        (("--explain", "first", "--out", "x"), "--out does not go with --explain"),
        (("--lines", "5"), "--lines is about one flow: name it with --explain FLOW"),
    ],
)
def test_mistakes_are_refused_with_a_remedy(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal.stderr.cache_clear()
    assert run_command(["run", str(TIMEOUT), *arguments]) == 2
    assert message in capsys.readouterr().err
    terminal.stderr.cache_clear()
