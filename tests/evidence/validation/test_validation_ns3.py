"""The comparison with ns-3, tested without ns-3."""

import json
from pathlib import Path

import pytest

from conftest import ROOT
from evidence.validation.ns3 import controls, pictures, report
from evidence.validation.ns3.controls import CASES, Case, Comparison, Ns3Error
from helpers.ns3 import same_link


def figures(**changed: float) -> dict[str, float]:
    usual = {
        "utilization": 0.99,
        "goodput_bps": 1e6,
        "mean_backlog_packets": 100.0,
        "loss_rate": 0.01,
    }
    return usual | changed


@pytest.fixture(autouse=True)
def _in_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_both_simulators_have_the_same_link_and_control(case: Case) -> None:
    given, flow, _ = same_link(case)
    tcp = flow["tcp"]
    assert tcp["congestion_control"]["kind"] == given["control"].removeprefix("Tcp").lower()
    segments = int(given["ns3::TcpSocket::InitialSlowStartThreshold"]) // int(tcp["mss"][:-1])
    assert tcp["initial_ssthresh"] == f"{segments}p"


@pytest.mark.parametrize(
    ("ours", "agrees"),
    [
        (figures(), True),
        (figures(utilization=0.5), True),
        (figures(goodput_bps=1.0299e6), True),
        (figures(goodput_bps=0.9699e6), False),
        (figures(mean_backlog_packets=109.9), True),
        (figures(mean_backlog_packets=89.9), False),
        (figures(loss_rate=0.01099), True),
        (figures(loss_rate=0.01101), False),
    ],
)
def test_without_spread_each_figure_is_judged_by_its_tolerance(
    ours: dict[str, float], agrees: bool
) -> None:
    comparison = Comparison(CASES[0], [figures()] * 3, [ours] * 3)
    assert (not controls.verdict([comparison])) is agrees
    assert ("**no**" in report.section([comparison], range(1, 4))) is not agrees


def test_three_standard_errors_widen_backlog_and_loss_but_not_goodput() -> None:
    spread = [
        figures(goodput_bps=1e6 + at, mean_backlog_packets=100 + at) for at in (-3.0, 0.0, 3.0)
    ]
    comparison = Comparison(CASES[0], spread, spread)
    # The standard deviation is 3 over 3 seeds on both sides: 10 + 3 · sqrt(3 + 3).
    assert comparison.allowed("mean_backlog_packets") == pytest.approx(10 + 3 * 6**0.5)
    assert comparison.allowed("goodput_bps") == pytest.approx(0.03 * 1e6)


def test_no_loss_on_either_side_agrees_and_on_one_side_does_not() -> None:
    none = figures(loss_rate=0.0)
    assert not controls.verdict([Comparison(CASES[1], [none], [none])])
    (failure,) = controls.verdict([Comparison(CASES[1], [none], [figures()])])
    assert "BBR: loss rate 0.01, ns-3 0, allowed ± 0" in failure


def test_figures_are_read_from_the_programs_output() -> None:
    said = figures() | {"arrivals": 10, "reasons": {"Overlimit drop": 1}}
    assert controls.figures(json.dumps(said) + "\n") == figures()


@pytest.mark.parametrize("text", ["", "terminate called", '{"utilization": 1.0}'])
def test_output_without_figures_is_an_error(text: str) -> None:
    with pytest.raises(Ns3Error, match="printed no figures"):
        controls.figures(text)


def test_the_error_quotes_a_program_that_fails() -> None:
    command = ["sh", "-c", "echo 5 packets came >&2; exit 3"]
    with pytest.raises(Ns3Error, match="5 packets came"):
        controls.output(command)


def test_the_program_is_built_once_per_source(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source = tmp_path / "dumbbell.cc"
    source.write_text("int main() {}")
    built = []

    def compile_it(command: list[str]) -> str:
        built.append(command)
        Path(command[command.index("-o") + 1]).touch()
        return ""

    monkeypatch.setattr(controls, "SOURCE", source)
    monkeypatch.setattr(controls, "BUILT", tmp_path / "built")
    monkeypatch.setattr(controls, "output", compile_it)
    first = controls.build()
    assert controls.build() == first
    assert len(built) == 1
    source.write_text("int main() { return 0; }")
    assert controls.build() != first
    assert len(built) == 2


def test_a_missing_compiler_or_library_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert controls.missing() == ["`g++` (Debian: apt-get install g++)"]
    compiler = tmp_path / "g++"
    compiler.write_text("#!/bin/sh\nexit 1\n")
    compiler.chmod(0o755)
    assert controls.missing() == ["ns-3 (Debian: apt-get install libns3-dev)"]


@pytest.mark.parametrize("case", [case for case in CASES if case.shown], ids=lambda case: case.name)
def test_every_picture_exists_and_has_a_caption(case: Case) -> None:
    assert (pictures.FOLDER / f"{pictures.name(case)}.png").is_file()
    assert case.name in pictures.CAPTIONS
