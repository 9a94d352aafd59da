"""Drawn trees of `htb`: the lines of `tc` that make each, and the packets that it is offered."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

TREES = 20
PACKETS = 400
"""Packets of a tree, which all wait before the first one may leave."""

SIZES = (100, 1514)
"""Smallest and largest frame, in bytes."""


@dataclass(frozen=True)
class Tree:
    """A drawn tree.

    Attributes:
        lines: the classes as `tc class add dev DEV` takes them.
        leaves: numbers of the classes without children, in the order of the lines.
        arrivals: (index of the leaf, bytes of the frame) of each packet, in order.
    """

    lines: tuple[str, ...]
    leaves: tuple[int, ...]
    arrivals: tuple[tuple[int, int], ...]

    def commands(self, place: str = "root") -> list[str]:
        """Returns the commands that make the tree, without `tc` and `dev DEV`."""
        return [
            f"qdisc add {place} handle 1: htb",
            *(f"class add {line}" for line in self.lines),
            *(f"qdisc add parent 1:{minor:x} pfifo limit 10000" for minor in self.leaves),
        ]


def tree(number: int) -> Tree:
    """Returns the tree of a number: one to three levels below a line of 0.12 to 0.8 Mb/s.

    The rates are low, so that the times at which classes may send differ by more than the kernel's
    clock scatters.
    """
    dice = Random(f"htb {number}")  # noqa: S311 - a drawn tree, not a secret
    lines: list[str] = []
    leaves: list[int] = []
    line = dice.randint(120, 800)

    def add(parent: str, rate: int, ceil: int, depth: int) -> None:
        minor = len(lines) + 1
        settings = [f"rate {rate}kbit ceil {ceil}kbit"]
        settings += [f"{name} {dice.randint(1_600, 12_000)}b" for name in ("burst", "cburst")]
        children = dice.randint(2, 4) if depth == 0 or (depth < 3 and dice.random() < 0.4) else 0
        if not children:
            settings += [f"quantum {dice.randint(600, 5_000)} prio {dice.choice((0, 0, 0, 1, 2))}"]
            leaves.append(minor)
        lines.append(f"parent {parent} classid 1:{minor:x} htb {' '.join(settings)}")
        # Plans are sold for up to one and a half times what their parent has.
        shares = [dice.uniform(0.2, 1.0) for _ in range(children)]
        sold = dice.uniform(0.5, 1.5) * rate / (sum(shares) or 1.0)
        for share in shares:
            own = max(4, int(share * sold))
            add(f"1:{minor:x}", own, max(own, dice.randint(own, max(own, ceil))), depth + 1)

    add("1:", line, line, 0)
    indices = [dice.randrange(len(leaves)) for _ in range(PACKETS)]
    arrivals = tuple((leaf, dice.randint(*SIZES)) for leaf in indices)
    return Tree(tuple(lines), tuple(leaves), arrivals)
