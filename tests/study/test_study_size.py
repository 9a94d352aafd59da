"""Studies of many runs: size of the ledger, time to make frames, and cost beside the runs."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from goodqueue import Results, Study
from goodqueue.study.engine import execute_run
from goodqueue.study.model import Keep
from goodqueue.study.plan import run_of
from goodqueue.study.record.store import LEDGER, Store

if TYPE_CHECKING:
    from pathlib import Path

STUDY = f"""\
schema_version = 1
scenario = "{ROOT / "scenarios" / "bufferbloat.toml"}"
seeds = 100

[sweep]
duration = "60s"
flow.upload.count = [1, 2]
topology.bottleneck.queue.limit = ["20p", "100p"]
"""

RUNS = 100_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a study's folder after 400 runs."""
    folder = tmp_path_factory.mktemp("study") / "runs"
    Study(STUDY).run(folder)
    return folder


def test_a_run_takes_less_than_a_kibibyte(folder: Path) -> None:
    assert (folder / LEDGER).stat().st_size / 400 < 1024


def test_a_hundred_thousand_runs_load(tmp_path: Path) -> None:
    plan = Study(STUDY).plan
    ran = [execute_run(run_of(variant, 1), Keep()) for variant in plan.variants]
    store = Store.open(tmp_path, plan.text)
    for first in range(0, RUNS, 1000):
        seeds = range(first, first + 1000, 4)
        identities = {
            seed: hashlib.sha256(b"%d" % seed).digest() for seed in range(first, first + 1000)
        }
        store.record(
            [
                replace(
                    result,
                    run=replace(
                        result.run,
                        seed=seed + result.run.variant.index,
                        identity=identities[seed + result.run.variant.index],
                    ),
                )
                for seed in seeds
                for result in ran
                if result is not None
            ]
        )
    store.close()
    wide = Results(tmp_path).wide()
    assert wide.height == RUNS
    assert wide["bottleneck.utilization"].null_count() == 0
