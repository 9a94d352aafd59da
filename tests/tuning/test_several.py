"""`goodqueue tune` with several parameters: known optima, exit codes, files, mistakes."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import goodqueue
from conftest import SMALL, refused
from conftest import goodqueue as command
from goodqueue.cli import run_command
from goodqueue.sizing.search.trials import FIRST_REPLICATES, Trials
from goodqueue.tuning.bounds import Bound, Goal, Keep
from goodqueue.tuning.figures import Figure
from goodqueue.tuning.search import Aim
from goodqueue.tuning.several.answer import TunedPoint, tuned_point
from goodqueue.tuning.several.optimiser import Known, proposed
from goodqueue.tuning.several.search import Search
from goodqueue.tuning.several.space import space_of
from goodqueue.tuning.subject import Subject
from helpers.closed_forms import POISSON, md1k_loss

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("own_cache")

LIMIT = "topology.bottleneck.queue.limit"
RATE = "topology.bottleneck.rate"
LOAD = "flow.packets.workload.rate"
SUBJECT = Subject(SMALL, (("duration", "1s"),))
SPACE = space_of([f"{RATE}=1Mbps..2Mbps", "topology.bottleneck.delay=10ms..20ms"], SUBJECT)
"""Two parameters from 1 to 2, if the second is counted in 10 ms."""

DELAY, GOODPUT = "ping.p99_rtt_s", "upload.goodput_bps.sum"


class Surfaces:
    """Figures of a point, both numbers from 1 to 2, with noise that is partly common to all."""

    def __init__(self, surfaces: Mapping[str, Callable[[float, float], float]], seed: int) -> None:
        self.surfaces = surfaces
        self.seed = seed

    def __call__(self, wanted: Mapping[int, range]) -> Mapping[int, Sequence[Mapping[str, float]]]:
        return {
            point: [self._run(point, index) for index in indices]
            for point, indices in wanted.items()
        }

    def _run(self, point: int, index: int) -> dict[str, float]:
        x, y = at(point)
        common = np.random.default_rng([self.seed, index]).normal()
        own = np.random.default_rng([self.seed, index, point]).normal()
        noise = 1 + 0.01 * (0.7 * common + 0.7 * own)
        return {name: surface(x, y) * noise for name, surface in self.surfaces.items()}


def at(point: int) -> tuple[float, float]:
    x, y = SPACE.shares(point)
    return 1 + x, 1 + y


def keep(key: str, bound: float, *, at_least: bool = False) -> Keep:
    text = f"{key}{'>=' if at_least else '<='}{bound:g}"
    return Keep(text, Figure(key, key, (key,)), Bound(key, bound, at_least))


def searched(
    surfaces: Mapping[str, Callable[[float, float], float]],
    keeps: Sequence[Keep],
    key: str | None = GOODPUT,
    seed: int = 1,
) -> TunedPoint:
    trials = Trials(Surfaces(surfaces, seed))
    goal = None if key is None else Goal(Figure(key, key, (key,)), most=True)
    search = Search(trials, SPACE, Aim([one.bound for one in keeps], goal, 64), seed)
    search.run()
    return tuned_point(trials, SPACE, keeps, search, budget=1e9, used=0.0, packets_per_run=0.0)


def test_the_best_point_on_a_slanted_bound_is_found() -> None:
    """The product of two numbers is largest for a given sum if they are equal."""
    surfaces = {DELAY: lambda x, y: x + y, GOODPUT: lambda x, y: x * y}
    for seed in range(5):
        answer = searched(surfaces, [keep(DELAY, 3.0)], seed=seed)
        assert answer.proved
        assert answer.best is not None
        x, y = at(answer.best.mark)
        assert x + y <= 3.01
        assert x * y >= 0.98 * 2.25
        assert answer.best.decided_by == f"{DELAY}<=3"


def test_the_best_point_within_the_bounds_is_found() -> None:
    """A hill over a narrow valley: neither number alone leads to its top."""

    def hill(x: float, y: float) -> float:
        return 2 - 6 * (x - y) ** 2 - (x + y - 3.2) ** 2

    answer = searched({DELAY: lambda _x, _y: 1.0, GOODPUT: hill}, [keep(DELAY, 2.0)])
    assert answer.best is not None
    assert hill(*at(answer.best.mark)) >= 0.98 * 2
    for low_high, top in zip(answer.as_good(), (1.6e6, 0.016), strict=True):
        assert low_high[0] <= 1.05 * top
        assert low_high[1] >= 0.95 * top


def test_a_small_set_far_from_the_files_values_is_found() -> None:
    """Both bounds are kept in a disc of radius 0.15, which is 7 % of the square."""

    def far(x: float, y: float) -> float:
        return 1 + 4 * math.hypot(x - 1.7, y - 1.3)

    answer = searched({DELAY: far, GOODPUT: lambda x, _y: x}, [keep(DELAY, 1.6)])
    assert answer.best is not None
    x, y = at(answer.best.mark)
    assert far(x, y) <= 1.62
    assert x >= 0.98 * 1.85


def test_without_a_goal_the_point_nearest_to_the_files_values_is_recommended() -> None:
    """The file has the lowest rate and the lowest delay of both ranges."""
    answer = searched({GOODPUT: lambda x, y: x * y}, [keep(GOODPUT, 1.5, at_least=True)], None)
    assert answer.best is not None
    x, y = at(answer.best.mark)
    assert x * y >= 1.49
    # The sum of the distances is least at an end of the curve: 1.5 and 1, or at equal numbers.
    assert (x - 1) + (y - 1) <= 1.02 * 2 * (math.sqrt(1.5) - 1) + 0.02


def test_a_bound_that_no_point_keeps_has_a_nearest_miss() -> None:
    answer = searched({DELAY: lambda x, y: x + y, GOODPUT: lambda x, _y: x}, [keep(DELAY, 1.5)])
    assert answer.impossible
    assert answer.miss is not None
    assert sum(at(answer.miss.mark)) <= 2.04
    assert answer.as_dict()["recommended"] is None


class Fading(Surfaces):
    """Points whose first replicates keep a bound that the others break, if x is small."""

    def _run(self, point: int, index: int) -> dict[str, float]:
        keeps = at(point)[0] < 1.1 and index < FIRST_REPLICATES
        return super()._run(point, index) | {DELAY: 0.9 + 0.5 * (-1) ** index if keeps else 2.0}


def test_points_that_keep_a_bound_by_chance_alone_are_no_answer() -> None:
    """More replicates show that no point keeps it, while the best ones are compared."""
    for seed in range(4):
        trials = Trials(Fading({GOODPUT: lambda _x, _y: 1.0}, seed))
        goal = Goal(Figure(GOODPUT, GOODPUT, (GOODPUT,)), most=True)
        search = Search(trials, SPACE, Aim([keep(DELAY, 1.0).bound], goal, 64), seed)
        search.run()
        assert search.best() is None


def test_the_changes_are_those_of_one_parameter_alone() -> None:
    answer = searched({DELAY: lambda x, _y: x, GOODPUT: lambda _x, y: y}, [keep(DELAY, 1.6)])
    assert answer.best is not None
    for one in answer.sensitivity():
        moved = [
            a != b
            for a, b in zip(SPACE.places(one.mark), SPACE.places(answer.best.mark), strict=True)
        ]
        assert moved == [axis is one.axis for axis in SPACE.axes]
        x, y = (a - b for a, b in zip(at(one.mark), at(answer.best.mark), strict=True))
        assert one.changes[DELAY].mean == pytest.approx(x, abs=0.05)
        assert one.changes[GOODPUT].mean == pytest.approx(y, abs=0.05)


def test_the_trade_off_has_no_point_that_another_one_beats() -> None:
    surfaces = {DELAY: lambda x, y: x + y, GOODPUT: lambda x, y: x * y}
    bound = keep(DELAY, 3.0)
    answer = searched(surfaces, [bound])
    front = answer.frontier(bound.figure)
    means = [
        (answer.interval(one, bound.figure).mean, answer.trials.interval(one, GOODPUT).mean)
        for one in front
    ]
    assert len(front) >= 3
    assert means == sorted(means)
    assert sorted(means, key=lambda one: one[1]) == means


def test_points_and_places_are_inverse_and_the_first_points_fill_the_space() -> None:
    for point in (0, 5, len(SPACE) - 1, SPACE.point([7, 100])):
        assert SPACE.point(SPACE.places(point)) == point
    quarters = {tuple(share >= 0.5 for share in SPACE.shares(one)) for one in SPACE.spread(8)}
    assert len(quarters) == 4
    cells = {tuple(int(4 * share) for share in SPACE.shares(one)) for one in SPACE.spread(24)}
    assert len({cell for cell in cells if max(cell) < 4}) >= 15  # random points hit 12.6


def test_proposals_follow_from_what_is_known_and_the_seed() -> None:
    known = [Known(one, float(one % 7), (0.1 * (one % 3) - 0.1,)) for one in SPACE.spread(20)]
    box = SPACE.around(known[3].point, 0.1)
    found = proposed(SPACE, known, box, 8, 1)
    assert found == proposed(SPACE, known, box, 8, 1)
    assert found != proposed(SPACE, known, box, 8, 2)
    assert len(set(found)) == 8
    assert not set(found) & {one.point for one in known}
    for one in found:
        both = zip(SPACE.places(one), box, strict=True)
        assert all(low <= place <= high for place, (low, high) in both)


def test_a_box_without_new_points_gives_none() -> None:
    box = ((3, 4), (5, 5))
    known = [Known(SPACE.point([place, 5]), 1.0, (-1.0,)) for place in (3, 4)]
    assert proposed(SPACE, known, box, 8, 1) == []


@pytest.fixture
def poisson(tmp_path: Path) -> Path:
    path = tmp_path / "poisson.toml"
    path.write_text(POISSON.replace("2000s", "30s"))
    return path


VARY = ("--vary", f"{LIMIT}=2p..40p", "--vary", f"{LOAD}=500kbps..950kbps")


def answered(*arguments: object, code: int = 0) -> dict[str, Any]:
    done = command("tune", *arguments, "--json")
    assert done.returncode == code, done
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_largest_load_that_a_loss_allows_is_that_of_md1k(poisson: Path) -> None:
    """A queue of at most 10 packets, and one in service, loses 1 % at a known load."""
    bounds = ["--keep", "bottleneck.loss<=1%", "--keep", "bottleneck.max<=81ms", "--most", LOAD]
    answer = answered(poisson, *VARY, *bounds, "--set", "duration=100s")
    loads = [step / 1000 for step in range(500, 950)]
    wanted = max(load for load in loads if md1k_loss(load, 11) <= 0.01)
    limit, load = answer["recommended"]["values"]
    assert limit["value"] <= 11
    assert 0.97 * wanted <= load["value"] / 1e6 <= 1.01 * wanted
    assert answer["recommended"]["shown"]


def test_the_answer_depends_neither_on_threads_nor_on_stored_runs(
    poisson: Path, tmp_path: Path
) -> None:
    bounds = ["--keep", "bottleneck.loss<=2%", "--most", LOAD, "--replicates", 16]
    first = answered(poisson, *VARY, *bounds, "--store", tmp_path / "store", "--jobs", 2)
    assert answered(poisson, *VARY, *bounds, "--store", tmp_path / "store") == first
    assert answered(poisson, *VARY, *bounds, "--jobs", 1) == first
    vary = [VARY[1], VARY[3]]
    answer = goodqueue.tune(poisson, vary, keep=["bottleneck.loss<=2%"], most=LOAD, replicates=16)
    assert answer.as_dict() == first
    assert answer.values == dict(
        zip((LIMIT, LOAD), (one["text"] for one in first["recommended"]["values"]), strict=True)
    )
    columns = answer.table.columns
    assert columns[:4] == [f"{LIMIT}_packets", f"{LOAD}_bps", "replicates", "keeps"]
    assert repr(answer).startswith("Recommended: ")


def test_a_small_budget_gives_an_estimate_that_a_larger_one_continues(
    poisson: Path, tmp_path: Path
) -> None:
    bounds = ["--keep", "bottleneck.loss<=2%", "--most", LOAD, "--replicates", 16]
    bounds += ["--store", tmp_path / "store"]
    few = answered(poisson, *VARY, *bounds, "--budget", "100k", code=6)
    assert few["budget"]["over"]
    assert few["budget"]["used"] <= 100e3
    more = answered(poisson, *VARY, *bounds)
    before = {json.dumps(one["values"]) for one in few["points"]}
    assert before <= {json.dumps(one["values"]) for one in more["points"]}


def test_the_scenario_and_the_picture_are_written(poisson: Path, tmp_path: Path) -> None:
    out, plot = tmp_path / "tuned.toml", tmp_path / "tuned.svg"
    arguments = [*VARY, "--keep", "bottleneck.loss<=2%", "--most", "packets.goodput"]
    arguments += ["--replicates", "16"]
    done = command("tune", poisson, *arguments, "--out", out, "--plot", plot)
    assert done.returncode == 0, done
    assert done.stdout.startswith(f"recommended: {LIMIT} = ")
    assert f"at {LOAD} = " in done.stdout
    found = answered(poisson, *arguments)["recommended"]["values"]
    assert goodqueue.load(out).buffer("bottleneck")["limit_packets"] == found[0]["value"]
    assert "the diamond is the recommended point" in " ".join(plot.read_text().split())
    assert run_command(["run", str(out)]) == 0


def test_without_a_point_that_keeps_the_bounds_the_exit_code_is_3(poisson: Path) -> None:
    bounds = [
        "--keep",
        "bottleneck.loss<=1%",
        "--keep",
        "packets.goodput>=940kbps",
        "--replicates",
        8,
    ]
    done = command("tune", poisson, "--vary", f"{LIMIT}=2p..9p", *VARY[2:], *bounds)
    assert done.returncode == 3, done
    assert "that was tried keeps every bound" in done.stdout
    assert "nearest miss: " in done.stdout


@pytest.mark.parametrize(
    ("vary", "part"),
    [
        ([f"{LIMIT}=2p..40p"] * 2, "the parameter is given twice"),
        ([f"{LIMIT}=2p..40p"] * 5, "5 parameters; give one, or 2 to 4"),
        ([f"{LIMIT}=2p..40p", "flow.packets.workload.rat=1..2"], "flow.packets.workload.rat"),
        (
            [
                "topology.bottleneck.queue.target=1ms..60ms",
                "topology.bottleneck.queue.interval=20ms..200ms",
            ],
            "target = 60ms and topology.bottleneck.queue.interval = 20ms",
        ),
    ],
)
def test_a_mistake_is_refused_before_anything_is_run(
    poisson: Path, vary: list[str], part: str
) -> None:
    options = [word for one in vary for word in ("--vary", one)]
    set_ = ["--set", 'topology.bottleneck.queue={kind="codel"}'] if "target" in vary[0] else []
    done = command("tune", poisson, *set_, *options, "--keep", "bottleneck.loss<=2%")
    assert part in refused(done)


def test_an_answer_without_runs_has_no_picture(poisson: Path) -> None:
    answer = goodqueue.tune(poisson, [VARY[1], VARY[3]], keep=["bottleneck.loss<=2%"], time_s=1e-6)
    assert answer.best is None
    assert repr(answer) == "No run ended before the search was stopped"
    with pytest.raises(goodqueue.RequestError, match="nothing was simulated"):
        answer.plot()
