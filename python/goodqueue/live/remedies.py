"""Remedies for what an operating system refuses to an emulation.

A refusal is a text that names the step (crates/live). The settings of the system tell which of
several causes it has.
"""

from __future__ import annotations

from pathlib import Path

USER_NAMESPACE_STEPS = ("making a user namespace", "setting the users of a namespace")
"""Steps that need user namespaces. AppArmor refuses the second one, other causes the first."""

UPLINK_STEPS = {
    "making a pair of devices": "the kernel needs virtual Ethernet: as root, `modprobe veth`",
    "making a table of nftables": (
        "the kernel needs nftables with owners (Linux 5.12): as root, "
        "`modprobe -a nf_tables nft_chain_nat nft_masq nft_ct`"
    ),
}
"""Remedies for steps of `--uplink nat`, whose kernel modules may be missing."""

CONTROL = "tcp_congestion_control"
TUN = "/dev/net/tun"


def explained(reason: str, root: Path = Path("/")) -> str:
    """Returns a refusal with its remedy, in one line.

    Args:
        reason: the refusal, which names the step.
        root: directory below which the system's settings are read.
    """
    text = " ".join(reason.split())
    remedy = _remedy(text, root)
    return f"{text}; {remedy}" if remedy else text


def _remedy(reason: str, root: Path) -> str | None:
    """Returns the remedy for a refusal, None if none is known."""
    if any(step in reason for step in USER_NAMESPACE_STEPS):
        return _user_namespaces(root)
    if "mounting /proc" in reason:
        return (
            "in a container, /proc must be unmasked: start it with "
            "`--security-opt systempaths=unconfined`"
        )
    if CONTROL in reason:
        return _controls(root)
    if TUN in reason:
        return _tun(root)
    return next((remedy for step, remedy in UPLINK_STEPS.items() if step in reason), None)


def _user_namespaces(root: Path) -> str:
    """Returns the remedy for refused user namespaces."""
    off = {
        "kernel/apparmor_restrict_unprivileged_userns": ("1", "AppArmor restricts them", "0"),
        "kernel/unprivileged_userns_clone": ("0", "they are switched off", "1"),
        "user/max_user_namespaces": ("0", "none are allowed", "15000"),
    }
    for name, (refusing, why, allowing) in off.items():
        if _setting(root, name) == refusing:
            command = f"sysctl {name.replace('/', '.')}={allowing}"
            return f"an ordinary user needs user namespaces, and {why}: as root, `{command}`"
    if "\nSeccomp:\t2" in _text(root / "proc/self/status"):
        return (
            "a filter of system calls refuses user namespaces: start the container with "
            "`--security-opt seccomp=unconfined`"
        )
    return "the kernel must allow user namespaces to ordinary users"


def _controls(root: Path) -> str:
    """Returns the remedy for a refused congestion control."""
    available = _setting(root, "net/ipv4/tcp_available_congestion_control")
    allowed = _setting(root, "net/ipv4/tcp_allowed_congestion_control")
    return (
        f"this kernel has {available or 'none'} and allows everybody {allowed or 'none'}: as root, "
        '`modprobe tcp_NAME` and `sysctl net.ipv4.tcp_allowed_congestion_control="reno NAME"`'
    )


def _tun(root: Path) -> str:
    """Returns the remedy for a device of tunnels that cannot be opened."""
    if not (root / TUN.lstrip("/")).exists():
        return (
            "it does not exist: as root, `modprobe tun`, and in a container `--device /dev/net/tun`"
        )
    return "every user must be able to open it: as root, `chmod 0666 /dev/net/tun`"


def _setting(root: Path, name: str) -> str:
    """Returns a kernel parameter, an empty text if the kernel does not have it."""
    return " ".join(_text(root / "proc/sys" / name).split())


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError:
        return ""
