"""The study of the rules: `python -m research.rules_on_trial COMMAND` from the checkout.

draw       prints links as they are drawn
run        simulates a shard of the links and appends to a file; continues after its last run
combine    writes the shards as the table that the other commands read
search     searches the smallest buffers of further links, for the check
keep       writes those searches as the file that the other commands read
fit        fits the surfaces, calibrates their errors, and writes the files of the package
page       writes docs/rules-on-trial.md, its pictures and the record of the rules
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path

from research.rules_on_trial import draw, plan


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(
        prog="python -m research.rules_on_trial",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("draw")
    one.add_argument("--links", type=int, default=10)
    one.add_argument("--cap", type=int, default=plan.CAP_PACKETS, help="packets of one run")
    one = commands.add_parser("run")
    _add_parts(one, 10_000)
    one.add_argument("--cap", type=int, default=plan.CAP_PACKETS, help="packets of one run")
    one = commands.add_parser("combine")
    one.add_argument("files", nargs="+", type=Path)
    one.add_argument("--add", action="store_true", help="keep the table's other links")
    one = commands.add_parser("search")
    _add_parts(one, 1000)
    one.add_argument("--seed", type=int, choices=(draw.CALIBRATION_SEED, draw.CHECK_SEED))
    one = commands.add_parser("keep")
    one.add_argument("calibration", type=Path)
    one.add_argument("check", type=Path)
    commands.add_parser("fit")
    commands.add_parser("page")
    arguments = parser.parse_args()
    {
        "draw": _draw,
        "run": _run,
        "combine": _combine,
        "search": _search,
        "keep": _keep,
        "fit": _fit,
        "page": _page,
    }[arguments.command](arguments)


def _add_parts(parser: argparse.ArgumentParser, links: int) -> None:
    parser.add_argument("--links", type=int, default=links, help="how many are drawn")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--shard", default="1/1", help="which part of them, as in 3/16")
    parser.add_argument("--out", type=Path, required=True, help="the file to append to")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no link after that")


def _indices(arguments: argparse.Namespace) -> range:
    part, parts = map(int, arguments.shard.split("/"))
    return range(arguments.first + part - 1, arguments.links, parts)


def _draw(arguments: argparse.Namespace) -> None:
    for index in range(arguments.links):
        link = draw.link(draw.STUDY_SEED, index)
        print(index, plan.engine_for(link, arguments.cap), link)


def _run(arguments: argparse.Namespace) -> None:
    from research.rules_on_trial.run import shard

    until = time.time() + arguments.seconds
    shard(draw.STUDY_SEED, _indices(arguments), arguments.cap, arguments.out, until)


def _combine(arguments: argparse.Namespace) -> None:
    from research.rules_on_trial.fitting.data import combine

    print(combine(arguments.files, add=arguments.add))


def _search(arguments: argparse.Namespace) -> None:
    from research.rules_on_trial.check import searches

    until = time.time() + arguments.seconds
    searches(arguments.seed, _indices(arguments), arguments.out, until)


def _keep(arguments: argparse.Namespace) -> None:
    from research.rules_on_trial.fitting.made import keep_searches

    files = {draw.CALIBRATION_SEED: arguments.calibration, draw.CHECK_SEED: arguments.check}
    keep_searches(files)


def _fit(_arguments: argparse.Namespace) -> None:
    from research.rules_on_trial.fitting.made import make

    make()


def _page(_arguments: argparse.Namespace) -> None:
    from research.rules_on_trial.report.page import write

    write()


if __name__ == "__main__":
    main()
