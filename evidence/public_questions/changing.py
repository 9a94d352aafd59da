"""Fixed caps and programs that set the rate, on a line that changes every 15 s."""

from __future__ import annotations

from evidence.public_questions.question import Figures, Question, interval, sides, variants

AUTORATE = "https://github.com/lynxthecat/cake-autorate/issues"

SHAPER = "topology.link.shaper"

CAKE, SQM = "cake_autorate", "sqm_autorate"

LOWEST, COMMON, MEAN, HIGHEST = (5, 60), (8, 90), (12, 130), (20, 200)
"""Rates up and down in Mb/s: the lowest, those of the file, about the mean, the highest."""

PING, UPLOAD, DOWNLOAD = "ping.p99_rtt_s", "upload.goodput_bps", "download.goodput_bps"


def fixed(up: str, down: str) -> dict[str, str]:
    """Returns the settings of a shaper with these rates."""
    ways = {"": up, ".reverse": down}
    return {f"{SHAPER}{way}.queue.bandwidth": rate for way, rate in ways.items()}


def programs(kind: str, up: int, down: int) -> dict[str, str]:
    """Returns the settings of a program with these base rates in Mb/s."""
    ends = dict(zip(("", ".reverse"), zip(LOWEST, (up, down), HIGHEST, strict=True), strict=True))
    return {f"{SHAPER}{way}.autorate": program(kind, *rates) for way, rates in ends.items()}


def program(kind: str, least: int, base: int, most: int) -> str:
    """Returns a program with these rates in Mb/s as an inline table."""
    rates = f'base="{base}Mbps"'
    if kind == CAKE:
        rates = f'minimum="{least}Mbps",{rates},maximum="{most}Mbps"'
    return f'{{kind="{kind}",ping="reflector",{rates}}}'


def _fixed(rates: tuple[int, int]) -> dict[str, str]:
    return fixed(*(f"{rate}Mbps" for rate in rates))


CHOICES = {
    "no shaper": fixed("unlimited", "unlimited"),
    "cap: the lowest rates, 5 and 60 Mb/s": _fixed(LOWEST),
    "cap: 8 and 90 Mb/s": _fixed(COMMON),
    "cap: about the mean rates, 12 and 130 Mb/s": _fixed(MEAN),
    "cake-autorate, base 5 and 60 Mb/s": programs(CAKE, *LOWEST),
    "cake-autorate, base 8 and 90 Mb/s": programs(CAKE, *COMMON),
    "cake-autorate, base 12 and 130 Mb/s": programs(CAKE, *MEAN),
    "sqm-autorate, base 8 and 90 Mb/s": programs(SQM, *COMMON),
    "sqm-autorate, base 12 and 130 Mb/s": programs(SQM, *MEAN),
}
"""Settings of the scenario by their description, in the order of the command."""


def _variant(settings: dict[str, str]) -> str:
    return ",".join(f"{path}={value}" for path, value in settings.items())


def text(found: Figures) -> str:
    """Returns the answer: what the best cap and the best program give, and a table."""
    named = dict(zip(CHOICES, found.values(), strict=True))
    lines = [
        verdict(named),
        "",
        "| shaper | ping, p99, ms | upload, Mb/s | download, Mb/s |",
        "| --- | --- | --- | --- |",
    ]
    for name, side in named.items():
        ping = interval(side[PING], 1e-3, 0)
        up, down = interval(side[UPLOAD], 1e6, 1), interval(side[DOWNLOAD], 1e6, 0)
        lines.append(f"| {name} | {ping} | {up} | {down} |")
    return "\n".join(lines)


def verdict(named: Figures) -> str:
    """Returns the sentences before the table."""
    low, middle = (named[name] for name in list(CHOICES)[1:3])
    cake, sqm = (named[f"{name}, base 8 and 90 Mb/s"] for name in ("cake-autorate", "sqm-autorate"))

    def times(side: Figures, key: str) -> str:
        return f"{side[key][0] / low[key][0]:.1f}"

    def ms(side: Figures) -> str:
        return f"{1e3 * side[PING][0]:.0f} ms"

    return (
        f"**A fixed cap at the lowest rates if games and calls count: 99 of 100 pings take at most "
        f"{ms(low)}. An autorate if the rate counts, with any of the base rates.** sqm-autorate "
        f"has {times(sqm, UPLOAD)} times the upload and {times(sqm, DOWNLOAD)} times the download "
        f"of this cap, with pings of {ms(sqm)}. cake-autorate has {times(cake, UPLOAD)} times the "
        f"upload and {times(cake, DOWNLOAD)} times the download, with {ms(cake)}: it halves round "
        "trips, so a queue up lowers the rate down, too. A cap between the ends is worse than "
        f"sqm-autorate in all three ({ms(middle)}), because the line is slower than the cap for a "
        "part of the time. The intervals of different base rates overlap."
    )


STARLINK = Question(
    "starlink",
    "Starlink's rate and delay jump every 15 s. A fixed cap or an autorate, and which base rate?",
    (
        f"{AUTORATE}/274",
        f"{AUTORATE}/393",
        "https://lists.bufferbloat.net/pipermail/starlink/2023-May/001867.html",
    ),
    "compare scenarios/starlink.toml --set duration=95s --link dish --replicates 6"
    + variants([_variant(settings) for settings in CHOICES.values()]),
    sides(PING, UPLOAD, DOWNLOAD),
    text,
    "Every 15 s the uplink has another rate between 5 and 20 Mb/s, the downlink one between 60 and "
    "200 Mb/s, and each direction another delay from 12 to 24 ms, independently. One upload and "
    "one download last for the whole time. The dish holds 256 kB and the network 3 MB. Short "
    "pauses at the changes and losses on the air are left out. [autorate.md](autorate.md) "
    "describes the programs.",
)
