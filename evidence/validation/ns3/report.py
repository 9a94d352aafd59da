"""The part of the report about ns-3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evidence.validation.ns3 import controls, pictures
from evidence.validation.ns3.controls import METRICS, SCENARIO, SOURCE, TOLERANCE
from evidence.validation.simulators import package_version

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evidence.validation.compare import Estimate
    from evidence.validation.ns3.controls import Case, Comparison

HEADINGS = ("utilisation, %", "goodput per flow, kb/s", "mean backlog, packets", "loss, %")
_SCALES = (100.0, 1e-3, 1.0, 100.0)
_DIGITS = (3, 1, 2, 4)

INTRODUCTION = f"""\
## Against ns-3

CUBIC, BBR and Vegas are compared with ns-3. `{SOURCE}` and `{SCENARIO}`
describe the same dumbbell: point-to-point links with two bytes of PPP around each packet, and drop
tail. Figures cover the last three quarters of a run. TCP is the same on both sides as far as the
switches allow: MSS 1460, an initial window of 10 segments and a threshold of 400, SACK, no
timestamps, an ACK for every segment, a minimum timeout of 200 ms, classic slow start. ns-3 uses
`TcpClassicRecovery`, CUBIC without HyStart, and for BBR and Vegas a gain of 1 in the estimator of
round-trip times, because ns-3 gives its controls the smoothed round trip as the latest one.
goodqueue uses the `rfc` profile, and CUBIC in whole segments as in Linux, without the Reno-friendly
region, which ns-3.37 lacks.

Criteria: goodput within 3 % of ns-3's; mean backlog and loss rate within 10 % plus three standard
errors of the difference. Means over seeds ± standard errors.
"""

READING = """\
* **CUBIC** follows the same curve, and loses about as many packets. If few packets are lost in a
  cycle, one more is a large share. With one bandwidth-delay product of buffer ns-3 loses 55 packets
  over 20 Mb/s, 64 over 30 and 72 over 40; goodqueue loses 66, 74 and 81. This is one more in every
  pair of cycles, and more than 10 %. The last step of the window before the loss is noticed falls
  into another round trip, because windows are rounded to whole segments: by ns-3 at every ACK, by
  Linux and goodqueue when the window has changed or after 1/32 s. If goodqueue rounds at every ACK,
  the count over 20 Mb/s equals ns-3's.
* **BBR** agrees in goodput. Its mean backlog differs by more than 10 %, but by less than three
  standard errors, because ns-3's backlogs vary:
  * Beside the bandwidth-delay product ns-3 allows three bursts of one segment in flight; Linux, the
    draft and goodqueue allow two above 1.2 Mb/s. Between probes 4 to 5 packets wait in ns-3 after
    the first PROBE_RTT, and 6 to 8 here.
  * ns-3 paces at its estimate of the bandwidth, Linux and goodqueue 1 % below it. In ns-3 an
    existing queue therefore does not drain. Without that 1 % our mean is 8.6 packets.
  * A rate sample of ns-3.37 takes its time from the packet of the previous sample, and is not
    renewed if several packets left between two ACKs (`TcpRateLinux::SkbDelivered`; later releases
    correct the first fault). When the window opens after PROBE_RTT, some runs then overestimate the
    bandwidth, one of twenty by 18 %, and the resulting queue stays until the next PROBE_RTT. ns-3's
    mean therefore lies between 5.4 and 17 packets, depending on the seed, and three standard errors
    allow much. The row without PROBE_RTT excludes this effect. Linux has 7.6 packets on such a
    link.
* **BBR after losses** is not compared. With 66 packets of buffer, where its start-up loses packets,
  ns-3.37's BBR falls below 1 % of the link and stays there.
* **Vegas** reduces its window by a segment per round trip, to the same value as in ns-3. The number
  of waiting packets is computed as in its paper, cwnd·(1 - shortest/RTT). ns-3 rounds it up, so
  several flows keep a slightly shorter queue. A loss lowers ns-3's window by one segment and ours
  by half, as in Linux; these links lose nothing.
"""


def section(comparisons: Sequence[Comparison], seeds: range) -> str:
    """Returns this part of the report, as Markdown."""
    failures = controls.verdict(comparisons)
    outcome = "Every criterion holds." if not failures else "Not all agree: " + "; ".join(failures)
    lines = ["| " + " | ".join(["", "", *HEADINGS]) + " |", "|" + " --- |" * (len(HEADINGS) + 2)]
    for comparison in comparisons:
        lines += ["| " + " | ".join(row) + " |" for row in _rows(comparison)]
    shown = [comparison.case for comparison in comparisons if comparison.case.shown is not None]
    version = package_version("libns3-dev")
    return "\n".join(
        [
            INTRODUCTION,
            f"ns-3 {version} (Debian package `libns3-dev`); seeds from {seeds[0]} on.\n",
            f"**{outcome}**\n",
            "\n".join(lines) + "\n",
            *(_picture(case) for case in shown),
            READING,
            _commands([comparison.case for comparison in comparisons]),
        ]
    )


def _rows(comparison: Comparison) -> list[list[str]]:
    case = comparison.case
    link = f"{case.rate} Mb/s, {case.rtt} ms, {case.buffer} packets"
    runs = f"{len(comparison.ours)} seeds"
    theirs = [_estimate(at, comparison.theirs(metric)) for at, metric in enumerate(METRICS)]
    ours = [_estimate(at, comparison.figure(metric)) for at, metric in enumerate(METRICS)]
    judged = [_judged(at, comparison, metric) for at, metric in enumerate(METRICS)]
    return [
        [f"**{case.name}**", "ns-3", *theirs],
        [link, "goodqueue", *ours],
        [runs, "difference (allowed)", *judged],
    ]


def _judged(at: int, comparison: Comparison, metric: str) -> str:
    if metric not in TOLERANCE:
        return ""
    difference = comparison.figure(metric).mean - comparison.theirs(metric).mean
    mark = "" if comparison.agrees(metric) else " **no**"
    return f"{_figure(at, difference, '+')} (± {_figure(at, comparison.allowed(metric))}){mark}"


def _estimate(at: int, value: Estimate) -> str:
    return f"{_figure(at, value.mean)} ± {_figure(at, value.error)}"


def _figure(at: int, value: float, sign: str = "") -> str:
    rounded = round(_SCALES[at] * value, _DIGITS[at]) + 0.0  # no minus before a zero
    return f"{rounded:{sign}.{_DIGITS[at]}f}"


def _picture(case: Case) -> str:
    caption = pictures.CAPTIONS[case.name]
    return f"![{case.name} in ns-3 and goodqueue](img/{pictures.name(case)}.png)\n\n{caption}\n"


def _commands(cases: Sequence[Case]) -> str:
    lines = [" ".join(controls.build_command(controls.BUILT / "dumbbell"))]
    for case in cases:
        lines.append(" ".join([str(controls.BUILT / "dumbbell"), *case.arguments, "--seed=1"]))
        sets = " ".join(f"--set {key}={_shell(value)}" for key, value in case.overrides.items())
        lines.append(f"goodqueue run {SCENARIO} --seed 1 --json {sets}")
    return "These commands run the first seed:\n\n```sh\n" + "\n".join(lines) + "\n```\n"


def _shell(value: object) -> str:
    """Formats a value for `--set key=`, quoted if a shell would split it."""
    if not isinstance(value, dict):
        return str(value)
    pairs = ", ".join(f'{key} = "{item}"' for key, item in value.items())
    return f"'{{ {pairs} }}'"
