"""Lines that give a router a shaper before its modem.

OpenWrt's sqm-scripts pass `overhead` and `tcMPU` to CAKE, and `atm` if the link layer is `atm`;
other keywords of CAKE go through `iqdisc_opts` and `eqdisc_opts` (functions.sh and
piece_of_cake.qos of sqm-scripts). RouterOS has CAKE from version 7.1 on, and shapes by its
`cake-bandwidth`, because the rate of a simple queue knows nothing of the framing. DEV stands for
the port to the modem.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.home.household import DOWN, UP

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodqueue.home.household import Direction
    from goodqueue.home.scenario import Framing

SYNTAXES = {
    "openwrt": "/etc/config/sqm of OpenWrt (sqm-scripts)",
    "linux": "a root shell of Linux",
    "mikrotik": "the terminal of RouterOS 7, without FastTrack",
}
"""Place where the lines of a syntax are typed."""


def device_lines(syntax: str, kbps: Mapping[Direction, int], framing: Framing) -> list[str]:
    """Returns the lines for a device.

    Args:
        syntax: key of `SYNTAXES`.
        kbps: rates by direction in kbit/s; a direction without a rate is not shaped.
        framing: framing of the line.
    """
    make = {"openwrt": _openwrt, "linux": _linux, "mikrotik": _mikrotik}[syntax]
    return make(kbps, framing)


def _openwrt(kbps: Mapping[Direction, int], framing: Framing) -> list[str]:
    options = {
        "enabled": 1,
        "interface": "DEV",
        "download": kbps.get(DOWN, 0),
        "upload": kbps.get(UP, 0),
        "script": "piece_of_cake.qos",
        "linklayer": "atm" if framing.cells == "atm" else "ethernet",
        "overhead": framing.overhead,
        **({"tcMPU": framing.minimum} if framing.minimum else {}),
        "iqdisc_opts": _more(framing),
        "eqdisc_opts": _more(framing),
    }
    return ["config queue", *(f"    option {name} '{value}'" for name, value in options.items())]


def _more(framing: Framing) -> str:
    """Returns the keywords that sqm-scripts have no option for."""
    return "nat ptm" if framing.cells == "ptm" else "nat"


def _linux(kbps: Mapping[Direction, int], framing: Framing) -> list[str]:
    how = f"besteffort nat overhead {framing.overhead} mpu {framing.minimum} {framing.keyword}"
    lines = []
    if UP in kbps:
        lines.append(f"tc qdisc replace dev DEV root cake bandwidth {kbps[UP]}kbit \\")
        lines.append(f"  {how}")
    if DOWN in kbps:
        lines += [
            "ip link add ifb0 type ifb; ip link set ifb0 up",
            "tc qdisc replace dev DEV handle ffff: ingress",
            "tc filter replace dev DEV parent ffff: matchall \\",
            "  action mirred egress redirect dev ifb0",
            f"tc qdisc replace dev ifb0 root cake bandwidth {kbps[DOWN]}kbit \\",
            f"  {how}",
        ]
    return lines


def _mikrotik(kbps: Mapping[Direction, int], framing: Framing) -> list[str]:
    cells = framing.cells
    lines = []
    for direction in (DOWN, UP):
        rate = f" cake-bandwidth={kbps[direction]}k" if direction in kbps else ""
        adds = f"cake-overhead={framing.overhead} cake-mpu={framing.minimum} cake-atm={cells}"
        lines += [
            f"/queue type add name=cake-{direction} kind=cake{rate} cake-nat=yes \\",
            f"  cake-diffserv=besteffort {adds}",
        ]
    return [*lines, "/queue simple add name=line target=DEV queue=cake-down/cake-up"]
