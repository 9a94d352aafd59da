"""The range over hosts of drawn links, and runs of a kernel behind its ends and the answer.

`goodqueue size` says which buffers other hosts may need. The TCP of Linux is such a host: behind
the lower end the bound should fail, and behind the upper end it should hold.
"""

from __future__ import annotations

import json
import platform
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evidence.answers_on_trial.asked import asked
from evidence.answers_on_trial.draw import Question
from evidence.core.derived import Derived, relative, scratch
from evidence.core.pages import with_part
from evidence.hosts_on_kernel import page
from evidence.hosts_on_kernel.page import buffers
from evidence.rules_on_trial.make import cells as drawn_links
from goodqueue.live.calibration.cells import Cell
from goodqueue.live.calibration.cells import Path as LivePath
from goodqueue.live.calibration.ledger import Ledger
from goodqueue.live.calibration.measure import emulated
from goodqueue.live.process import Interrupt

if TYPE_CHECKING:
    from goodqueue.live.calibration.ledger import Finished

LINKS = 10
SEED = 50

ANSWERS = Path(__file__).parent / "data" / "answers.json"
KERNEL = Path(__file__).parent / "data" / "kernel.json"
PAGE = Path("docs/validation.md")
PART = "hosts"

REPEATS = 2
"""Emulations behind each buffer."""

JOBS = 4
"""Emulations at once. Each has its own network; those that come late are tried again."""

DURATION_S, WARMUP_S = 60.0, 15.0
"""Length of an emulation, and its part that is not measured."""


def questions() -> list[Question]:
    """Returns the drawn questions."""
    rng = random.Random(SEED)  # noqa: S311 - links, no secrets
    return [
        Question(
            rate_kbps=round(5 * 4 ** rng.random(), 1) * 1e3,
            rtts_ms=(float(round(20 * 5 ** rng.random())),),
            flows=round(2 * 6 ** rng.random()),
            control=rng.choice(["cubic", "cubic", "reno"]),
            profile="linux",
            busy=rng.choice([0.95, 0.98]),
            loss=None,
            delay_ms=None,
        )
        for _ in range(LINKS)
    ]


def make_answers() -> None:
    """Asks for the buffer of each link, with its range over hosts."""
    found = []
    for number, question in enumerate(questions(), 1):
        print(f"    {number} of {LINKS}: {' '.join(question.flags)}", file=sys.stderr, flush=True)
        found.append({"flags": " ".join(question.flags), **asked(question)})
    _write(ANSWERS, found)


def make_kernel() -> None:
    """Runs this machine's kernel behind three buffers of each link."""
    ledger = Ledger(scratch() / "hosts_on_kernel.jsonl")
    stop = Interrupt()
    answers = _read(ANSWERS)
    wanted = [
        (number, name, repeat)
        for repeat, number, name in product(range(REPEATS), range(LINKS), buffers(answers[0]))
    ]
    call = partial(_run, answers=answers, ledger=ledger, stop=stop)
    with ThreadPoolExecutor(JOBS) as pool:
        done = list(pool.map(call, wanted))
    rows: list[dict[str, Any]] = [{} for _ in answers]
    for (number, name, _), one in zip(wanted, done, strict=True):
        rows[number].setdefault(name, []).append(
            {"utilization": round(one.utilization, 5), "verdict": one.verdict}
        )
    _write(KERNEL, {"kernel": platform.release(), "rows": rows})


def _run(
    what: tuple[int, str, int], answers: list[dict[str, Any]], ledger: Ledger, stop: Interrupt
) -> Finished:
    number, name, repeat = what
    question = questions()[number]
    (rtt_ms,) = question.rtts_ms
    path = LivePath(f"{question.rate_kbps:g}kbps", f"{rtt_ms:g}ms", DURATION_S, WARMUP_S)
    packets = buffers(answers[number])[name]
    cell = Cell("fifo", question.control, question.flows, packets)
    print(f"    {cell.name}, repeat {repeat + 1}", file=sys.stderr, flush=True)
    return emulated(cell, repeat, path=path, ledger=ledger, stop=stop)


def _write(path: Path, what: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(what, indent=1) + "\n", encoding="utf-8")


def _read(path: Path) -> Any:  # noqa: ANN401 - the document of a file
    return json.loads(path.read_text(encoding="utf-8"))


def make_page() -> None:
    """Writes the part of the page."""
    before = PAGE.read_text(encoding="utf-8")
    part = page.text(_read(ANSWERS), _read(KERNEL))
    PAGE.write_text(with_part(before, PART, part), encoding="utf-8")


THINGS = [
    Derived(
        "hosts_on_kernel/answers",
        make_answers,
        products=(relative(ANSWERS),),
        cells=drawn_links,
        programs=("make.py",),
        seeds="those of `goodqueue size`",
    ),
    Derived(
        "hosts_on_kernel/kernel",
        make_kernel,
        products=(relative(KERNEL),),
        needs=("hosts_on_kernel/answers",),
        programs=("make.py",),
        measured="the kernel of this machine, in real time",
    ),
    Derived(
        "hosts_on_kernel/page",
        make_page,
        products=(f"{PAGE}#{PART}",),
        needs=("hosts_on_kernel/kernel",),
        programs=("make.py", "page.py"),
        measured="the kernel of this machine, in real time",
    ),
]
