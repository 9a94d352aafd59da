"""Two ns-2 studies of buffer sizes: their set-up, recorded figures of ns-2, and their claims."""

from __future__ import annotations

import csv
import json
import math
import re
import tomllib
from functools import cache
from statistics import fmean, stdev
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from evidence.validation.papers import ns2_studies
from evidence.validation.papers.ns2_studies import (
    COLUMNS,
    Cell,
    Check,
    record,
    section,
    tables,
    verdict,
)
from goodqueue.papers.cells import Spread
from goodqueue.papers.experiment import experiment
from goodqueue.papers.table import PLAIN
from goodqueue.runs.api import load

if TYPE_CHECKING:
    from pathlib import Path

FITTED = ROOT / "python/goodqueue/papers/ahmad2020/fitted.toml"

Figures = dict[str, float]

SEEDS = 10


def one(seed: int, settings: dict[str, object]) -> Figures:
    flows = json.loads(load(FITTED, set=settings, seed=seed).run().summary_json())["flows"]
    payload = flows["ftp"]["throughput_bps"] * 124 * 552 / 592
    throughput = payload / flows["ftp"]["data_span_s"] / 1000
    delay = 1000 * flows["ftp"]["mean_one_way_delay_s"]
    return {"delay_ms": delay, "throughput_kbps": throughput, "lost": flows["cbr"]["packets_lost"]}


def limits(buffer: int) -> dict[str, dict[str, str]]:
    """Returns queues that correspond to an ns-2 `queue-limit` of `buffer`."""
    return {
        "drop_tail": {"limit": f"{buffer - 1}p"},
        "red": {"kind": "ns2_red", "limit": f"{500 * buffer}B"},
    }


@cache
def runs(
    rate: str,
    loss: str,
    buffer: int,
    queue: str = "drop_tail",
    recovery: str = "sack",
) -> list[Figures]:
    """Returns the runs with an ns-2 `queue-limit` of `buffer`."""
    link = "topology.link.bottleneck"
    settings: dict[str, object] = {
        f"{link}.rate": rate,
        f"{link}.loss.probability": loss,
        f"{link}.queue": limits(buffer)[queue],
        "tcp.recovery": recovery,
    }
    return [one(seed, settings) for seed in range(1, SEEDS + 1)]


def mean(column: str, *cell: str | int, **more: str) -> float:
    return fmean(run[column] for run in runs(*cell, **more))


def delay(*cell: str | int, **more: str) -> float:
    return mean("delay_ms", *cell, **more)


def throughput(*cell: str | int, **more: str) -> float:
    return mean("throughput_kbps", *cell, **more)


class TestSetUp:
    def test_both_simulators_have_the_same_network(self) -> None:
        script = (ROOT / "tools/ns2/lossy-link.tcl").read_text(encoding="utf-8")
        ours = tomllib.loads(FITTED.read_text(encoding="utf-8"))
        found = re.search(r"\{from to delay\} \{(.+?)\}", script)
        assert found is not None
        given = {frozenset(m[:2]): m[2] for m in re.findall(r"(\d) (\d) (\d+ms)", found[1])}
        links = {link["name"]: link for link in ours["topology"]["link"]}
        for name, link in links.items():
            ends = frozenset(link[end].removeprefix("node") for end in ("from", "to"))
            if name != "bottleneck":
                assert (link["delay"], link["rate"]) == (given[ends], "200Mbps")
        assert "200Mb $delay" in script
        bottleneck = links["bottleneck"]
        assert f"Mb {bottleneck['delay']} $opt(queue)" in script
        assert bottleneck["reverse"]["rate"] == "500kbps"
        assert "$node(5) $node(4) 0.5Mb" in script
        tcp = ours["tcp"]
        assert f"packetSize_ {tcp['mss'].removesuffix('B')}" in script
        window = int(re.search(r"window_ (\d+)", script)[1])  # type: ignore[index]
        assert tcp["receive_window"] == f"{552 * window}B"
        assert '"$ftp stop"' in script
        assert f"at {float(ours['duration'].removesuffix('s'))} " in script

    def test_every_cell_has_the_same_link_in_both_simulators(self) -> None:
        for table in tables():
            # All runs of a cell have the same settings and differ only in the seed.
            plain = {place: run for place, name, run in table.runs() if name == PLAIN}
            for place, run in plain.items():
                row = table.rows[place]
                cell = Cell(table.paper, table.name, row)
                given = dict(word.split("=") for word in cell.arguments[1:])
                link = run.variant.scenario.buffer("bottleneck")
                assert link["rate_bps"] == round(float(given["rate"]) * 1e6)
                limit = link["limit_packets"], link["limit_bytes"]
                buffer = int(given["buffer"])
                # The limit of drop tail includes the packet in service; that of RED counts bytes.
                wanted = buffer - 1 if given["queue"] == "DropTail" else 500 * buffer
                assert limit[link["counted_in_bytes"]] == wanted
                resolved = run.variant.scenario.resolved_toml()
                assert f'recovery = "{row["recovery"]}"' in resolved
                loss = tomllib.loads(resolved)["topology"]["link"][0]["loss"]["probability"]
                assert float(str(loss).rstrip("%")) in {
                    float(given["loss"]),
                    100 * float(given["loss"]),
                }


def sample() -> list[tuple[str, str, str, str, str]]:
    """Cells from all corners of the tables: paper, table, half, rate, buffer."""
    return [
        ("ahmad2020", "table3", "existing", "0.05", "2"),
        ("ahmad2020", "table3", "proposed", "0.5", "5"),
        ("ahmad2020", "table4", "proposed", "0.1", "8"),
        ("ahmad2020", "table5", "existing", "0.1", "10"),
        ("wisdom2021", "table3", "existing", "0.05", "5"),
        ("wisdom2021", "table3", "proposed", "0.1", "6"),
        ("wisdom2021", "table4", "existing", "0.5", "15"),
        ("wisdom2021", "table5", "proposed", "0.05", "9"),
    ]


@pytest.mark.parametrize(("paper", "table", "half", "rate", "buffer"), sample())
def test_our_figures_agree_with_recorded_figures_of_ns_2(
    paper: str, table: str, half: str, rate: str, buffer: str
) -> None:
    path = ROOT / f"python/goodqueue/papers/{paper}/{table}-ns2.csv"
    rows = csv.DictReader(path.read_text(encoding="utf-8").splitlines())
    key = {"scheme": half, "rate_mbps": rate, "buffer": buffer}
    theirs = next(row for row in rows if all(row[k] == v for k, v in key.items()))
    cell = Cell(paper, table, {**key, "recovery": "sack" if half == "existing" else "reno"})
    ours = runs(
        f"{float(rate) * 1000:g}kbps",
        f"{float(ns2_studies.LOSS[table]):.0%}",
        int(buffer),
        queue="drop_tail" if paper == "ahmad2020" else "red",
        recovery=cell.row["recovery"],
    )
    for column in COLUMNS:
        average, deviation = (float(theirs[f"{column}_{what}"]) for what in ("mean", "sd"))
        spread = Spread.of_sample(average, deviation, int(theirs["n"]))
        check = Check(cell, column, spread, Spread.of_seeds([run[column] for run in ours]))
        assert check.agrees, (column, check.difference, check.allowed)


WITHOUT_LOSS = [
    ("50kbps", 5, "drop_tail", "sack", 388.360735, 29.352246, 22),
    ("50kbps", 10, "drop_tail", "sack", 837.402699, 28.059196, 0),
    ("50kbps", 50, "drop_tail", "sack", 2832.250274, 28.607488, 0),
    ("500kbps", 5, "drop_tail", "sack", 42.299843, 391.715662, 0),
    ("500kbps", 15, "drop_tail", "sack", 111.106060, 447.118202, 0),
    ("500kbps", 7, "drop_tail", "reno", 54.349347, 343.768816, 17),
    ("50kbps", 5, "red", "sack", 403.429248, 28.064251, 1),
    ("500kbps", 5, "red", "sack", 47.157048, 415.362635, 0),
]
"""Figures that `ns lossy-link.tcl loss=0 end=124` prints. These runs do not depend on chance. With
other buffers the phase of ns-2's clock moves a timeout by a tick, or RED draws random numbers."""


@pytest.mark.parametrize(
    ("rate", "buffer", "queue", "recovery", "delay_ms", "throughput_kbps", "lost"), WITHOUT_LOSS
)
def test_without_random_loss_our_figures_equal_those_of_ns_2(  # noqa: PLR0913, PLR0917
    rate: str,
    buffer: int,
    queue: str,
    recovery: str,
    delay_ms: float,
    throughput_kbps: float,
    lost: int,
) -> None:
    link = "topology.link.bottleneck"
    settings: dict[str, object] = {
        f"{link}.rate": rate,
        f"{link}.loss.probability": 0,
        f"{link}.queue": limits(buffer)[queue],
        "tcp.recovery": recovery,
    }
    run = one(1, settings)
    # The trace of ns-2 is printed to a microsecond.
    assert run["delay_ms"] == pytest.approx(delay_ms, abs=1e-3)
    # Our throughput includes the 40 bytes of the SYN.
    assert run["throughput_kbps"] == pytest.approx(throughput_kbps, abs=0.003)
    assert run["lost"] == lost


class TestClaims:
    """Explanations of the studies' conclusions; see docs/ahmad2020.md and docs/wisdom2021.md."""

    def test_a_larger_buffer_costs_throughput_equal_to_the_datagrams_it_saves(self) -> None:
        small, large = (throughput("50kbps", "1%", buffer) for buffer in (5, 10))
        assert large < 0.98 * small
        # TCP and datagrams share a link that is full for both buffers: a datagram has 1000 bytes,
        # and TCP's payload is 552 of 592.
        saved = mean("lost", "50kbps", "1%", 5) - mean("lost", "50kbps", "1%", 10)
        taken = saved * 8 / 122 * 552 / 592
        assert small - large == pytest.approx(taken, abs=0.01 * small)

    def test_the_halves_of_the_tables_differ_by_tcp_not_by_buffers(self) -> None:
        sack, reno = (throughput("500kbps", "1%", 5, recovery=one) for one in ("sack", "reno"))
        assert reno < 0.9 * sack

    @pytest.mark.parametrize("loss", [0.01, 0.02, 0.05])
    def test_the_loss_count_is_random_loss_alone_with_a_sufficient_buffer(
        self, loss: float
    ) -> None:
        counts = [run["lost"] for run in runs("500kbps", f"{loss:.0%}", 50)]
        expected = 310 * loss
        # The tolerance is four standard errors of the binomial mean, and half a datagram for the
        # losses of the overflow at the start.
        error = math.sqrt(expected * (1 - loss) / len(counts))
        assert abs(fmean(counts) - expected) < 4 * error + 0.5

    def test_red_hardly_differs_from_drop_tail_below_its_thresholds(
        self,
    ) -> None:
        # A limit of 3500 bytes holds six packets of 592, as a drop-tail limit of seven does, which
        # includes the packet in service.
        red, tail = (
            delay("500kbps", "2%", 7, recovery="reno", queue=queue)
            for queue in ("red", "drop_tail")
        )
        assert red == pytest.approx(tail, rel=0.01)


def checks(difference: float) -> list[Check]:
    """Returns a check of each column; ours differs by this many of ns-2's standard errors."""
    row = {"scheme": "existing", "rate_mbps": "0.05", "buffer": "5", "recovery": "sack"}
    theirs = Spread.of_seeds([90.0, 100.0, 110.0])
    ours = Spread.exact(100.0 + difference * 10 / math.sqrt(3))
    return [
        Check(Cell(paper, table, row), column, theirs, ours)
        for paper in ns2_studies.STUDIES
        for table in ns2_studies.LOSS
        for column in COLUMNS
    ]


class TestValidation:
    def test_means_agree_within_three_standard_errors(self) -> None:
        assert all(check.agrees for check in checks(2.99))
        assert not any(check.agrees for check in checks(-3.01))

    def test_single_figures_may_differ_but_not_their_average(self) -> None:
        assert verdict(checks(0.1)) == []
        assert len(verdict(checks(3.01))) == 13
        assert verdict([*checks(0.1), *checks(3.01)[:2]]) == []
        assert verdict(checks(1.0)) == ["the studies' figures are 5.8 % apart on average"]

    def test_the_section_counts_and_names_figures_that_disagree(self) -> None:
        text = section([*checks(0.0), *checks(3.01)[:1]], range(1, 11))
        assert "**12 of 13 means of delay and throughput agree**" in text
        assert "* ahmad2020 table3 existing 0.05 Mb/s 5: delay_ms 117.38, ns-2 100.00" in text

    def test_figures_of_ns_2_are_stored_beside_the_tables(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "python/goodqueue/papers/ahmad2020").mkdir(parents=True)
        values = [1.0, 2.0, 6.0]
        (path,) = record([(checks(0)[0].cell, [dict.fromkeys(COLUMNS, v) for v in values])])
        head, line = path.read_text(encoding="utf-8").splitlines()
        assert head.startswith("scheme,rate_mbps,buffer,n,delay_ms_mean,delay_ms_sd")
        assert line.startswith(f"existing,0.05,5,3,3.0000,{stdev(values):.4f}")


def test_titles_of_figures_name_their_rate_or_quantity_and_their_buffers() -> None:
    figure = experiment("wisdom2021", "figure4")
    assert figure.title == "Figure 4: delay with RED, proposed buffers"
    assert experiment("ahmad2020", "figure9").title.endswith("0.5 Mb/s, existing buffers")
