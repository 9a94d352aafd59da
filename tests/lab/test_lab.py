"""The server of the lab refuses foreign requests, and its page shows runs of the same engine."""

from __future__ import annotations

import hashlib
import http.client
import io
import json
import re
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time
from contextlib import closing
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from conftest import COMMAND, SMALL
from goodqueue import _core
from goodqueue.cli.commands.lab import Lab
from goodqueue.cli.lab import open_lab
from goodqueue.core.intervals import t_interval
from goodqueue.errors import RequestError
from goodqueue.lab import static
from goodqueue.lab.opened import read_scenario
from goodqueue.lab.server import MAX_BYTES, LabServer
from goodqueue.sizing.answer.parts import calibrated_dict
from goodqueue.sizing.calibrated import calibrated
from goodqueue.sizing.calibrated.surface import surfaces
from goodqueue.sizing.export import linux, linux_shaped
from goodqueue.sizing.link import Link
from goodqueue.sizing.question import parse_rtts
from goodqueue.sizing.rules import RULES
from helpers.lab_page import serving
from helpers.processes import started

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]

LINK = """\
schema_version = 1
duration = "{seconds}s"

[topology]
shape = "dumbbell"
access = {{ rate = "10Gbps" }}
bottleneck = {{ rate = "{rate}", delay = "0s", queue = {{ kind = "{queue}", limit = "1bdp" }} }}

[[flow]]
name = "flow"
count = 2
rtt = "40ms"
workload = {{ kind = "bulk" }}
tcp = {{ profile = "linux", congestion_control = "{control}" }}
"""

VENDORED = {
    "htm-preact-3.1.1.js": "72284e8e9079c87817145df1110f74e8a2aa040b2fc384922e18dfcb46fc1fd7",
    "uplot-1.6.32.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    "uplot-1.6.32.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
}
"""SHA-256 of the libraries of the page, as their packages on npm have them."""


def answered(action: str, **asked: object) -> dict[str, Any]:
    """Returns the answer of the core to a question of the page."""
    status, answer = _core.LabJob(action, json.dumps(asked)).answer()
    assert status == 200, answer
    return dict(json.loads(answer))


WORDS = answered("start")


def scenario(
    seconds: float = 5, rate: str = "5Mbps", queue: str = "drop_tail", control: str = "cubic"
) -> str:
    """Returns a dumbbell as the page writes it."""
    return LINK.format(seconds=seconds, rate=rate, queue=queue, control=control)


@pytest.fixture
def server() -> Iterator[LabServer]:
    """A server on a free port."""
    with serving(LabServer()) as server:
        yield server


def ask(
    server: LabServer, method: str, path: str, body: bytes = b"", **headers: str
) -> tuple[int, http.client.HTTPResponse, bytes]:
    """Returns status, response and body; keywords replace the headers of the page."""
    usual = {"Host": f"127.0.0.1:{server.port}", "X-Goodqueue-Token": server.token}
    given = usual | {name.replace("_", "-"): text for name, text in headers.items()}
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection:
        connection.request(method, path, body, given)
        response = connection.getresponse()
        return response.status, response, response.read()


def compute(server: LabServer, action: str, **asked: object) -> tuple[int, Any]:
    """Returns status and answer of a question of the page."""
    status, _, body = ask(server, "POST", f"/{action}", json.dumps(asked).encode())
    return status, json.loads(body)


def picture(server: LabServer, text: str, **asked: object) -> tuple[int, Any]:
    """Returns status and picture of a run."""
    usual = {"text": text, "columns": 50, "flows": 4}
    return compute(server, "picture", **(usual | asked))


def test_a_picture_has_the_figures_of_the_same_run(server: LabServer) -> None:
    """The page shows the figures of `goodqueue run` and computes none itself."""
    status, shown = picture(server, scenario())
    assert status == 200
    command = [str(COMMAND), "run", "--json", "-"]
    done = subprocess.run(command, input=scenario(), capture_output=True, text=True, check=True)
    link = json.loads(done.stdout)["links"]["bottleneck"]
    assert shown["summary"]["links"]["bottleneck"] == link
    assert len(shown["links"][0]["mean_packets"]) == 50
    assert [flow["name"] for flow in shown["flows"]] == ["flow.0", "flow.1"]


def test_a_first_picture_is_shorter(server: LabServer) -> None:
    """The run is shortened to the requested packets, and its parts keep their proportions."""
    _, whole = picture(server, scenario(20))
    _, first = picture(server, scenario(20), first_packets=1000)
    assert whole["duration_s"] == pytest.approx(20)
    assert first["duration_s"] == pytest.approx(1000 * 12_000 / 5e6, rel=0.01)


@pytest.mark.parametrize("name", ["Host", "Origin", "X_Goodqueue_Token"])
def test_requests_from_elsewhere_are_refused(server: LabServer, name: str) -> None:
    """The server refuses pages of other sites, other names of its host, and a missing token."""
    body = json.dumps({"text": SMALL, "columns": 10, "flows": 1}).encode()
    others = {"Host": "example.org", "Origin": "http://example.org", "X_Goodqueue_Token": "guess"}
    status, _, answer = ask(server, "POST", "/picture", body, **{name: others[name]})
    assert status == 403
    assert b"summary" not in answer


def test_only_files_of_the_page_are_served(server: LabServer) -> None:
    """The answers carry a policy that allows no other host, and other paths are not found."""
    status, response, body = ask(server, "GET", "/?token=any")
    assert (status, response.getheader("Content-Type")) == (200, "text/html; charset=utf-8")
    assert b"goodqueue lab" in body
    policy = response.getheader("Content-Security-Policy", "")
    assert "default-src 'none'" in policy
    assert "http" not in policy
    for path in ("/../server.py", "/vendor/../../server.py", "/etc/passwd", "//x", "/vendor"):
        assert ask(server, "GET", path)[0] == 404, path


def test_no_file_of_the_page_names_another_host() -> None:
    """The page works without a network; addresses in comments and namespaces are no requests."""
    page = resources.files("goodqueue.lab") / "page"
    for file in page.iterdir():
        if file.is_file():
            text = file.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
            assert "//" not in re.sub(r"(?m)^\s*//.*|^//.*", "", text) or "http" not in text


def test_the_libraries_of_the_page_are_those_of_their_packages() -> None:
    """Each vendored file has its recorded hash, and each has a licence."""
    vendor = resources.files("goodqueue.lab") / "page" / "vendor"
    found = {file.name: file.read_bytes() for file in vendor.iterdir()}
    licences = found.pop("licenses.txt").decode()
    assert {name: hashlib.sha256(data).hexdigest() for name, data in found.items()} == VENDORED
    assert all(name in licences for name in VENDORED)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[]", 400),
        (b"{}", 400),
        (b'{"text": "x", "columns": "many", "flows": 1}', 400),
        (b'{"text": "x", "columns": -1, "flows": 1}', 400),
    ],
)
def test_damaged_requests_are_refused(server: LabServer, body: bytes, status: int) -> None:
    """The server answers with a message and continues to serve."""
    found, _, answer = ask(server, "POST", "/picture", body)
    assert found == status
    assert json.loads(answer)["message"]
    assert picture(server, scenario(1))[0] == 200


def test_a_request_that_is_too_long_is_refused_unread(server: LabServer) -> None:
    """The server refuses a request by its stated length, before it reads the body."""
    length = str(MAX_BYTES + 1)
    status, _, answer = ask(server, "POST", "/picture", Content_Length=length)
    assert status == 413
    assert json.loads(answer)["message"]


def test_a_mistake_names_its_key_and_its_remedy(server: LabServer) -> None:
    """The page shows the same message as the command line."""
    status, answer = picture(server, scenario(rate="5 parsecs"))
    assert status == 422
    assert answer["key"] == "topology.bottleneck.rate"
    assert answer["message"]
    assert answer["help"]


def test_a_run_beyond_the_bounds_is_refused_at_once(server: LabServer) -> None:
    """The message names the bound and a duration that keeps it."""
    started = time.process_time()
    status, answer = picture(server, scenario(3600, rate="10Gbps"))
    assert status == 422
    assert "at most 5000000" in answer["message"]
    assert "duration" in answer["message"]
    assert time.process_time() - started < 1


def turn(tab: str, number: int) -> dict[str, object]:
    """Returns a turn of a tab."""
    return {"tab": tab, "number": number}


def test_a_newer_turn_of_a_tab_stops_all_runs_of_the_older(server: LabServer) -> None:
    """While a slider moves, each new run stops the previous ones; runs of other tabs continue."""
    answers: list[int] = []

    def long() -> None:
        found = picture(server, scenario(600, rate="90Mbps"), turn=turn("b", 1))
        answers.append(found[0])

    threads = [threading.Thread(target=long) for _ in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    assert picture(server, scenario(1), turn=turn("b", 2))[0] == 200
    for thread in threads:
        thread.join(timeout=30)
    assert answers == [409, 409]


def test_several_tabs_compute_at_once_and_do_not_stop_each_other(server: LabServer) -> None:
    """Each of four tabs gets the whole run of its own link."""
    found: dict[int, float] = {}

    def open_tab(number: int) -> None:
        text = scenario(20, rate=f"{number}Mbps")
        status, answer = picture(server, text, turn=turn(f"tab {number}", 10 - number))
        assert status == 200
        found[number] = answer["summary"]["links"]["bottleneck"]["departures"]

    threads = [threading.Thread(target=open_tab, args=(number,)) for number in (1, 2, 3, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert sorted(found) == [1, 2, 3, 4]
    assert sorted(found.values()) == [found[number] for number in sorted(found)]


def test_a_request_of_an_older_turn_that_arrives_late_is_not_computed(server: LabServer) -> None:
    """It neither stops the newer run nor costs a run of its own."""
    assert picture(server, scenario(1), turn=turn("late", 7))[0] == 200
    started = time.process_time()
    status, answer = picture(server, scenario(600, rate="90Mbps"), turn=turn("late", 6))
    assert (status, answer["message"]) == (409, "a newer run has replaced this one")
    assert time.process_time() - started < 0.5
    assert picture(server, scenario(1), turn=turn("late", 7))[0] == 200


def test_packets_of_a_part_of_a_run_are_bounded(server: LabServer) -> None:
    """The columns are alike long, in order of sending, and within the part."""
    asked = {"text": scenario(), "from_ms": 1000, "to_ms": 1500}
    status, found = compute(server, "packets", **asked)
    assert status == 200
    assert (found["from_ns"], found["to_ns"]) == (1_000_000_000, 1_500_000_000)
    columns = [column for column in found.values() if isinstance(column, list)]
    assert len({len(column) for column in columns}) == 1
    assert 100 < len(found["sent_ns"]) <= 20_000
    assert found["sent_ns"] == sorted(found["sent_ns"])
    crowded = asked | {"text": scenario(rate="400Mbps"), "to_ms": 5000}
    _, many = compute(server, "packets", **crowded)
    assert 15_000 < len(many["sent_ns"]) <= 20_000
    assert many["to_ns"] < 5_000_000_000
    assert compute(server, "packets", **(asked | {"from_ms": -1}))[0] == 400


def test_a_tab_that_closes_prints_nothing(
    server: LabServer, capfd: pytest.CaptureFixture[str]
) -> None:
    """The server prints nothing when a browser resets a connection in the middle of a request."""
    with socket.create_connection(("127.0.0.1", server.port)) as tab:
        tab.send(b"POST /picture HTTP/1.1\r\n")
        tab.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    time.sleep(0.3)
    assert picture(server, scenario(1))[0] == 200
    assert capfd.readouterr().err == ""


def test_theory_answers_in_every_unit_with_its_curve(server: LabServer) -> None:
    """The page gives the same answer as `size --quick`."""
    asked = {"rate": "20Mbps", "rtt": "30ms", "flows": 4, "control": "cubic"}
    status, found = compute(server, "theory", **asked)
    assert status == 200
    options = ["--rate", "20Mbps", "--rtt", "30ms", "--flows", "4", "--quick", "--json"]
    done = subprocess.run([str(COMMAND), "size", *options], capture_output=True, check=False)
    assert found["answer"]["packets"] == json.loads(done.stdout)["calibrated_theory"]["packets"]
    curve = found["curve"]
    lengths = {len(column) for column in curve.values()}
    assert len(lengths) == 1
    assert all(0 <= share <= 1 for share in curve["utilization"] + curve["loss_rate"])
    assert found["commands"][0].startswith("tc qdisc replace")
    assert compute(server, "theory", **(asked | {"control": "bbr"}))[1]["answer"] is None
    assert compute(server, "theory", **(asked | {"rtt": "never"}))[0] == 422


LINKS = [
    (rate, rtt, flows, control)
    for rate in ("1Mbps", "20Mbps", "1Gbps")
    for rtt in ("10ms", "20ms..120ms", "300ms,20ms")
    for flows, control in ((1, "cubic"), (4, "reno"), (40, "cubic"), (600, "reno"), (3, "abe"))
    if not (rate == "1Mbps" and flows == 600)
]


@pytest.mark.parametrize(("rate", "rtt", "flows", "control"), LINKS)
def test_calibrated_theory_is_that_of_the_package(
    rate: str, rtt: str, flows: int, control: str
) -> None:
    """The page reads its texts as the package does, and shows the package's answer."""
    link = Link(
        float(_core.parse_rate("rate", rate)),
        parse_rtts("rtt", rtt),
        flows,
        congestion_control=control,
    )
    found = answered("theory", rate=rate, rtt=rtt, flows=flows, control=control)
    expected = calibrated_dict(link, calibrated(link))
    assert expected is not None
    for key, value in found["answer"].items():
        if isinstance(value, float):
            assert value == pytest.approx(expected[key], rel=1e-9, abs=1e-12), key
        elif key == "expected":
            for name, figure in value.items():
                assert figure == pytest.approx(expected[key][name], rel=1e-9, abs=1e-12), name
        else:
            assert value == expected[key], key
    surface = surfaces().at(link, found["curve"]["packets"])
    for name in ("utilization", "loss_rate", "p99_delay_s"):
        assert found["curve"][name] == pytest.approx(getattr(surface, name)(), rel=1e-9)
    if expected["packets"] is not None:
        assert found["commands"] == list(linux(expected["packets"], 1500).lines)
        assert found["shaped"] == [linux_shaped(expected["packets"], 1500, link.rate_bps).lines[1]]
    published = {rule.name: rule for rule in RULES}
    for mark in found["rules"]:
        rule = published[mark["rule"]]
        assert mark["title"] == rule.title
        assert mark["packets"] == rule.advise(link).whole_packets, mark


def test_intervals_are_those_of_the_package() -> None:
    """The core's quantiles of Student's t equal SciPy's for every number of seeds on the page."""
    values = [0.91, 0.97, 0.93, 0.955, 0.90, 0.99, 0.94, 0.92, 0.96, 0.95, 0.935]
    for count in range(2, len(values) + 1):
        figures = [{"links": {"a": {"mean_queueing_delay_s": one}}} for one in values[:count]]
        found = answered("intervals", figures=figures)["links"]["a"]["mean_queueing_delay_s"]
        expected = t_interval(values[:count])
        assert found["mean"] == pytest.approx(expected.mean)
        assert (found["low"], found["high"]) == pytest.approx(expected.ends)
        assert found["half"] == pytest.approx(expected.half_width)


def test_intervals_of_shares_end_at_one_and_differences_are_those_of_pairs() -> None:
    """Ends lie within the range of the figure; a difference may be negative."""
    ones = [{"utilization": 0.99}, {"utilization": 1.0}, {"utilization": 0.9}]
    others = [{"utilization": 0.89}, {"utilization": 0.7}, {"utilization": 1.0}]
    assert answered("intervals", figures=ones)["utilization"]["high"] == 1
    found = answered("differences", figures=others, others=ones)["utilization"]
    expected = t_interval([-0.1, -0.3, 0.1])
    assert found["mean"] == pytest.approx(expected.mean)
    assert (found["low"], found["high"]) == pytest.approx(expected.ends)
    missing = answered("differences", figures=ones, others=[{}, {}, {}])
    assert missing == {}


def test_progress_of_a_run_is_known(server: LabServer) -> None:
    """Another request of the page reads the share that is done."""
    answers: list[int] = []

    def long() -> None:
        answers.append(picture(server, scenario(600, rate="90Mbps"), turn=turn("c", 1))[0])

    thread = threading.Thread(target=long)
    thread.start()
    while not compute(server, "progress", turn=turn("c", 1))[1]["share"]:
        time.sleep(0.02)
    assert compute(server, "progress", turn=turn("c", 1))[1]["share"] < 1
    assert compute(server, "progress", turn=turn("unknown", 1))[1]["share"] is None
    assert picture(server, scenario(1), turn=turn("c", 2))[0] == 200
    thread.join(timeout=30)
    assert answers == [409]


def test_a_table_is_saved_as_parquet(server: LabServer) -> None:
    """The server writes the numbers of the page, and refuses what is no table."""
    assert compute(server, "formats") == (200, ["parquet"])
    table = {"time_s": [0, 0.5, 1], "flow-0.cwnd_bytes": [None, 3000, 4500.5]}
    asked = {"columns": list(table.items())}
    status, response, body = ask(server, "POST", "/parquet", json.dumps(asked).encode())
    assert (status, response.getheader("Content-Type")) == (200, "application/vnd.apache.parquet")
    found = pl.read_parquet(io.BytesIO(body))
    assert found.to_dict(as_series=False) == table
    for columns in ([], "x", [["a", [1]], ["b", [1, 2]]], [["a", ["x"]]], [["a"]]):
        refused = json.dumps({"columns": columns}).encode()
        assert ask(server, "POST", "/parquet", refused)[0] == 400, columns


def test_only_the_worker_may_compile_webassembly(server: LabServer) -> None:
    """The policy of the page itself does not allow it."""
    for path, allowed in (
        ("/", False),
        ("/compute/worker.js", True),
        ("/compute/engine.js", False),
    ):
        policy = ask(server, "GET", path)[1].getheader("Content-Security-Policy", "")
        assert ("'wasm-unsafe-eval'" in policy) == allowed, path


@pytest.mark.parametrize("queue", WORDS["queues"])
def test_every_queue_that_is_offered_runs(queue: str) -> None:
    """The names come from the schema, and each queue runs with a limit as its only parameter."""
    picture = answered("picture", text=scenario(0.5, "20Mbps", queue), columns=4, flows=1)
    assert picture["summary"]["links"]["bottleneck"]["queue"] == queue


@pytest.mark.parametrize("control", WORDS["controls"])
def test_every_control_that_is_offered_runs(control: str) -> None:
    """The names come from the schema, and each control runs without parameters."""
    picture = answered("picture", text=scenario(0.5, control=control), columns=4, flows=1)
    assert picture["summary"]["links"]["bottleneck"]["departures"] > 0


def test_a_scenario_is_opened_with_the_files_that_it_names(tmp_path: Path) -> None:
    """The page gets the scenario and the file of its law, and the run reads no other file."""
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    opened = read_scenario(str(tmp_path / "scenarios" / "web-search.toml"))
    assert set(opened.files) == {"sizes-web-search.csv"}
    with serving(LabServer(opened=opened)) as server:
        status, found = compute(server, "opened")
        assert (status, found["name"]) == (200, "web-search.toml")
        asked = {"overrides": {"duration": "1s", "warmup": "0s"}, "files": found["files"]}
        assert picture(server, found["text"], **asked)[0] == 200
        status, answer = picture(server, found["text"])
        assert status == 422
        assert "sizes-web-search.csv" in answer["message"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "No such file"),
        ("[topolgy]", "topology"),
        (scenario(3600, rate="10Gbps"), "at most 5000000: set duration to"),
    ],
)
def test_a_file_that_cannot_be_shown_is_refused_at_once(
    tmp_path: Path, text: str | None, words: str
) -> None:
    """The message names the file, and the bound with its remedy."""
    path = tmp_path / "mine.toml"
    if text is not None:
        path.write_text(text)
    command = [str(COMMAND), "lab", "--no-browser", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    assert done.returncode == 2
    assert "mine.toml" in done.stderr
    assert words in done.stderr


def test_the_command_prints_its_address_and_ends_with_ctrl_c() -> None:
    """Ctrl-C ends it within a second, and the port is free again."""
    settings = "rate=10Mbps&rtt=40ms"
    command = [str(COMMAND), "lab", "--no-browser", "--json", "--settings", settings]
    with started(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        text = ""
        while not text.endswith("}\n"):
            text += process.stdout.readline()
        port = json.loads(text)["port"]
        assert json.loads(text)["url"].endswith(f"#{settings}")
        taken = subprocess.run(
            [str(COMMAND), "lab", "--no-browser", "--port", str(port)],
            capture_output=True,
            text=True,
            check=False,
        )
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == 0
    assert taken.returncode == 2
    assert "choose another port" in taken.stderr
    with socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        free.bind(("127.0.0.1", port))


def test_the_page_is_saved_as_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"/index.html": b'<meta charset="utf-8">', static.ENGINE: b"\0asm"}
    monkeypatch.setattr(static, "page_files", lambda: dict(files))
    folder = tmp_path / "the lab"
    open_lab(Lab(save=folder, json=True))
    written = json.loads(capsys.readouterr().out)
    assert (written["directory"], written["files"]) == (str(folder), 2)
    assert (folder / static.ENGINE.removeprefix("/")).read_bytes() == b"\0asm"
    assert b"Content-Security-Policy" in (folder / "index.html").read_bytes()


def test_saving_the_page_overwrites_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"/index.html": b'<meta charset="utf-8">', static.ENGINE: b"\0asm"}
    monkeypatch.setattr(static, "page_files", lambda: dict(files))
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RequestError, match=r"notes\.txt"):
        open_lab(Lab(save=tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(RequestError, match="leave out FILE"):
        open_lab(Lab("scenario.toml", save=tmp_path / "new"))
    assert not (tmp_path / "new").exists()
