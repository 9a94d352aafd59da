"""Congestion controls written in Python."""

from __future__ import annotations

import json
import math
import pickle
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

import goodqueue
from conftest import goodqueue as command
from goodqueue.output import play
from goodqueue.runs.api import load
from goodqueue.runs.plugins import checksum_of

if TYPE_CHECKING:
    from pathlib import Path

    from goodqueue._core import Ack, Connection, IntervalReport, Loss

SCENARIO = """
schema_version = 1
duration = "20s"
[topology]
shape = "dumbbell"
bottleneck = { rate = "5Mbps", delay = "10ms", queue = { limit = "10p" } }
[[flow]]
name = "mine"
workload = { kind = "bulk" }
tcp = { profile = "rfc", congestion_control = "reno" }
[[flow]]
name = "theirs"
start = "1s"
workload = { kind = "bulk" }
tcp = { profile = "rfc", congestion_control = "cubic" }
"""


class Reno:
    """Reno with appropriate byte counting (RFC 5681, RFC 3465 with L = 2), in whole bytes."""

    def __init__(self, connection: Connection) -> None:
        self.mss = connection.mss_bytes
        self.window_bytes: float = connection.initial_window_bytes
        self.ssthresh_bytes: float = connection.initial_ssthresh_bytes
        self.credit = 0

    def on_ack(self, ack: Ack) -> None:
        if self.window_bytes < self.ssthresh_bytes:
            most = self.mss if ack.after_timeout else 2 * self.mss
            self.window_bytes += min(ack.acked_bytes, most)
            return
        self.credit += ack.acked_bytes
        if self.credit >= self.window_bytes:
            self.credit -= int(self.window_bytes)
            self.window_bytes += self.mss

    def on_loss(self, loss: Loss) -> None:
        self.ssthresh_bytes = max(int(loss.basis_bytes * 0.5), 2 * self.mss)
        self.window_bytes, self.credit = self.ssthresh_bytes, 0

    def on_timeout(self, loss: Loss) -> None:
        self.ssthresh_bytes = max(int(loss.basis_bytes * 0.5), 2 * self.mss)
        self.window_bytes, self.credit = self.mss, 0


class Halving:
    """A control with neither a threshold nor a timeout of its own."""

    def __init__(self, connection: Connection) -> None:
        self.mss = connection.mss_bytes
        self.window_bytes: float = connection.initial_window_bytes

    def on_ack(self, ack: Ack) -> None:
        self.window_bytes += self.mss * ack.acked_bytes / self.window_bytes

    def on_loss(self, loss: Loss) -> None:
        self.window_bytes = max(loss.basis_bytes / 2, 2 * self.mss)


class Paced:
    """A constant rate of 2 Mb/s, set once in a round-trip time."""

    interval_rtts = 1.0

    def __init__(self, connection: Connection) -> None:
        self.window_bytes = float(connection.initial_window_bytes)
        self.pacing_rate_bps: float | None = None

    def on_interval(self, report: IntervalReport) -> None:
        assert report.length_s > 0
        assert report.mean_rtt_s is None or report.mean_rtt_s >= 0.02
        self.window_bytes, self.pacing_rate_bps = 1e6, 2e6


class Stubborn(Halving):
    """A control that keeps its window after a loss."""

    def on_loss(self, loss: Loss) -> None:
        """Does nothing."""


class Impatient(Halving):
    """A control whose window also grows while it is not used."""

    def on_other_ack(self, _ack: Ack) -> None:
        self.window_bytes += 1.0


class Shared(Halving):
    """A control whose connections share their state."""

    calls = 0

    def on_ack(self, _ack: Ack) -> None:
        Shared.calls += 1
        self.window_bytes += Shared.calls % 7


class Broken(Halving):
    """A control that raises an exception."""

    def on_loss(self, _loss: Loss) -> None:
        raise ZeroDivisionError("a mistake of its author")


class Endless(Halving):
    """A control whose window is not a number after a loss."""

    def on_loss(self, _loss: Loss) -> None:
        self.window_bytes = math.nan


def test_reno_in_python_equals_reno_in_rust_packet_for_packet() -> None:
    ours = goodqueue.run(SCENARIO, packets=True, series=True)
    theirs = goodqueue.run(SCENARIO, packets=True, series=True, controls={"mine": Reno})
    assert ours.summary["flows"]["mine"]["retransmissions"] > 10
    assert ours.packets is not None
    assert theirs.packets is not None
    assert ours.packets.equals(theirs.packets)
    assert ours.series is not None
    assert theirs.series is not None
    assert ours.series.windows.equals(theirs.series.windows)


def test_timeouts_are_equal_too() -> None:
    tight = {"topology.bottleneck.queue.limit": "2p", "topology.bottleneck.rate": "500kbps"}
    ours = goodqueue.run(SCENARIO, set=tight, packets=True)
    theirs = goodqueue.run(SCENARIO, set=tight, packets=True, controls={"mine": Reno})
    assert ours.summary["flows"]["mine"]["timeouts"] > 0
    assert ours.packets is not None
    assert theirs.packets is not None
    assert ours.packets.equals(theirs.packets)


def test_equal_seeds_give_equal_runs() -> None:
    one, other = (goodqueue.run(SCENARIO, controls={"mine": Halving}).summary for _ in range(2))
    assert one == other


def test_an_interval_control_sets_its_pace() -> None:
    late = {"warmup": "5s"}  # the pace holds from the second round trip on
    flows = goodqueue.run(SCENARIO, set=late, controls={"mine": Paced}).summary["flows"]
    # 2 Mb/s of packets of 1500 bytes have 1460 of payload; retransmissions are not counted.
    assert 1.6e6 < flows["mine"]["goodput_bps"] < 2e6 * 1460 / 1500


@pytest.mark.parametrize("control", [Reno, Halving])
def test_a_sound_control_passes(control: type) -> None:
    assert goodqueue.check_control(control).calls > 30_000


def test_a_control_that_paces_passes_what_it_claims() -> None:
    with pytest.raises(goodqueue.RuleError) as caught:
        goodqueue.check_control(Paced)
    assert caught.value.rule in {"Loss", "Unused"}
    goodqueue.check_control(Paced, reacts_to_loss=False, waits_when_unused=False)


@pytest.mark.parametrize(
    ("control", "rule"), [(Stubborn, "Loss"), (Impatient, "Unused"), (Shared, "Replay")]
)
def test_a_broken_rule_is_named(control: type, rule: str) -> None:
    with pytest.raises(goodqueue.RuleError) as caught:
        goodqueue.check_control(control)
    assert caught.value.rule == rule


def test_an_exception_reaches_the_caller() -> None:
    with pytest.raises(ZeroDivisionError, match="its author") as caught:
        goodqueue.run(SCENARIO, controls={"mine": Broken})
    assert str(caught.traceback[-1].path).endswith("test_controls.py")
    with pytest.raises(ZeroDivisionError, match="its author"):
        goodqueue.check_control(Broken)
    with pytest.raises(ValueError, match="window_bytes is NaN after on_loss"):
        goodqueue.run(SCENARIO, controls={"mine": Endless})


def empty(_connection: Connection) -> Any:  # noqa: ANN401 - it is wrong on purpose
    """Returns no control."""
    return object()


def test_a_class_that_is_no_control_is_described() -> None:
    with pytest.raises(AttributeError, match="has no attribute window_bytes"):
        goodqueue.run(SCENARIO, controls={"mine": empty})
    with pytest.raises(goodqueue.ScenarioError, match="did you mean"):
        goodqueue.run(SCENARIO, controls={"mime": Reno})


MODULE = '''
class Aimd:
    """Adds a segment per round trip and halves."""

    def __init__(self, connection):
        self.mss = connection.mss_bytes
        self.window_bytes = connection.initial_window_bytes

    def on_ack(self, ack):
        self.window_bytes += self.mss * ack.acked_bytes / self.window_bytes

    def on_loss(self, loss):
        self.window_bytes = max(loss.basis_bytes / 2, 2 * self.mss)
'''


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a scenario that names a class of a module beside it."""
    name = f"own_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    control = f'{{ kind = "python", class = "{name}:Aimd" }}'
    scenario = tmp_path / "own.toml"
    scenario.write_text(SCENARIO.replace('"reno"', control))
    monkeypatch.syspath_prepend(str(tmp_path))
    return scenario


def test_the_lab_which_runs_no_python_gets_no_link(named: Path) -> None:
    assert play.settings(load(named, allow_python=True)) is None


def test_a_scenario_names_a_class_only_with_leave(named: Path) -> None:
    with pytest.raises(goodqueue.ScenarioError, match="--allow-python") as caught:
        goodqueue.run(named)
    assert caught.value.line == 10
    flows = goodqueue.run(named, allow_python=True).summary["flows"]
    assert flows["mine"]["goodput_bps"] > 1e6


def test_the_command_line_needs_the_same_leave(named: Path) -> None:
    refused = command("run", named.name, cwd=named.parent)
    assert refused.returncode == 2
    assert f"{named.name}:10" in refused.stderr
    assert "--allow-python" in refused.stderr
    done = command("run", named.name, "--allow-python", "--json", cwd=named.parent)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["flows"]["mine"]["goodput_bps"] > 1e6


def test_a_pickled_scenario_runs_elsewhere_if_the_source_is_the_same(named: Path) -> None:
    scenario = goodqueue.load(named, allow_python=True)
    again = pickle.loads(pickle.dumps(scenario))  # noqa: S301 - our own
    assert again.canonical_toml() == scenario.canonical_toml()
    written = scenario.resolved_toml().replace(checksum_of(scenario.python_controls()[0][1]), "00")
    with pytest.raises(goodqueue.ScenarioError, match="has changed"):
        goodqueue.load(written, allow_python=True)


def test_an_exception_in_a_study_is_the_result_of_its_run(named: Path, tmp_path: Path) -> None:
    module = next(named.parent.glob("own_*.py"))
    module.write_text(MODULE.replace("loss.basis_bytes / 2", "1 / 0"))
    study = {"schema_version": 1, "scenario": str(named), "seeds": [1]}
    results = goodqueue.Study(study, allow_python=True).run(tmp_path / "runs")
    assert "ZeroDivisionError" in str(results.failures())


def test_a_study_with_an_own_control_is_identified_by_its_source(
    named: Path, tmp_path: Path
) -> None:
    study = {
        "schema_version": 1,
        "scenario": str(named),
        "seeds": [1, 2],
        "sweep": {"flow.theirs.start": ["1s", "2s"]},
    }
    with pytest.raises(goodqueue.ScenarioError, match="--allow-python"):
        goodqueue.Study(study)
    ours = goodqueue.Study(study, allow_python=True)
    results = ours.run(tmp_path / "runs", jobs=2)
    assert results.means("mine.goodput_bps").height == 2
    single = goodqueue.run(named, seed=2, allow_python=True)
    assert single.summary["flows"]["mine"]["goodput_bps"] > 0
    module = next(tmp_path.glob("own_*.py"))
    before = ours.plan.variants[0].digest
    name = f"{module.stem}:Aimd"
    checksum = checksum_of(name)
    assert checksum in ours.plan.variants[0].scenario.canonical_toml()
    module.write_text(MODULE.replace("/ 2", "/ 4"))
    __import__("linecache").checkcache()
    assert checksum_of(name) != checksum
    assert goodqueue.Study(study, allow_python=True).plan.variants[0].digest != before


def test_a_study_takes_classes_by_group(tmp_path: Path) -> None:
    scenario = tmp_path / "plain.toml"
    scenario.write_text(SCENARIO)
    study = {"schema_version": 1, "scenario": str(scenario), "seeds": [1]}
    own = goodqueue.Study(study, controls={"mine": Reno}).run(tmp_path / "own")
    plain = goodqueue.Study(study).run(tmp_path / "plain")
    metric = "mine.goodput_bps"
    assert own.means(metric)["mean"].to_list() == plain.means(metric)["mean"].to_list()
    with pytest.raises(goodqueue.RequestError, match="at the top of a module"):
        goodqueue.Study(study, controls={"mine": partial(Reno)})
