"""Full disks and read-only folders give one message and exit code 2, and no partial output."""

from __future__ import annotations

import json
import lzma
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conftest import COMMAND, ROOT, goodqueue, refused
from goodqueue import Results, Study

if TYPE_CHECKING:
    from collections.abc import Sequence

MOUNT = 'mount -t tmpfs -o size="$1" tmpfs "$2" || exit 77; shift 2; exec "$@"'
TWICE = """\
"$@" >first.out 2>first.err; echo $? >first.code
cp -r "$DISK" first
mount -o remount,size=16m "$DISK"
"$@" >second.out 2>second.err; echo $? >second.code
cp -r "$DISK" second
"""
"""Script that runs a command on a small disk, and again on a larger disk."""

STUDY = """\
schema_version = 1
seeds = 4
[keep]
flows = true
series = true
[sweep]
topology.bottleneck.queue.limit = ["5p", "20p"]
[[plot]]
x = "topology.bottleneck.queue.limit"
y = "bottleneck.utilization"
[scenario]
schema_version = 1
duration = "3s"
[scenario.topology]
shape = "dumbbell"
access = { rate = "100Mbps", delay = "5ms" }
bottleneck = { rate = "2Mbps", delay = "20ms" }
[[scenario.flow]]
name = "upload"
count = 3
start_jitter = "1s"
workload = { kind = "bulk" }
tcp = { profile = "linux" }
"""


def on_disk(size: str, disk: Path, *command: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command with a small disk of its own mounted on a folder, if the system allows it."""
    disk.mkdir(exist_ok=True)
    words = ["unshare", "-Urm", "sh", "-c", MOUNT, "sh", size, str(disk), *map(str, command)]
    environment = {**os.environ, "DISK": str(disk)}
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            timeout=120,
            cwd=cwd,
            env=environment,
            check=False,
        )
    except FileNotFoundError:
        pytest.skip("there is no unshare here, and so no small disk")
    if done.returncode == 77 or done.stderr.startswith("unshare:"):
        pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
    return done


def one_message(error: str) -> None:
    """Asserts that an error is a single message about the disk."""
    assert error.startswith("error: "), error
    assert "Traceback" not in error
    assert error.count("error:") == 1
    # A watched run stops "before the disk of FOLDER is full".
    assert re.search(r"disk\b.* is full|No space left on device", error)


@pytest.mark.parametrize("size", ["32k", "200k"])
def test_a_sweep_goes_on_where_the_disk_was_full(tmp_path: Path, size: str) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    disk = tmp_path / "disk"
    sweep = (COMMAND, "sweep", tmp_path / "study.toml", "--out", disk / "runs", "--jobs", "1")
    on_disk(size, disk, "sh", "-c", TWICE, "sh", *sweep, cwd=tmp_path)
    assert (tmp_path / "first.code").read_text() == "2\n"
    one_message((tmp_path / "first.err").read_text())
    assert (tmp_path / "second.code").read_text() == "0\n", (tmp_path / "second.err").read_text()
    held = list((tmp_path / "second" / "runs").rglob("*"))
    assert not [path for path in held if "unfinished" in path.name]
    found = Results(tmp_path / "second" / "runs")
    whole = Study(STUDY).run(tmp_path / "whole")
    drop = ("wall_s", "host")
    assert found.wide().drop(*drop).equals(whole.wide().drop(*drop))
    for run in whole.wide()["identity"]:
        for name in ("flows", "backlog", "windows", "rtt"):
            assert found.table(run, name).equals(whole.table(run, name))


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns an uncompressed capture."""
    packed = ROOT / "tests/data/captures/reno-before.pcap.xz"
    file = tmp_path_factory.mktemp("capture") / "reno.pcap"
    file.write_bytes(lzma.decompress(packed.read_bytes()))
    return file


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of a finished study."""
    folder = tmp_path_factory.mktemp("recorded") / "runs"
    Study(STUDY).run(folder)
    return folder


SHORT = ("--set", "duration=20s", "--set", "warmup=2s")
LINK = ("--rate", "10Mbps", "--rtt", "40ms", "--flows", "1")
S3 = ROOT / "scenarios/s3.toml"

COMMANDS = [
    ("200k", ("run", S3, *SHORT, "--out", "DISK/out")),
    ("32k", ("run", S3, *SHORT, "--trace", "DISK/traces")),
    ("4k", ("run", S3, *SHORT, "--pcap", "sender=DISK/link.pcap")),
    ("4k", ("analyze", "CAPTURE", "--out", "DISK/out")),
    ("4k", ("size", *LINK, "--quick", "--out", "DISK/out")),
    ("4k", ("size", *LINK, "--quick", "--report", "DISK/page.html")),
    ("16k", ("size", S3, *SHORT, "--replicates", "3", "--store", "DISK/store")),
    ("4k", ("results", "RECORDED", "--export", "DISK/rows.csv")),
    ("16k", ("results", "RECORDED", "--runs", "--export", "DISK/rows.parquet")),
    ("32k", ("results", "DISK/all", "--merge", "RECORDED")),
]


@pytest.mark.parametrize(("size", "words"), COMMANDS)
def test_a_full_disk_gives_one_message_and_no_partial_file(
    tmp_path: Path, capture: Path, recorded: Path, size: str, words: Sequence[object]
) -> None:
    disk = tmp_path / "disk"
    places = {"DISK": str(disk), "CAPTURE": str(capture), "RECORDED": str(recorded)}
    command = [str(COMMAND), *map(str, words)]
    for place, path in places.items():
        command = [word.replace(place, path) for word in command]
    listing = '"$@"; code=$?; ls -A "$DISK" >held; exit $code'
    done = on_disk(size, disk, "sh", "-c", listing, "sh", *command, cwd=tmp_path)
    assert done.returncode == 2, done
    one_message(done.stderr)
    whole = {"traces", "link.pcap", "store", "all"}  # the other files appear whole or not at all
    assert set((tmp_path / "held").read_text().split()) <= whole


def test_a_repair_on_a_full_disk_leaves_the_ledger_as_it_was(
    tmp_path: Path, recorded: Path
) -> None:
    disk = tmp_path / "disk"
    table = min((recorded / "tables").iterdir())
    script = (
        'cp -r "$1" "$DISK/runs"; echo x >>"$DISK/runs/tables/$2"\n'
        'before=$(cksum "$DISK"/runs/l*)\n'
        'head -c 100m /dev/zero >"$DISK/filler" 2>/dev/null\n'
        '"$3" results "$DISK/runs" --repair; code=$?\n'
        '[ "$before" = "$(cksum "$DISK"/runs/l*)" ] || exit 9\n'
        'rm "$DISK/filler"; "$3" results "$DISK/runs" --verify --json; exit $code'
    )
    done = on_disk(
        "1m", disk, "sh", "-c", script, "sh", recorded, table.name, COMMAND, cwd=tmp_path
    )
    assert done.returncode == 2, done
    one_message(done.stderr)
    assert len(json.loads(done.stdout)["damage"]) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("words", [("--version",), ("schema",)])
def test_an_answer_that_cannot_be_printed_gives_one_message(words: Sequence[object]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [COMMAND, *map(str, words)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    one_message(done.stderr)


@pytest.fixture
def read_only(tmp_path: Path) -> Path:
    """Returns a folder in which nothing can be written, even by root."""
    if os.geteuid() == 0:
        return Path("/proc/sys/kernel")
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ("run", S3, *SHORT, "--out", "CLOSED/out"),
        ("run", S3, *SHORT, "--trace", "CLOSED/traces"),
        ("size", *LINK, "--quick", "--report", "CLOSED/page.html"),
        ("size", S3, *SHORT, "--replicates", "3", "--store", "CLOSED/store"),
        ("sweep", "STUDY", "--out", "CLOSED/runs"),
        ("results", "RECORDED", "--export", "CLOSED/rows.parquet"),
        ("results", "CLOSED/all", "--merge", "RECORDED"),
    ],
)
def test_a_folder_that_cannot_be_written_gives_one_message(
    tmp_path: Path, capture: Path, recorded: Path, read_only: Path, words: Sequence[object]
) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    places = {
        "CLOSED": str(read_only),
        "CAPTURE": str(capture),
        "RECORDED": str(recorded),
        "STUDY": str(tmp_path / "study.toml"),
    }
    command = list(map(str, words))
    for place, path in places.items():
        command = [word.replace(place, path) for word in command]
    message = refused(goodqueue(*command))
    assert str(read_only) in message


def test_a_store_that_can_only_be_read_is_read(tmp_path: Path, recorded: Path) -> None:
    # The disk is mounted read-only, because root may write whatever permissions a file has.
    disk = tmp_path / "disk"
    script = (
        'cp -r "$1" "$DISK/runs"; mount -o remount,ro "$DISK"\n'
        '"$2" results "$DISK/runs" || exit 9\n'
        '"$2" results "$DISK/runs" --verify || exit 8\n'
        '"$2" sweep "$3" --out "$DISK/runs"'
    )
    (tmp_path / "study.toml").write_text(STUDY.replace("seeds = 4", "seeds = 5"))
    study = tmp_path / "study.toml"
    done = on_disk("1m", disk, "sh", "-c", script, "sh", recorded, COMMAND, study, cwd=tmp_path)
    assert done.returncode == 2, done
    assert "8 runs" in done.stdout
    assert "nothing is damaged" in done.stdout
    assert done.stderr.startswith("error: ")
    assert "cannot be written" in done.stderr
    assert done.stderr.count("\n") == 1
