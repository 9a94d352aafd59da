"""The values of a parameter: ranges with units, shares of the file's value, and mistakes."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from conftest import SMALL
from goodqueue.errors import RequestError
from goodqueue.tuning.axis import Axis, axis_of
from goodqueue.tuning.subject import Subject

LIMIT = "topology.bottleneck.queue.limit"
RATE = "topology.bottleneck.rate"


def axis(text: str, *set_: tuple[str, str]) -> Axis:
    return axis_of(text, Subject(SMALL, set_))


def test_a_wide_range_of_packets_has_whole_values_by_factors_and_the_files_own() -> None:
    found = axis(f"{LIMIT}=4p..400p")
    numbers = [value.number for value in found.values.values()]
    assert found.log
    assert (numbers[0], numbers[-1]) == (4, 400)
    assert all(number == int(number) for number in numbers)
    assert numbers == sorted(set(numbers))
    ratios = [math.log(high / low) for low, high in pairwise(numbers)]
    assert max(ratios[40:]) < 0.06  # a hundredfold range in 128 steps
    assert found.own is not None
    assert found.values[found.own].text == "20p"


def test_a_narrow_range_has_even_steps_in_its_unit() -> None:
    found = axis(f"{RATE}=800kbps..1Mbps")
    numbers = [value.number for value in found.values.values()]
    assert (found.suffix, found.unit, found.log) == ("_bps", "kbps", False)
    assert (numbers[0], numbers[-1]) == (800_000, 1_000_000)
    steps = [high - low for low, high in pairwise(numbers)]
    assert max(steps) == pytest.approx(200_000 / 128, rel=0.01)
    assert found.values[found.marks[-1]].text in {"1Mbps", "1000kbps"}


def test_shares_are_of_the_value_in_the_file_or_of_set() -> None:
    numbers = [value.number for value in axis(f"{RATE}=70%..100%").values.values()]
    assert (numbers[0], numbers[-1]) == (700_000, 1_000_000)
    numbers = [value.number for value in axis(f"{RATE}=70%..100%", (RATE, "2Mbps")).values.values()]
    assert (numbers[0], numbers[-1]) == (1_400_000, 2_000_000)


def test_a_share_may_be_the_value_itself() -> None:
    queue = ("topology.bottleneck.queue", '{ kind = "red", limit = "50p", probability = "5%" }')
    found = axis("topology.bottleneck.queue.probability=1%..20%", queue)
    numbers = [value.number for value in found.values.values()]
    assert (numbers[0], numbers[-1]) == (0.01, 0.2)


def test_defaults_have_shares_too() -> None:
    queue = ("topology.bottleneck.queue", '{ kind = "codel" }')
    found = axis("topology.bottleneck.queue.target=50%..200%", queue)
    numbers = [value.number for value in found.values.values()]
    assert (numbers[0], numbers[-1]) == pytest.approx((0.0025, 0.010))  # CoDel's target is 5 ms


def test_a_mark_has_its_value_and_marks_grow_evenly() -> None:
    for text in (f"{LIMIT}=4p..400p", f"{RATE}=800kbps..1Mbps"):
        found = axis(text)
        for mark, value in found.values.items():
            assert found.number_at(mark) == pytest.approx(value.number, rel=2e-3)
    logs = [math.log(mark) for mark in axis(f"{RATE}=800kbps..1Mbps").marks]
    steps = [high - low for low, high in pairwise(logs)]
    assert max(steps) < 1.02 * min(steps)


def test_the_files_own_value_outside_of_the_range_attracts_its_nearer_end() -> None:
    above, below = axis(f"{LIMIT}=30p..60p"), axis(f"{LIMIT}=2p..9p")
    assert above.own is below.own is None
    assert min(above.marks, key=above.steps_from_own) == above.marks[0]
    assert min(below.marks, key=below.steps_from_own) == below.marks[-1]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("bottleneck.queue.limit=5p..9p", f"write the whole path: {LIMIT}"),
        (f"{LIMIT}=5p", "write --vary PATH=LOW..HIGH"),
        ("5p..9p", "write --vary PATH=LOW..HIGH"),
        (f"{LIMIT}=9p..5p", "write the smaller end first"),
        (f"{LIMIT}=5p..1bdp", "different units"),
        (f"{LIMIT}=few..many", "write both ends as numbers"),
        (f"{RATE}=1Mb..2Mbps", "write both ends as numbers"),
        ("topology.bottleneck.queue.target=10%..90%", "target"),
        ("flow.upload.count=0..5", "from 1 to"),
    ],
)
def test_a_mistake_is_named_with_its_remedy(text: str, part: str) -> None:
    with pytest.raises(RequestError) as refused:
        axis(text)
    assert part in str(refused.value)


def test_values_may_be_given_one_by_one() -> None:
    found = axis(f"{LIMIT}=5p,10p,20p,40p")
    numbers = [value.number for value in found.values.values()]
    assert (numbers, found.suffix, found.log) == ([5, 10, 20, 40], "_packets", True)
    assert found.own is not None
    assert found.values[found.own].text == "20p"
    # Marks lie evenly on a logarithmic scale, as those of a range.
    logs = [math.log(mark) for mark in found.marks]
    steps = [high - low for low, high in pairwise(logs)]
    assert max(steps) == pytest.approx(min(steps), rel=0.01)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("5p,10", "with the same unit"),
        ("5p,often", "write all values as numbers"),
        ("10p,5p", "values that rise"),
        ("5p,5p", "values that rise"),
        ("5p,", "write all values as numbers"),
        ("5p,2.5p", "values that rise"),
        ("5p,1000000000000p", "topology.bottleneck.queue.limit = 1000000000000p"),
    ],
)
def test_wrong_values_one_by_one_are_refused(values: str, message: str) -> None:
    with pytest.raises(RequestError, match=message.replace(".", r"\.")):
        axis(f"{LIMIT}={values}")


def test_values_that_lie_too_close_together_are_refused() -> None:
    with pytest.raises(RequestError, match="too close to one another"):
        axis(f"{RATE}=1000000bps,1000001bps,100000000bps")
