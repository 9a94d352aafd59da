"""Tables, pictures and verdict of sizing from captures."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from evidence.validation.papers.two_pass import ERROR_FLOWS, MEAN, SHARES
from goodqueue.core.intervals import Interval, t_interval
from goodqueue.papers.dhamdhere2005.claims import claims, stated
from goodqueue.papers.dhamdhere2005.figures import ERRORS, FEW_FLOWS, MANY_FLOWS, Figure
from goodqueue.papers.dhamdhere2005.mix import ESTIMATES, TRUTH, Traffic
from goodqueue.papers.dhamdhere2005.pictures import picture

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goodqueue.papers.dhamdhere2005.captures import Estimate, Second, Seconds
    from goodqueue.papers.dhamdhere2005.claims import Points
    from goodqueue.plots.style import Picture

FOLDER = Path("docs/img/dhamdhere2005")

PARTS = ("estimates", "estimates of few flows", "estimates with errors")
"""Parts of the page: figures 5 to 7, figure 8 and figure 9."""

MOST_POINTS = 0.5
"""Largest excess of loss with estimates over loss with true values, in percentage points. The paper
states this as the cost of an N that is 20 % too small, and estimates must be within 20 %."""

LEAST_UTILIZATION = 98.0
"""Utilisation of figures 2 and 3, in percent. The buffer from estimates must reach it if the buffer
from true values does."""


def tables(found: Mapping[Traffic, Sequence[Estimate]], second: Seconds) -> dict[str, str]:
    """Returns the tables of docs/dhamdhere2005.md by the names of their parts."""
    return dict(zip(PARTS, (_losses(found, second), _few(second), _wrong(second)), strict=True))


def pictures(second: Seconds) -> list[Picture]:
    """Draws the loss at three local shares, and the loss from wrong parameters."""
    seeds = len(next(iter(second.values())).packets)
    loss = {
        f"{100 * share:.0f} % local, {source}": _points(
            second, "loss_rate", source, [Traffic(flows, share) for flows in MANY_FLOWS]
        )
        for share in SHARES
        for source in (TRUTH, ESTIMATES)
    }
    wrong = {
        label: _points(
            second,
            "loss_rate",
            f"{ESTIMATES}, {label}",
            [Traffic(flows) for flows in ERROR_FLOWS],
        )
        for label in ERRORS
    }
    said = stated()
    both = (
        (
            Figure("fig5-7-estimates", "Loss with BSCL from captures", "%", loss, seeds),
            said["captures"]["loss"],
        ),
        (
            Figure("fig9-estimates", "Loss with BSCL from wrong estimates", "%", wrong, seeds),
            said["fig9-loss"],
        ),
    )
    return [picture(figure, claims(entry["claim"])) for figure, entry in both]


def verdict(second: Seconds) -> list[str]:
    """Describes each criterion that does not hold."""
    misses = []
    for (traffic, source), of in second.items():
        if source != ESTIMATES:
            continue
        truth = second[traffic, TRUTH]
        more = _less(of, truth, "loss_rate").mean
        busy, expected = (fmean(one.per_cent("utilization")) for one in (of, truth))
        where = f"{traffic.flows} flows, {traffic.local_share:.0%} local"
        if more > MOST_POINTS:
            misses.append(f"{where}: {more:.2f} points more loss from estimates than from truth")
        if busy < LEAST_UTILIZATION <= expected:
            misses.append(f"{where}: utilisation {busy:.1f} %, from truth {expected:.1f} %")
    return misses


def _points(second: Seconds, figure: str, source: str, traffic: Iterable[Traffic]) -> Points:
    return {one.flows: t_interval(second[one, source].per_cent(figure)) for one in traffic}


def _less(one: Second, other: Second, figure: str) -> Interval:
    """Returns the difference, taken seed by seed, in percentage points."""
    pairs = zip(one.per_cent(figure), other.per_cent(figure), strict=True)
    return t_interval([mine - theirs for mine, theirs in pairs])


def _losses(found: Mapping[Traffic, Sequence[Estimate]], second: Seconds) -> str:
    head = (
        "local, %",
        "N",
        "N_b",
        "T_e, ms",
        "",
        "C_e, Mb/s",
        "",
        "buffer, packets",
        "",
        "loss, %",
        "",
        "difference",
    )
    rows = []
    for traffic in (Traffic(flows, share) for share in SHARES for flows in MANY_FLOWS):
        links = [one.link for one in found[traffic]]
        truth, ours = second[traffic, TRUTH], second[traffic, ESTIMATES]
        rows.append(
            [
                f"{100 * traffic.local_share:.0f}",
                f"{traffic.flows}",
                _range([link.flows for link in links], 0),
                f"{1e3 * traffic.link.harmonic_rtt_s:.1f}",
                _range([1e3 * link.harmonic_rtt_s for link in links], 1),
                f"{traffic.link.local_rate_bps / 1e6:.1f}",
                _range([link.local_rate_bps / 1e6 for link in links], 1),
                f"{truth.packets[0]:,}",
                _range(ours.packets, 0),
                *(_interval(t_interval(one.per_cent("loss_rate")), 2) for one in (truth, ours)),
                _interval(_less(ours, truth, "loss_rate"), 2, signed=True),
            ]
        )
    return _table(head, rows)


def _few(second: Seconds) -> str:
    head = ("N", "buffer, packets", "", "", "utilisation, %", "", "")
    rows = []
    for flows in FEW_FLOWS:
        runs = [second[Traffic(flows), source] for source in (TRUTH, ESTIMATES, MEAN)]
        busy = (_interval(t_interval(one.per_cent("utilization")), 1) for one in runs)
        rows.append([f"{flows}", *(_range(one.packets, 0) for one in runs), *busy])
    return _table(head, rows)


def _wrong(second: Seconds) -> str:
    head = ["", *(cell for flows in ERROR_FLOWS for cell in (f"{flows} flows", ""))]
    rows = []
    for label in list(ERRORS)[1:]:
        changes = [
            _less(
                second[Traffic(flows), f"{source}, {label}"],
                second[Traffic(flows), source],
                "loss_rate",
            )
            for flows in ERROR_FLOWS
            for source in (TRUTH, ESTIMATES)
        ]
        rows.append([label, *(_interval(one, 2, signed=True) for one in changes)])
    return _table(head, rows)


def _range(values: Sequence[float], digits: int) -> str:
    low, high = f"{min(values):,.{digits}f}", f"{max(values):,.{digits}f}"
    return low if low == high else f"{low} to {high}"


def _interval(value: Interval, digits: int, *, signed: bool = False) -> str:
    mean = round(value.mean, digits) + 0.0  # no minus before a zero
    half = f" ± {value.half_width:.{digits}f}" if value.half_width else ""
    return f"{mean:{'+' if signed else ''}.{digits}f}{half}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
