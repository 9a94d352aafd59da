"""Files of the traces that a run writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue.core.files.outdir import check_folder, write_whole
from goodqueue.core.files.owned import sign
from goodqueue.core.files.unfinished import scratch
from goodqueue.runs.results.flent import FlentFile, bulk_flows
from goodqueue.runs.settings import settings_of

if TYPE_CHECKING:
    from os import PathLike

    from goodqueue._core import Scenario

Traces = Mapping[str, "str | PathLike[str]"]
"""File of each trace, by the name of the trace."""

MAX_WINDOWS = 8
"""Largest number of flows whose windows are written to a directory of traces."""

OURS = ("*.pcapng", "*.tr", "*.nam", "*.dat", "*.flent.gz", "plot.gp", "*.svg")
"""Patterns of the files in a directory of traces, including the pictures that `plot.gp` makes."""

POINTS = ("sender", "receiver", "before", "after")


@contextmanager
def opened(
    wanted: Traces | str | PathLike[str], scenario: Scenario
) -> Iterator[list[tuple[str, Path]]]:
    """Yields the traces that the core writes for a run.

    After the run the files that are made from them are written: `flent`, and `plot.gp` in a
    directory.
    """
    files = files_of(wanted, scenario)
    if not isinstance(wanted, Mapping):
        check_folder(Path(wanted), OURS)
        Path(wanted).mkdir(parents=True, exist_ok=True)
    flent = files.pop("flent", None)
    if flent is None:
        yield list(files.items())
    else:
        made = FlentFile(scenario, flent)
        with scratch() as folder:
            yield [*files.items(), *made.traces(folder)]
            made.write(folder)
    if not isinstance(wanted, Mapping):
        write_whole(Path(wanted, "plot.gp"), _script(scenario))
        sign(Path(wanted))


def folders_of(traces: Iterable[tuple[str, Path]]) -> list[Path]:
    """Returns the folders of these files, each once."""
    return list(dict.fromkeys(file.resolve().parent for _, file in traces))


def files_of(wanted: Traces | str | PathLike[str], scenario: Scenario) -> dict[str, Path]:
    """Returns the file of each trace: those of a mapping, or all possible traces in a directory."""
    if isinstance(wanted, Mapping):
        return {name: Path(file) for name, file in wanted.items()}
    folder = Path(wanted)
    names = {
        **{point: f"{point}.pcapng" for point in POINTS},
        "tr": "out.tr",
        "nam": "out.nam",
        "queue": "queue.dat",
        **{f"cwnd:{flow}": f"cwnd-{flow}.dat" for flow in _shown(scenario)},
    }
    if any(bulk_flows(scenario)):
        names["flent"] = "run.flent.gz"
    return {name: folder / file for name, file in names.items()}


def files_read(scenario: Scenario) -> list[str]:
    """Returns the files that a scenario names, such as rates measured over time."""
    found: list[str] = []

    def walk(value: object) -> None:
        if isinstance(value, list):
            for item in value:
                walk(item)
        elif isinstance(value, dict):
            for key, item in value.items():
                if key == "file" and isinstance(item, str):
                    found.append(item)
                else:
                    walk(item)

    walk(settings_of(scenario))
    return found


def _shown(scenario: Scenario) -> list[str]:
    """Returns the flows whose windows are written."""
    bulk = [name for name, kind, _ in scenario.flows() if kind == "bulk"]
    return bulk[:MAX_WINDOWS]


def _script(scenario: Scenario) -> str:
    """Returns the gnuplot script of a directory with every trace."""
    windows = {flow: f"cwnd-{flow}.dat" for flow in _shown(scenario)}
    return gnuplot(scenario.links[0], "queue.dat", windows)


def gnuplot(link: str, queue: str, windows: Mapping[str, str]) -> str:
    """Returns the script that draws the traces: `gnuplot plot.gp` in the directory.

    Args:
        link: the link whose queue is drawn.
        queue: the file with the link's waiting packets over time.
        windows: the files of congestion windows, by the names of flows.
    """
    lines = [
        "set terminal svg size 900,400",
        "set autoscale xfix",
        "set xlabel 'time, s'",
        "set output 'queue.svg'",
        f"set ylabel 'waiting at {link}, packets' noenhanced",
        f"plot '{queue}' using 1:2 with steps notitle",
    ]
    if windows:
        curves = [
            f"'{file}' using 1:2 with steps title '{flow}' noenhanced"
            for flow, file in windows.items()
        ]
        lines += [
            "set output 'cwnd.svg'",
            "set ylabel 'cwnd, segments'",
            "plot " + ", \\\n     ".join(curves),
        ]
    return "\n".join(lines) + "\n"
