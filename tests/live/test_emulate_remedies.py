"""A refusal of the operating system is printed together with its remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from goodqueue.live.remedies import explained

if TYPE_CHECKING:
    from pathlib import Path

NAMESPACE = "making a user namespace: Operation not permitted (os error 1)"
TUN = "opening /dev/net/tun: Permission denied (os error 13)"
CONTROL = (
    "the kernel does not set net.ipv4.tcp_congestion_control to cubic: Operation not permitted"
)


@pytest.mark.parametrize(
    ("reason", "setting", "value", "remedy"),
    [
        (
            "setting the users of a namespace: Permission denied",
            "proc/sys/kernel/apparmor_restrict_unprivileged_userns",
            "1\n",
            (
                "AppArmor restricts them: as root, "
                "`sysctl kernel.apparmor_restrict_unprivileged_userns=0`"
            ),
        ),
        (
            NAMESPACE,
            "proc/sys/kernel/unprivileged_userns_clone",
            "0\n",
            "`sysctl kernel.unprivileged_userns_clone=1`",
        ),
        (
            NAMESPACE,
            "proc/sys/user/max_user_namespaces",
            "0\n",
            "`sysctl user.max_user_namespaces=15000`",
        ),
        (NAMESPACE, "proc/self/status", "Name:\tx\nSeccomp:\t2\n", "seccomp=unconfined"),
        (NAMESPACE, "proc/self/status", "Name:\tx\nSeccomp:\t0\n", "must allow user namespaces"),
        ("mounting /proc: Operation not permitted", "none", "", "systempaths=unconfined"),
        ("the uplink: making a table of nftables: No such", "none", "", "nft_masq nft_ct`"),
        ("the uplink: making a pair of devices: Not supported", "none", "", "`modprobe veth`"),
        (TUN, "none", "", "`modprobe tun`"),
        (TUN, "dev/net/tun", "", "`chmod 0666 /dev/net/tun`"),
        (
            CONTROL,
            "proc/sys/net/ipv4/tcp_allowed_congestion_control",
            "reno bbr\n",
            "allows everybody reno bbr",
        ),
    ],
)
def test_a_refusal_has_its_remedy(
    tmp_path: Path, reason: str, setting: str, value: str, remedy: str
) -> None:
    file = tmp_path / setting
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(value, encoding="utf-8")
    line = explained(reason, tmp_path)
    assert line.startswith(reason)
    assert remedy in line
    assert "\n" not in line


def test_a_refusal_without_a_known_remedy_stays_as_it_is(tmp_path: Path) -> None:
    assert explained("something\nelse", tmp_path) == "something else"
