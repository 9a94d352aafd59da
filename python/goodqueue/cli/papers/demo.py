"""The demonstration: reproduces a published study, then sizes its buffer."""

from __future__ import annotations

import json
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from goodqueue.cli import run_command
from goodqueue.core.extras import require
from goodqueue.core.files.outdir import check_output

if TYPE_CHECKING:
    from goodqueue.cli.commands.papers.demo import Demo


def demonstrate(asked: Demo) -> int:
    """Prints Tables 4 and 5 beside the paper's, a sized buffer, two runs and a study."""
    require("polars", "matplotlib", "scipy")
    out = asked.out
    for part in ("size", "bloated", "sized"):
        check_output(out / part)
    print(
        "1. Gijsbers and Akkoorath (2011) simulated bufferbloat in OMNeT++/INET. The next tables\n"
        "   show our figures beside theirs:\n"
    )
    for table in ("table4", "table5"):
        code = run_command(["reproduce", "gijsbers2011", table])
        if code != 0:
            return code
    print(
        "The paper's other tables and figures, and four more papers: goodqueue reproduce --list;\n"
        "a page of all: goodqueue reproduce --all --report papers.html (docs/papers.md).\n"
    )
    with as_file(files("goodqueue.papers") / "gijsbers2011" / "link.toml") as scenario:
        print("2. How much buffer does their 1 Mb/s link need to stay 98 % busy?\n")
        code = run_command(["size", str(scenario), "--out", str(out / "size")])
        if code != 0:
            return code
        print("\n3. The link with the paper's 100 frames of buffer:\n")
        code = run_command(["run", str(scenario), "--out", str(out / "bloated")])
        if code != 0:
            return code
        sized = json.loads((out / "size" / "summary.json").read_text())["recommendation"]
        limit = f"topology.bottleneck.queue.limit={sized['packets']}p"
        print("\n4. The link with the recommended buffer:\n")
        code = run_command(["run", str(scenario), "--set", limit, "--out", str(out / "sized")])
    if code != 0:
        return code
    print("\n5. The benefit and the cost of the buffers between, as a study:\n")
    with as_file(files("goodqueue")) as package:
        return run_command(
            ["sweep", str(package / "cli/papers/demo.toml"), "--out", str(out / "study")]
        )
