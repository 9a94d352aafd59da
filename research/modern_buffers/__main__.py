"""The study of modern traffic: `python -m research.modern_buffers COMMAND` from the checkout.

rules      runs links with modern congestion controls behind the buffers of the rules for them
links      runs access, metro and core links with the traffic of 2026 behind many buffers
page       writes the tables and pictures of docs/modern-buffers.md, and the record of the rules

`rules` and `links` append to files in research/modern_buffers/data, and continue after their last
run.
"""

from __future__ import annotations

import argparse

from research.modern_buffers import page, study, trial


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(
        prog="python -m research.modern_buffers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("rules")
    one.add_argument("--links", type=int, default=210)
    one.add_argument("--shard", default="1/1", help="the part of the links, as in 1/2")
    one = commands.add_parser("links")
    one.add_argument("--seeds", type=int, default=study.SEEDS)
    one.add_argument("--shard", default="1/1", help="the part of the runs, as in 1/2")
    commands.add_parser("page")
    asked = parser.parse_args()
    if asked.command == "page":
        page.write()
        return
    part, parts = map(int, asked.shard.split("/"))
    if asked.command == "rules":
        trial.run(range(asked.links)[part - 1 :: parts], f"{part}-{parts}")
    else:
        study.run(asked.seeds, part - 1, parts)


if __name__ == "__main__":
    main()
