"""Commands run without the libraries of the extras, and otherwise name the extra to install."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from conftest import SMALL
from goodqueue.core.extras import EXTRA_OF_COMMAND, EXTRAS

ROOT = Path(__file__).parents[2]

# Hides the libraries of every extra from the command that runs.
HIDDEN = """\
import sys
from goodqueue.core.extras import EXTRAS
sys.modules.update(dict.fromkeys(EXTRAS))
from importlib import util
found = util.find_spec
util.find_spec = lambda name, package=None: None if name in EXTRAS else found(name, package)
from goodqueue.cli import main
main()
"""


def hidden(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs a command as if no library of an extra was installed."""
    return subprocess.run(
        [sys.executable, "-c", HIDDEN, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "s.toml"
    file.write_text(SMALL.replace("20s", "1s"))
    return file


STUDY = """
scenario = "s.toml"
schema_version = 1
seeds = 2
[sweep]
topology.bottleneck.rate = ["1Mbps", "2Mbps"]
[[plot]]
x = "rate"
y = "bottleneck.utilization"
"""

TWO = (
    *("--vary", "topology.bottleneck.queue.limit=5p..50p"),
    *("--vary", "topology.bottleneck.rate=1Mbps..2Mbps"),
    *("--keep", "bottleneck.utilization>=50%"),
)

LINK = ("--rate", "2Mbps", "--rtt", "20ms", "--flows", "1", "--max-loss", "5%")


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("size", *LINK, "--quick", "--json"), 6),
        (("size", *LINK, "--replicates", "8", "--aqm", "codel"), 0),
        (("size", *LINK, "--quick", "--access-rate", "1Mbps"), 6),
    ],
)
def test_the_main_commands_need_no_extra(command: tuple[str, ...], code: int) -> None:
    done = hidden(*command)
    assert done.returncode == code, done.stderr


def test_run_needs_no_extra(scenario: Path) -> None:
    done = hidden("run", scenario, "--json")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", [("run", "{scenario}"), ("size", *LINK)])
def test_out_names_the_missing_extra_before_it_runs(
    command: tuple[str, ...], scenario: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = hidden(*(part.format(scenario=scenario) for part in command), "--out", out)
    assert done.returncode == 2
    assert "pip install 'goodqueue[" in done.stderr
    assert not out.exists()
    assert not done.stdout


@pytest.mark.parametrize("command", [("analyze", "a.pcap"), ("demo",), ("reproduce", "--list")])
def test_other_commands_name_the_missing_extra_or_work(command: tuple[str, ...]) -> None:
    done = hidden(*command)
    assert "Traceback" not in done.stderr
    assert done.returncode in {0, 2}


@pytest.mark.parametrize(
    ("command", "libraries", "extra"),
    [
        (("run", "{scenario}", "--out", "out"), "libraries polars and matplotlib", "plots"),
        (("demo",), "libraries polars, matplotlib and scipy", "papers"),
        (("sweep", "{study}"), "library polars", "study"),
        (("results", "runs"), "library polars", "study"),
        (("analyze", "a.pcap"), "library polars", "tables"),
        (("tune", "{scenario}", *TWO), "library optuna", "tune"),
    ],
)
def test_one_extra_has_all_that_a_command_needs(
    command: tuple[str, ...], libraries: str, extra: str, scenario: Path
) -> None:
    study = scenario.with_name("study.toml")
    study.write_text(STUDY)
    done = hidden(*(part.format(scenario=scenario, study=study) for part in command))
    assert done.returncode == 2
    assert f"this needs the {libraries}, which" in done.stderr
    assert f"pip install 'goodqueue[{extra}]'" in done.stderr


def test_every_extra_exists_and_all_contains_each() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert {*EXTRAS.values(), *EXTRA_OF_COMMAND.values()} <= set(extras)
    for library, extra in EXTRAS.items():
        assert any(need.startswith(library) for need in extras[extra])
    assert not {need.split(">")[0] for need in project["dependencies"]} & set(EXTRAS)


@pytest.mark.parametrize(
    ("words", "completed"),
    [("goodqueue si", "size"), ("goodqueue size --ra", "--rate"), ("goodqueue qd", "qdisc")],
)
def test_the_shell_completes_commands_and_options(words: str, completed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from goodqueue.cli import main; main()"],
        capture_output=True,
        text=True,
        check=True,
        env={
            "_GOODQUEUE_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(words.count(" ")),
        },
    )
    assert completed in done.stdout.split()
