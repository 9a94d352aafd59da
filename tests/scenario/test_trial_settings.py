"""Scenarios are the same as text, as settings, and as described links (`tests/data/links`)."""

from __future__ import annotations

import tomllib
from http import HTTPStatus

import numpy as np
import pytest

from conftest import ROOT
from goodqueue import load
from goodqueue.runs.settings import (
    changed,
    overrides,
    readable_toml,
    scenario_of,
    settings_of,
    toml_of,
)
from goodqueue.sizing.link import Link, as_in_theory, rtt_range
from goodqueue.sizing.trials.described import LinkTrial
from goodqueue.sizing.trials.length import WHOLE, Extent

FILES = ROOT / "tests/data/links"

RANGE = rtt_range(0.02, 0.1)

LINKS: dict[str, tuple[Link, int]] = {
    "cubic": (Link(20e6, RANGE, 20), 40),
    "reno-in-theory": (as_in_theory(Link(12e6, (0.1,), 1)), 50),
    "abe": (Link(12e6, (0.1,), 4, congestion_control="abe"), 7),
    "scalable": (Link(120e6, (0.1,), 1, congestion_control="scalable"), 0),
    "bbr": (Link(20e6, RANGE, 4, congestion_control="bbr"), 40),
    "mixed-traffic": (Link(50e6, RANGE, 40, local_share=0.8), 100),
    "short-transfers": (Link(1e6, (0.01,), 2, local_share=0.5), 10),
    "paced-and-bound": (
        Link(
            *(1e9, (0.02, 0.1), 2),
            paced=True,
            max_window_packets=33.7,
            access_rate_bps=3.3e8,
        ),
        1000,
    ),
    "frames-and-acks": (
        Link(
            *(1e7, (0.05,), 8),
            framing_bytes=38,
            ack_every=1,
            byte_counting=True,
            packet_bytes=9000,
        ),
        5,
    ),
    "many-rounds": (Link(1e8, (0.02, 0.08), 1000), 200),
    "short-and-stretched": (Link(20e6, RANGE, 9), 40),
    "codel": (Link(20e6, RANGE, 20), 40),
}
"""Links and their buffers in packets, by the name of a file."""

EXTENTS = {"short-and-stretched": Extent(2.5, 0.1)}
QUEUES = {"codel": "codel"}


@pytest.mark.parametrize("name", LINKS)
def test_a_described_link_has_the_scenario_of_its_file(name: str) -> None:
    link, packets = LINKS[name]
    made = LinkTrial().scenario(link, packets, QUEUES.get(name), EXTENTS.get(name, WHOLE))
    assert made.resolved_toml() == load(FILES / f"{name}.toml").resolved_toml()


def test_every_file_belongs_to_a_link() -> None:
    assert {path.stem for path in FILES.iterdir()} == set(LINKS)


@pytest.mark.parametrize("name", LINKS)
def test_settings_that_are_read_make_the_same_scenario(name: str) -> None:
    scenario = load(FILES / f"{name}.toml")
    again = scenario_of(settings_of(scenario), "the same")
    assert again.resolved_toml() == scenario.resolved_toml()


@pytest.mark.parametrize("name", LINKS)
def test_settings_as_readable_text_make_the_same_scenario(name: str) -> None:
    scenario = load(FILES / f"{name}.toml")
    comments = {"": "What\nit is", "topology": "its shape", "flow.0": "one = two"}
    text = readable_toml(settings_of(scenario), comments)
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "# What it is",
        "# its shape",
        "# one = two",
    ]
    assert load(text).resolved_toml() == scenario.resolved_toml()


NAMES = ("bare_key-1", "two words", "a.dot", 'a "quote"', "delete \x7f", "new\nline", "é", "")


@pytest.mark.parametrize("name", NAMES)
def test_any_key_of_a_table_is_read_as_it_was_written(name: str) -> None:
    settings = {
        name: {name: name, "inner": {name: 1}, f"{name} 2": {name: {name: 2}}},
        f"{name} 3": [{name: 3}],
        f"{name} 4": name,
    }
    assert tomllib.loads(toml_of(settings).decode()) == settings
    assert tomllib.loads(readable_toml(settings, {})) == settings


def test_bare_names_of_tables_are_written_without_quotes() -> None:
    text = readable_toml({"topology": {"link-1": {"rate": "1Mbps"}}, "flow": [{"count": 2}]}, {})
    heads = [line for line in text.splitlines() if line.startswith("[")]
    assert heads == ["[topology]", "[topology.link-1]", "[[flow]]"]


def test_a_list_of_tables_within_a_table_has_a_block_for_each() -> None:
    settings = {"topology": {"shape": "chain", "link": [{"name": "a"}, {"name": "b"}]}}
    text = readable_toml(settings, {"topology.link.1": "the second"})
    heads = [line for line in text.splitlines() if line.startswith(("[", "#"))]
    assert heads == ["[topology]", "[[topology.link]]", "# the second", "[[topology.link]]"]
    assert tomllib.loads(text) == settings


def test_numbers_of_subclasses_are_written_as_plain_numbers() -> None:
    settings = {"share": np.float64(0.1), "status": HTTPStatus.OK, "flag": True}
    text = toml_of(settings).decode()
    assert text == "share = 0.1\nstatus = 200\nflag = true\n"
    assert overrides({"share": np.float64(0.1)}) == [("share", "0.1")]


def test_changed_settings_differ_in_nothing_else() -> None:
    scenario = load(FILES / "cubic.toml")
    other = changed(scenario, {"topology.link.bottleneck.queue": {"kind": "codel"}, "seed": 7})
    assert settings_of(other)["seed"] == 7
    queue = settings_of(scenario)["topology"]["link"][0]["queue"]
    back = changed(other, {"topology.link.bottleneck.queue": queue, "seed": scenario.seed})
    assert back.resolved_toml() == scenario.resolved_toml()
