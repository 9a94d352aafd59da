"""The analysis of a capture as a page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from goodqueue.output import page
from goodqueue.output.passive.tables import sentences, tables
from goodqueue.output.terminal import milliseconds, number, packets, percent, rate, size_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import Any

    from goodqueue.passive.analysis import Analysis
    from goodqueue.plots.style import Picture


def write_page(
    analysis: Analysis, pictures: Sequence[Picture], command: Sequence[str], path: Path
) -> None:
    """Writes the page, whole or not at all.

    Args:
        analysis: the findings.
        pictures: pictures of them, each with its caption.
        command: arguments that gave them, after `goodqueue`.
        path: the page.
    """
    over_time = [picture for picture in pictures if picture.name == "link"]
    body = [
        '<section class="first">',
        *_answer(analysis.summary["link"]),
        *map(page.figure, over_time),
        "</section>",
        *(f"<p>{escape(line)}</p>" for line in sentences(analysis)),
    ]
    for made in tables(analysis):
        body += page.made(made)
    body += [page.figure(picture) for picture in pictures if picture not in over_time]
    if notes := analysis.summary["notes"]:
        items = "".join(f"<li>{escape(note)}</li>" for note in notes)
        body.append(f"<h2>Notes</h2><ul>{items}</ul>")
    title = ", ".join(read["path"] for read in analysis.summary["reading"])
    page.write(f"What {title} shows", "What this capture shows", body, command, path)


def _answer(link: dict[str, Any]) -> list[str]:
    """Returns the buffer of the link or else its throughput, and the figures of the link."""
    buffer = link["buffer"]
    if buffer is None:
        first, rest = rate(link["throughput_bps"]), "pass the link"
    else:
        low, high = map(milliseconds, buffer["interval_s"])
        first = f"{milliseconds(buffer['s'])} ms"
        held = f"{size_of(buffer['bytes'])} or {number(buffer['packets'], 3)} packets"
        rest = f"({low} to {high}) of buffer: {held}"
    return page.answer(first, rest, _sentence(link), list(_tiles(link)))


def _sentence(link: dict[str, Any]) -> str:
    lost = f"{link['lost_packets']:,} of {packets(link['packets'])} were lost"
    delay = link["queueing_delay_s"]
    if delay is None:
        return f"{lost[:1].upper()}{lost[1:]}."
    return f"Of 100 packets 99 waited less than {milliseconds(delay['p99'])} ms, and {lost}."


def _tiles(link: dict[str, Any]) -> Iterator[page.Tile]:
    """Yields utilisation, loss and delay of the captured link."""
    known = f"of {rate(link['rate_bps'])}, {link['rate_is']}" if link["rate_is"] else "rate unknown"
    yield page.Tile("Utilisation", percent(link["utilization"]), (known,))
    yield page.Tile("Loss", percent(link["loss_rate"]), (f"of {packets(link['packets'])}",))
    name, delay = "Queueing delay, 99th percentile", link["queueing_delay_s"]
    if delay is None:
        yield page.Tile(name, "not measured", ("needs a capture behind the queue (--after)",))
    else:
        mean = f"mean {milliseconds(delay['mean'])} ms"
        yield page.Tile(name, f"{milliseconds(delay['p99'])} ms", (mean,))
