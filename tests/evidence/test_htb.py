"""The record of the kernel's `htb`: its trees, packets and order."""

from __future__ import annotations

from evidence.htb.drawn import PACKETS, TREES, tree
from evidence.htb.record import RECORD


def test_the_record_has_the_drawn_trees_and_all_their_packets() -> None:
    _, *trees = RECORD.read_text(encoding="utf-8").split("tree ")
    assert len(trees) == TREES
    for number, text in enumerate(trees):
        first, *lines, offered, left = text.splitlines()
        drawn = tree(number)
        assert int(first) == number
        assert lines == [f"tc {line}" for line in drawn.commands()]
        assert offered.split()[1:] == [f"{leaf}:{size}" for leaf, size in drawn.arrivals]
        pairs = [pair.split(":") for pair in left.split()[1:]]
        assert sorted(int(packet) for packet, _ in pairs) == list(range(PACKETS))
        times = [int(at) for _, at in pairs]
        assert times == sorted(times)


def test_packets_of_a_class_leave_in_the_order_of_their_arrival() -> None:
    for number, text in enumerate(RECORD.read_text(encoding="utf-8").split("tree ")[1:]):
        left = [int(pair.partition(":")[0]) for pair in text.splitlines()[-1].split()[1:]]
        arrivals = tree(number).arrivals
        for leaf in range(len(tree(number).leaves)):
            own = [packet for packet in left if arrivals[packet][0] == leaf]
            assert own == sorted(own)
