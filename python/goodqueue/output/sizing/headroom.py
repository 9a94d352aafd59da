"""Prints a PFC headroom: the answer, its parts, the lines to type, and what was assumed."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from goodqueue.output.terminal import number, percent, rate, say, stdout, table
from goodqueue.sizing.lossless.headroom import PAUSE_QUANTA

if TYPE_CHECKING:
    from goodqueue.sizing.lossless.headroom import Headroom


def print_headroom(found: Headroom) -> None:
    """Prints a headroom on one screen."""
    say(
        f"PFC headroom of a port of {rate(found.speed_bps)} with {found.cable_m:g} m of cable: "
        f"{found.xoff:,} B for each lossless priority (xoff).",
        f"With full frames alone {found.full_frames:,} B; the cable holds {found.cable_bytes:,} B, "
        "and no headroom below that is lossless.",
        "",
    )
    rows = [
        [
            part.name,
            number(part.seconds * 1e9),
            f"{ceil(part.line_bytes):,}",
            f"{ceil(part.buffer_bytes):,}",
        ]
        for part in found.parts
    ]
    rows.append(["sum, in whole cells", "", f"{found.line_bytes:,}", f"{found.xoff:,}"])
    columns = ["", "ns", "B on the line", "B of memory"]
    stdout().print(table("Parts, in the order in which they pass", columns, rows))
    say("", *_thresholds(found), "", *found.sonic(), "", *_assumptions(found))


def _thresholds(found: Headroom) -> list[str]:
    lines = [
        (
            f"xon: {found.xon:,} B keep the egress busy until data arrive again. Less costs "
            "rate, and loses nothing."
        ),
    ]
    if found.ports * found.priorities > 1:
        lines.append(
            f"{found.ports:,} ports with {found.priorities} lossless priorities: "
            f"{found.dedicated:,} B if each has its own headroom"
            + (
                f"; a shared pool of {found.shared:,} B is lossless while at most 1 of "
                f"{found.oversubscription:g} fills its headroom."
                if found.oversubscription > 1
                else "."
            )
        )
    return lines


def _assumptions(found: Headroom) -> list[str]:
    by = (
        f"{PAUSE_QUANTA[found.speed_bps]} quanta of 512 bits, the limit of IEEE 802.3 (31B.3.7), "
        "which includes the sender's MAC and PHY"
        if found.reaction_s is None
        else "as given"
    )
    return [
        (
            f"Assumed: packets of up to {found.mtu:,} B in frames of 18 B more, and 20 B of "
            "preamble and gap between frames."
        ),
        (
            f"Cells of {found.cell:,} B, and {percent(found.worst_frames)} of the arriving data in "
            f"frames of {found.worst_frame:,} B, which fill them worst (--cell, --worst-frames)."
        ),
        (
            f"MAC and PHY of the receiver {number(found.interface_s * 1e9)} ns "
            "(--interface-delay); 5 ns per metre of cable."
        ),
        f"Reaction of the sender {number(float(found.reaction) * 1e9)} ns: {by} (--reaction).",
        (
            "Formula: IEEE 802.1Qbb-2011, Annex O; docs/headroom.md compares it with tables of "
            "switches."
        ),
    ]
