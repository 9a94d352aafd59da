"""Questions of users to `goodqueue size`, and their answers."""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from evidence.core.derived import HOME, ROOT, digest_of, scratch
from goodqueue.core.files.unfinished import unfinished_file

if TYPE_CHECKING:
    from collections.abc import Iterable

QUESTIONS = HOME / "questions" / "questions.toml"
ANSWERS = HOME / "questions" / "answers.json"

OUTCOMES = {
    "impossible": "no buffer",
    "bursts": "for bursts",
    "refused": "refused",
}
"""Words of the page for answers that are not a number."""

FAULTS = {"reasoning": "Missed", "answer": "Doubtful answer"}
"""Words of the page for what is wrong if answer and reasoning disagree."""

MENDED = {"program": "Before the program was changed", "range": "Before the range was changed"}
"""Words of the page for what was changed until answer and reasoning agreed."""


@dataclass(frozen=True)
class Question:
    """A question of a user.

    Attributes:
        user: kind of user, a key of `USERS`.
        words: the question in words.
        flags: the arguments of `goodqueue size`.
        expected: smallest and largest number of packets, or a key of `OUTCOMES`.
        reason: independent reasoning about the answer.
        known: True if the answer was known before the range was written.
        fault: the mistaken side if answer and range disagree, a key of `FAULTS`.
        found: the explanation of the disagreement.
        mended: the side that was changed before the answer agreed, a key of `MENDED`.
        before: the disagreement before.
    """

    user: str
    words: str
    flags: str
    expected: list[int] | str
    reason: str
    known: bool = False
    fault: str | None = None
    found: str | None = None
    mended: str | None = None
    before: str | None = None


@dataclass(frozen=True)
class Answer:
    """An answer of `goodqueue size`.

    Attributes:
        exit_code: the exit code.
        outcome: "packets", or a key of `OUTCOMES`.
        packets: the recommended limit, or the nearest miss; None if the question was refused.
        chance: ends of the interval over seeds.
        hosts: ends of the range over hosts that were not described.
        work: work of all runs in packets, those that were stored included.
        message: why the question was refused.
    """

    exit_code: int
    outcome: str
    packets: int | None
    chance: list[int | None]
    hosts: list[int | None]
    work: int
    message: str | None = None

    def agrees(self, question: Question) -> bool:
        """Returns True if the answer lies in the expected range, or has the expected outcome."""
        if isinstance(question.expected, str):
            return self.outcome == question.expected
        low, high = question.expected
        return (
            self.outcome == "packets" and self.packets is not None and low <= self.packets <= high
        )


def questions() -> list[Question]:
    """Returns the questions in the order of the page."""
    table = tomllib.loads(QUESTIONS.read_text(encoding="utf-8"))
    return [Question(**one) for one in table["question"]]


def recorded() -> dict[str, Answer]:
    """Returns the recorded answers by the arguments of `goodqueue size`."""
    table = json.loads(ANSWERS.read_text(encoding="utf-8"))
    return {flags: Answer(**one) for flags, one in table.items()}


def files(some: Iterable[Question]) -> list[str]:
    """Returns the files of the repository that questions name, relative to the root."""
    words = {word.partition(":")[0] for one in some for word in shlex.split(one.flags)}
    return sorted(word for word in words if "/" in word and (ROOT / word).is_file())


def answer(question: Question) -> Answer:
    """Returns the answer of a question; finished ones of this code are in the unfinished data."""
    runs = scratch() / "questions" / name_of(question.flags)
    kept = runs.with_name(f"{name_of(question.flags, code())}.json")
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        found = asked(question.flags, store=str(runs))
        with unfinished_file(kept) as unfinished:
            unfinished.write_text(json.dumps(vars(found)), encoding="utf-8")
    return Answer(**json.loads(kept.read_text(encoding="utf-8")))


def name_of(*parts: str) -> str:
    """Returns a name for files that differs if any part differs."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


@cache
def code() -> str:
    """Returns a digest of the package: its modules ask, search and print."""
    return digest_of([ROOT / "python" / "goodqueue"])


def asked(flags: str, store: str) -> Answer:
    """Returns the answer of `goodqueue size`, whose runs are stored in a folder.

    Raises:
        RuntimeError: if the command fails for a reason other than a refused question.
    """
    call = "import sys; from goodqueue.cli import main; sys.exit(main())"
    words = ["size", *shlex.split(flags), "--json"]
    words += [] if "--quick" in words else ["--only", "answer", "--store", store]
    done = subprocess.run(  # noqa: S603 - ours
        [sys.executable, "-c", call, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode == REFUSED:
        message = done.stderr.partition("\n")[0]
        return Answer(REFUSED, "refused", None, [None, None], [None, None], 0, message)
    if done.returncode not in ANSWERED:
        raise RuntimeError(f"goodqueue size {flags}\n{done.stderr}")
    whole = json.loads(done.stdout)
    decision = whole["decision"]
    missed = decision["nearest_miss"] is not None
    bursts = whole["link"]["for_bursts"] or whole["recommendation"]["by"] == "bursts"
    return Answer(
        exit_code=done.returncode,
        outcome="bursts" if bursts else "impossible" if missed else "packets",
        packets=decision["packets"],
        chance=decision["chance"],
        hosts=decision["world"],
        work=whole.get("budget", {"used_packets": 0})["used_packets"],
    )


REFUSED = 2
ANSWERED = (0, 3, 6)
"""Exit codes: the request was refused; shown, no buffer suffices, an estimate."""
