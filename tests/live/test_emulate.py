"""`goodqueue emulate` runs programs behind an emulated link and reports what the link did."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import COMMAND, ROOT, refused
from goodqueue import RequestError, ScenarioError
from goodqueue.live.emulation import Program, emulate, link_settings
from goodqueue.runs.settings import queue_notes, queue_table
from helpers.emulation import ENDED, LINK, emulated, goodqueue, need_emulation, within
from helpers.processes import started

SLEEP = ("sleep", "987.654321")
"""A program that no other test runs."""


@pytest.fixture(scope="module", autouse=True)
def namespaces() -> None:
    """Skips the tests where the operating system refuses what an emulation needs."""
    need_emulation()


def sleeps(*command: str) -> bool:
    """Returns true if a program, or the one above, runs anywhere on this machine."""
    wanted = "\0".join(command or SLEEP).encode()
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if process.read_bytes().rstrip(b"\0") == wanted:
                return True
        except OSError:
            continue
    return False


def test_a_queue_is_written_as_in_tc_or_as_in_scenario_files() -> None:
    assert queue_table("codel limit 50p target 7ms")["target"] == "7ms"
    assert queue_table('{ kind = "codel", target = "7ms" }') == {"kind": "codel", "target": "7ms"}
    with pytest.raises(ScenarioError, match="codell"):
        queue_table("codell limit 50p")


def test_flags_of_a_queue_without_an_equivalent_are_named() -> None:
    assert queue_notes("cake bandwidth 5Mbit ack-filter") == [
        "ack-filter is left out: every ACK stays in the queue"
    ]
    assert queue_notes("codel limit 50p") == []
    assert queue_notes('{ kind = "codel" }') == []


def test_programs_find_each_other_by_name_and_every_packet_is_counted() -> None:
    server = f"{shlex.quote(sys.executable)} -m http.server 8000 -d {ROOT}"
    fetch = "import urllib.request as u; u.urlopen('http://server:8000/Cargo.lock').read()"
    figures = emulated(f"--server={server}", "--", sys.executable, "-c", fetch)
    [client] = [program for program in figures["programs"] if not program["server"]]
    assert client["exit_code"] == 0
    back = figures["links"]["bottleneck.reverse"]
    bits = back["throughput_bps"] * figures["measured_s"]
    assert bits > 8 * (ROOT / "Cargo.lock").stat().st_size
    assert 0 < back["utilization"] <= 1
    totals = figures["totals"]
    elsewhere = ("delivered", "dropped", "queued", "in_flight")
    assert totals["sent"] == sum(totals[name] for name in elsewhere)


@pytest.mark.parametrize(("host", "family"), [("server", "AF_INET"), ("server6", "AF_INET6")])
def test_an_answer_takes_the_base_rtt(host: str, family: str) -> None:
    if family == "AF_INET6" and not Path("/proc/net/if_inet6").exists():
        pytest.skip("this kernel has no IPv6")
    echo = (
        f"import socket as s; a = s.socket(s.{family}, s.SOCK_DGRAM); a.bind(('', 9))\n"
        "while True: a.sendto(*a.recvfrom(99))"
    )
    ask = (
        f"import socket as s, time as t; a = s.socket(s.{family}, s.SOCK_DGRAM)\n"
        f"def once():\n b = t.monotonic(); a.sendto(b'?', ('{host}', 9)); a.recv(9)\n"
        " return t.monotonic() - b\n"
        "print(min(once() for _ in range(9)))"
    )
    server = shlex.join([sys.executable, "-c", echo])
    done = goodqueue("emulate", *LINK, f"--server={server}", "--", sys.executable, "-c", ask)
    assert done.returncode in ENDED, done.stderr
    assert 0.040 <= float(done.stdout.split()[0]) < 0.080


def test_a_policer_drops_what_exceeds_its_burst() -> None:
    queue = '{ kind = "policer", rate = "8kbps", burst = "50kB" }'
    send = (
        "import socket as s; a = s.socket(s.AF_INET, s.SOCK_DGRAM)\n"
        "for _ in range(100): a.sendto(bytes(972), ('server', 9))"
    )
    program = [sys.executable, "-c", f"{send}\nimport time; time.sleep(0.3)"]
    figures = emulated(f"--queue={queue}", "--", *program)
    # Packets of 1000 bytes: the burst pays for 50, and the rate for one more in each second.
    assert 50 <= figures["flows"]["programs"]["packets_received"] <= 53
    assert 47 <= figures["links"]["bottleneck"]["drops"] <= 50


def test_figures_that_only_the_programs_tcp_knows_are_empty() -> None:
    send = "import socket as s; s.socket(s.AF_INET, s.SOCK_DGRAM).sendto(b'!', ('server', 9))"
    program = [sys.executable, "-c", f"{send}\nimport time; time.sleep(0.3)"]
    flow = emulated("--", *program)["flows"]["programs"]
    assert flow["throughput_bps"] > 0
    assert flow["goodput_bps"] is flow["retransmissions"] is flow["timeouts"] is None


def test_programs_run_as_the_user() -> None:
    done = goodqueue("emulate", *LINK, "--", "id", "-u")
    assert done.stdout.split()[0] == str(os.getuid())


def test_nothing_is_left_of_a_run_that_was_killed() -> None:
    with started([COMMAND, "emulate", *LINK, "--", *SLEEP]) as run:
        assert within(30, sleeps)
        run.kill()
        run.wait()
        assert within(1, lambda: not sleeps())


def test_an_interrupted_run_prints_its_figures() -> None:
    with started(
        [COMMAND, "emulate", *LINK, "--json", "--", *SLEEP], stdout=subprocess.PIPE, text=True
    ) as run:
        assert within(30, sleeps)
        run.send_signal(signal.SIGINT)
        figures = json.loads(run.communicate(timeout=10)[0])
    assert run.returncode == 130
    assert figures["interrupted"]
    assert not sleeps()


def test_ctrl_c_of_a_terminal_prints_no_trace_of_python() -> None:
    """A terminal sends the signal to each process of the group."""
    with started(
        [COMMAND, "emulate", *LINK, "--json", "--", *SLEEP],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        assert within(30, sleeps)
        os.killpg(run.pid, signal.SIGINT)
        output, messages = run.communicate(timeout=10)
    assert run.returncode == 130
    assert json.loads(output)["interrupted"]
    assert "Traceback" not in messages


@pytest.mark.parametrize("ignore", ["trap '' INT", "trap '' INT TERM"])
def test_a_job_in_the_background_goes_on_at_ctrl_c(ignore: str) -> None:
    """A shell lets the jobs that a script starts by `&` ignore the signal."""
    emulation = shlex.join([str(COMMAND), "emulate", *LINK, "--json", "--", "sleep", "2.3456"])
    with started(
        ["sh", "-c", f"{ignore}; exec {emulation}"], stdout=subprocess.PIPE, text=True
    ) as run:
        assert within(30, lambda: sleeps("sleep", "2.3456"))
        os.killpg(run.pid, signal.SIGINT)
        figures = json.loads(run.communicate(timeout=30)[0])
    assert run.returncode in ENDED
    assert not figures["interrupted"]
    assert figures["programs"][0]["exit_code"] == 0


@pytest.mark.parametrize(
    ("arguments", "host"),
    [(("--", "nosuchprogram"), "near"), (("--server=nosuchprogram -s", "--", "true"), "far")],
)
def test_a_program_that_does_not_exist_is_refused(arguments: tuple[str, ...], host: str) -> None:
    message = refused(goodqueue("emulate", *LINK, "--json", *arguments))
    assert f"nosuchprogram: the {host} host has no such program" in message


@pytest.mark.parametrize(
    ("command", "words"), [("", "is empty"), ("sh -c 'true", "No closing quotation")]
)
def test_a_server_without_a_command_is_refused(command: str, words: str) -> None:
    assert words in refused(goodqueue("emulate", *LINK, f"--server={command}", "--", "true"))


SERVER_LIVES = "--server=sleep 300"
FAILS = "--server=sh -c 'exit 6'"
WAITS = ("--", "sleep", "0.5")


@pytest.mark.parametrize(
    ("arguments", "code", "ended"),
    [
        ((SERVER_LIVES, "--", "true"), 0, [(None, None), (0, None)]),
        ((SERVER_LIVES, "--duration=1s", "--", "sleep", "300"), 0, [(None, None)] * 2),
        (("--", "sh", "-c", "sleep 0.2; exit 5"), 8, [(5, None)]),
        (("--", "sh", "-c", "kill -KILL $$"), 8, [(None, 9)]),
        ((FAILS, *WAITS), 8, [(6, None), (0, None)]),
        (("--server=/proc/self/exe/no -s", "--", "true"), 2, []),
    ],
)
def test_a_program_that_fails_is_an_error(
    arguments: tuple[str, ...], code: int, ended: list[tuple[int | None, int | None]]
) -> None:
    done = goodqueue("emulate", *LINK, "--json", *arguments)
    assert done.returncode in (ENDED if code == 0 else {code}), done.stderr
    assert ("error: " in done.stderr) == (code != 0)
    if ended:
        programs = json.loads(done.stdout)["programs"]
        assert [(one["exit_code"], one["signal"]) for one in programs] == ended


def test_a_file_that_cannot_be_started_is_an_error(tmp_path: Path) -> None:
    """The script exists and may be executed, but its interpreter does not exist."""
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    done = goodqueue("emulate", *LINK, f"--server={script}", *WAITS)
    assert done.returncode == 8
    assert f"error: server: {script} exited with 71" in done.stderr
    assert "starting the program: No such file" in done.stderr


def test_the_congestion_control_is_the_stated_one() -> None:
    show = ("cat", "/proc/sys/net/ipv4/tcp_congestion_control")
    done = goodqueue("emulate", *LINK, "--control=reno", "--", *show)
    assert done.stdout.split()[0] == "reno"
    wrong = goodqueue("emulate", *LINK, "--control=nosuchcontrol", "--", *show)
    assert "tcp_congestion_control to nosuchcontrol" in refused(wrong)


def test_the_kernel_and_its_congestion_control_are_recorded() -> None:
    figures = emulated("--", "true")
    kernel = figures["kernel"]
    assert kernel["release"] == os.uname().release
    parameters = kernel["parameters"]
    assert parameters["tcp_rmem"].split()[0].isdigit()
    # Without --control the programs use the machine's congestion control.
    own = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text(encoding="utf-8").strip()
    assert parameters["tcp_congestion_control"] == own
    done = goodqueue("emulate", *LINK, "--control=reno", "--", "true")
    assert f"Hosts: Linux {os.uname().release}, congestion control reno." in done.stdout


def test_parameters_of_the_kernel_hold_for_the_programs() -> None:
    settings = link_settings("10Mbps", 0.04, None)
    show = ("grep", "-q", "^2$", "/proc/sys/net/ipv4/tcp_ecn")
    run = emulate(settings, [Program(show)], parameters={"tcp_ecn": "2"})
    assert run.programs[0]["exit_code"] == 0
    assert run.kernel["parameters"]["tcp_ecn"] == "2"


def test_a_machine_that_can_emulate_says_so_in_one_line() -> None:
    done = goodqueue("emulate", "--check")
    assert done.returncode == 0
    [line] = done.stdout.splitlines()
    assert line.startswith("`emulate` works here. Hosts: Linux ")


def test_a_run_that_ends_within_its_warm_up_says_so() -> None:
    settings = {**link_settings("10Mbps", 0.04, None, "20s"), "warmup": "10s"}
    with pytest.raises(RequestError, match="ended within its warm-up"):
        emulate(settings, [Program(("true",))])


READ = (
    "import socket, time\n"
    "stream, _ = socket.create_server(('', 5001)).accept(); block = bytearray(1 << 17)\n"
    "while stream.recv_into(block):\n"
    " time.sleep(0.005)"
)
SEND = "import socket; socket.create_connection(('server', 5001)).sendall(bytes(1 << 21))"


def test_a_program_that_reads_late_makes_a_run_doubtful() -> None:
    figures = emulated(
        f"--server={shlex.join((sys.executable, '-c', READ))}", "--", sys.executable, "-c", SEND
    )
    fidelity = figures["fidelity"]
    # A reader that pauses for four packet times lets nearly all ACKs wait.
    assert fidelity["late_ack_share"] > 0.5
    assert fidelity["p99_ack_delay_s"] > fidelity["p50_ack_delay_s"] > 0
    assert fidelity["verdict"] != "trusted"
    assert any("programs read late" in reason for reason in fidelity["reasons"])


def test_a_run_without_tcp_has_no_delays_of_acks() -> None:
    fidelity = emulated("--", "true")["fidelity"]
    assert fidelity["p99_ack_delay_s"] is None
    assert fidelity["late_ack_share"] == 0
