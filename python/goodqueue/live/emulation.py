"""Runs real programs behind the links of a scenario and returns what the links did.

Programs run in network namespaces of their own, which need no privileges and end with the run
(crates/live). Processes: this one, one that makes the namespaces, one in them that emulates the
network, and the programs.
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import shutil
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from goodqueue import _core
from goodqueue.core.files.unfinished import scratch
from goodqueue.errors import RequestError
from goodqueue.live.process import Interrupt, run_stages
from goodqueue.live.tables import Tables
from goodqueue.live.uplink.nat import NO_RESOLVER, Nat
from goodqueue.live.uplink.relay import Relay
from goodqueue.runs.results.throughput import Throughput
from goodqueue.runs.results.traces import opened
from goodqueue.runs.settings import queue_table, scenario_of, settings_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodqueue._core import Scenario
    from goodqueue.live.process import Watch
    from goodqueue.runs.results.result import Result
    from goodqueue.runs.results.throughput import Measured
    from goodqueue.runs.settings import Settings

UplinkKind = Literal["socks", "nat"]
"""Connections of emulated networks with the outside."""

MAX_FLOWS = 100
"""Largest number of flows of an emulation, each with its programs."""

MAX_MEASURED = 32
"""Largest number of flows whose throughput is recorded in both directions."""

WHOLE_FRAMES = "256kB"
"""Size of a captured frame that no packet exceeds."""

SYSCTLS = (
    *("net.ipv4.tcp_congestion_control", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"),
    *("net.ipv4.tcp_ecn", "net.core.default_qdisc"),
)
"""Kernel parameters that are recorded with the results."""


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
class Records:
    """Records of an emulation besides its figures.

    Attributes:
        over_time: backlogs, queueing delays and throughput over time.
        traces: file of each trace: captures (`sender`, `receiver`, `before`, `after`, with a colon
            and the name of a flow or link) and `flent`.
        snap: size to which captured frames are cut.
    """

    over_time: bool = False
    traces: Mapping[str, Path] | None = None
    snap: str = WHOLE_FRAMES


NO_RECORDS = Records()


@dataclass(frozen=True, slots=True)
class Emulation:
    """Results of an emulation.

    Attributes:
        scenario: the scenario of the emulated network.
        summary: figures of links and flows, with the keys of `goodqueue run --json`.
        fidelity: lateness of the emulation and the verdict.
        kernel: version of the hosts' kernel, and its parameters on which TCP depends, by their
            names below `net.ipv4`.
        programs: the end of each program: its exit code, or the signal that ended it; both are null
            if the run ended it.
        interrupted: True if the run was interrupted before its programs ended.
        uplink: the connection with the outside, its kind and its counts; None without one.
        result: figures and tables as of a simulated run; None unless recorded over time.
    """

    scenario: Scenario
    summary: dict[str, Any]
    fidelity: dict[str, Any]
    kernel: dict[str, Any]
    programs: list[dict[str, Any]]
    interrupted: bool
    uplink: dict[str, Any] | None = None
    result: Result | None = None

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The programs that failed by themselves, on near and far hosts."""
        return [
            program
            for program in self.programs
            if program["exit_code"] not in {None, 0} or program["signal"] is not None
        ]


OF_TCP = ("goodput_bps", "retransmissions", "timeouts", "duplicate_share")
"""Figures of a flow that only the programs' TCP knows, which does not report them."""


def link_settings(rate: str, rtt_s: float, queue: str | None, longest: str = "1h") -> Settings:
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


def programs_of(scenario: Scenario) -> list[Program]:
    """Returns the programs that a scenario names, servers first for each flow.

    Raises:
        RequestError: if a flow has no command, or the scenario cannot be emulated.
    """
    settings = settings_of(scenario)
    if any(len(lists) for key, lists in settings["topology"].items() if key == "pool"):
        raise RequestError("`emulate` has no buffers that links share: remove [[topology.pool]]")
    if _has(settings["topology"], "pause"):
        raise RequestError("`emulate` has no flow control of links: remove their `pause`")
    if _has(settings["topology"], "autorate"):
        raise RequestError("`emulate` has no programs that set shapers: remove their `autorate`")
    flows = [group for group in settings["flow"] for _ in range(group["count"])]
    if len(flows) > MAX_FLOWS:
        raise RequestError(f"`emulate` runs the programs of at most {MAX_FLOWS} flows")
    programs = []
    for number, group in enumerate(flows):
        if "command" not in group:
            raise RequestError(
                f"the flow {group['name']!r} has no program to run, and `emulate` simulates no "
                'traffic; add command = ["program", "argument"] to the flow, or remove it'
            )
        if "interface" in group:
            raise RequestError(
                f"the flow {group['name']!r} has an interface, but programs use the kernel's: "
                "remove the key `interface`, or set the offloads of the kernel with `ethtool -K`"
            )
        if "server_command" in group:
            programs.append(Program(tuple(group["server_command"]), server=True, flow=number))
        programs.append(Program(tuple(group["command"]), flow=number))
    return programs


def _has(tables: object, key: str) -> bool:
    """Returns True if any of nested tables has a key."""
    if isinstance(tables, dict):
        return key in tables or any(_has(one, key) for one in tables.values())
    return isinstance(tables, list) and any(_has(one, key) for one in tables)


def emulate(  # noqa: PLR0913 - all but the first two are options, by name
    network: Settings | Scenario,
    programs: Sequence[Program],
    control: str | None = None,
    *,
    parameters: Mapping[str, str] | None = None,
    records: Records = NO_RECORDS,
    watch: Watch | None = None,
    stop: Interrupt | None = None,
    privileged: bool = False,
    uplink: UplinkKind | None = None,
    output: int | None = None,
) -> Emulation:
    """Runs programs behind the links of a network until those on near hosts have ended.

    Args:
        network: a scenario or its settings, whose flows give the hosts and their routes.
        programs: the programs; at least one runs on a near host.
        control: congestion control of all hosts' TCP, as the kernel names it; None for the
            kernel's default.
        parameters: further kernel parameters of all hosts, by their names below `net.ipv4`.
        records: records besides the figures.
        watch: called each second with the activity of the links.
        stop: ends the run from another thread.
        privileged: let the programs administer the network of their own host, so that they can
            choose every congestion control that the kernel has loaded.
        uplink: connection of the far host of the first flow with the outside: a SOCKS relay, or
            translation of addresses.
        output: number of the open file that is the programs' standard output; None for ours.

    Raises:
        ScenarioError: if a setting is wrong.
        RequestError: if this machine cannot emulate a network; the message has the remedy. Also if
            a program does not exist, or the run ended within its warm-up.
        OSError: if a trace cannot be written.
    """
    if sys.platform != "linux":
        raise RequestError("`emulate` needs Linux: it runs programs in network namespaces")
    for program in programs:
        _check_program(program)
    scenario = (
        network
        if isinstance(network, _core.Scenario)
        else scenario_of(network, "the emulated network")
    )
    with ExitStack() as stack:
        folder = stack.enter_context(scratch()) if records.over_time else None
        traces = [
            (name, str(file.absolute()))
            for name, file in stack.enter_context(opened(records.traces or {}, scenario))
        ]
        relay = stack.enter_context(Relay()) if uplink == "socks" else None
        nat = stack.enter_context(Nat()) if uplink == "nat" else None
        outside = relay or nat
        throughput = None if folder is None else Throughput(_measured(scenario), folder)
        if throughput is not None:
            traces += [(name, str(file)) for name, file in throughput.traces]
        job = {
            "scenario": scenario.resolved_toml(),
            "programs": [
                {"flow": p.flow, "server": p.server, "command": list(p.command)}
                for p in (*_relays(relay), *programs)
            ],
            "parameters": {
                **(parameters or {}),
                **({} if control is None else {"tcp_congestion_control": control}),
            },
            "user": 0 if privileged else os.getuid(),
            "tables": None if folder is None else str(folder / "tables"),
            "traces": traces,
            "snap": _core.parse_size("--snap", records.snap),
            "watched": watch is not None,
            "join": None if nat is None else nat.inside.fileno(),
            "resolver": NO_RESOLVER if nat is None else nat.resolver,
        }
        files = [] if outside is None else [outside.inside.fileno()]
        answer = run_stages(job, stop or Interrupt(), watch, files, output)
        if answer["summary"]["measured_s"] <= 0:
            raise RequestError("the run ended within its warm-up, so that nothing was measured")
        summary = {"engine": "emulated", **answer["summary"]}
        for flow in summary["flows"].values():
            flow.update(dict.fromkeys(OF_TCP))
        result = None
        if folder is not None and throughput is not None:
            result = _result(scenario, summary, folder / "tables", throughput)
    return Emulation(
        scenario,
        summary,
        answer["fidelity"],
        answer["kernel"],
        answer["programs"],
        answer["interrupted"],
        None if outside is None else outside.report(),
        result,
    )


def _check_program(program: Program) -> None:
    """Refuses a program that does not exist, before the run starts any other."""
    host = "far" if program.server else "near"
    name = next(iter(program.command), "")
    if not name:
        raise RequestError(f"a command of the {host} host is empty\n  help: name a program to run")
    if shutil.which(name) is None:
        raise RequestError(
            f"{shlex.quote(name)}: the {host} host has no such program\n  help: install it, or "
            "give the path of a file that may be executed"
        )


def _relays(relay: Relay | None) -> list[Program]:
    """Returns the program that opens the port of a relay."""
    return [] if relay is None else [Program(relay.command, server=True)]


def kernel_line(kernel: Mapping[str, Any]) -> str:
    """Returns the hosts' kernel and its congestion control in words."""
    control = kernel["parameters"]["tcp_congestion_control"]
    return f"Hosts: Linux {kernel['release']}, congestion control {control}"


def check() -> str:
    """Emulates a network for a moment. Returns a line about the hosts' kernel.

    Raises:
        RequestError: if this machine cannot emulate a network; the message has the remedy.
    """
    settings = link_settings("1Gbps", 0.002, None, "10s")
    emulation = emulate(settings, [Program(("true",))])
    if emulation.failed:
        raise RequestError("no emulation here: the program `true` failed in the emulated network")
    return kernel_line(emulation.kernel)


def _measured(scenario: Scenario) -> list[Measured]:
    """Returns the flows and directions whose throughput is recorded."""
    names = [name for name, _, _ in scenario.flows()][:MAX_MEASURED]
    return [(name, way) for name in names for way in ("up", "down")]


def _result(
    scenario: Scenario, summary: dict[str, Any], tables: Path, throughput: Throughput
) -> Result:
    from goodqueue.runs.results.result import Result

    held: Any = Tables(tables, json.dumps(summary))  # in place of the core's own
    return Result(held, scenario.resolved_toml(), throughput.frame())


def system() -> dict[str, str]:
    """Returns this machine's kernel and its parameters of TCP."""
    found = {"kernel": f"{platform.system()} {platform.release()}"}
    for name in SYSCTLS:
        file = Path("/proc/sys", *name.split("."))
        if file.exists():
            found[name] = " ".join(file.read_text(encoding="ascii").split())
    return found
