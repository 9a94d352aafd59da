"""Every command has a manual page, which groff accepts."""

from __future__ import annotations

import shutil
import subprocess

import pytest

import man  # tools/site is on the path
from goodqueue.cli.app import COMMANDS, GROUPS

PAGES = dict(man.pages())


def test_every_command_has_a_page() -> None:
    names = {f"goodqueue-{name}" for name in [*COMMANDS, *GROUPS]}
    parts = {f"goodqueue-{group}-{part}" for group, inner in GROUPS.items() for part in inner}
    assert set(PAGES) == {"goodqueue", *names, *parts}


def test_a_page_has_the_options_of_its_command() -> None:
    assert "\n.B \\-\\-to TOOL\n" in PAGES["goodqueue-export"]
    assert "Exit codes: 0 answered" in PAGES["goodqueue"]


@pytest.mark.parametrize("name", PAGES)
def test_groff_accepts_a_page(name: str) -> None:
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("NO GROFF ON THIS MACHINE: manual pages were not checked (Debian: groff)")
    command = [groff, "-man", "-Tutf8", "-ww", "-z"]
    done = subprocess.run(
        command, input=PAGES[name], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert not done.stderr


def test_a_leading_dot_is_text() -> None:
    assert man.literal(".TH") == "\\&.TH"
