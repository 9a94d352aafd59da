"""A transport stack outside the package: a program that runs scenarios in which it has flows.

The program is called as `PROGRAM FILE OPTION... --control NAME --flow NAME... --seed N --metrics`.
FILE is a scenario, the first options are those of the user, and each `--flow` is a group of flows
that the stack takes over. The program prints a JSON object with the figures of the run by name, as
`metrics` of the crate `goodqueue-scenario` returns them, and ends with exit code 0. If it fails, it
ends with another one, and its first line on standard error is the reason.
"""

from __future__ import annotations

import hashlib
import json
import math
import shlex
import shutil
import struct
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast

from goodqueue.characterization.subject import Subject
from goodqueue.core.parallel import jobs_of
from goodqueue.core.text import shortened
from goodqueue.errors import RequestError, ScenarioError
from goodqueue.study.engine import HOST
from goodqueue.study.model import Keep, RunResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from goodqueue.characterization.guide import Case
    from goodqueue.study.model import Run, Stop, Variant

STAND_IN = "cubic"
"""Control of TCP in scenarios, whose flows the stack replaces."""

RUNS = ("bulk", "exchanges")
"""Workloads that a program runs in place of TCP."""

DATAGRAMS = ("cbr", "poisson", "bursts", "on_off", "voice", "game", "ping")
"""Workloads without a congestion control."""

HOW_TO_BUILD = {
    "quinn": "build it with: cd examples/quic && cargo build --release --locked; its program is "
    "examples/quic/target/release/goodqueue-quinn"
}
"""Remedies for a missing program of the examples, by its name."""


@dataclass(frozen=True, slots=True)
class Stack:
    """A program with a transport stack.

    Attributes:
        name: name or path, and options, as the user wrote them.
        words: the program's path, and the words that follow it in each call.
        digest: checksum of the program and of these words.
    """

    name: str
    words: tuple[str, ...]
    digest: str


def stack_of(text: str) -> Stack:
    """Returns the stack of a name or path, and of the words after it.

    A name `quinn` is the program `goodqueue-quinn` on PATH. Whatever has a slash is a path.

    Raises:
        RequestError: if there is no such program; the message says how to build it.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise RequestError(f"--stack {shortened(text)} cannot be read: {error}") from None
    name, *rest = words or [""]
    program = name if "/" in name else f"goodqueue-{name}"
    path = shutil.which(program)
    if path is None:
        where = "is no program" if "/" in name else f"needs the program {program}, not on PATH"
        how = HOW_TO_BUILD.get(name, "write its path, or add its folder to PATH")
        raise RequestError(f"--stack {shortened(name)} {where}; {how}")
    checksum = hashlib.sha256(Path(path).read_bytes())
    checksum.update(json.dumps(rest).encode())
    return Stack(" ".join([name, *rest]), (str(Path(path).absolute()), *rest), checksum.hexdigest())


@dataclass(frozen=True, eq=False)
class StackSubject(Subject):
    """A congestion control of a stack.

    Its scenarios have flows of TCP in the places of the stack's.

    Attributes:
        stack: the stack.
        control: the stack's name of the control.
    """

    stack: Stack = Stack("", (), "")
    control: str = ""

    def variant(self, case: Case, placeholder: str, index: int) -> Variant:
        """Returns what is run of a case, with the names of the stack's flows as a parameter.

        Raises:
            ScenarioError: if the stack has no workload like that of a flow.
        """
        made = super().variant(case, placeholder, index)
        flows = " ".join(_own_flows(case))
        text = b"%s %s %s %s" % (
            made.digest,
            self.stack.digest.encode(),
            self.control.encode(),
            flows.encode(),
        )
        return replace(made, parameters={"flows": flows}, digest=hashlib.sha256(text).digest())


def subject_of(stack: Stack, control: str) -> StackSubject:
    """Returns the subject of a stack and its control."""
    name = f"{Path(stack.words[0]).name.removeprefix('goodqueue-')} {control}"
    options = " ".join([name, *stack.words[1:]])
    return StackSubject(options, STAND_IN, stack=stack, control=control)


def _own_flows(case: Case) -> list[str]:
    """Returns the groups of flows with the control that is characterised."""
    names = []
    for flow in case.settings["flow"]:
        kind = flow["workload"]["kind"]
        if "tcp" in flow or kind in DATAGRAMS:
            continue
        if kind not in RUNS:
            raise ScenarioError(
                f'error: "{flow["name"]}" has {kind}, which programs of --stack do not run'
            )
        names.append(flow["name"])
    return names


class Programs:
    """An executor whose runs are processes of a stack's program."""

    def __init__(self, subject: StackSubject, jobs: int | None = None) -> None:
        """Takes the subject, and the number of concurrent processes."""
        self._subject = subject
        self.workers = jobs_of(jobs)

    def execute(self, runs: Iterable[Run], keep: Keep, stop: Stop) -> Iterator[list[RunResult]]:
        """Runs all runs; see `Executor.execute`.

        Raises:
            RequestError: if the program fails, with its message.
        """
        assert keep == Keep(), "a program prints figures only"
        with TemporaryDirectory() as folder, ThreadPoolExecutor(self.workers) as pool:
            waiting = [pool.submit(self._result, run, Path(folder), stop) for run in runs]
            try:
                for done in as_completed(waiting):
                    if (result := done.result()) is not None:
                        yield [result]
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def _result(self, run: Run, folder: Path, stop: Stop) -> RunResult | None:
        if stop.draining:
            return None
        begun = time.perf_counter()
        file = folder / f"{run.identity.hex()}.toml"
        file.write_text(run.variant.scenario.resolved_toml(), encoding="utf-8")
        program, *own = self._subject.stack.words
        names = cast("str", run.variant.parameters["flows"]).split()
        flows = [word for name in names for word in ("--flow", name)]
        call = [program, str(file), *own, "--control", self._subject.control, *flows]
        figures = _printed([*call, "--seed", str(run.seed), "--metrics"])
        values = struct.pack(f"<{len(figures)}d", *figures.values())
        return RunResult(run, tuple(figures), values, time.perf_counter() - begun, HOST)

    def close(self) -> None:
        """Does nothing, because nothing is kept between calls."""


def _printed(call: list[str]) -> dict[str, float]:
    """Returns the figures that a program prints.

    Raises:
        RequestError: if it fails.
    """
    done = subprocess.run(call, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603 - the program that the user names
    if done.returncode:
        said = done.stderr.strip().splitlines()
        why = said[0].removeprefix("error: ") if said else f"exit code {done.returncode}"
        raise RequestError(f"--stack: {Path(call[0]).name} failed: {shortened(why)}")
    try:
        found = json.loads(done.stdout)
        return {name: math.nan if value is None else float(value) for name, value in found.items()}
    except (ValueError, AttributeError, TypeError):
        raise RequestError(
            f"--stack: {Path(call[0]).name} printed no figures; with --metrics it must print a "
            "JSON object of names and numbers"
        ) from None
