"""The documentation's examples give the output they show.

`UPDATE_DOCS=1 pytest tests/test_docs.py` writes the output there.
"""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from typing import Any

import pytest

from conftest import ROOT, goodqueue

PAGES = ["README.md", "docs/cli.md"]
BLOCK = re.compile(r"```console\n\$ goodqueue (?P<arguments>.*)\n(?P<output>(?:.*\n)*?)```\n")


def run_block(block: re.Match[str]) -> str:
    """The block with what its command prints now."""
    with tempfile.TemporaryDirectory() as scratch:
        arguments = shlex.split(block["arguments"].replace("DIR", scratch))
        # Runs that a user has kept would hide what they yield now.
        done = goodqueue(*arguments, cwd=ROOT, XDG_CACHE_HOME=f"{scratch}/cache")
        printed = (done.stdout + done.stderr).replace(scratch, "DIR")
    lines = [line.rstrip() for line in printed.splitlines()]
    code = f"[exit code {done.returncode}]\n" if done.returncode else ""
    text = "\n".join(lines).strip() + "\n"
    return f"```console\n$ goodqueue {block['arguments']}\n{text}{code}```\n"


@pytest.mark.parametrize("page", PAGES)
def test_examples_print_what_the_page_shows(page: str) -> None:
    path = ROOT / page
    written = path.read_text()
    assert BLOCK.search(written), "a page without examples needs no test"
    now = BLOCK.sub(run_block, written)
    if os.environ.get("UPDATE_DOCS"):
        path.write_text(now)
        return
    assert now == written


def test_the_scenario_in_the_readme_is_the_file() -> None:
    shown = re.findall(r"```toml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    scenario = (ROOT / "scenarios" / "bufferbloat.toml").read_text().splitlines()
    assert shown
    assert set("".join(shown).splitlines()) <= set(scenario)


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md", "ARCHITECTURE.md", "MODEL.md"])
def test_links_lead_somewhere(page: str) -> None:
    for link in re.findall(r"\]\(([^)#:]+)[)#]", (ROOT / page).read_text()):
        assert (ROOT / page).parent.joinpath(link).exists(), link


def test_the_queue_of_ones_own_works(monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs/queues/own.md").read_text(), re.DOTALL
    )
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 - our own page
    assert names["result"].summary["links"]["bottleneck"]["max_backlog_packets"] == 10
