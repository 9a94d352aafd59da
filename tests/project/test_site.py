"""The documentation as a site: every page has a place, and broken links are found."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import check as site_check
import stage
from conftest import ROOT, tracked
from goodqueue.cli.app import COMMANDS, GROUPS

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = (ROOT / "tools/site/mkdocs.yml").read_text()


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder from which the site is built, with the lab."""
    folder = tmp_path_factory.mktemp("source")
    stage.stage(folder, lab=True)
    return folder


def test_every_page_of_the_documentation_has_one_place_in_the_menu(source: Path) -> None:
    named = re.findall(r": ([\w./-]+\.md)$", CONFIG, re.MULTILINE)
    pages = {str(page.relative_to(source)) for page in source.rglob("*.md")}
    assert sorted(named) == sorted(pages)


def test_every_page_begins_with_its_title() -> None:
    for page in [*tracked("docs/*.md"), *tracked(":(glob)*.md")]:
        assert page.read_text(encoding="utf-8").startswith("# "), page


def test_the_reference_has_every_command_and_its_options(source: Path) -> None:
    text = (source / "reference/commands.md").read_text()
    for name in COMMANDS:
        assert f"## `goodqueue {name}`" in text
    for group, commands in GROUPS.items():
        for name in commands:
            assert f"## `goodqueue {group} {name}`" in text
    assert "| `--max-delay TIME` |" in text
    assert "--help" not in text


def test_the_lab_is_shown_only_where_it_has_an_engine(source: Path, tmp_path: Path) -> None:
    frame = 'src="../lab/index.html#rate=10Mbps&rtt=30ms&flows=1&buffer=100p"'
    assert frame in (source / "docs/tutorial.md").read_text()
    stage.stage(tmp_path, lab=False)
    for page in ("docs/tutorial.md", "README.md"):
        assert "iframe" not in (tmp_path / page).read_text()


def test_the_first_screen_of_the_site_shows_the_lab(source: Path) -> None:
    """A frame with the moving link stands before the first picture and the first heading."""
    start = (source / "README.md").read_text()
    frame = start.index('<iframe class="lab" src="lab/index.html?embed#rate=10Mbps&')
    assert frame < start.index("![") < start.index("\n## ")
    tutorial = (source / "docs/tutorial.md").read_text()
    first, second = (tutorial.index(f"\n## {number}. ") for number in (1, 2))
    assert first < tutorial.index("<iframe") < second


def test_links_show_the_titles_of_pages(source: Path) -> None:
    text = (source / "docs/tutorial.md").read_text()
    assert "[Studies](studies.md)" in text


def test_broken_links_missing_anchors_and_other_hosts_are_found(tmp_path: Path) -> None:
    (tmp_path / "one.html").write_text(
        '<h2 id="here"></h2><a href="#here">1</a><a href="two.html#there">2</a>'
        '<a href="three.html">3</a><a href="https://example.org/">4</a>'
        '<script src="https://example.org/a.js"></script><img src="a%20b.png">'
    )
    (tmp_path / "two.html").write_text(
        '<a href="one.html#here">1</a><iframe src="one.html#rate=1Mbps"></iframe>'
        '<iframe src="lab.html#rate=1Mbps"></iframe>'
    )
    (tmp_path / "a b.png").write_bytes(b"")
    assert site_check.faults(tmp_path) == [
        "one.html: https://example.org/a.js is loaded from another host",
        "one.html: two.html#there: the page has no such anchor",
        "one.html: three.html: there is no such file",
        "two.html: lab.html: there is no such file",
    ]
