"""`goodqueue probe`: the server, and the probe of a path with what it means."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.cli.commands.live.probe import SERVER
from goodqueue.cli.commands.options import drawing
from goodqueue.cli.exits import EXIT_INTERRUPTED
from goodqueue.cli.files import print_written, print_wrote, write_json
from goodqueue.core.extras import require
from goodqueue.core.files.outdir import (
    check_apart,
    check_file,
    check_output,
    check_page,
    whole_directory,
)
from goodqueue.live.probe import probe, serve
from goodqueue.live.probe_size import sized
from goodqueue.output.live.probe import print_probe, write_page
from goodqueue.output.terminal import number, plain, print_json, size_of, stderr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.cli.commands.live.probe import Probe as Asked
    from goodqueue.core.drawing import Drawing
    from goodqueue.live.probe import Probe
    from goodqueue.live.probe_size import Sized

LISTEN = "127.0.0.1"
LONGEST = "5min"


def probe_path(asked: Asked) -> int:
    """Serves probes, or probes the path to a host; returns the exit code."""
    if asked.host == SERVER:
        return _serve(asked)
    pictured = drawing(asked)
    _check(asked)
    found = probe(
        asked.host,
        asked.token,
        most_bps=_core.parse_rate("--max-rate", asked.max_rate),
        begins=_tell,
        agrees=lambda seconds, count: _agrees(asked.load, seconds, count),
    )
    sizes = list(sized(found, asked.flows or 1)) if asked.size else []
    figures = found.as_dict()
    if asked.size:
        figures["size"] = [one.as_dict() for one in sizes]
    if asked.json:
        print_json(figures)
    else:
        print_probe(found, sizes)
    _write(asked, found, sizes, figures, pictured)
    return 0


def _check(asked: Asked) -> None:
    """Refuses outputs that cannot be written, before anything is sent."""
    if asked.report is not None or asked.out is not None:
        require("polars", "matplotlib")
    if asked.report is not None:
        check_page(asked.report)
    if asked.flent is not None:
        check_file(asked.flent)
    if asked.out is not None:
        check_output(asked.out)
    written = {"--out/": asked.out, "--report": asked.report, "--flent": asked.flent}
    check_apart([asked.token], written)


def _write(
    asked: Asked,
    found: Probe,
    sizes: Sequence[Sized],
    figures: dict[str, Any],
    pictured: Drawing,
) -> None:
    """Writes the requested files."""
    if asked.report is not None:
        from goodqueue.plots.probe import latency

        write_page(found, sizes, [latency(found)], asked.context.obj, asked.report)
        print_wrote(asked.report)
    if asked.out is not None:
        from goodqueue.plots.probe import latency
        from goodqueue.plots.style import save_all

        with whole_directory(asked.out) as directory:
            save_all([latency(found)], directory, pictured)
            write_json(directory, figures)
        print_written(asked.out)
    if asked.flent is not None:
        from goodqueue.runs.results.flent import write_measured

        loads = zip(found.figures["tcp"], found.loaded_rtts, strict=True)
        write_measured(asked.flent, f"Path to {asked.host}", list(loads))
        print_wrote(asked.flent)


def _serve(asked: Asked) -> int:
    try:
        serve(
            asked.listen or LISTEN,
            asked.token,
            most_bps=_core.parse_rate("--max-rate", asked.max_rate),
            longest_s=_core.parse_span("--longest", asked.longest or LONGEST),
            sessions=asked.sessions or 1,
            log=_tell,
        )
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    return 0


def _tell(line: str) -> None:
    """Prints a line about the progress on standard error, at once."""
    stderr().print(plain(line), soft_wrap=True, highlight=False)


def _agrees(load: bool | None, seconds: float, count: float) -> bool:
    """Returns True if the user agrees to the packets that fill the buffer, which it describes."""
    traffic = f"about {number(seconds, 2)} s and {size_of(count)} of UDP packets"
    if load is not None or not sys.stdin.isatty():
        if load:
            _tell(f"filling the buffer: {traffic}")
        return bool(load)
    import typer

    return typer.confirm(
        f"Fill the bottleneck's buffer, which disturbs others on this path: {traffic}?", err=True
    )
