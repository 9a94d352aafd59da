"""`goodqueue run --explain`: the life of one flow, as lines or JSON."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from rich.text import Text

from goodqueue import _core
from goodqueue.cli.commands.options import overrides
from goodqueue.cli.files import may_import, source_of
from goodqueue.errors import RequestError
from goodqueue.output.progress import run_progress
from goodqueue.output.terminal import counted, plain, print_json, rate, stdout
from goodqueue.runs.api import load
from goodqueue.runs.memory import check, limit_of, parts
from goodqueue.runs.results.explain import MAX_RECORDS, Line, life_of, lines_of
from goodqueue.runs.watch import Watch

if TYPE_CHECKING:
    from rich.console import Console

    from goodqueue.cli.commands.runs.run import Run

STYLES = {"plain": "", "loss": "bold red", "mark": "yellow", "turn": "bold"}

USUAL_LINES = 60
"""Number of lines that are printed unless the user asks for more."""

TURNS = {
    "dropped": "packet dropped",
    "marked": "packet marked",
    "timeout": "timeout",
    "fast_retransmit": "fast recovery",
}
PLURALS = {"packet dropped": "packets dropped", "packet marked": "packets marked"}

WIDEST_PLACE = 20
"""Columns for the names of ends and links; a longer name has a line of its own."""


def explain_flow(asked: Run, flow: str) -> int:
    """Runs a scenario and prints the life of one of its flows."""
    allowed = may_import(asked.allow_python)
    scenario = load(
        source_of(asked.file), set=overrides(asked.set_), seed=asked.seed, allow_python=allowed
    )
    limit, most = limit_of(asked.memory), asked.lines
    check(parts(scenario, series=False, packets=False), limit)
    from_s = 0.0 if asked.from_ is None else _core.parse_span("--from", asked.from_)
    to_s = scenario.duration_s if asked.to is None else _core.parse_span("--to", asked.to)
    if from_s > scenario.duration_s:
        raise RequestError(
            f"--from {asked.from_} is after the end of the run, which lasts "
            f"{scenario.duration_s:g} s"
        )
    if from_s > to_s:
        raise RequestError(f"--from {asked.from_} is later than --to {asked.to}: exchange them")
    with run_progress() as progress:
        life = life_of(
            scenario,
            flow,
            from_s=from_s,
            to_s=to_s,
            most=MAX_RECORDS if most is None or not asked.json else most,
            watch=Watch(memory=limit, progress=progress),
        )
    if asked.json:
        print_json(life)
    else:
        _print(stdout(), life, most or USUAL_LINES)
    return 0


def _print(console: Console, life: dict[str, Any], most: int) -> None:
    for text in _head(life):
        rows = textwrap.wrap(text, console.width, break_long_words=False, break_on_hyphens=False)
        for row in rows:
            console.print(row, soft_wrap=True)
    console.print()
    lines = lines_of(life)
    shown = lines[:most]
    room = max([len(line.place) for line in shown], default=0)
    for line in shown:
        _print_line(console, line, min(room, WIDEST_PLACE))
    console.print(_end(life, lines, len(shown)))


def _head(life: dict[str, Any]) -> list[str]:
    """Returns the flow, its path, the units of the lines, and the turns of the whole run."""
    path = {way: _path(life[way]) for way in ("forward", "reverse")}
    lines = [f"[bold]{plain(life['flow'])}[/]: seed {life['seed']}"]
    lines.append(f"There: {path['forward']}. Back: {path['reverse']}.")
    unit = (
        f" Data are named by their first and last byte; ACK n acknowledges all before byte n. "
        f"Windows are in segments of {life['mss_bytes']} bytes."
        if life["mss_bytes"]
        else ""
    )
    lines.append(f"Times are in seconds of simulated time.{unit}")
    turns = [_turns(life["turns"][key], noun) for key, noun in TURNS.items() if life["turns"][key]]
    whole = "; ".join(turns) or "no drop, mark or timeout"
    lines.append(f"In the whole run of {life['end_s']:g} s: {whole}.")
    return lines


def _path(links: list[dict[str, Any]]) -> str:
    names = [
        plain(link["name"]) + ("" if link["rate_bps"] is None else f" ({_equipment(link)})")
        for link in links
    ]
    return ", ".join(names) or "no link"


def _equipment(link: dict[str, Any]) -> str:
    return f"{rate(link['rate_bps'])}, {link['queue']}"


def _turns(times: list[float], noun: str) -> str:
    count = len(times)
    plural = PLURALS.get(noun, noun.removesuffix("y") + "ies" if noun[-1] == "y" else f"{noun}s")
    text = f"{count} {noun if count == 1 else plural}"
    if count <= 3:
        return f"{text} at " + ", ".join(f"{time:.6g}" for time in times)
    return f"{text} from {times[0]:.6g} to {times[-1]:.6g}"


def _print_line(console: Console, line: Line, room: int) -> None:
    """Prints a line with its text wrapped; a place without room has lines of its own."""
    time, place = f"{line.time_s:.6f}  ", plain(line.place)
    indent = len(time) + room + 2
    texts = _wrapped(line.text, console.width - indent)
    if len(place) <= room:
        texts[0] = f"{time}{place:<{room}}  {texts[0]}"
        rows = [texts[0], *(" " * indent + text for text in texts[1:])]
    else:
        first, *rest = _wrapped(place, console.width - len(time))
        rows = [time + first, *(" " * len(time) + part for part in rest)]
        rows += [" " * indent + text for text in texts]
    for row in rows:
        console.print(Text(row, STYLES[line.tone]), soft_wrap=True)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(plain(text), max(width, 20), break_on_hyphens=False) or [""]


def _end(life: dict[str, Any], lines: list[Line], shown: int) -> str:
    """Returns the last line: the number of lines left out, and the options that show them."""
    if not lines and life["whole_before_s"] is None:
        return (
            f"Nothing happens to the flow from {life['from_s']:g} s to {life['to_s']:g} s; "
            f"it starts at {life['start_s']:.6g} s."
        )
    if shown < len(lines):
        rest = len(lines) - shown
        more = "" if life["whole_before_s"] is None else "more than "
        next_s = _before(lines[shown].time_s)
        # Otherwise the next page would begin with this line again.
        is_later = float(next_s) > life["from_s"]
        go_on = f"Go on with --from {next_s}s, or show" if is_later else "Show"
        return (
            f"... {more}{counted(rest, 'line')} not shown. {go_on} more with --lines {2 * shown}; "
            "--json has the records."
        )
    if life["whole_before_s"] is not None:
        next_s = _before(life["whole_before_s"])
        is_later = float(next_s) > life["from_s"]
        more = f"Show more with --json --lines {2 * MAX_RECORDS}."
        go_on = f"Go on with --from {next_s}s." if is_later else more
        return f"... Later records did not fit. {go_on}"
    return f"That is all from {life['from_s']:g} s to {life['to_s']:g} s."


def _before(time_s: float) -> str:
    """Returns the time rounded down to microseconds, as text."""
    return f"{int(time_s * 1e6) / 1e6:.6f}".rstrip("0").rstrip(".")
