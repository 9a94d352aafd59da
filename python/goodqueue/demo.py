"""The demonstration behind `make demo`: a published study again, then its buffer sized."""

from __future__ import annotations

import sys
from importlib.resources import as_file, files

from goodqueue.cli import run_command

OUT = "demo-out"


def main() -> int:
    """Prints Tables 4 and 5 beside the paper's, and a recommendation with its pictures."""
    print(
        "1. Gijsbers and Akkoorath (2011) measured bufferbloat in OMNeT++/INET. The same again:\n"
    )
    code = run_command(["reproduce", "gijsbers2011"])
    if code != 0:
        return code
    print("2. How much buffer does that 1 Mb/s link need to stay 98 % busy?\n")
    with as_file(files("goodqueue.papers") / "gijsbers2011" / "link.toml") as scenario:
        options = ["--out", OUT, "--set", "flow.ping.start=0s"]
        return run_command(["size", str(scenario), *options])


if __name__ == "__main__":
    sys.exit(main())
