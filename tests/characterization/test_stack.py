"""Controls of another transport stack: the program, its flows, and what a fault of it fails."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import goodqueue
from goodqueue.characterization.stack import stack_of
from goodqueue.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodqueue.characterization.bands import Standing
    from goodqueue.characterization.measure import Characterization

ROOT = Path(__file__).parents[2]
QUINN = ROOT / "examples" / "quic" / "target" / "release" / "goodqueue-quinn"

needs_quinn = pytest.mark.skipif(
    "GOODQUEUE_QUINN" not in os.environ, reason="needs the program that `make quinn` builds"
)
"""Tests that `make quinn` runs, because `make setup` does not build the program."""

PROGRAM = """#!{python}
import json, math, sys
import goodqueue

words = dict(zip(sys.argv[2::2], sys.argv[3::2]))
if words["--control"] == "no":
    sys.exit("error: no such control")
if words["--control"] == "mute":
    sys.exit(0)
flows = [one for name, one in zip(sys.argv, sys.argv[1:]) if name == "--flow"]
settings = {{f"flow.{{name}}.tcp.congestion_control": words["--control"] for name in flows}}
run = goodqueue.load(sys.argv[1], set=settings).with_seed(int(words["--seed"])).run()
names, values = run.metrics()
pairs = zip(names.split("\\n"), memoryview(values).cast("d"))
print(json.dumps({{name: None if math.isnan(one) else one for name, one in pairs}}))
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A stack whose controls are those of the package."""
    path = tmp_path / "goodqueue-toy"
    path.write_text(PROGRAM.format(python=sys.executable), encoding="utf-8")
    path.chmod(0o755)
    return path


def standings(found: Characterization) -> Mapping[tuple[str, str, str], Standing]:
    return {
        (one.section.key, one.case.name, score.measure.metric): score.standing
        for one in found.found
        for score in one.scores
        if score.standing is not None
    }


def outside(found: Characterization) -> set[str]:
    """Returns the sections with a figure that is shown to be outside its band."""
    return {section for (section, _, _), side in standings(found).items() if side == "outside"}


def test_a_stack_with_our_controls_has_the_figures_of_our_controls(
    program: Path, tmp_path: Path
) -> None:
    """The program gets the flows with the control, and not those of CUBIC beside them."""
    own, stack = (
        goodqueue.characterize(
            control="vegas",
            stack=one,
            sections=["7.7"],
            seeds=2,
            store=tmp_path / "s",
            against="none",
        )
        for one in (None, str(program))
    )
    assert stack.subject.name == "toy vegas"
    for one, other in zip(own.found, stack.found, strict=True):
        for score, same in zip(one.scores, other.scores, strict=True):
            assert score.own is not None
            assert same.own is not None
            assert score.own.values == same.own.values, (one.section.key, score.measure.metric)


def test_runs_of_a_stack_are_stored_until_its_program_changes(
    program: Path, tmp_path: Path
) -> None:
    def runs(control: str) -> int:
        counts: list[int] = []
        goodqueue.characterize(
            control=control,
            stack=str(program),
            sections=["7.2"],
            seeds=2,
            store=tmp_path / "s",
            against="none",
            on_run=counts.append,
        )
        return len(counts)

    assert [runs("reno"), runs("reno"), runs("vegas")] == [2, 0, 2]
    program.write_text(program.read_text(encoding="utf-8") + "# new\n", encoding="utf-8")
    assert runs("reno") == 2


def test_a_missing_program_is_named_with_the_command_that_builds_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RequestError, match=r"goodqueue-quinn, not on PATH.*cargo build --release"):
        goodqueue.characterize(stack="quinn", control="bbr")
    with pytest.raises(RequestError, match="/no/where is no program"):
        stack_of("/no/where")
    assert stack_of("toy --fast").words == (str(program), "--fast")


@pytest.mark.parametrize(("control", "message"), [("no", "no such control"), ("mute", "figures")])
def test_a_program_that_fails_ends_the_request_with_its_message(
    program: Path, tmp_path: Path, control: str, message: str
) -> None:
    with pytest.raises(RequestError, match=message):
        goodqueue.characterize(
            control=control, stack=str(program), sections=["7.2"], seeds=2, store=tmp_path / "s"
        )


def test_a_workload_that_no_program_runs_is_reported_as_not_run(
    program: Path, tmp_path: Path
) -> None:
    found = goodqueue.characterize(
        control="cubic", stack=str(program), sections=["5.1.5"], seeds=2, store=tmp_path / "s"
    )
    refused = {one.section.key: one.refused for one in found.found}
    assert "transfers" in refused["short-flows"]
    assert not refused["start-up"]
    assert not refused["app-limited"]


@needs_quinn
@pytest.mark.parametrize("control", ["cubic", "reno"])
def test_sound_controls_of_quinn_are_inside_their_bands(control: str, tmp_path: Path) -> None:
    found = goodqueue.characterize(
        control=control,
        stack=str(QUINN),
        sections=["5.1.3", "5.1.5", "5.2.1", "7.1"],
        seeds=3,
        store=tmp_path,
        against="none",
    )
    assert not outside(found)


@needs_quinn
@pytest.mark.parametrize(
    ("fault", "section", "number"),
    [
        ("no-reduction", "loss", "5.1.3"),
        ("ecn-ignored", "ecn", "7.1"),
        ("no-pacing", "app-limited", "5.1.5"),
    ],
)
def test_a_fault_fails_the_band_of_its_section(
    fault: str, section: str, number: str, tmp_path: Path
) -> None:
    found = goodqueue.characterize(
        control="cubic",
        stack=f"{QUINN} --fault {fault}",
        sections=[number],
        seeds=3,
        store=tmp_path,
        against="none",
    )
    assert section in outside(found)
