"""The part of docs/evidence/headroom.md: predictions of tables, causes, impossible rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evidence.headroom.fit import (
    LAWS,
    MARGIN,
    Constants,
    Row,
    best,
    fit,
    impossible,
    of_device,
    of_vendor,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PART = "tables"

CAUSES = (
    "less than the cable",
    "same for other cables",
    "same for other speeds",
    "cable",
    "reaction",
    "frames",
)
"""Causes of a difference, the first that applies: two faults of a row, a repeated value, a part."""


@dataclass(frozen=True)
class Judged:
    """A row beside its predictions.

    Attributes:
        row: the row.
        of_vendor: prediction by the constants of its vendor; None if they were fitted to the row.
        of_device: prediction by those of its device; None if they were fitted to the row.
        cause: cause of the difference from the device's prediction; empty if there is none.
    """

    row: Row
    of_vendor: float | None
    of_device: float | None
    cause: str

    def near(self, predicted: float | None) -> bool:
        """Returns True if a prediction is within the margin."""
        return predicted is not None and abs(predicted - self.row.xoff) <= MARGIN * self.row.xoff


def grouped(rows: Sequence[Row], by: str) -> dict[str, list[Row]]:
    """Returns rows by vendor or device, in order."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[str(getattr(row, by))].append(row)
    return {name: found[name] for name in sorted(found)}


def judged(rows: Sequence[Row]) -> list[Judged]:
    """Returns every row with its predictions."""
    vendors = {name: of_vendor(some) for name, some in grouped(rows, "vendor").items()}
    wide = {name: best(some) for name, some in vendors.items()}
    done = []
    for some in grouped(rows, "device").values():
        used = of_device(some)
        own = best(used)
        for row in some:
            vendor = None if row in vendors[row.vendor] else wide[row.vendor].predicted(row)
            device = None if row in used else own.predicted(row)
            why = "" if device is None or own.agrees(row) else cause(row, own, some)
            done.append(Judged(row, vendor, device, why))
    return done


def cause(row: Row, own: Constants, table: Sequence[Row]) -> str:
    """Returns the cause of a difference between a row and the constants of its device.

    The cable is the cause if the rows of the same speed differ from one another in another way than
    predicted, and the reaction if they differ from the prediction alike; or the frames, if
    the difference is the same at other speeds.
    """
    if impossible(row):
        return "less than the cable"
    same = [other for other in table if other != row and other.xoff == row.xoff]
    if any(other.speed == row.speed for other in same):
        return "same for other cables"
    if any(other.cable == row.cable for other in same):
        return "same for other speeds"
    off = row.xoff - own.predicted(row)
    along = _mean_off([one for one in table if one.speed == row.speed], own)
    across = _mean_off([one for one in table if one.cable == row.cable], own)
    all_over = _mean_off(table, own)
    rests = {
        "cable": abs(off - along + all_over) if len(table) > 1 else 0.0,
        "reaction": abs(off - across + all_over),
        "frames": abs(all_over),
    }
    return max(rests, key=rests.__getitem__)


def _mean_off(some: Sequence[Row], own: Constants) -> float:
    return sum(row.xoff - own.predicted(row) for row in some) / len(some)


def text(rows: Sequence[Row]) -> str:
    """Returns the part of the page."""
    found = judged(rows)
    by_vendor: dict[str, list[Judged]] = defaultdict(list)
    for one in found:
        by_vendor[one.row.vendor].append(one)
    lines = [_opening(found), "", *_HEAD]
    lines += [_vendor(name, by_vendor[name]) for name in sorted(by_vendor)]
    lines.append(_vendor("all", found))
    lines += ["", *_constants(rows), "", *_impossible(rows)]
    return "\n" + "\n".join(lines) + "\n\n"


def _opening(found: Sequence[Judged]) -> str:
    near = [one.near(one.of_device) for one in found if one.of_device is not None]
    close = [one.near(one.of_vendor) for one in found if one.of_vendor is not None]
    return (
        f"**{_counts(near)} rows are within 5 % of the formula with the constants of their\n"
        f"device, and {_counts(close)} with one set of constants for all devices of a vendor.**"
    )


_HEAD = (
    (
        "| vendor | devices | rows | one set for the vendor: within 5 % "
        "| own set of each device: within 5 % | reaction of 802.3 / constant "
        "| causes of the other rows |"
    ),
    "| --- | --- | --- | --- | --- | --- | --- |",
)


def _vendor(name: str, some: Sequence[Judged]) -> str:
    wide = [one for one in some if one.of_vendor is not None]
    own = [one for one in some if one.of_device is not None]
    laws = [_by_law([one.row for one in some], law) for law in LAWS]
    causes = Counter(one.cause for one in own if one.cause)
    cells = [
        name,
        f"{len({one.row.device for one in some})}",
        f"{len(some)}",
        _counts([one.near(one.of_vendor) for one in wide]),
        _counts([one.near(one.of_device) for one in own]),
        " / ".join(f"{law}" for law in laws),
        ", ".join(f"{name} {causes[name]}" for name in CAUSES if causes[name]) or "none",
    ]
    return f"| {' | '.join(cells)} |"


def _by_law(rows: Sequence[Row], law: str) -> int:
    near = 0
    for some in grouped(rows, "device").values():
        used = of_device(some)
        own = fit(used, law)
        near += sum(own.agrees(row) for row in some if row not in used)
    return near


def _counts(near: Sequence[bool]) -> str:
    return f"{sum(near)} of {len(near)} ({100 * sum(near) / len(near):.0f} %)" if near else "-"


def _constants(rows: Sequence[Row]) -> list[str]:
    lines = [
        "The constants of the vendors, from the two most frequent speeds and cables of each:",
        "",
        (
            "| vendor | speeds (Gb/s) | cables (m) | fitted rows | b (B) | w | t (ns) | reaction "
            "| error of the fitted rows |"
        ),
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, some in grouped(rows, "vendor").items():
        used = of_vendor(some)
        own = best(used)
        delay = 1e9 * own.delayed_s / own.memory if own.memory > 0 else 0.0
        cells = [
            name,
            _list(row.speed / 1e9 for row in used),
            _list(row.cable for row in used),
            f"{len(used)}",
            f"{own.fixed:,.0f}",
            f"{own.memory:.2f}",
            f"{delay:,.0f}",
            own.law,
            f"{100 * own.error:.1f} %",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _list(values: object) -> str:
    return ", ".join(f"{value:g}" for value in sorted(set(values)))  # type: ignore[call-overload]


def _impossible(rows: Sequence[Row]) -> list[str]:
    found = [row for row in rows if impossible(row)]
    lines = [
        (
            f"{len(found)} rows are less than the cable alone holds both ways, so they cannot be "
            "lossless:"
        ),
        "",
        "| device | speed (Gb/s) | cable (m) | xoff (B) | on the cable (B) |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {row.sku} | {row.speed / 1e9:g} | {row.cable} | {row.xoff:,} | {row.on_cable:,.0f} |"
        for row in found
    ]
    return lines


def records(found: Sequence[Judged]) -> list[Mapping[str, object]]:
    """Returns the rows of the file of predictions."""
    return [
        {
            "vendor": one.row.vendor,
            "platform": one.row.platform,
            "sku": one.row.sku,
            "speed_mbps": one.row.speed // 10**6,
            "cable_m": one.row.cable,
            "xoff_bytes": one.row.xoff,
            "of_vendor_bytes": "" if one.of_vendor is None else round(one.of_vendor),
            "of_device_bytes": "" if one.of_device is None else round(one.of_device),
            "cause": one.cause,
        }
        for one in found
    ]
