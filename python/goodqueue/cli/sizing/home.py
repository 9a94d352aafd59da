"""`goodqueue home`: from the question to the printed answer."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from goodqueue.cli.exits import EXIT_INTERRUPTED, exit_code_of
from goodqueue.cli.files import print_wrote
from goodqueue.cli.sizing.tune import searching
from goodqueue.core.files.outdir import check_file, write_whole
from goodqueue.errors import RequestError, nearest
from goodqueue.home.api import USUAL_RTT, Question, answer_home
from goodqueue.home.devices import SYNTAXES
from goodqueue.home.household import USUAL
from goodqueue.home.line import KINDS, framing_of, kind_of
from goodqueue.output.terminal import print_json
from goodqueue.output.tuning.home import print_home

if TYPE_CHECKING:
    from goodqueue.cli.commands.sizing.home import Home


def home(asked: Home) -> int:
    """Asks for what is missing, answers, prints and writes; returns the exit code."""
    if asked.syntax not in SYNTAXES:
        raise RequestError(f"--syntax {asked.syntax}: {nearest(asked.syntax, list(SYNTAXES))}")
    try:
        question = _question(asked)
    except typer.Abort:
        return EXIT_INTERRUPTED
    question.bound_s(question.home())  # refuses wrong values before anything runs
    if asked.write is not None:
        check_file(asked.write)
    with searching(asked, "the shaper", asked.memory) as effort:
        answer = answer_home(question, effort)
    if asked.json:
        print_json(answer.as_dict())
    else:
        print_home(answer, asked.syntax, explain=asked.explain)
    if asked.write is not None and answer.complete:
        write_whole(asked.write, answer.toml())
        print_wrote(asked.write)
    return exit_code_of(answer)


def _question(asked: Home) -> Question:
    """Returns the question, with the user's answers on a terminal for options that are missing.

    Raises:
        RequestError: if an option is missing and there is no terminal.
    """
    needed = {"--line": asked.line, "--down": asked.down, "--up": asked.up}
    missing = [option for option, value in needed.items() if value is None]
    asks = sys.stdin.isatty() and sys.stderr.isatty()
    if missing and not asks:
        raise RequestError(
            f"{', '.join(missing)}: missing, and without a terminal nothing can be asked; write "
            "for example --line dsl --framing ptm --down 50Mbps --up 10Mbps"
        )
    line = asked.line or _ask(f"Kind of line ({', '.join(KINDS)})")
    changes = kind_of(line).must_change
    framing = asked.framing
    if framing is None and asks and "" not in kind_of(line).framings:
        framing = _ask("Framing: atm (ADSL) or ptm (VDSL2)", "ptm")
    framing_of(line, framing)
    form = "lowest..highest of some speed tests, as in 5Mbps..20Mbps" if changes else "as in 10Mbps"
    down = asked.down or _ask(f"Rate towards the home ({form})")
    up = asked.up or _ask(f"Rate from the home ({form})")
    rtt, traffic = asked.rtt, asked.traffic
    if missing:
        rtt = rtt or _ask("Ping while nobody uses the line", USUAL_RTT)
        traffic = traffic or _ask("What the household does at once", USUAL)
    return Question(
        line=line,
        down=down,
        up=up,
        framing=framing,
        overhead=asked.overhead,
        rtt=rtt or USUAL_RTT,
        traffic=traffic or USUAL,
        max_ping=asked.max_ping,
        loaded_ping=asked.loaded_ping,
        margin=asked.margin,
        seed=asked.seed,
    )


def _ask(what: str, usual: str | None = None) -> str:
    """Returns what the user types on the terminal, or the usual value for an empty line."""
    typed: str = typer.prompt(what, default=usual, err=True)
    return typed.strip()
