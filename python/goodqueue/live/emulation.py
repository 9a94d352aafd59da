"""Runs real programs behind the links of a scenario and returns what the links did.

Programs run in network namespaces of their own, which need no privileges and end with the run
(crates/live). Processes: this one, one that makes the namespaces, one in them that emulates the
network, and the programs.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.errors import RequestError
from goodqueue.live.stage import launcher
from goodqueue.runs.settings import scenario_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue._core import Scenario
    from goodqueue.runs.settings import Settings

LONGEST = "1h"
"""Largest duration of a run without a stated one."""

PATIENCE_S = 0.8
"""Time that the processes of a run have to end after an interrupt."""

REMEDIES = {
    "making a user namespace": "an ordinary user needs user namespaces: on Ubuntu 24.04 "
    "`sysctl kernel.apparmor_restrict_unprivileged_userns=0`, in a container an option such as "
    "`--security-opt seccomp=unconfined`",
    "mounting /proc": "in a container, /proc must be unmasked "
    "(`--security-opt systempaths=unconfined`)",
    "tcp_congestion_control": "the kernel must allow this control to everybody: as root, "
    '`sysctl net.ipv4.tcp_allowed_congestion_control="reno cubic"`, with the names wanted',
    "/dev/net/tun": "every user must be able to open /dev/net/tun: `chmod 666 /dev/net/tun`, and "
    "in a container `--device /dev/net/tun`",
}
"""Remedies for what the operating system refuses, by a part of the message."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program of an emulation.

    Attributes:
        command: the program and its arguments.
        server: True if it runs on the far host, which programs find by the name `server`; otherwise
            it runs on the near one, named `client`.
        flow: number of the flow of the scenario whose two hosts these are, from 0.
    """

    command: tuple[str, ...]
    server: bool = False
    flow: int = 0


@dataclass(frozen=True, slots=True)
class Emulation:
    """Results of an emulation.

    Attributes:
        scenario: the scenario of the emulated network.
        summary: figures of links and flows, with the keys of `goodqueue run --json`.
        fidelity: lateness of the emulation and the verdict.
        programs: the end of each program: its exit code, null if the run ended it.
        interrupted: True if the run was interrupted before its programs ended.
    """

    scenario: Scenario
    summary: dict[str, Any]
    fidelity: dict[str, Any]
    programs: list[dict[str, Any]]
    interrupted: bool


def link_settings(rate: str, rtt_s: float, queue: str | None, longest: str = LONGEST) -> Settings:
    """Returns the settings of a network of one link with the same queue in both directions.

    Args:
        rate: rate of the link in both directions, with its unit.
        rtt_s: base RTT in seconds.
        queue: the queue, as in `tc` or as a table of scenario files; None for a FIFO of one BDP.
        longest: largest duration of the run, with its unit.

    Raises:
        ScenarioError: if the queue cannot be read; the message names the mistake.
    """
    table = queue_table(queue) if queue else {"limit": "1bdp"}
    link = {"rate": rate, "delay": f"{rtt_s / 2 * 1e9:.0f}ns", "queue": table}
    link["reverse"] = {"queue": table}
    return {
        "schema_version": 1,
        "title": "Programs behind an emulated link",
        "duration": longest,
        "topology": {"shape": "dumbbell", "bottleneck": link},
        "flow": [{"name": "programs", "workload": {"kind": "bulk"}}],
    }


def queue_table(text: str) -> Settings:
    """Returns the settings of a queue, written as in `tc` or as a table of scenario files.

    Raises:
        ScenarioError: if the queue cannot be read; the message names the mistake.
    """
    import tomllib

    if not text.lstrip().startswith("{"):
        kind, _, options = text.strip().partition(" ")
        text, _, _ = _core.parse_qdisc(f"qdisc {kind} 0: root {options}")
    return dict(tomllib.loads(f"queue = {text}")["queue"])


def emulate(
    settings: Settings, programs: Sequence[Program], control: str | None = None
) -> Emulation:
    """Runs programs behind the links of a network until those on near hosts have ended.

    Args:
        settings: settings of a scenario, whose flows give the hosts and their routes.
        programs: the programs; at least one runs on a near host.
        control: congestion control of all hosts' TCP, as the kernel names it; None for the
            kernel's default.

    Raises:
        ScenarioError: if a setting is wrong.
        RequestError: if this machine cannot emulate a network; the message has the remedy.
    """
    if sys.platform != "linux":
        raise RequestError("`emulate` needs Linux: it runs programs in network namespaces")
    scenario = scenario_of(settings, "the emulated network")
    job = {
        "scenario": scenario.resolved_toml(),
        "programs": [
            {"flow": p.flow, "server": p.server, "command": list(p.command)} for p in programs
        ],
        "parameters": {} if control is None else {"tcp_congestion_control": control},
        "user": os.getuid(),
    }
    answer = _run(job)
    if "refused" in answer:
        raise RequestError(_refusal(answer["refused"]))
    return Emulation(
        scenario, answer["summary"], answer["fidelity"], answer["programs"], answer["interrupted"]
    )


def _run(job: dict[str, Any]) -> dict[str, Any]:
    """Runs the stages of a job. Returns their answer."""
    job_read, job_write = os.pipe()
    answer_read, answer_write = os.pipe()
    stage = subprocess.Popen(  # noqa: S603 - our own interpreter
        [*launcher("enter"), str(job_read), str(answer_write)],
        pass_fds=(job_read, answer_write),
    )
    os.close(job_read)
    os.close(answer_write)
    with os.fdopen(job_write, "wb", buffering=0) as file:
        try:
            with suppress(BrokenPipeError):
                file.write(json.dumps(job).encode() + b"\n")
            answer = _answer(answer_read, file)
        finally:
            file.close()
            with suppress(subprocess.TimeoutExpired):
                stage.wait(PATIENCE_S)
            stage.kill()
            stage.wait()
            os.close(answer_read)
    return dict(json.loads(answer or '{"refused": "the emulation ended without an answer"}'))


def _answer(answer: int, job: IO[bytes]) -> bytes:
    """Returns what is written to `answer` until it is closed.

    The first interrupt ends the run, whose answer comes soon. Without an answer, or at the second
    one, the interrupt is raised.
    """
    parts: list[bytes] = []
    until: float | None = None
    while True:
        left = None if until is None else max(until - time.monotonic(), 0)
        try:
            ready = select.select([answer], [], [], left)[0]
        except KeyboardInterrupt:
            if until is not None:
                raise
            until = time.monotonic() + PATIENCE_S
            job.close()
            continue
        if not ready:
            raise KeyboardInterrupt
        part = os.read(answer, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)


def _refusal(reason: str) -> str:
    """Returns what the operating system refused, with its remedy."""
    remedies = [remedy for part, remedy in REMEDIES.items() if part in reason]
    return "\n  help: ".join([f"no emulation here: {reason}", *remedies])
