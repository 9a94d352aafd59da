"""No command overwrites its inputs, follows a link out of a folder, or adds to a foreign folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conftest import SMALL, goodqueue, refused
from goodqueue.cli import run_command
from goodqueue.core.files.outdir import check_apart, check_folder
from goodqueue.core.files.owned import sign
from goodqueue.errors import RequestError

STUDY = """\
schema_version = 1
scenario = "../small.toml"
seeds = [1]

[sweep]
"topology.bottleneck.queue.limit" = ["3p", "5p"]
"""


def study_of(small: Path) -> Path:
    """Returns the path of a study of the small scenario, in a folder of its own."""
    study = small.parent / "study" / "study.toml"
    study.parent.mkdir()
    study.write_text(STUDY)
    return study


LONG = ("--set", "duration=1000000s")


def other_names(file: Path) -> list[Path]:
    """Returns names of the same file: its own, a detour, a symbolic link and a hard link."""
    (file.parent / "sub").mkdir()
    soft, hard = file.parent / "soft", file.parent / "hard"
    soft.symlink_to(file)
    hard.hardlink_to(file)
    return [file, file.parent / "sub" / ".." / file.name, soft, hard]


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (["run", "small.toml", *LONG], ["--pcap", "sender=OUTPUT"]),
        (["size", "small.toml", *LONG], ["--report", "OUTPUT"]),
        (["size", "small.toml", "--quick"], ["--report", "OUTPUT"]),
    ],
)
def test_an_output_that_is_the_input_is_refused(
    small: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
    option: list[str],
) -> None:
    monkeypatch.chdir(small.parent)
    for name in other_names(small):
        assert run_command([*command, *(word.replace("OUTPUT", str(name)) for word in option)]) == 2
        message = capsys.readouterr().err
        assert "small.toml, which the command reads" in message
        assert small.read_text() == SMALL


def test_a_capture_is_not_replaced_by_its_scenario(small: Path, tmp_path: Path) -> None:
    capture = tmp_path / "c.pcap"
    short = ("--set", "duration=3s")
    assert goodqueue("run", small, *short, "--pcap", f"before={capture}").returncode == 0
    before = capture.read_bytes()
    drops = tmp_path / "drops.csv"
    drops.write_text("time_s\n1.0\n")
    for output in (capture, drops):
        done = goodqueue("analyze", capture, "--drops", drops, "--to-scenario", output)
        assert f"{output}, which the command reads" in refused(done)
    assert capture.read_bytes() == before
    assert drops.read_text() == "time_s\n1.0\n"


def test_an_input_in_a_directory_that_is_replaced_is_refused(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert goodqueue("run", small, "--out", out, "--no-series").returncode == 0
    resolved = (out / "scenario.toml").read_bytes()
    again = goodqueue("run", out / "scenario.toml", *LONG, "--out", out, timeout=20)
    assert "this directory is replaced" in refused(again)
    assert (out / "scenario.toml").read_bytes() == resolved


def test_two_outputs_with_the_same_file_are_refused(small: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "a.pcapng", tmp_path / "." / "x" / ".." / "a.pcapng"
    (tmp_path / "x").mkdir()
    done = goodqueue("run", small, *LONG, "--pcap", f"sender={first}", "--pcap", f"after={second}")
    assert "--pcap sender is written to the same file" in refused(done)


def test_a_file_that_the_scenario_names_is_an_input(small: Path, tmp_path: Path) -> None:
    rates = tmp_path / "rates.csv"
    text = "0,1Mbps\n5,2Mbps\n"
    rates.write_text(text)
    setting = 'topology.bottleneck.service={ kind = "rate_trace", file = "rates.csv" }'
    done = goodqueue("run", small, "--set", setting, "--pcap", f"sender={rates}")
    assert done.returncode == 2
    assert rates.read_text() == text


def test_a_study_is_not_replaced_by_its_resolved_form(small: Path) -> None:
    study = study_of(small)
    done = goodqueue("sweep", study, "--out", study.parent)
    assert "which would be replaced by the study as resolved" in refused(done)
    assert study.read_text() == STUDY
    assert small.read_text() == SMALL


def test_results_write_nothing_into_the_folders_they_read(small: Path, tmp_path: Path) -> None:
    study, folder = study_of(small), tmp_path / "runs"
    done = goodqueue("sweep", study, "--out", folder, "--set", "duration=2s")
    assert done.returncode == 0, done.stderr
    done = goodqueue("results", folder, "--export", folder / "tables.csv")
    assert "name a file elsewhere" in refused(done)
    assert not (folder / "tables.csv").exists()
    done = goodqueue("results", folder, "--merge", folder)
    assert "which the command reads" in refused(done)
    done = goodqueue("results", folder, "--export", tmp_path / "t.csv")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "t.csv").read_text().count("\n") > 1


def test_links_inside_a_study_folder_are_not_followed(small: Path, tmp_path: Path) -> None:
    study, folder = study_of(small), tmp_path / "runs"
    precious = tmp_path / "precious"
    precious.write_text("x")
    folder.mkdir()
    (folder / "study.toml").symlink_to(precious)
    done = goodqueue("sweep", study, "--out", folder)
    assert "symbolic link" in refused(done)
    assert precious.read_text() == "x"


def test_links_inside_out_are_not_followed(small: Path, tmp_path: Path) -> None:
    out, precious = tmp_path / "out", tmp_path / "precious"
    precious.write_text("x")
    run = ("run", small, "--set", "duration=2s", "--no-series", "--out", out)
    assert goodqueue(*run).returncode == 0
    (out / "summary.json").unlink()
    (out / "summary.json").symlink_to(precious)
    assert "contains summary.json" in refused(goodqueue(*run))
    assert precious.read_text() == "x"
    assert (out / "summary.json").is_symlink()


def test_a_directory_of_traces_holds_nothing_else(small: Path, tmp_path: Path) -> None:
    folder, run = tmp_path / "traces", ("run", small, "--set", "duration=2s", "--trace")
    assert goodqueue(*run, folder).returncode == 0
    assert goodqueue(*run, folder).returncode == 0, "earlier traces are replaced"
    (folder / "thesis.tex").write_text("x")
    assert "contains thesis.tex" in refused(goodqueue(*run, folder))
    (folder / "thesis.tex").unlink()
    precious = tmp_path / "precious"
    precious.write_text("x")
    (folder / "plot.gp").unlink()
    (folder / "plot.gp").symlink_to(precious)
    assert "symbolic link" in refused(goodqueue(*run, folder))
    assert precious.read_text() == "x"


def test_devices_and_new_files_are_no_inputs(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("x")
    null = Path(os.devnull)
    check_apart([file], {"--report": tmp_path / "b", "--out/": tmp_path / "c"})
    check_apart([null], {"--pcap sender": null, "--pcap after": null})
    with pytest.raises(RequestError, match="this directory is replaced"):
        check_apart([file], {"--out/": tmp_path})


def test_a_folder_with_foreign_files_is_refused(tmp_path: Path) -> None:
    check_folder(tmp_path / "new", ["*.dat"])
    check_folder(tmp_path, ["*.dat"])
    (tmp_path / "a.dat").write_text("x")
    with pytest.raises(RequestError, match=r"contains a\.dat"):
        check_folder(tmp_path, ["*.dat"])
    check_folder(tmp_path, ["*.dat"], log="a.dat")
    sign(tmp_path)
    check_folder(tmp_path, ["*.dat"])
    with pytest.raises(RequestError, match="is not a directory"):
        check_folder(tmp_path / "a.dat", ["*.dat"])
    (tmp_path / "b.doc").write_text("x")
    with pytest.raises(RequestError, match=r"contains b\.doc"):
        check_folder(tmp_path, ["*.dat"])


WRITERS = {
    "run": ("run", "small.toml", "--set", "duration=2s"),
    "size": ("size", "small.toml", "--quick"),
    "analyze": ("analyze", "c.pcap"),
    "compare": ("compare", "small.toml", "other.toml"),
    "characterize": ("characterize", "codel"),
}
"""Commands with `--out`, without that option."""


@pytest.fixture
def inputs(small: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a folder with the files that these commands read, which is the working directory."""
    monkeypatch.chdir(small.parent)
    capture = ("run", small, "--set", "duration=2s", "--pcap", "before=c.pcap")
    assert goodqueue(*capture).returncode == 0
    (small.parent / "other.toml").write_text(small.read_text().replace("20p", "10p"))
    return small.parent


@pytest.mark.parametrize("name", ["summary.json", "scenario.toml", "report.html", ".goodqueue"])
@pytest.mark.parametrize("command", WRITERS)
def test_a_folder_of_another_program_is_not_replaced(command: str, name: str, inputs: Path) -> None:
    out = inputs / "out"
    out.mkdir()
    (out / name).write_text("{}")
    (out / "summary.json").write_text("{}")
    assert "which is not a result of goodqueue" in refused(
        goodqueue(*WRITERS[command], "--out", out)
    )
    assert (out / name).read_text() == "{}"


def test_a_result_that_the_user_changed_is_not_replaced(inputs: Path) -> None:
    out = inputs / "out"
    for _ in range(2):
        assert goodqueue(*WRITERS["run"], "--out", out).returncode == 0
    scenario = out / "scenario.toml"
    scenario.write_text(scenario.read_text() + "# my notes\n")
    message = refused(goodqueue(*WRITERS["run"], "--out", out))
    assert "contains scenario.toml, which is not a result of goodqueue, or has changed" in message
    assert scenario.read_text().endswith("# my notes\n")


def test_a_page_in_a_folder_of_results_is_replaced_with_them(inputs: Path) -> None:
    command = (*WRITERS["size"], "--out", "out")
    assert goodqueue(*command).returncode == 6
    for _ in range(2):
        assert goodqueue(*command, "--report", "out/report.html").returncode == 6
    assert (inputs / "out/report.html").exists()


PAGES = {
    "size": WRITERS["size"],
    "analyze": WRITERS["analyze"],
    "reproduce": ("reproduce", "gijsbers2011", "table4"),
    "sweep": ("sweep", "study.toml", "--out", "runs"),
}
"""Commands with `--report`, without that option."""


@pytest.mark.parametrize("command", PAGES)
def test_a_file_that_is_no_page_is_not_replaced_by_one(command: str, inputs: Path) -> None:
    (inputs / "study.toml").write_text(STUDY.replace("../small.toml", "small.toml"))
    page = inputs / "thesis.html"
    page.write_text("<html>my thesis about goodqueue</html>")
    done = goodqueue(*PAGES[command], "--report", page)
    assert f"{page} is not a page of goodqueue" in refused(done)
    assert page.read_text() == "<html>my thesis about goodqueue</html>"


def test_an_earlier_page_is_replaced(inputs: Path) -> None:
    page = inputs / "page.html"
    for _ in range(2):
        assert goodqueue(*WRITERS["size"], "--report", page).returncode == 6


def test_a_study_file_without_a_ledger_is_not_replaced(small: Path, tmp_path: Path) -> None:
    study, folder = study_of(small), tmp_path / "runs"
    folder.mkdir()
    (folder / "study.toml").write_text("# another study\n")
    assert "contains study.toml" in refused(goodqueue("sweep", study, "--out", folder))
    assert (folder / "study.toml").read_text() == "# another study\n"


def test_a_file_with_the_name_of_a_trace_is_not_replaced(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "traces"
    folder.mkdir()
    (folder / "plot.gp").write_text("set title 'mine'\n")
    run = ("run", small, "--set", "duration=2s", "--trace", folder)
    assert "contains plot.gp" in refused(goodqueue(*run))
    assert (folder / "plot.gp").read_text() == "set title 'mine'\n"
