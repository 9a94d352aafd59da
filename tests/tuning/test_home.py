"""`goodqueue home`: framing and lines in numbers of published sources, rates, and one screen."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import goodqueue
from conftest import goodqueue as command
from conftest import refused
from goodqueue import _core
from goodqueue.home.api import Question
from goodqueue.home.devices import SYNTAXES, device_lines
from goodqueue.home.household import household
from goodqueue.home.line import KINDS
from goodqueue.home.scenario import NOW, PATHS, Framing, Home
from goodqueue.runs.settings import inline_table, settings_of
from helpers.commands import interrupted, on_terminal

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("own_cache")

DSL = ("--line", "dsl", "--framing", "ptm", "--down", "12Mbps", "--up", "2Mbps")
UPLOAD = ("--traffic", "game, upload", "--replicates", "8")

# Overhead, smallest frame and cells of the keywords of tc-cake(8): pppoe-llcsnap, pppoe-ptm,
# docsis, and ethernet with ether-vlan. An IP packet of 1500 B takes these bytes on the line.
FRAMINGS = [
    ("dsl", "atm", (40, 0, "atm"), 1749),  # 1540 B in 33 cells of 53
    ("dsl", "ptm", (30, 0, "ptm"), 1554),  # 1530 B, and one more for each 64 begun
    ("cable", None, (18, 64, "none"), 1518),
    ("fibre", None, (42, 84, "none"), 1542),
    ("lte", None, (0, 0, "none"), 1500),
    ("starlink", None, (0, 0, "none"), 1500),
]


def home_of(kind: str, framing: str | None = None, **others: Any) -> Home:  # noqa: ANN401
    rates = {"down": "10Mbps..50Mbps", "up": "2Mbps..10Mbps"}
    return Question(kind, framing=framing, **{**rates, **others}).home()


def answered(*arguments: object, code: int = 0) -> dict[str, Any]:
    done = command("home", *arguments, "--json")
    assert done.returncode == code, done
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.parametrize(("kind", "framing", "numbers", "full"), FRAMINGS)
def test_a_packet_takes_the_bytes_of_its_link_layer(
    kind: str, framing: str | None, numbers: tuple[int, int, str], full: int
) -> None:
    found = home_of(kind, framing).framing
    assert (found.overhead, found.minimum, found.cells) == numbers
    assert found.on_line(1500) == full


def test_every_kind_of_line_has_a_test_of_its_framing() -> None:
    assert {kind for kind, *_ in FRAMINGS} == set(KINDS)


def test_a_known_overhead_replaces_that_of_the_framing() -> None:
    """VDSL2 with PPPoE and a VLAN tag takes 34 bytes."""
    home = home_of("dsl", "ptm", overhead="34")
    assert home.framing == Framing(34, 0, "ptm")
    modem = settings_of(goodqueue.load(home.toml()))["topology"]["link"][1]
    assert modem["framing"] == {"overhead": "34B", "minimum": "0B", "cells": "ptm"}


@pytest.mark.parametrize(("kind", "framing"), [(kind, word) for kind, word, *_ in FRAMINGS])
def test_the_lines_for_linux_make_the_queue_that_was_run(kind: str, framing: str | None) -> None:
    home = home_of(kind, framing)
    text = "\n".join(device_lines("linux", {"up": 1900, "down": 9000}, home.framing))
    text = text.replace("\\\n", "")
    queues = re.findall(r"root cake (.*)", text)
    scenario = goodqueue.load(home.toml("1900kbps", "9000kbps"))
    shaper = settings_of(scenario)["topology"]["link"][0]
    for options, queue in zip(queues, (shaper["queue"], shaper["reverse"]["queue"]), strict=True):
        table, _, _ = _core.parse_qdisc(f"qdisc cake 8001: root {options.replace(' nat', '')}")
        typed = inline_table(table, "cake")
        assert typed.items() >= {"kind": "cake", "diffserv": "besteffort"}.items()
        for key in ("overhead", "mpu", "atm"):
            assert typed[key] == queue[key]
        rates = [_core.measure(one["bandwidth"]) for one in (typed, queue)]
        assert rates[0] == rates[1]


def test_openwrt_gets_the_link_layer_that_sqm_scripts_know() -> None:
    """sqm-scripts have `atm` as a link layer, and pass `ptm` through the options of the queue."""
    for kind, framing, layer, options in (
        ("dsl", "atm", "atm", "nat"),
        ("dsl", "ptm", "ethernet", "nat ptm"),
        ("cable", None, "ethernet", "nat"),
    ):
        home = home_of(kind, framing)
        lines = device_lines("openwrt", {"up": 1900}, home.framing)
        assert lines[0] == "config queue"
        found = dict(re.findall(r"option (\w+) '(.*)'", "\n".join(lines)))
        assert found["linklayer"] == layer
        assert found["eqdisc_opts"] == found["iqdisc_opts"] == options
        assert found["overhead"] == str(home.framing.overhead)
        assert found.get("tcMPU", "0") == str(home.framing.minimum)
        assert (found["upload"], found["download"]) == ("1900", "0")


def test_routeros_gets_the_rate_in_its_queue_type() -> None:
    lines = "\n".join(
        device_lines("mikrotik", {"up": 1900, "down": 9000}, home_of("cable").framing)
    )
    assert "name=cake-up kind=cake cake-bandwidth=1900k" in lines
    assert "name=cake-down kind=cake cake-bandwidth=9000k" in lines
    assert "cake-overhead=18 cake-mpu=64 cake-atm=none" in lines
    assert lines.endswith("queue=cake-down/cake-up")


def test_a_line_without_a_shaper_has_the_modem_of_today() -> None:
    home = home_of("dsl", "ptm", up="2Mbps", down="12Mbps", loaded_ping="430ms")
    link = settings_of(goodqueue.load(home.toml()))["topology"]["link"]
    assert link[0]["queue"]["bandwidth"] == NOW
    assert link[1]["queue"]["limit"] == "98kB"  # 400 ms at 1960 kb/s
    assert link[1]["rate"] == "1960kbps"  # with the default margin
    assert set(PATHS) == {"up", "down"}


def test_the_line_is_kept_busy_by_the_words_of_the_household() -> None:
    assert household("upload, game web") == ("game", "web", "upload")
    scenario = goodqueue.load(home_of("cable", traffic="call+video+download").toml())
    flows = {flow["name"]: flow for flow in settings_of(scenario)["flow"]}
    assert list(flows) == ["call", "video", "download", "ping"]
    assert (flows["download"]["from"], flows["download"]["to"]) == (2, 0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"--line": "dls"}, "--line dls: did you mean 'dsl'"),
        ({"--framing": None}, "--framing is missing: write --framing atm for ADSL"),
        ({"--framing": "vdsl"}, "--framing vdsl: "),
        ({"--line": "cable"}, "--framing ptm: only a DSL line has several framings"),
        ({"--line": "lte", "--framing": None}, "--down 12Mbps: the rate of a line of this kind"),
        ({"--up": "2Mbs"}, "--up"),
        ({"--up": "1bps"}, "--up 1bps: write rates from 64kbps to 10Gbps"),
        ({"--up": "9Mbps..2Mbps"}, "--up 9Mbps..2Mbps: write the lower rate first"),
        ({"--rtt": "0s"}, "--rtt 0s: write a time from 1ms to 2s"),
        ({"--traffic": "game, web"}, "--traffic game, web: nothing of this fills the line"),
        ({"--traffic": "gaem, upload"}, "--traffic gaem, upload: gaem: did you mean 'game'"),
        ({"--max-ping": "20ms"}, "--max-ping 20ms: the ping is 30ms while nothing waits"),
        ({"--loaded-ping": "20ms"}, "--loaded-ping 20ms: write a time above --rtt (30ms)"),
        ({"--overhead": "500"}, "--overhead 500: write 0 to 256 bytes"),
        ({"--syntax": "cisco"}, "--syntax cisco: "),
        ({"--write": "/nowhere/home.toml"}, "/nowhere"),
    ],
)
def test_a_mistake_gets_one_message_before_anything_runs(
    changes: dict[str, str | None], message: str
) -> None:
    options = dict(zip(DSL[::2], DSL[1::2], strict=True)) | changes
    words = [word for pair in options.items() if pair[1] is not None for word in pair]
    assert message in refused(command("home", *words))


def test_a_pipe_is_never_asked() -> None:
    said = refused(command("home", "--up", "2Mbps"))
    assert "--line, --down: missing, and without a terminal nothing can be asked" in said


def test_a_terminal_is_asked_for_what_is_missing(tmp_path: Path) -> None:
    shown = on_terminal(
        *("home", "--up", "2Mbps", "--replicates", "8", "--store", tmp_path / "runs"),
        typed="dsl\n\n12Mbps\n\ngame upload\n",
    )
    for asked in ("Kind of line", "Framing", "Rate towards the home", "Ping", "household"):
        assert asked in shown
    assert "Rate from the home" not in shown
    assert re.search(r"kbit/s\s+up", shown)


@pytest.fixture(scope="module")
def shaped(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path, Path]:
    """Returns an answer, its scenario and the folder of its runs."""
    folder = tmp_path_factory.mktemp("home")
    file, runs = folder / "home.toml", folder / "runs"
    return answered(*DSL, *UPLOAD, "--store", runs, "--write", file), file, runs


def test_the_highest_rate_that_keeps_the_ping_is_the_rate_of_the_line(
    shaped: tuple[dict[str, Any], Path, Path],
) -> None:
    """A shaper that counts what the line counts leaves the modem nothing to queue."""
    answer, _, _ = shaped
    assert answer["shown"]
    up = answer["rates"]["up"]
    assert list(answer["rates"]) == ["up"]
    assert 0.95 <= up["share"] <= 1
    now, then = (
        side["figures"]["ping.p99_rtt_s"]["mean"] for side in answer["comparison"]["sides"]
    )
    assert then <= answer["max_ping_s"]
    # The modem of 256 kB holds a second of the upload at 2 Mb/s.
    assert now >= 0.5


def test_the_written_scenario_keeps_the_bound_under_other_seeds(
    shaped: tuple[dict[str, Any], Path, Path],
) -> None:
    answer, file, _ = shaped
    text = file.read_text(encoding="utf-8")
    assert f'bandwidth = "{answer["rates"]["up"]["kbps"]}kbps"' in text
    assert text.count("[[topology.link]]") == 2
    for seed in range(501, 505):
        flows = goodqueue.run(file, seed=seed).summary["flows"]
        assert flows["ping"]["p99_rtt_s"] <= answer["max_ping_s"]


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_the_answer_fits_a_screen_and_needs_no_technical_terms(
    syntax: str, shaped: tuple[dict[str, Any], Path, Path]
) -> None:
    _, _, runs = shaped
    done = command("home", *DSL, *UPLOAD, "--store", runs, "--syntax", syntax)
    lines = done.stdout.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert "bdp" not in done.stdout.lower()
    assert re.search(r"ping of a game .*: [\d,]+ ms now, [\d,]+ ms then", done.stdout)
    assert re.search(r"the upload gets: .* now, .* then: it \w+ \d+ %", done.stdout)
    assert "Assumed: " in done.stdout


def test_explain_shows_the_rates_that_were_tried(
    shaped: tuple[dict[str, Any], Path, Path],
) -> None:
    _, _, runs = shaped
    done = command("home", *DSL, *UPLOAD, "--store", runs, "--explain")
    assert "recommended: topology.link.shaper.queue.bandwidth" in done.stdout
    assert "--explain" in refused(command("home", *DSL, "--explain", "--json"))


def test_a_ping_that_no_shaper_keeps_is_impossible_and_names_the_nearest(tmp_path: Path) -> None:
    """A full packet takes 25 ms at 500 kb/s, and the ping waits for it."""
    options = ("--line", "dsl", "--framing", "ptm", "--down", "5Mbps", "--up", "500kbps")
    bound = ("--max-ping", "32ms", "--store", tmp_path / "runs")
    done = command("home", *options, *UPLOAD, *bound)
    assert done.returncode == 3, done
    assert done.stdout.startswith("No rate of a shaper keeps 99 of 100 pings within 32 ms")
    assert "is the nearest, with" in " ".join(done.stdout.split())


def test_a_line_with_a_short_queue_needs_no_shaper(tmp_path: Path) -> None:
    options = ("--line", "cable", "--down", "40Mbps", "--up", "8Mbps", "--loaded-ping", "35ms")
    done = command("home", *options, *UPLOAD, "--max-ping", "60ms", "--store", tmp_path / "runs")
    assert "even without a shaper" in " ".join(done.stdout.split())


def test_an_answer_without_enough_packets_is_an_estimate(tmp_path: Path) -> None:
    done = command("home", *DSL, *UPLOAD, "--budget", "200k", "--store", tmp_path / "runs")
    assert done.returncode == 6
    assert done.stdout.startswith(("Estimate: ", "No rate was found", "No run ended"))


def test_ctrl_c_ends_within_a_second(tmp_path: Path) -> None:
    rates = ("--line", "fibre", "--down", "900Mbps", "--up", "500Mbps", "--budget", "100G")
    waited, words = interrupted(["home", *rates, "--jobs", "1"], 4.0, tmp_path)
    assert waited < 1.0
    assert "interrupted" in words


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_a_household_that_does_everything_fits_the_screen(
    syntax: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """An estimate has the longest first sentence, and a cable line the most to assume."""
    runs = tmp_path_factory.getbasetemp() / "everything"
    line = ("--line", "cable", "--down", "8Mbps", "--up", "2Mbps", "--budget", "4M")
    every = ("--traffic", "game call web video upload download", "--replicates", "8")
    done = command("home", *line, *every, "--store", runs, "--syntax", syntax)
    assert done.returncode == 6
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Estimate: type ")
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    felt = ("a ping of", "a call has", "a web page takes", "a video stands", "the upload gets")
    for beginning in felt:
        assert any(line.startswith(beginning) for line in lines), beginning
