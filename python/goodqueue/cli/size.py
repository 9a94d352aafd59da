"""`goodqueue size`: from options to a printed recommendation."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.api import load
from goodqueue.cli import EXIT_INTERRUPTED, EXIT_NOT_FEASIBLE
from goodqueue.cli.files import print_written, write_json, write_scenario
from goodqueue.cli.terminal import (
    milliseconds,
    number,
    packets,
    percent,
    print_json,
    progress,
    size_of,
    stdout,
    table,
)
from goodqueue.errors import RequestError
from goodqueue.outdir import check_output, whole_directory
from goodqueue.sizing.requirements import Requirements
from goodqueue.sizing.study import Sizing, size
from goodqueue.sizing.tc import cautions
from goodqueue.study.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from goodqueue._core import Buffer, Scenario
    from goodqueue.intervals import Interval
    from goodqueue.sizing.curve import Point
    from goodqueue.sizing.search import Answer

BOUND_NAMES = {"utilization": "utilisation", "loss": "loss", "delay": "queueing delay"}


@dataclass(frozen=True, slots=True)
class SizeRequest:
    """The options of `goodqueue size`, as typed."""

    target: str
    max_loss: str | None
    max_delay: str | None
    link: str | None
    replicates: int
    jitter: str | None
    jobs: int | None
    store: Path | None

    def requirements(self) -> Requirements:
        """The bounds, or a refusal of what nothing could keep."""
        loss, delay = self.max_loss, self.max_delay
        return Requirements(
            target_utilization=_core.parse_fraction("--target", self.target),
            max_loss_rate=None if loss is None else _core.parse_fraction("--max-loss", loss),
            max_delay_s=None if delay is None else _core.parse_span("--max-delay", delay),
        )


def size_buffer(  # noqa: PLR0913
    file: str,
    overrides: list[tuple[str, str]],
    seed: int | None,
    request: SizeRequest,
    *,
    json: bool,
    out: Path | None,
) -> int:
    """Sizes a buffer, prints the answer and writes what was asked for; returns the exit code."""
    requirements = request.requirements()
    jitter = request.jitter
    jitter_s = None if jitter is None else _core.parse_span("--jitter", jitter)
    scenario = load(file, set=overrides, seed=seed)
    link = _link(scenario, request.link)
    if out is not None:
        check_output(out)
    with _store(request.store) as store, progress() as bar:
        task = bar.add_task(f"sizing {link}", total=None)
        done = 0

        def on_run(left: int) -> None:
            nonlocal done
            done += 1
            bar.update(task, completed=done, total=done + left)

        sizing = size(
            scenario,
            link,
            requirements,
            replicates=request.replicates,
            jitter_s=jitter_s,
            jobs=request.jobs,
            store=store,
            on_run=on_run,
        )
    if out is not None:
        _write(sizing, out)
    if json:
        print_json(sizing.as_dict())
    else:
        print_sizing(sizing)
        if out is not None:
            print_written(stdout(), out)
    if sizing.answer is None:
        return EXIT_INTERRUPTED
    return 0 if sizing.answer.feasible else EXIT_NOT_FEASIBLE


@contextmanager
def _store(folder: Path | None) -> Iterator[Store | None]:
    """Where runs are kept, if anywhere."""
    if folder is None:
        yield None
        return
    with closing(Store.open(folder)) as store:
        yield store


def print_sizing(sizing: Sizing) -> None:
    """Prints verdict, recommendation, curve and the line for Linux."""
    console = stdout()
    if sizing.answer is None:
        console.print("[bold]interrupted[/]: no verdict; the limits that were finished:")
    else:
        for line in verdict(sizing, sizing.answer):
            console.print(line)
    if sizing.points:
        console.print()
        console.print(_curve_table(sizing))
    console.print(_method(sizing))
    if sizing.tc is not None:
        assert sizing.answer is not None
        assert sizing.answer.recommended is not None
        console.print()
        console.print(f"Linux: [bold]{sizing.tc}[/]", soft_wrap=True)
        if " bfifo " in sizing.tc:
            console.print(cautions(sizing.answer.recommended.limit_packets, sizing.ip_packet_bytes))


def verdict(sizing: Sizing, answer: Answer) -> list[str]:
    """The answer in sentences."""
    lines = []
    if answer.recommended is not None:
        buffer = sizing.buffer(answer.recommended)
        lines.append(
            f"[bold]feasible[/]: {sizing.link} needs a buffer of [bold]{_in_units(buffer)}[/]"
        )
        lines.append(_achieved(answer.recommended))
        if answer.binding:
            binding = " and ".join(BOUND_NAMES[name] for name in answer.binding)
            lines.append(f"{binding} decides: one packet less does not keep it")
        else:
            lines.append("one packet already keeps every bound")
    else:
        lines.append(f"[bold]not feasible[/]: {_why_not(sizing, answer)}")
    if not answer.monotone:
        smaller = ", ".join(f"{limit:,}" for limit in answer.smaller_passing)
        lines.append(
            f"not monotone: {smaller} packets keep utilisation and loss too, but larger limits "
            "do not; the smallest limit above all those that fail is the one to trust"
        )
    return lines


def _why_not(sizing: Sizing, answer: Answer) -> str:
    requirements = sizing.requirements
    if answer.least is None:
        largest = sizing.points[-1]
        reasons = []
        if "utilization" in answer.binding:
            reasons.append(
                f"utilisation reaches {_share(largest.utilization)} % of the "
                f"{percent(requirements.target_utilization)} asked for"
            )
        if "loss" in answer.binding:
            reasons.append(
                f"loss falls to {_share(largest.loss_rate)} %, above "
                f"{percent(requirements.max_loss_rate)}"
            )
        full = (
            "which no run ever filled, so no larger buffer changes anything"
            if answer.saturated
            else "the largest tried"
        )
        return f"at {packets(largest.limit_packets)}, {full}, {' and '.join(reasons)}"
    floor = [BOUND_NAMES[name] for name in answer.binding if name != "delay"]
    needs = " and ".join(floor) or "any buffer"
    least = answer.least
    text = (
        f"{needs} needs at least {_in_units(sizing.buffer(least))}, where the p99 queueing delay "
        f"is {_delay(least.p99_delay_s)} ms, above "
        f"{milliseconds(requirements.max_delay_s)} ms"
    )
    if answer.most is None:
        return f"{text}; no buffer keeps the delay"
    most = answer.most
    return (
        f"{text}; the delay allows at most {packets(most.limit_packets)}, with utilisation "
        f"{_share(most.utilization)} % and loss {_share(most.loss_rate)} %"
    )


def _achieved(point: Point) -> str:
    return (
        f"with it: utilisation {_share(point.utilization)} %, p99 queueing delay "
        f"{_delay(point.p99_delay_s)} ms, loss {_share(point.loss_rate)} %"
    )


def _in_units(buffer: Buffer) -> str:
    bdps = buffer["limit_bdp"]
    parts = [
        packets(buffer["limit_packets"] or 0),
        size_of(buffer["limit_bytes"]),
        f"{number(buffer['limit_ms'])} ms",
    ]
    return " = ".join([*parts, f"{number(bdps, 3)} BDP"] if bdps is not None else parts)


def _method(sizing: Sizing) -> str:
    seeds = sizing.seeds
    text = (
        f"{len(seeds)} replicates of each limit, seeds {seeds[0]} to {seeds[-1]}; flows without a "
        f"start_jitter of their own start up to {milliseconds(sizing.jitter_s)} ms later. ± is the "
        "95 % interval of the mean, whose unfavourable end decides. A limit counts the frames "
        "waiting, not the one being sent, with link-layer framing."
    )
    if sizing.points and sizing.all_replicates_equal:
        text += " All replicates are equal: nothing in this scenario depends on the seed."
    return text


def _share(interval: Interval) -> str:
    """A mean share and its interval, in per cent."""
    return _plus_minus(interval, 100, 2)


def _delay(interval: Interval) -> str:
    """A mean time and its interval, in milliseconds."""
    return _plus_minus(interval, 1000, 1 if interval.mean >= 0.01 else 3)


def _plus_minus(interval: Interval, scale: float, digits: int) -> str:
    mean, half = interval.mean * scale, interval.half_width * scale
    return f"{mean:.{digits}f} ± {half:.{digits}f}"


def _curve_table(sizing: Sizing) -> object:
    recommended = sizing.answer.recommended if sizing.answer else None
    rows = []
    for point in sizing.points:
        buffer = sizing.buffer(point)
        mark = "<- recommended" if point is recommended else ""
        rows.append(
            [
                f"{point.limit_packets:,}",
                size_of(buffer["limit_bytes"]),
                number(buffer["limit_ms"]),
                _share(point.utilization),
                _delay(point.p99_delay_s),
                _share(point.loss_rate),
                mark,
            ]
        )
    columns = ["packets", "bytes", "ms", "utilisation, %", "p99 delay, ms", "loss, %", ""]
    return table(f"Buffer of {sizing.link}", columns, rows)


def _link(scenario: Scenario, wanted: str | None) -> str:
    if wanted is not None:
        return wanted
    forward = [name for name in scenario.links if not name.endswith(".reverse")]
    if "bottleneck" in forward:
        return "bottleneck"
    if len(forward) == 1:
        return forward[0]
    names = ", ".join(forward[:8]) + (", …" if len(forward) > 8 else "")
    raise RequestError(f"which link? name one with --link: {names}")


def _write(sizing: Sizing, out: Path) -> None:
    from goodqueue.plots.sizing import sizing_curve
    from goodqueue.plots.style import save_all

    with whole_directory(out) as directory:
        write_scenario(directory, sizing.scenario.resolved_toml())
        if sizing.points:
            recommended = sizing.answer.recommended if sizing.answer else None
            picture = sizing_curve(
                sizing.points,
                sizing.requirements,
                recommended.limit_packets if recommended else None,
                sizing.link,
                len(sizing.seeds),
            )
            save_all([picture], directory)
        write_json(directory, sizing.as_dict())
