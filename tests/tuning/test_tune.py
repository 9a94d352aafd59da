"""`goodqueue tune` and `goodqueue.tune`: answers in closed form, exit codes, files, mistakes."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

import goodqueue
from conftest import COMMAND, ROOT, refused
from conftest import goodqueue as command
from goodqueue.cli import run_command
from goodqueue.tuning.axis import axis_of
from goodqueue.tuning.bounds import keep_of
from goodqueue.tuning.subject import Subject
from helpers.closed_forms import POISSON, md1k_loss
from helpers.commands import interrupted, on_terminal

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("own_cache")


LIMIT = "topology.bottleneck.queue.limit"
SHORT_POISSON = POISSON.replace("2000s", "100s")


@pytest.fixture
def poisson(tmp_path: Path) -> Path:
    path = tmp_path / "poisson.toml"
    path.write_text(SHORT_POISSON)
    return path


def answered(*arguments: object, code: int = 0) -> dict[str, Any]:
    done = command("tune", *arguments, "--json")
    assert done.returncode == code, done
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_smallest_room_of_poisson_arrivals_is_that_of_md1k(poisson: Path) -> None:
    """This number of packets waits, and one more is in service."""
    wanted = next(room for room in range(1, 100) if md1k_loss(0.9, room) <= 0.02) - 1
    bound = ["--vary", f"{LIMIT}=1p..40p", "--keep", "bottleneck.loss<=2%", "--least", LIMIT]
    answer = answered(poisson, *bound)
    found = answer["recommended"]
    assert found["interval"][0] <= wanted <= found["interval"][1]
    assert wanted <= found["value"] <= wanted + 1  # the next one, if it is too close to the bound
    assert found["decided_by"] == "bottleneck.loss<=2%"
    losses = {one["value"]: one["figures"]["bottleneck.loss_rate"] for one in answer["values"]}
    # Losses behind larger limits are so rare that eight runs have no normal means.
    for limit in (one for one in losses if one <= 12 and losses[one]["low"] is not None):
        loss = losses[limit]
        slack = loss["high"] - loss["low"]
        assert loss["low"] - slack <= md1k_loss(0.9, int(limit) + 1) <= loss["high"] + slack, limit


def test_the_largest_load_that_a_delay_allows_is_that_of_md1(poisson: Path) -> None:
    """M/D/1 waits rho / (2 (1 - rho)) services of 8 ms on average (Pollaczek and Khinchine)."""
    bounds = ["--set", f"{LIMIT}=unlimited", "--keep", "bottleneck.mean<=8ms"]
    path = "flow.packets.workload.rate"
    answer = answered(poisson, *bounds, "--vary", f"{path}=400kbps..900kbps", "--most", path)
    low, high = answer["recommended"]["interval"]
    assert low <= 2e6 / 3 <= high  # rho / (2 (1 - rho)) = 1 for 2 / 3
    assert high - low < 40e3


def test_the_answer_from_python_is_that_of_the_command(poisson: Path) -> None:
    vary, bound = f"{LIMIT}=1p..40p", "bottleneck.loss<=2%"
    answer = goodqueue.tune(poisson, vary, keep=[bound])
    assert answer.as_dict() == answered(poisson, "--vary", vary, "--keep", bound)
    assert answer.table.columns[:3] == [f"{LIMIT}_packets", "replicates", "keeps"]
    assert answer.table.height == len(answer.trials.limits)
    axes = answer.plot()
    assert axes[-1].get_xlabel() == f"{LIMIT}, p"


def test_a_second_call_gives_the_same_answer_from_the_store(poisson: Path, tmp_path: Path) -> None:
    arguments = [poisson, "--vary", f"{LIMIT}=1p..40p", "--keep", "bottleneck.loss<=2%"]
    first = answered(*arguments, "--store", tmp_path / "store")
    assert answered(*arguments, "--store", tmp_path / "store") == first
    assert answered(*arguments, "--jobs", 1) == first


def test_without_a_value_that_keeps_the_bounds_the_exit_code_is_3(poisson: Path) -> None:
    bounds = ["--keep", "bottleneck.loss<=1%", "--keep", "bottleneck.max<=20ms"]
    done = command("tune", poisson, "--vary", f"{LIMIT}=1p..40p", *bounds)
    assert done.returncode == 3, done
    assert f"no value of {LIMIT} between 1p and 40p keeps every bound" in done.stdout
    assert "misses the bounds least" in done.stdout
    answer = answered(poisson, "--vary", f"{LIMIT}=1p..40p", *bounds, code=3)
    assert answer["recommended"] is None
    assert answer["impossible"]
    assert answer["nearest_miss"]["broken"] in {bounds[1], bounds[3]}


def test_a_small_budget_gives_an_estimate_with_exit_code_6(poisson: Path) -> None:
    arguments = ["--vary", f"{LIMIT}=1p..40p", "--keep", "bottleneck.loss<=2%", "--budget", "300k"]
    done = command("tune", poisson, *arguments)
    assert done.returncode == 6, done
    assert done.stdout.startswith("estimate:")
    assert "ended by its budget" in done.stdout
    budget = answered(poisson, *arguments, code=6)["budget"]
    assert budget["used"] <= 300e3


def test_no_time_gives_no_run_and_exit_code_6(poisson: Path) -> None:
    arguments = ["--vary", f"{LIMIT}=1p..40p", "--keep", "bottleneck.loss<=2%", "--time", "1us"]
    assert command("tune", poisson, *arguments).returncode == 6


def test_the_scenario_and_the_picture_are_written(poisson: Path, tmp_path: Path) -> None:
    out, plot = tmp_path / "tuned.toml", tmp_path / "tuned.svg"
    arguments = ["--vary", f"{LIMIT}=1p..40p", "--keep", "bottleneck.loss<=2%", "--out", out]
    done = command("tune", poisson, *arguments, "--plot", plot)
    assert done.returncode == 0, done
    found = answered(poisson, *arguments[:4])["recommended"]
    assert goodqueue.load(out).buffer("bottleneck")["limit_packets"] == found["value"]
    caption = f"shaded values keep bottleneck.loss&lt;=2%, and the line is at {found['text']}"
    assert caption in plot.read_text()
    assert run_command(["run", str(out)]) == 0


def test_the_page_of_help_fits_a_screen_and_has_two_examples() -> None:
    done = command("tune", "--help")
    assert done.returncode == 0
    assert done.stdout.count("\n") <= 50
    assert done.stdout.count("goodqueue tune ") == 3  # the usage and two examples


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ([], "nothing is to be kept"),
        (
            ["--keep", "bottleneck.loss<=2%", "--most", "packets.p99", "--least", "packets.p50"],
            "give one of them",
        ),
        (["--keep", "bottleneck.los<=2%"], "did you mean 'loss'?"),
        (["--keep", "bottleneck.loss=2%"], "write a figure, <= or >="),
        (["--keep", "bottleneck.loss<=2%", "--most", "pakets.p99"], "did you mean 'packets'?"),
        (["--keep", "bottleneck.loss<=2%", "--plot", "tuned.gif"], "end in .png, .svg or .pdf"),
        (["--keep", "bottleneck.loss<=2%", "--budget", "5s"], "write a number of packets"),
    ],
)
def test_a_mistake_is_refused_before_anything_is_run(
    poisson: Path, arguments: list[str], part: str
) -> None:
    assert part in refused(command("tune", poisson, "--vary", f"{LIMIT}=1p..40p", *arguments))


def test_a_missing_range_is_refused(poisson: Path) -> None:
    assert "--vary" in refused(command("tune", poisson, "--keep", "bottleneck.loss<=2%"))


def test_an_output_that_is_the_input_is_refused(poisson: Path) -> None:
    arguments = ["--vary", f"{LIMIT}=1p..40p", "--keep", "bottleneck.loss<=2%", "--out", poisson]
    assert "poisson.toml" in refused(command("tune", poisson, *arguments))


def test_the_scenario_may_come_from_standard_input() -> None:
    arguments = ["--vary", f"{LIMIT}=1p..9p", "--keep", "bottleneck.loss<=20%", "--json"]
    done = subprocess.run(
        [COMMAND, "tune", "-", *arguments],
        input=SHORT_POISSON,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done
    assert json.loads(done.stdout)["parameter"] == LIMIT


def test_ctrl_c_ends_within_a_second_with_what_is_known(tmp_path: Path, poisson: Path) -> None:
    arguments = ["tune", poisson, "--set", "duration=100000s", "--vary", f"{LIMIT}=1p..40p"]
    arguments += ["--keep", "bottleneck.loss<=2%", "--budget", "100G", "--replicates", "1000"]
    waited, words = interrupted(arguments, 3.0, tmp_path)
    assert waited < 1.0
    assert "interrupted" in words


def test_a_terminal_shows_progress_and_no_markup(poisson: Path) -> None:
    arguments = ["--vary", f"{LIMIT}=1p..40p", "--keep", "bottleneck.loss<=2%"]
    shown = on_terminal("tune", poisson, *arguments)
    assert "[bold]" not in shown
    assert "of 40 values" in shown


def test_ready_scenarios_have_the_figures_of_their_comments() -> None:
    """The commands in the comments of the files are read as they are written there."""
    for name in ("home-dsl", "incast-dctcp"):
        path = ROOT / "scenarios" / f"{name}.toml"
        (line,) = [one for one in path.read_text().splitlines() if "goodqueue tune" in one]
        words = shlex.split(line.removeprefix("#"))
        assert words[2] == f"scenarios/{name}.toml"
        names = goodqueue.load(path).metric_names()
        given = list(zip(words[3::2], words[4::2], strict=True))
        assert [keep_of(value, names) for option, value in given if option == "--keep"]
        assert axis_of(dict(given)["--vary"], Subject(path)).own is not None


def test_a_queue_in_the_home_stays_empty_below_the_share_of_the_framing() -> None:
    """A frame of 1,500 bytes takes 1,530 and a 64th more on this line: 96.5 % of its rate."""
    answer = goodqueue.tune(
        ROOT / "scenarios" / "home-dsl.toml",
        "topology.link.shaper.rate=80%..100%",
        keep=["modem.mean<=1ms"],
        most="upload.goodput",
        set={"duration": "8s", "warmup": "3s"},
        replicates=12,
    )
    assert answer.best is not None
    assert answer.best.low <= 9.75e6
    assert answer.best.high >= 9.55e6
    assert answer.best.decided_by == "modem.mean<=1ms"


def test_too_few_runs_for_an_interval_are_refused() -> None:
    with pytest.raises(goodqueue.RequestError, match=r"^replicates 7: write 8 or more"):
        goodqueue.tune(
            ROOT / "scenarios" / "home-dsl.toml",
            "topology.link.shaper.rate=80%..100%",
            keep=["modem.mean<=1ms"],
            replicates=7,
        )


@pytest.mark.parametrize(
    ("vary", "options", "message"),
    [
        (f"{LIMIT}=1p", {"keep": ["ping.p99<=1s"]}, r"^vary .*: write vary PATH=LOW\.\.HIGH"),
        ([f"{LIMIT}=1p..9p"] * 5, {"keep": ["ping.p99<=1s"]}, r"^vary: 5 parameters"),
        (f"{LIMIT}=1p..40p", {"keep": ["ping.p99"]}, r"^keep ping\.p99: write a figure"),
        (
            f"{LIMIT}=1p..40p",
            {"keep": ["ping.p99<=1s"], "most": "ping.p50", "least": "ping.p50"},
            r"^most and least: give one",
        ),
    ],
)
def test_mistakes_in_python_name_the_argument(
    vary: str | list[str],
    options: dict[str, Any],
    message: str,
) -> None:
    with pytest.raises(goodqueue.RequestError) as mistake:
        goodqueue.tune(goodqueue.EXAMPLE, vary, **options)
    assert re.search(message, str(mistake.value))
    assert "--" not in str(mistake.value)
