"""Figures that people feel: in the tables of `run`, in JSON, and in `compare`."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from conftest import goodqueue
from goodqueue.core.felt import FELT

if TYPE_CHECKING:
    from pathlib import Path

WORKLOADS = {
    "page": 'kind = "web", think = "1s"',
    "asks": 'kind = "exchanges", pause = "1s"',
    "files": 'kind = "transfers", size = { law = "pareto", mean = "200kB" }, load = "1Mbps"',
    "film": 'kind = "video"',
    "call": 'kind = "voice", codec = "gsm_efr"',
    "play": 'kind = "game"',
    "test": 'kind = "responsiveness", connections = 2',
    "echo": 'kind = "ping", interval = "100ms"',
}

SCENARIO = """\
schema_version = 1
title = "Figures that people feel"
duration = "25s"
warmup = "5s"
[topology]
shape = "dumbbell"
[topology.bottleneck]
rate = "10Mbps"
delay = "10ms"
queue = { limit = "100p" }
reverse = { queue = { limit = "100p" } }
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the path of a scenario with a flow of each kind."""
    path = tmp_path_factory.mktemp("felt") / "home.toml"
    flows = (
        f'[[flow]]\nname = "{name}"\nworkload = {{ {kind} }}\n' for name, kind in WORKLOADS.items()
    )
    path.write_text(SCENARIO + "".join(flows))
    return path


@pytest.fixture(scope="module")
def flows(home: Path) -> dict[str, Any]:
    """Returns the flows of the scenario's summary."""
    done = goodqueue("run", home, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["flows"]
    return found


def row(printed: str, beginning: str) -> list[float]:
    """Returns the numbers of the row that begins with these cells."""
    cells = r" +".join(map(re.escape, beginning.split("|")))
    found = re.search(rf"^{cells} +([\d., -]+?) *$", printed, re.MULTILINE)
    assert found is not None, f"{beginning}\n{printed}"
    return [float(cell.replace(",", "")) for cell in found[1].split()]


def test_every_figure_that_people_feel_is_in_the_summary(flows: dict[str, Any]) -> None:
    kinds = {name: kind.split('"')[1] for name, kind in WORKLOADS.items()}
    assert set(FELT) == set(kinds.values())
    for name, kind in kinds.items():
        for key, _title, _unit in FELT[kind]:
            assert flows[name][key] >= 0, (name, key)


def test_quantiles_lie_in_order_and_the_first_byte_before_the_last(flows: dict[str, Any]) -> None:
    for name, whole in (("page", "object"), ("asks", "exchange"), ("film", "segment")):
        flow = flows[name]
        for time in ("first_byte_time_s", f"{whole}_time_s"):
            values = [flow[f"{statistic}_{time}"] for statistic in ("p50", "p95", "p99")]
            assert values == sorted(values), (name, time)
        assert 0.02 <= flow["mean_first_byte_time_s"] <= flow[f"mean_{whole}_time_s"]


def test_responsiveness_is_the_mean_of_both_rates(flows: dict[str, Any], home: Path) -> None:
    test = flows["test"]
    rates = (test["foreign_responsiveness_rpm"], test["loaded_responsiveness_rpm"])
    assert test["responsiveness_rpm"] == pytest.approx(sum(rates) / 2)
    # A path of 20 ms answers at most 3000 times a minute, and a full queue adds 120 ms to it.
    assert all(60 / 0.3 < rate < 60 / 0.02 for rate in rates)
    printed = goodqueue("run", home).stdout
    probes, *times, rpm = row(printed, "test")[-6:]
    assert probes == test["foreign_probes"] + test["self_probes"]
    keys = ("foreign_tcp", "foreign_tls", "foreign_http")
    expected = [test[f"mean_{key}_time_s"] for key in keys] + [test["mean_self_probe_time_s"]]
    assert [time / 1e3 for time in times] == pytest.approx(expected, rel=1e-2)
    assert rpm == pytest.approx(test["responsiveness_rpm"], rel=1e-2)


def test_run_prints_pages_first_bytes_classes_of_sizes_and_lag(
    flows: dict[str, Any], home: Path
) -> None:
    printed = goodqueue("run", home).stdout
    statistics = ("mean", "p50", "p95", "p99", "max")
    for beginning, name, time in (
        ("page|pages", "page", "page_time_s"),
        ("page|first bytes", "page", "first_byte_time_s"),
        ("files|short transfers", "files", "short_transfer_time_s"),
        ("files|medium transfers", "files", "medium_transfer_time_s"),
        ("play", "play", "lag_s"),
    ):
        found = row(printed, beginning)[-5:]
        expected = [1e3 * flows[name][f"{statistic}_{time}"] for statistic in statistics]
        assert found == pytest.approx(expected, rel=1e-2), beginning
    files = flows["files"]
    classes = ("short", "medium", "long")
    assert sum(files[f"{one}_transfers"] for one in classes) == files["transfers"]


def test_compare_has_the_figures_that_people_feel(home: Path) -> None:
    variants = ("--variant", "", "--variant", "topology.bottleneck.reverse.queue.limit=10p")
    done = goodqueue("compare", home, *variants, "--replicates", 2, "--json")
    assert done.returncode == 0, done.stderr
    for side in json.loads(done.stdout)["sides"]:
        for name, kind in WORKLOADS.items():
            for key, _title, _unit in FELT[kind.split('"')[1]]:
                assert f"{name}.{key}" in side["figures"]
