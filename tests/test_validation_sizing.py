"""Recommendations on random links, five of those of `make validate` with short replicates."""

from __future__ import annotations

from goodqueue.validation.sizing import check_links, describe, random_links


def test_five_links_are_confirmed_by_other_seeds() -> None:
    checked = check_links(5, most_packets=15_000)
    print(describe(checked))
    assert sum(one.confirmed for one in checked) >= 4
    assert not any(one.refuted for one in checked)
    assert len({one.link for one in checked}) == 5


def test_links_are_those_of_the_seed() -> None:
    first, second = random_links(), random_links()
    assert [next(first) for _ in range(20)] == [next(second) for _ in range(20)]
    assert next(random_links(1)) != next(random_links(2))
