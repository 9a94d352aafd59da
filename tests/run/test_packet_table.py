"""Packet events in Parquet, which are written during a run in bounded memory."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import polars as pl
from polars.testing import assert_frame_equal

from conftest import SMALL, goodqueue
from goodqueue import run

if TYPE_CHECKING:
    from pathlib import Path

# Prints the number of rows and the growth of the peak memory, in KiB.
PEAK = """\
import pathlib, re, sys
import goodqueue
import goodqueue.runs.results.result
def peak_kib():
    # ru_maxrss would be that of the process that started this one, if it had more.
    return int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])
scenario, duration, file = sys.argv[1:]
goodqueue.run(scenario, set={"duration": "1s"}, packets=False)
before = peak_kib()
goodqueue.run(scenario, set={"duration": duration}, packets=file)
print(peak_kib() - before)
"""

GROUP_BYTES = 48 << 20
"""Memory for a group of 65,536 rows: the rows, their columns, and the encoded columns."""


def test_the_file_has_the_rows_of_the_frame(tmp_path: Path) -> None:
    file = tmp_path / "packets.parquet"
    frame = run(SMALL, packets=True).packets
    result = run(SMALL, packets=file)
    assert frame is not None
    assert result.packets is None
    assert frame.height > 1000
    texts = [name for name, kind in frame.schema.items() if isinstance(kind, pl.Enum)]
    assert len(texts) == 5
    assert_frame_equal(pl.read_parquet(file), frame.with_columns(pl.col(texts).cast(pl.String)))


def test_a_run_with_out_writes_the_same_file(tmp_path: Path) -> None:
    scenario, file, out = tmp_path / "s.toml", tmp_path / "packets.parquet", tmp_path / "out"
    scenario.write_text(SMALL)
    run(scenario, packets=file)
    done = goodqueue("run", scenario, "--set", "record.packets=true", "--no-series", "--out", out)
    assert done.returncode == 0, done.stderr
    assert (out / "packets.parquet").read_bytes() == file.read_bytes()


def test_memory_does_not_grow_with_the_number_of_events(tmp_path: Path) -> None:
    scenario, file = tmp_path / "s.toml", tmp_path / "packets.parquet"
    scenario.write_text(SMALL)
    command = [sys.executable, "-c", PEAK, str(scenario), "2000s", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert pl.scan_parquet(file).select(pl.len()).collect().item() > 8 * 65_536
    assert 1024 * int(done.stdout) <= GROUP_BYTES
