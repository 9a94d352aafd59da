"""The examples in the documentation print the output that they show.

`UPDATE_DOCS=1 pytest tests/project/test_docs.py` rewrites the output in the pages.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import lzma
import os
import re
import shlex
import subprocess
from typing import TYPE_CHECKING, Any

import matplotlib
import pytest

from conftest import ROOT, goodqueue, tracked

if TYPE_CHECKING:
    from pathlib import Path

PAGES = [
    "README.md",
    "docs/box.md",
    "docs/cli.md",
    "docs/explain.md",
    "docs/guide-data-centre.md",
    "docs/guide-isp.md",
    "docs/guide-operator.md",
    "docs/guide-researcher.md",
    "docs/guide-teacher.md",
    "docs/headroom.md",
    "docs/home.md",
    "docs/tune.md",
    "docs/tutorial.md",
]
BLOCK = re.compile(
    r"```console\n\$ goodqueue (?P<arguments>[^|\n]*)(?P<filter> \| .*)?\n"
    r"(?P<output>(?:.*\n)*?)```\n"
)
GUIDES = ["docs/sizing.md", "docs/own-control.md"]
CODE = re.compile(r"```python\n(?P<code>.*?)```\n\n```text\n(?P<output>.*?)```\n", re.DOTALL)


def font_cache() -> str:
    """Returns the folder of matplotlib's list of fonts; it prints a message if the list is made."""
    importlib.import_module("matplotlib.font_manager")  # makes the list
    return matplotlib.get_cachedir()


def run_block(block: re.Match[str], folder: Path, where: Path = ROOT) -> str:
    """Returns the block with the current output of its command, through its filter if it has one.

    Args:
        block: the command and the output on the page.
        folder: place of `DIR`, which the blocks of a page share, and of stored runs, because
            results in a user's own cache would hide changes.
        where: folder in which the command is run.
    """
    arguments, narrowed = block["arguments"], block["filter"] or ""
    scratch = str(folder / "DIR")
    words = shlex.split(arguments.replace("DIR", scratch))
    done = goodqueue(
        *words, cwd=where, XDG_CACHE_HOME=str(folder / "cache"), MPLCONFIGDIR=font_cache()
    )
    printed = (done.stdout + done.stderr).replace(scratch, "DIR")
    if narrowed:
        shell = ["/bin/bash", "-c", narrowed.removeprefix(" | ")]
        printed = subprocess.run(
            shell, input=printed, capture_output=True, text=True, check=True
        ).stdout
    lines = [line.rstrip() for line in printed.splitlines()]
    code = f"[exit code {done.returncode}]\n" if done.returncode else ""
    text = "\n".join(lines).strip() + "\n"
    return f"```console\n$ goodqueue {arguments}{narrowed}\n{text}{code}```\n"


@pytest.mark.parametrize("page", PAGES)
def test_examples_print_the_output_on_the_page(page: str, tmp_path: Path) -> None:
    path = ROOT / page
    written = path.read_text()
    assert BLOCK.search(written), "a page without examples needs no test"
    now = BLOCK.sub(lambda block: run_block(block, tmp_path), written)
    if os.environ.get("UPDATE_DOCS"):
        path.write_text(now)
        return
    assert now == written


def test_the_example_of_a_capture_prints_the_output_on_its_page(tmp_path: Path) -> None:
    for point in ("before", "after"):
        packed = (ROOT / f"tests/data/captures/mixed-{point}.pcap.xz").read_bytes()
        (tmp_path / f"{point}.pcap").write_bytes(lzma.decompress(packed))
    path = ROOT / "docs/traces.md"
    written = path.read_text()
    (block,) = (one for one in BLOCK.finditer(written) if one["arguments"].startswith("analyze"))
    now = run_block(block, tmp_path, tmp_path)
    if os.environ.get("UPDATE_DOCS"):
        path.write_text(written.replace(block.group(), now))
        return
    assert now == block.group()


@pytest.mark.parametrize("guide", GUIDES)
def test_a_guide_prints_the_output_that_it_shows(
    guide: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    names: dict[str, Any] = {}

    def run(block: re.Match[str]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(block["code"], names)  # noqa: S102 - our own page
        text = "\n".join(line.rstrip() for line in printed.getvalue().splitlines())
        return f"```python\n{block['code']}```\n\n```text\n{text}\n```\n"

    page = ROOT / guide
    written = page.read_text()
    assert len(CODE.findall(written)) == written.count("```python")
    now = CODE.sub(run, written)
    if os.environ.get("UPDATE_DOCS"):
        page.write_text(now)
        return
    assert now == written


def test_the_scenario_in_the_tutorial_has_only_lines_of_its_file() -> None:
    tutorial = (ROOT / "docs" / "tutorial.md").read_text()
    shown = re.search(r"```toml\n(.*?)```", tutorial, re.DOTALL)
    scenario = (ROOT / "scenarios" / "bufferbloat.toml").read_text().splitlines()
    assert shown
    assert set(shown[1].splitlines()) <= set(scenario)


def test_the_readme_fits_a_few_minutes() -> None:
    assert len((ROOT / "README.md").read_text().split()) < 900


def test_the_list_of_pages_names_every_page() -> None:
    listed = (ROOT / "docs" / "README.md").read_text()
    pages = [path.relative_to(ROOT / "docs") for path in tracked("docs") if path.suffix == ".md"]
    own = [page for page in pages if page.parent.name != "queues" and page.name != "README.md"]
    assert [str(page) for page in own if f"({page})" not in listed] == []


@pytest.mark.parametrize(
    "page",
    [*PAGES, *GUIDES, "docs/README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "MODEL.md"],
)
def test_relative_links_name_existing_files(page: str) -> None:
    for link in re.findall(r"\]\(([^)#:]+)[)#]", (ROOT / page).read_text()):
        assert (ROOT / page).parent.joinpath(link).exists(), link


def test_the_example_of_a_queue_in_python_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs/queues/own.md").read_text(), re.DOTALL
    )
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 - our own page
    assert names["result"].summary["links"]["bottleneck"]["max_backlog_packets"] == 10


REPOSITORY_PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:rs|py|toml|csv|txt|md))`")


def test_paths_in_the_documentation_exist() -> None:
    """Paths may leave out leading folders. A file called `foo` is one that the reader adds."""
    files = [f"/{path.relative_to(ROOT)}" for path in tracked("*")]
    missing = [
        f"{page}: {path}"
        for page in (name for name in files if name.endswith(".md"))
        for path in REPOSITORY_PATH.findall((ROOT / page[1:]).read_text(encoding="utf-8"))
        if "/foo." not in path and not any(name.endswith(f"/{path}") for name in files)
    ]
    assert not missing


def sentences(page: str) -> set[str]:
    """Returns the sentences of a page that have ten words or more.

    Code, tables and parts that commands make are left out.
    """
    page = re.sub(r"<!-- ([\w/ -]+): begin -->.*?<!-- \1: end -->", "", page, flags=re.DOTALL)
    page = re.sub(r"^( *)```.*?^\1```", "", page, flags=re.DOTALL | re.MULTILINE)
    page = re.sub(r"^[|#].*$", "", page, flags=re.MULTILINE)
    found = set()
    for block in re.split(r"\n\s*\n|^ *(?:[-*]|\d+\.) ", page, flags=re.MULTILINE):
        for sentence in re.split(r"(?<=[.:;?]) ", " ".join(block.split())):
            words = sentence.lower().split()
            if len(words) >= 10:
                found.add(" ".join(words))
    return found


def test_no_sentence_stands_on_two_pages() -> None:
    """Each fact has one page; other pages link to it."""
    places: dict[str, list[str]] = {}
    for path in (*tracked("docs/*.md"), *(ROOT / name for name in ("README.md", "MODEL.md"))):
        for sentence in sentences(path.read_text(encoding="utf-8")):
            places.setdefault(sentence, []).append(str(path.relative_to(ROOT)))
    assert {text: pages for text, pages in places.items() if len(pages) > 1} == {}
