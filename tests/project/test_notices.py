"""The notices in the wheel name every crate that the extension links, with its licence."""

from __future__ import annotations

import re
import subprocess
import tomllib

from conftest import ROOT

NOTICES = (ROOT / "NOTICES.txt").read_text(encoding="utf-8")
TREE = (
    *("cargo", "tree", "--locked", "--offline", "--package", "goodqueue-python"),
    *("--edges", "normal", "--prefix", "none", "--format", "{p}"),
)
STRONG = re.compile(r"\b(A?GPL|SSPL|EUPL|OSL)\b")


def linked() -> set[tuple[str, str]]:
    """Returns name and version of each crate of others that the extension links here."""
    printed = subprocess.run(TREE, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    crates = re.findall(r"^([\w-]+) v([^\s]+)", printed, re.MULTILINE)
    return {(name, version) for name, version in crates if not name.startswith("goodqueue")}


def test_the_notices_name_every_linked_crate() -> None:
    named = set(re.findall(r"^  ([\w-]+) (\d[^\s]*)", NOTICES, re.MULTILINE))
    crates = linked()
    # Crates of procedural macros run in the compiler, and are named, too.
    assert len(crates) > 50
    missing = sorted(crates - named)
    assert not missing, f"`make notices` writes the notices again: {missing}"


def test_no_licence_is_stronger_than_weak_copyleft() -> None:
    ids = set(re.findall(r"^.* \(([^()]+)\), of$", NOTICES, re.MULTILINE))
    accepted = set(tomllib.loads((ROOT / "tools/wheel/about.toml").read_text())["accepted"])
    assert ids
    assert ids <= {one.partition(" WITH ")[0] for one in accepted} | accepted
    assert not any(STRONG.search(one) for one in accepted)


def test_the_notices_are_in_the_wheel() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "NOTICES.txt" in project["license-files"]
    assert "notices.sh" in (ROOT / "tools/wheel/build.sh").read_text()
