"""Own queues and controls in Python in runs, studies, searches, clusters and characterisations."""

from __future__ import annotations

import json
import linecache
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from test_cluster import Machines, connected

import goodqueue
from conftest import goodqueue as command
from goodqueue import _core
from goodqueue.output import play
from goodqueue.sizing import Asked, Effort, size_scenario

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

MODULE = '''
from collections import deque


class Fifo:
    """Drop tail of a number of packets."""

    def __init__(self, limit_packets=20):
        self.limit, self.waiting, self.bytes = limit_packets, deque(), 0

    def enqueue(self, context, packet):
        if len(self.waiting) >= self.limit:
            context.drop(packet)
        else:
            self.waiting.append(packet)
            self.bytes += context.frame_bytes(packet)

    def dequeue(self, context):
        if not self.waiting:
            return None
        packet = self.waiting.popleft()
        self.bytes -= context.frame_bytes(packet)
        return packet

    def backlog(self):
        return len(self.waiting), self.bytes


class Unlimited(Fifo):
    """A queue whose limit cannot be set."""

    def __init__(self):
        super().__init__(20)


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

SCENARIO = """
schema_version = 1
duration = "10s"
[topology]
shape = "dumbbell"
bottleneck = { rate = "5Mbps", delay = "10ms", queue = { limit = "20p" } }
[[flow]]
name = "mine"
count = 2
start_jitter = "1s"
workload = { kind = "bulk" }
tcp = { profile = "rfc", congestion_control = "reno" }
"""

STUDY = """
schema_version = 1
seeds = 2
[sweep]
"topology.bottleneck.queue.limit" = ["5p", "20p"]
"""

SECTION = "5.1.2"
"""A short section of the guidelines for congestion controls."""

UTILIZATION = "bottleneck.utilization"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A module with a queue and a control, which other processes find."""
    name = f"plugin_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield import_module(name)
    sys.modules.pop(name, None)


def rewrite(module: ModuleType, old: str, new: str) -> ModuleType:
    """Changes the source of a module and imports it again."""
    assert module.__file__ is not None
    file = Path(module.__file__)
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")
    sys.modules.pop(module.__name__)
    linecache.checkcache()
    return import_module(module.__name__)


def study_of(**options: Any) -> goodqueue.Study:  # noqa: ANN401 - any option of a study
    scenario = SCENARIO.replace("[[flow", "[[scenario.flow")
    scenario = scenario.replace("[topology", "[scenario.topology")
    return goodqueue.Study(f"{STUDY}[scenario]{scenario}", **options)


def figures(results: Any) -> list[float]:  # noqa: ANN401 - results of a study
    found: list[float] = results.wide()[UTILIZATION].to_list()
    return found


def test_a_run_gives_an_own_queue_the_limit_of_its_link(own: ModuleType) -> None:
    for limit in ("5p", "20p"):
        of_link = {"topology.bottleneck.queue.limit": limit}
        mine = goodqueue.run(SCENARIO, set=of_link, queues={"bottleneck": own.Fifo})
        theirs = goodqueue.run(SCENARIO, set=of_link)
        link, other = (one.summary["links"]["bottleneck"] for one in (mine, theirs))
        assert link["max_backlog_packets"] == other["max_backlog_packets"]
        assert link["utilization"] == other["utilization"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_study_with_an_own_queue_has_the_figures_of_the_same_queue_in_rust(
    own: ModuleType, tmp_path: Path, jobs: int
) -> None:
    mine = study_of(queues={"bottleneck": own.Fifo}).run(tmp_path / "own", jobs=jobs)
    assert figures(mine) == figures(study_of().run(tmp_path / "built-in"))
    assert len(set(figures(mine))) == 4, "the limits and the seeds differ"


def test_a_changed_source_of_a_queue_or_control_gives_a_study_new_runs(
    own: ModuleType, tmp_path: Path
) -> None:
    def digests(module: ModuleType, kind: str) -> list[bytes]:
        given = {"queues": {"bottleneck": module.Fifo}, "controls": {"mine": module.Aimd}}
        return [one.digest for one in study_of(**{kind: given[kind]}).plan.variants]

    plain = [one.digest for one in study_of().plan.variants]
    before = {kind: digests(own, kind) for kind in ("queues", "controls")}
    assert before == {kind: digests(own, kind) for kind in ("queues", "controls")}
    small = study_of(queues={"bottleneck": own.Fifo}).run(tmp_path / "runs")
    changed = rewrite(own, "= limit_packets, deque", "= 2 * limit_packets, deque")
    for kind, found in before.items():
        everything = {*found, *digests(changed, kind), *plain}
        assert len(everything) == 6, f"three different studies with two variants each: {kind}"
    large = study_of(queues={"bottleneck": changed.Fifo}).run(tmp_path / "runs")
    assert len(large) == 4
    assert figures(large) != figures(small)


def test_a_run_is_refused_if_the_source_changed_since_the_study_began(
    own: ModuleType, tmp_path: Path
) -> None:
    study = study_of(queues={"bottleneck": own.Fifo})
    rewrite(own, "Drop tail of", "Tail drop of")
    failures = study.run(tmp_path / "runs").failures().to_dicts()
    assert len(failures) == 4
    assert all("has changed" in str(failure) for failure in failures)


def test_a_queue_of_an_unknown_link_or_without_a_name_is_refused(own: ModuleType) -> None:
    with pytest.raises(goodqueue.ScenarioError, match="no link"):
        study_of(queues={"botleneck": own.Fifo})
    with pytest.raises(goodqueue.RequestError, match="at the top of a module"):
        study_of(queues={"bottleneck": lambda: own.Fifo(3)})


def test_a_cluster_runs_own_queues_and_controls(own: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="run `make setup`: requirements.lock has it")
    given = {"queues": {"bottleneck": own.Fifo}, "controls": {"mine": own.Aimd}}
    here = study_of(**given).run(tmp_path / "here")
    machines = Machines(tmp_path)
    try:
        machines.add(1)
        with connected(machines, 1) as cluster:
            there = study_of(**given).run(tmp_path / "there", executor=cluster)
    finally:
        machines.stop()
    assert figures(there) == figures(here)
    assert figures(here) != figures(study_of().run(tmp_path / "built-in"))


def effort_of(tmp_path: Path) -> Effort:
    """Returns a small effort whose runs have their full length, however busy the machine is."""
    store = tmp_path / "store"
    return Effort(3, queues=(), changes=False, rules=False, budget=2e9, store=store)


def answer_of(tmp_path: Path, **options: Any) -> Any:  # noqa: ANN401 - any option and its answer
    effort = effort_of(tmp_path)
    return size_scenario(SCENARIO, Asked(min_utilization=0.9), effort, **options)


def test_size_finds_the_limit_of_an_own_queue(own: ModuleType, tmp_path: Path) -> None:
    mine = answer_of(tmp_path, queues={"bottleneck": own.Fifo})
    assert mine.buffer == answer_of(tmp_path).buffer > 1
    assert any("Fifo" in note for note in mine.notes)
    with pytest.raises(goodqueue.RequestError, match="limit_packets"):
        answer_of(tmp_path, queues={"bottleneck": own.Unlimited})
    with pytest.raises(goodqueue.ScenarioError, match="no link"):
        answer_of(tmp_path, queues={"botleneck": own.Fifo})


def test_size_knows_that_the_source_of_a_queue_changed(own: ModuleType, tmp_path: Path) -> None:
    small = answer_of(tmp_path, queues={"bottleneck": own.Fifo})
    changed = rewrite(own, "= limit_packets, deque", "= 2 * limit_packets, deque")
    large = answer_of(tmp_path, queues={"bottleneck": changed.Fifo})
    assert large.buffer < small.buffer, "each packet of the limit is worth two"


def test_size_answers_for_an_own_control(own: ModuleType, tmp_path: Path) -> None:
    mine = answer_of(tmp_path, controls={"mine": own.Aimd})
    changed = rewrite(own, "basis_bytes / 2", "basis_bytes / 16")
    timid = answer_of(tmp_path, controls={"mine": changed.Aimd})
    assert timid.buffer > mine.buffer, "a flow that gives up more needs a larger buffer"


@pytest.mark.parametrize("subject", ["Aimd", "Fifo"])
def test_commands_run_own_classes_of_a_file_only_with_leave(
    own: ModuleType, tmp_path: Path, subject: str
) -> None:
    (tmp_path / "own.toml").write_text(naming(own, subject))
    (tmp_path / "study.toml").write_text('scenario = "own.toml"\n' + STUDY)
    for words in (
        ("run", "own.toml", "--json"),
        ("run", "own.toml", "--explain", "mine.0", "--json"),
        ("size", "own.toml", "--min-utilization", "0.9", "--quick", "--json"),
        ("sweep", "study.toml", "--out", "runs", "--json"),
    ):
        refused = command(*words, cwd=tmp_path)
        assert refused.returncode == 2
        line = 12 if subject == "Aimd" else 6
        assert f"own.toml:{line}" in refused.stderr
        assert "--allow-python" in refused.stderr
        done = command(*words, "--allow-python", cwd=tmp_path)
        is_estimate = words[0] == "size"
        assert done.returncode == (6 if is_estimate else 0), done.stderr


def test_results_of_own_classes_need_no_leave(own: ModuleType, tmp_path: Path) -> None:
    """Results are read, and no class is imported: the source may be gone."""
    (tmp_path / "own.toml").write_text(naming(own, "Aimd", naming(own, "Fifo")))
    (tmp_path / "study.toml").write_text('scenario = "own.toml"\n' + STUDY)
    done = command("sweep", "study.toml", "--out", "runs", "--allow-python", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    Path(str(own.__file__)).unlink()
    for words in (
        ("--report", "page.html"),
        ("--draw", "picture.png"),
        ("--export", "rows.csv"),
        ("--verify",),
        (),
    ):
        done = command("results", "runs", *words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert "data:image/png" in (tmp_path / "page.html").read_text(encoding="utf-8")


def naming(own: ModuleType, subject: str, scenario: str = SCENARIO) -> str:
    """Returns a scenario that names a class of the module."""
    table = f'kind = "python", class = "{own.__name__}:{subject}"'
    if subject == "Aimd":
        return scenario.replace('"reno"', f"{{ {table} }}")
    return scenario.replace("queue = { ", f"queue = {{ {table}, ")


@pytest.mark.parametrize("subject", ["Aimd", "Fifo"])
def test_a_file_names_own_classes_for_runs_studies_and_searches(
    own: ModuleType, tmp_path: Path, subject: str
) -> None:
    given: dict[str, Any] = (
        {"controls": {"mine": own.Aimd}}
        if subject == "Aimd"
        else {"queues": {"bottleneck": own.Fifo}}
    )
    text = naming(own, subject)
    named = goodqueue.run(text, allow_python=True)
    passed = goodqueue.run(SCENARIO, **given)
    assert named.summary["flows"] == passed.summary["flows"]
    nested = text.replace("[[flow", "[[scenario.flow").replace("[topology", "[scenario.topology")
    study = goodqueue.Study(f"{STUDY}[scenario]{nested}", allow_python=True)
    for mine, theirs in zip(study.plan.variants, study_of(**given).plan.variants, strict=True):
        assert mine.digest == theirs.digest
    assert figures(study.run(tmp_path / "named")) == figures(
        study_of(**given).run(tmp_path / "passed")
    )
    effort = effort_of(tmp_path)
    asked = Asked(min_utilization=0.9)
    answer = size_scenario(text, asked, effort, allow_python=True)
    assert answer.buffer == answer_of(tmp_path, **given).buffer


def test_the_lab_gets_no_own_queue(own: ModuleType) -> None:
    text = naming(own, "Fifo")
    assert play.settings(goodqueue.load(text, allow_python=True)) is None
    status, answer = _core.LabJob("open", json.dumps({"text": text})).answer()
    assert status == 422
    assert "--allow-python" in answer


def test_an_axis_has_own_queues_and_built_in_ones(own: ModuleType, tmp_path: Path) -> None:
    """An own drop tail has the figures of the built-in one, and CoDel others."""
    scenario = SCENARIO.replace("[[flow", "[[scenario.flow")
    scenario = scenario.replace("[topology", "[scenario.topology")
    table = f'{{ kind = "python", class = "{own.__name__}:Fifo", limit = "20p" }}'
    axis = f'topology.bottleneck.queue = [{{ limit = "20p" }}, {table}, {{ kind = "codel" }}]'
    text = f"schema_version = 1\nseeds = 2\n[sweep]\n{axis}\n[scenario]{scenario}"
    with pytest.raises(goodqueue.ScenarioError, match="allow-python"):
        goodqueue.Study(text)
    results = goodqueue.Study(text, allow_python=True).run(tmp_path / "runs")
    fifo, mine, codel = (figures(results)[at : at + 2] for at in (0, 2, 4))
    assert fifo == mine != codel


def test_size_compares_an_own_queue_with_built_in_ones(own: ModuleType, tmp_path: Path) -> None:
    effort = replace(effort_of(tmp_path), queues=("codel",))
    asked = Asked(min_utilization=0.9)
    text = naming(own, "Fifo")
    mine = size_scenario(text, asked, effort, allow_python=True)
    built_in = size_scenario(SCENARIO, asked, effort)
    assert mine.as_dict()["alternatives"] == built_in.as_dict()["alternatives"] != []
    with pytest.raises(goodqueue.RequestError, match="limit_packets"):
        size_scenario(text.replace("Fifo", "Unlimited"), asked, effort, allow_python=True)
    with pytest.raises(goodqueue.RequestError, match="no queue of kind python"):
        size_scenario(text, asked, replace(effort, engine="hybrid"), allow_python=True)


def characterized(tmp_path: Path, **options: Any) -> Any:  # noqa: ANN401 - any subject
    return goodqueue.characterize(seeds=2, store=tmp_path / "store", **options)


def values_of(found: Any) -> dict[str, Any]:  # noqa: ANN401 - a characterisation
    scores = [score for one in found.found for score in one.scores]
    return {score.measure.metric: score.own.values for score in scores if score.own is not None}


def test_a_control_in_python_is_characterised_and_its_source_identifies_the_runs(
    own: ModuleType, tmp_path: Path
) -> None:
    left: list[int] = []
    section = {"sections": [SECTION], "against": "none", "on_run": left.append}
    mine = characterized(tmp_path, control=own.Aimd, **section)
    assert mine.subject.name == "Aimd"
    runs = len(left)
    assert values_of(mine) == values_of(characterized(tmp_path, control=own.Aimd, **section))
    assert len(left) == runs, "the second call needs no runs"
    changed = rewrite(own, "basis_bytes / 2", "basis_bytes / 16")
    timid = characterized(tmp_path, control=changed.Aimd, **section)
    assert len(left) == 2 * runs
    assert values_of(timid) != values_of(mine)


def test_the_command_characterize_takes_own_queues_and_controls_with_leave(
    own: ModuleType, tmp_path: Path
) -> None:
    name = own.__name__
    words = ("--quick", "--against", "none", "--json", "--store", "store")
    subjects = [
        [f'{{ kind = "python", class = "{name}:Fifo" }}', "--section", "5.1.1"],
        ["--control", f'{{ kind = "python", class = "{name}:Aimd" }}', "--section", SECTION],
    ]
    for subject in subjects:
        refused = command("characterize", *subject, *words, cwd=tmp_path)
        assert refused.returncode == 2, refused.stdout
        assert "--allow-python" in refused.stderr
        done = command("characterize", *subject, *words, "--allow-python", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["sections"]
