"""`goodqueue characterize`: a queue or a control by the guidelines of the IETF."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from goodqueue.characterization.api import QUICK_SEEDS, SEEDS, characterize
from goodqueue.cli.commands.options import drawing
from goodqueue.cli.exits import EXIT_INTERRUPTED, EXIT_NOT_FEASIBLE, EXIT_UNPROVED
from goodqueue.cli.files import may_import, print_written, write_json
from goodqueue.cli.studies.executor import executor_of
from goodqueue.core.extras import require
from goodqueue.core.files.outdir import check_apart, check_output, whole_directory
from goodqueue.output.characterization.page import write as write_page
from goodqueue.output.characterization.texts import as_json, print_characterization
from goodqueue.output.progress import counted_runs
from goodqueue.output.terminal import goes_on, print_json, stderr
from goodqueue.runs.memory import limit_of

if TYPE_CHECKING:
    from pathlib import Path

    from goodqueue.characterization.measure import Characterization
    from goodqueue.cli.commands.characterize import Characterize
    from goodqueue.core.drawing import Drawing


def characterize_subject(asked: Characterize) -> int:
    """Runs what the store lacks, prints the figures and writes the directory."""
    pictured = drawing(asked)
    if asked.out is not None:
        require("polars", "matplotlib")
        check_output(asked.out)
        check_apart([], {"--out/": asked.out, "--store": asked.store})
    sections = [one.strip() for text in asked.section or [] for one in text.split(",")]
    executor = executor_of(asked.cluster, asked.jobs, limit_of(None))
    try:
        with counted_runs("characterising") as on_run:
            found = characterize(
                queue=asked.queue,
                control=asked.control,
                stack=asked.stack,
                against=asked.against,
                sections=sections,
                seeds=QUICK_SEEDS if asked.quick else asked.seeds or SEEDS,
                store=asked.store,
                executor=executor,
                allow_python=may_import(asked.allow_python),
                on_run=on_run,
            )
    except KeyboardInterrupt:
        stderr().print(goes_on(kept=True))
        return EXIT_INTERRUPTED
    finally:
        executor.close()
    if asked.out is not None:
        _write(found, asked.out, pictured)
    if asked.json:
        print_json(as_json(found))
        return _exit_code(found)
    print_characterization(found)
    if asked.out is not None:
        print_written(asked.out)
    return _exit_code(found)


def _exit_code(found: Characterization) -> int:
    """Returns 0 if no figure is shown or suspected to be outside its band."""
    sides = found.standings
    if sides["outside"]:
        return EXIT_NOT_FEASIBLE
    return EXIT_UNPROVED if sides["not shown"] else 0


def _write(found: Characterization, out: Path, pictured: Drawing) -> None:
    from goodqueue.plots.study.ellipses import pictures
    from goodqueue.plots.style import save_all

    drawn = pictures(found)
    with whole_directory(out) as folder:
        save_all(drawn, folder, pictured)
        write_page(found, drawn, sys.argv[1:], folder / "report.html")
        write_json(folder, as_json(found))
        for place, one in enumerate(found.found, 1):
            if not one.refused:
                scenario = found.subject.scenario(one.case, found.guide.subject)
                text = scenario.resolved_toml()
                (folder / f"scenario-{place}.toml").write_text(text, encoding="utf-8")
