"""Studies: the file, the runs, the folder and its frames."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from conftest import ROOT, SMALL, goodqueue
from goodqueue import RequestError, Results, ScenarioError, Study, load
from goodqueue.core.intervals import t_interval
from goodqueue.study.model import Stop
from goodqueue.study.plan import digest, identity
from goodqueue.study.record.store import Store
from goodqueue.study.sweep import Sweep, Tally
from goodqueue.study.threads import Threads
from helpers.ledgers import rewrite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.study.model import RunResult

STUDY = """\
schema_version = 1
title = "Buffer and segment size"
scenario = "small.toml"
seeds = 3

[sweep]
flow.upload.start_jitter = "500ms"
topology.bottleneck.queue.limit = ["5p", "10p"]
flow.upload.tcp.mss = ["536B", "1000B"]
"""

LIMIT = "topology.bottleneck.queue.limit_packets"
MSS = "flow.upload.tcp.mss_bytes"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Returns a study of four variants with three seeds."""
    (tmp_path / "small.toml").write_text(SMALL.replace('"20s"', '"5s"'))
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def edited(study: Path, what: str, by: str) -> Path:
    """Returns the study with one change."""
    text = study.read_text()
    assert text.count(what) == 1
    study.write_text(text.replace(what, by))
    return study


def tally(study: Path, folder: Path) -> Tally:
    """Sweeps a study into a folder."""
    plan = Study(study).plan
    store = Store.open(folder, plan.text)
    try:
        return Sweep(plan, store, Threads(2), Stop()).run()
    finally:
        store.close()


def test_every_point_of_the_grid_runs_under_every_seed(study: Path, tmp_path: Path) -> None:
    results = Study(study).run(tmp_path / "runs")
    wide = results.wide()
    assert results.axes == ["flow.upload.start_jitter_s", LIMIT, MSS]
    points = [(5, 536), (5, 1000), (10, 536), (10, 1000)]
    rows = wide.select(LIMIT, MSS, "seed").rows()
    assert rows == [(*point, seed) for point in points for seed in (1, 2, 3)]
    assert wide["error"].null_count() == 12
    held = sorted(path.name for path in (tmp_path / "runs").iterdir())
    assert held == ["ledger.sqlite", "study.toml"]


def test_a_run_has_the_figures_that_running_its_scenario_gives(study: Path, tmp_path: Path) -> None:
    row = Study(study).run(tmp_path / "runs").wide().row(-1, named=True)
    alone = load(
        tmp_path / "small.toml",
        set={
            "flow.upload.start_jitter": "500ms",
            "topology.bottleneck.queue.limit": "10p",
            "flow.upload.tcp.mss": "1000B",
        },
        seed=3,
    )
    summary = json.loads(alone.run().summary_json())
    for key, value in summary["links"]["bottleneck"].items():
        if isinstance(value, float) and key != "delay_s":
            assert row[f"bottleneck.{key}"] == value, key
    assert row["upload.goodput_bps"] == summary["flows"]["upload"]["goodput_bps"]
    goodputs = [flow["goodput_bps"] for flow in summary["flows"].values()]
    assert row["flows.goodput_bps.sum"] == pytest.approx(sum(goodputs))
    jain = sum(goodputs) ** 2 / (2 * sum(value**2 for value in goodputs))
    assert row["flows.goodput_bps.jain"] == pytest.approx(jain)


def test_nothing_runs_twice(study: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    assert tally(study, folder) == Tally(done=12, failed=0, known=0, interrupted=False)
    assert tally(study, folder) == Tally(done=0, failed=0, known=12, interrupted=False)
    edited(study, "seeds = 3", "seeds = 5")
    assert tally(study, folder).done == 8
    # The same scenarios come from a different file, with another title and another axis.
    edited(study, '["536B", "1000B"]', '["536B"]')
    edited(study, '"Buffer and segment size"', '"Another title"')
    edited(study, '["5p", "10p"]', '{ from = "5p", to = "10p", step = "5p" }')
    study.write_text(study.read_text() + "flow.upload.dscp = [0, 8]\n")
    assert tally(study, folder) == Tally(done=10, failed=0, known=10, interrupted=False)
    wide = Results(folder).wide()
    assert wide.height == 30
    assert wide.filter(pl.col("flow.upload.dscp").is_not_null()).height == 20


def test_identity_is_the_scenario_the_seed_and_the_version(tmp_path: Path) -> None:
    base = digest(load(SMALL))
    assert digest(load(SMALL, set={"title": "Other", "description": "Words"})) == base
    assert digest(load(SMALL, seed=5)) == base
    assert digest(load(SMALL, set={"topology.bottleneck.rate": "1000kbps"})) == base
    assert digest(load(SMALL, set={"flow.upload.start_jitter": "0s"})) == base
    assert digest(load(SMALL, set={"topology.bottleneck.rate": "1001kbps"})) != base
    assert digest(load(SMALL, set={"record.access": True})) != base
    assert identity(base, 1) != identity(base, 2)
    # A file of rates is identified by its content, not by its path.
    digests = set()
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "rates.csv").write_text("time_s,rate_Mbps\n0,1\n1,2\n")
        text = SMALL.replace(
            'rate = "1Mbps"', 'service = { kind = "csv", file = "rates.csv", repeat = "2s" }'
        )
        (tmp_path / folder / "small.toml").write_text(text)
        digests.add(digest(load(tmp_path / folder / "small.toml")))
    assert len(digests) == 1


def test_the_resolved_study_has_the_same_runs(study: Path) -> None:
    study.write_text(
        study.read_text()
        + """
[[sweep.zip]]
flow.probe.workload.interval = ["50ms", "100ms"]
duration = ["6s", "7s"]

[[sweep.exclude]]
topology.bottleneck.queue.limit = { above = "7p" }
duration = "7s"

[stop]
width.bottleneck.utilization = "1%"
compare_to.flow.upload.tcp.mss = "536B"

[keep]
flows = true

[[plot]]
x = "topology.bottleneck.queue.limit"
y = ["bottleneck.utilization", "bottleneck.loss_rate"]
series = "duration"
"""
    )
    plan = Study(study).plan
    again = Study(plan.text).plan
    assert [variant.digest for variant in again.variants] == [
        variant.digest for variant in plan.variants
    ]
    assert [variant.parameters for variant in again.variants] == [
        variant.parameters for variant in plan.variants
    ]
    assert len(plan.variants) == 6
    assert (again.axes, again.stop, again.plots, again.keep) == (
        plan.axes,
        plan.stop,
        plan.plots,
        plan.keep,
    )
    assert plan.stop is not None
    assert plan.stop.baseline == (0, 1, 0, 1, 4, 4)
    assert again.text == plan.text


def test_a_range_has_the_values_of_its_step_factor_or_points(study: Path) -> None:
    def limits(values: str) -> list[object]:
        before = study.read_text()
        edited(study, '["5p", "10p"]', values)
        variants = Study(study).plan.variants
        study.write_text(before)
        return list(dict.fromkeys(variant.parameters[LIMIT] for variant in variants))

    assert limits('{ from = "5p", to = "20p", step = "5p" }') == [5, 10, 15, 20]
    assert limits('{ from = "5p", to = "22p", step = "5p" }') == [5, 10, 15, 20]
    assert limits('{ from = "2p", to = "40p", factor = 2 }') == [2, 4, 8, 16, 32]
    assert limits('{ from = "1p", to = "100p", points = 5, scale = "log" }') == [1, 3, 10, 32, 100]
    assert limits('{ from = "1p", to = "4p", points = 9, scale = "log" }') == [1, 2, 3, 4]
    assert limits('{ from = "10p", to = "30p", points = 3 }') == [10, 20, 30]


def test_values_of_one_unit_become_numbers_and_others_stay_texts(study: Path) -> None:
    edited(
        study,
        '["536B", "1000B"]',
        '["1kB"]\ntopology.bottleneck.delay = ["10ms", "1s"]\n'
        'topology.bottleneck.reverse.queue = [{ label = "CoDel", value = { kind = "codel" } }, '
        '{ limit = "9p" }]\nflow.upload.count = [1, 2]',
    )
    parameters = Study(study).plan.variants[-1].parameters
    assert parameters == {
        "flow.upload.start_jitter_s": 0.5,
        LIMIT: 10,
        MSS: 1000,
        "topology.bottleneck.delay_s": 1,
        "topology.bottleneck.reverse.queue": '{ limit = "9p" }',
        "flow.upload.count": 2,
    }
    assert Study(study).plan.variants[0].parameters["topology.bottleneck.reverse.queue"] == "CoDel"


def test_means_are_students_in_the_order_of_seeds(study: Path, tmp_path: Path) -> None:
    results = Study(study).run(tmp_path / "runs", jobs=2)
    values = results.wide().filter(pl.col(LIMIT) == 5, pl.col(MSS) == 536)
    interval = t_interval(values["upload.goodput_bps"].to_list())
    row = results.means("upload.goodput_bps").row(0, named=True)
    assert (row["mean"], row["half_width"], row["count"]) == (
        interval.mean,
        interval.half_width,
        3,
    )
    assert row["high"] > row["max"] > row["min"] > row["low"]
    long = results.long(["upload.goodput_bps"])
    assert long.columns == [*results.axes, "seed", "metric", "value"]
    assert long.height == 12
    with pytest.raises(RequestError, match=r"upload\.goodput_bps"):
        results.means("upload.godput_bps")


def test_a_failed_run_is_recorded_with_its_error_and_the_rest_goes_on(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from goodqueue.study import engine

    tables = engine._tables  # noqa: SLF001 - where a run can be made to fail

    def fails(outcome: object, keep: object) -> dict[str, pl.DataFrame]:
        failures.append(None)
        if len(failures) == 2:
            raise RuntimeError("it broke")
        return tables(outcome, keep)  # type: ignore[arg-type]

    failures: list[None] = []
    monkeypatch.setattr(engine, "_tables", fails)
    folder = tmp_path / "runs"
    study.write_text(f"{STUDY}\n[keep]\nhistograms = true\n")
    assert tally(study, folder) == Tally(done=12, failed=1, known=0, interrupted=False)
    failed = Results(folder).failures()
    assert failed["error"].to_list() == ["RuntimeError: it broke"]
    assert failed["seed"][0] in {1, 2, 3}
    assert tally(study, folder).done == 0
    Study(study).run(folder, retry_failed=True)
    assert Results(folder).failures().is_empty()


def test_shards_are_disjoint_and_merge_into_the_whole(study: Path, tmp_path: Path) -> None:
    whole = Study(study).run(tmp_path / "whole").wide()
    for part in (1, 2, 3):
        done = goodqueue("sweep", study, "--shard", f"{part}/3", "--out", tmp_path / f"part-{part}")
        assert done.returncode == 0, done.stderr
    parts = [Results(tmp_path / f"part-{part}").wide() for part in (1, 2, 3)]
    assert sum(part.height for part in parts) == 12
    others = [option for part in (2, 3) for option in ("--merge", tmp_path / f"part-{part}")]
    merged = goodqueue("results", tmp_path / "part-1", *others)
    assert merged.returncode == 0, merged.stderr
    timing = ["wall_s"]
    assert Results(tmp_path / "part-1").wide().drop(timing).equals(whole.drop(timing))


def test_draining_finishes_the_current_runs(study: Path, tmp_path: Path) -> None:
    class Drains:
        def planned(self, runs: int, weight: float, known: int) -> None: ...
        def worst(self, line: str | None) -> None: ...
        def recorded(self, results: Sequence[RunResult]) -> None:  # noqa: ARG002
            stop.drain()

    edited(study, "seeds = 3", "seeds = 200")
    plan, stop = Study(study).plan, Stop()
    store = Store.open(tmp_path / "runs", plan.text)
    ended = Sweep(plan, store, Threads(2), stop, watcher=Drains()).run()
    store.close()
    assert ended.interrupted
    assert 0 < ended.done < 800
    assert len(Results(tmp_path / "runs")) == ended.done


def test_a_stopping_rule_runs_until_the_interval_is_narrow(study: Path, tmp_path: Path) -> None:
    study.write_text(
        study.read_text() + "\n[stop]\nwidth.bottleneck.utilization = 0.05\nmax_replicates = 60\n"
    )
    wide = Study(study).run(tmp_path / "runs").wide()
    counts = wide.group_by(LIMIT, MSS).len()["len"].to_list()
    assert len(counts) == 4
    assert all(5 < count <= 60 for count in counts)
    # The requested runs do not depend on the speed of runs.
    again = Study(study).run(tmp_path / "again", jobs=1).wide()
    timing = ["wall_s"]
    assert again.drop(timing).equals(wide.drop(timing))


def test_tables_are_kept_if_requested(study: Path, tmp_path: Path) -> None:
    study.write_text(
        study.read_text() + "\n[keep]\nhistograms = true\nflows = true\nseries = true\n"
    )
    results = Study(study).run(tmp_path / "runs")
    row = results.wide().row(0, named=True)
    delays = results.table(row["identity"], "queueing-delays")
    departures = delays.filter(pl.col("link") == "bottleneck")["packets"].sum()
    # One may still be in transmission at the end.
    assert 0 <= departures - row["bottleneck.departures"] <= 1
    flows = results.table(row["identity"], "flows")
    assert flows.filter(pl.col("flow") == "upload")["goodput_bps"][0] == row["upload.goodput_bps"]
    assert results.table(row["identity"], "backlog").height > 0
    # Runs without tables are run again with them.
    edited(study, "\n[keep]\nhistograms = true\nflows = true\nseries = true\n", "")
    Study(study).run(tmp_path / "other")
    study.write_text(study.read_text() + "\n[keep]\nflows = true\n")
    assert tally(study, tmp_path / "other").done == 12


def test_results_of_another_version_are_refused(study: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    Study(study).run(folder)
    rewrite(
        folder,
        lambda row: row._replace(version=0, identity=bytes([row.seed, row.variant] * 16)),
    )
    done = goodqueue("sweep", study, "--out", folder)
    assert done.returncode == 2
    assert "runs of results version 0 (12 in all)" in done.stderr
    assert "--keep-both" in done.stderr
    done = goodqueue("sweep", study, "--out", folder, "--keep-both")
    assert done.returncode == 0, done.stderr
    assert Results(folder).wide().height == 24
    assert Results(folder).means("bottleneck.utilization")["count"].to_list() == [3] * 4


MISTAKES = [
    ("limit = [", "limmit = [", 8, "limmit", 'did you mean "limit"'),
    ('["5p", "10p"]', '["5p", "10pkts"]', 8, "pkts", "write"),
    ("seeds = 3", "sedes = 3", 4, "sedes", 'did you mean "seeds"'),
    ("seeds = 3", "seeds = 10000000", 6, "40,000,000 runs", "longer steps"),
    ('["5p", "10p"]', "{ from = 1, to = 1000000000, step = 1 }", 8, "values", "longer steps"),
    ('["5p", "10p"]', '{ from = "5p", to = "1ms", points = 3 }', 8, "different units", "in one"),
    ('["5p", "10p"]', '{ from = "5p", too = "9p", points = 3 }', 8, "too", 'did you mean "to"'),
    ('["5p", "10p"]', '["5p", "5p"]', 8, "twice", "seeds"),
    ('["5p", "10p"]', "[]", 8, "no value", "at least one"),
    ("[sweep]", '[sweep]\n"flow.upload.tcp.mss" = ["600B"]', 10, "two axes", "keep one"),
    ('"small.toml"', '"smal.toml"', 3, "cannot read", "study's folder"),
    ("[sweep]", "[[sweep.exclude]]\nflow.upload.tcp.mms = 3\n[sweep]", 7, "mms", "mss"),
    ("[sweep]", '[[plot]]\nx = "seed"\ny = "u"\n[sweep]', 7, '"seed"', ""),
    ("[sweep]", '[[plot]]\nx = "flow.upload.tcp.mss"\ny = "bottleneck.utilisation"\n[sweep]', 8,
     "utilisation", 'did you mean "bottleneck.utilization"'),
    ("[sweep]", "[stop]\nwidth.upload.goodput = 5\n[sweep]", 7, "upload.goodput", ""),
    ("[sweep]", '[[sweep.zip]]\nduration = ["5s"]\nwarmup = ["1s", "2s"]\n[sweep]', 8,
     "2 values here, 1 of duration", "as many"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "by", "line", "message", "remedy"), MISTAKES)
def test_mistakes_are_reported_with_file_line_and_remedy(  # noqa: PLR0913, PLR0917
    study: Path, what: str, by: str, line: int, message: str, remedy: str
) -> None:
    edited(study, what, by)
    with pytest.raises(ScenarioError) as raised:
        Study(study)
    error = raised.value
    assert (error.file, error.line) == (str(study), line), error
    assert message in str(error)
    assert remedy in error.help
    assert error.help


def test_a_mistake_that_only_some_values_make_names_them(study: Path) -> None:
    edited(study, '["536B", "1000B"]', '["536B"]\nwarmup = ["1s", "6s"]')
    with pytest.raises(ScenarioError, match="warm-up leaves nothing") as raised:
        Study(study)
    assert raised.value.line == 10


def test_unusable_folders_are_refused(study: Path, tmp_path: Path) -> None:
    foreign = tmp_path / "photos"
    foreign.mkdir()
    (foreign / "cat.jpg").write_text("miaow")
    with pytest.raises(RequestError, match=r"photos contains cat\.jpg"):
        Store.open(foreign)
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "ledger.sqlite").write_text("no ledger at all, but long enough to be looked at")
    with pytest.raises(RequestError, match="not a ledger of a study"):
        Store.open(broken)
    with pytest.raises(RequestError, match="cannot be written"):
        Store.open(Path("/proc/nowhere"))
    with pytest.raises(RequestError, match="contains no ledger"):
        Results(tmp_path / "nowhere")
    stops = "\n[stop]\nwidth.bottleneck.utilization = 1\n"
    study.write_text(study.read_text() + stops)
    done = goodqueue("sweep", study, "--shard", "1/2", cwd=tmp_path)
    assert done.returncode == 2
    assert "stopping rule" in done.stderr
    assert not (tmp_path / "study-runs").exists()


def test_the_command_line_sweeps_lists_and_exports(study: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    dry = json.loads(goodqueue("sweep", study, "--dry-run", "--json").stdout)
    assert (dry["runs"], len(dry["variants"])) == (12, 4)
    assert 0 < dry["shortest_run_s"] <= dry["longest_run_s"] < 60
    assert not folder.exists()
    done = goodqueue("sweep", study, "--out", folder, "--json-lines")
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[0] == {"event": "planned", "runs": 12, "known": 0}
    assert events[-1]["event"] == "progress"
    assert events[-1]["done"] == 12
    listed = goodqueue("results", folder)
    assert listed.returncode == 0, listed.stderr
    assert "bottleneck.utilization" in listed.stdout
    rows = tmp_path / "rows.csv"
    options = ("--runs", "--where", f"{LIMIT}=5", "--metric", "upload.goodput_bps")
    done = goodqueue("results", folder, *options, "--export", rows)
    assert done.returncode == 0, done.stderr
    frame = pl.read_csv(rows)
    assert frame.height == 6
    assert frame["upload.goodput_bps"].null_count() == 0
    done = goodqueue("results", folder, "--where", "color=red")
    assert done.returncode == 2
    assert "no run has a column 'color'" in done.stderr


def test_a_study_from_python(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    study = Study(
        {
            "schema_version": 1,
            "scenario": str(tmp_path / "small.toml"),
            "sweep": {"topology.bottleneck.queue.limit": ["5p", "9p"], "duration": "2s"},
        },
        set={"warmup": "1s"},
    )
    frame = study.run(tmp_path / "runs").wide()
    assert frame[LIMIT].to_list() == [5, 9]
    assert not math.isnan(frame["bottleneck.utilization"].sum())


def test_the_study_of_the_demonstration_finds_its_scenario() -> None:
    """`make demo` runs this study last, after minutes of other runs."""
    study = Study(ROOT / "python/goodqueue/cli/papers/demo.toml")
    assert len(study.plan.variants) > 1
