"""The functions that scripts call: load a scenario and run it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.errors import ScenarioError, nearest_file
from goodqueue.runs.engines import engine_of_run
from goodqueue.runs.kind import of_other_kind
from goodqueue.runs.memory import check, limit_of, parts
from goodqueue.runs.plugins import checksum_of, limited
from goodqueue.runs.results.throughput import measured
from goodqueue.runs.results.traces import folders_of, opened
from goodqueue.runs.settings import overrides, toml_of
from goodqueue.runs.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodqueue.runs.controls import ControlFactory
    from goodqueue.runs.engines import Choice
    from goodqueue.runs.queues import QueueFactory
    from goodqueue.runs.results.result import Result
    from goodqueue.runs.results.traces import Traces
    from goodqueue.runs.settings import Overrides


@dataclass(frozen=True, slots=True)
class NamedText:
    """The text of a scenario, and the name by which messages call it."""

    text: bytes
    name: str


Source = str | PathLike[str] | Mapping[str, Any] | NamedText
"""A scenario: the path of its file, its text (recognised by its line breaks, or given with a name),
or a mapping."""

HEADERS = "128B"
"""Size of a captured frame that all headers fit in."""

MAX_BYTES = 1 << 20
"""Largest scenario file that the parser accepts, in bytes."""


def load(
    source: Source,
    *,
    set: Overrides = (),  # noqa: A002
    seed: int | None = None,
    allow_python: bool = False,
) -> _core.Scenario:
    """Reads and checks a scenario.

    Args:
        source: the path of a scenario file, its text, or a mapping of the same shape.
        set: values that replace the file's, by path, such as `{"topology.bottleneck.queue.limit":
            "50p"}`.
        seed: replaces the scenario's seed.
        allow_python: True to import the classes that the scenario names as congestion controls
            and queues, which runs their modules' code.

    Raises:
        ScenarioError: if the scenario has a mistake; it names place, mistake and remedy.

    Examples:
        >>> import goodqueue
        >>> scenario = goodqueue.load(goodqueue.EXAMPLE, set={"duration": "1min"})
        >>> scenario.duration_s, scenario.buffer("bottleneck")["limit_packets"]
        (60.0, 100)
    """
    checksum = checksum_of if allow_python else None
    data, name = text_of(source)
    try:
        scenario = _core.Scenario.parse(data, name, overrides(set), checksum)
    except ScenarioError as error:
        raise of_other_kind(error, data, name, "scenario") from None
    return scenario if seed is None else scenario.with_seed(_checked_seed(seed))


def void_settings(
    source: Source,
    set: Overrides,  # noqa: A002
    *,
    allow_python: bool = False,
) -> list[str]:
    """Returns the paths of settings that change nothing in a scenario.

    A setting changes nothing if the scenario has its value already, or if each flow that it
    concerns sets the key itself.

    Args:
        source: the path of a scenario file, its text, or a mapping of the same shape.
        set: the settings, by path.
        allow_python: True to import the classes that the scenario names.

    Raises:
        ScenarioError: if the scenario with all settings has a mistake.

    Examples:
        >>> import goodqueue
        >>> from goodqueue.runs.api import void_settings
        >>> void_settings(goodqueue.EXAMPLE, {"duration": "1min", "seed": "1"})
        ['seed']
    """
    pairs = overrides(set)
    if not pairs:
        return []
    whole = load(source, set=pairs, allow_python=allow_python).resolved_toml()
    void = []
    for place, (path, _) in enumerate(pairs):
        others = [pair for at, pair in enumerate(pairs) if at != place]
        try:
            without = load(source, set=others, allow_python=allow_python).resolved_toml()
        except ScenarioError:  # The others need this one.
            continue
        if without == whole:
            void.append(path)
    return void


def run(  # noqa: PLR0913 - all but the scenario are options, by name
    source: Source,
    *,
    set: Overrides = (),  # noqa: A002
    seed: int | None = None,
    series: bool | None = None,
    packets: bool | str | PathLike[str] | None = None,
    throughput: bool = False,
    queues: Mapping[str, QueueFactory] | None = None,
    controls: Mapping[str, ControlFactory] | None = None,
    allow_python: bool = False,
    trace: Traces | str | PathLike[str] | None = None,
    snap: str = HEADERS,
    memory: str | None = None,
    progress: Callable[[float, float], None] | None = None,
    notice: Callable[[str], None] | None = None,
    engine: Choice = "packets",
) -> Result:
    """Runs a scenario from start to end.

    Other Python threads continue during the run.

    Args:
        source: the path of a scenario file, its text, or a mapping of the same shape.
        set: values that replace the file's, by path, such as `{"topology.bottleneck.queue.limit":
            "50p"}`.
        seed: replaces the scenario's seed.
        series: if True, backlog, windows and round-trip times are recorded over time; None for the
            scenario's `record` table.
        packets: if True, every packet event is recorded, in memory; None for the scenario's
            `record` table. A path is that of a Parquet file with the same columns, which is written
            during the run in bounded memory.
        throughput: if True, the throughput of flows is recorded (`Result.throughput`).
        queues: queue disciplines in Python, by link, in place of the scenario's. They are slow, a
            few microseconds per packet, and must pass `goodqueue.check_queue`.
        controls: congestion controls in Python, by group of flows, in place of the scenario's. They
            cost about a microsecond per ACK, and should pass `goodqueue.check_control`.
        allow_python: True to import the classes that the scenario names as congestion controls
            and queues, which runs their modules' code.
        trace: traces to write (docs/traces.md): a file for each trace name, or a directory for all
            traces. Names are `sender`, `receiver`, `before`, `after` (captures; a colon selects one
            flow, or another link than the bottleneck, as in `sender:bulk0`), `tr`, `nam`, `qlog`,
            `qlog:FLOW`, `cwnd:FLOW`, `throughput:FLOW`, `throughput-down:FLOW`, `ping:FLOW`,
            `queue:LINK`, `packets` (every packet event, in Parquet) and `flent`.
        snap: size to which captured frames are cut; by default a size that all headers fit in.
        memory: the most memory that the run may take, as in `8GiB`; by default three quarters of
            the machine's. It is compared with an estimate before the run, and with the memory of
            the process during the run.
        progress: called some times a second with the share of the run that is done and the seconds
            that it took.
        notice: function called once, after a second, with a sentence that estimates the size of the
            traces.
        engine: `packets` simulates every packet; `hybrid` lets windows and queue change
            continuously between losses (docs/hybrid.md), and has no series, packets, throughput,
            traces, queues or controls in Python; `auto` is `hybrid` if the packet engine would take
            more than a minute and both engines were shown to agree, else `packets`.

    Raises:
        ScenarioError: if the scenario has a mistake; it names place, mistake and remedy.
        RequestError: if the run does not fit into memory, or its traces on the disk, or if the
            hybrid engine cannot run the scenario.
        OSError: if a trace cannot be written.

    Examples:
        >>> import goodqueue
        >>> settings = {"topology.bottleneck.queue.limit": "10p"}
        >>> result = goodqueue.run(goodqueue.EXAMPLE, set=settings, seed=7)
        >>> result.summary["flows"]["ping"]["p99_rtt_s"] < 0.12
        True
    """
    from goodqueue.runs.results.result import Result

    scenario = load(source, set=set, seed=seed, allow_python=allow_python)
    limit = limit_of(memory)
    needs_packets = bool(series or packets or throughput or queues or controls or trace)
    which = engine_of_run(engine, scenario, needs_packets=needs_packets)
    recorded, streamed = _recorded(packets)
    needs = parts(scenario, series=series, packets=recorded, engine=which)
    check(needs, limit)
    with (
        opened(trace or {}, scenario) as traces,
        measured(scenario, wanted=throughput) as measuring,
    ):
        wanted = [*traces, *streamed, *(measuring.traces if measuring else ())]
        watch = Watch(
            memory=limit,
            recording=any(part.is_record for part in needs),
            folders=folders_of(wanted),
            progress=progress,
            tell=notice if traces else None,
        )
        outcome = scenario.run(
            series=series,
            packets=recorded,
            queues=[
                (link, limited(made, scenario.buffer(link)["limit_packets"]))
                for link, made in (queues or {}).items()
            ],
            controls=list((controls or {}).items()),
            traces=wanted,
            snap=_core.parse_size("--snap", snap),
            watch=watch,
            engine=which,
        )
        over_time = measuring.frame() if measuring else None
    return Result(outcome, scenario.resolved_toml(), over_time)


def _recorded(
    packets: bool | str | PathLike[str] | None,
) -> tuple[bool | None, list[tuple[str, Path]]]:
    """Returns the setting for records in memory, and the trace that is written to a file."""
    if packets is None or isinstance(packets, bool):
        return packets, []
    return False, [("packets", Path(packets))]


def schema() -> dict[str, Any]:
    """Returns the JSON Schema of scenario files.

    Examples:
        >>> import goodqueue
        >>> goodqueue.schema()["required"]
        ['schema_version', 'duration', 'topology', 'flow']
    """
    parsed: dict[str, Any] = json.loads(_core.schema())
    return parsed


def _checked_seed(seed: int) -> int:
    if not 0 <= seed < 1 << 63:
        text = f"error: --seed {seed}: a seed is a whole number from 0 to {(1 << 63) - 1}"
        raise ScenarioError(text, file=f"--seed {seed}")
    return seed


def text_of(source: Source) -> tuple[bytes, str]:
    """Returns the bytes of a scenario and the name by which messages call it."""
    if isinstance(source, NamedText):
        return source.text, source.name
    if isinstance(source, Mapping):
        return toml_of(source), "<mapping>"
    if isinstance(source, str) and "\n" in source:
        return source.encode("utf-8", "surrogateescape"), "<text>"
    try:
        with Path(source).open("rb") as file:
            return file.read(MAX_BYTES + 1), str(source)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"cannot be read: {reason}"
        remedy = nearest_file(Path(source), "a scenario file")
        raise ScenarioError(
            f"error: {source}: {message}\n  help: {remedy}",
            file=str(source),
            message=message,
            help=remedy,
        ) from None
