"""`make test` runs every test: each lies in a place in which a command looks for tests."""

from __future__ import annotations

import re
import tomllib

from conftest import ROOT, tracked
from helpers.slow import LIMIT_S, functions, renewed, slow_tests


def test_python_tests_lie_where_pytest_looks() -> None:
    product = ROOT / "python"
    for path in tracked("*.py"):
        if path.name.startswith("test_"):
            assert ROOT / "tests" in path.parents[1:], (
                f"{path} belongs into a folder of its subject"
            )
        elif product not in path.parents:
            assert not functions(path), path


def test_no_python_test_hides_another_of_the_same_name() -> None:
    for path in tracked("tests/**test_*.py"):
        names = functions(path)
        assert len(names) == len(set(names)), path


def test_the_list_of_slow_tests_names_existing_tests() -> None:
    slow = slow_tests()
    known = {
        f"{path.relative_to(ROOT)}::{name}"
        for path in tracked("tests/**test_*.py")
        for name in functions(path)
    }
    assert not set(slow) - known, "`make slow` measures again"
    assert all(seconds >= LIMIT_S for seconds in slow.values())


def test_a_new_measurement_keeps_only_tests_that_exist() -> None:
    here = "tests/project/test_tests.py::"
    kept = here + "test_a_new_measurement_keeps_only_tests_that_exist"
    slower = here + "test_python_tests_lie_where_pytest_looks"
    faster = here + "test_no_python_test_hides_another_of_the_same_name"
    gone = [here + "test_renamed", "tests/test_removed.py::test_removed"]
    old = {kept: 2.0, slower: 3.0, faster: 4.0, **dict.fromkeys(gone, 5.0)}
    assert renewed(old, {slower: 6.0, faster: 0.2}) == {kept: 2.0, slower: 6.0}


def test_make_test_runs_fast_and_slow_python_tests() -> None:
    recipes = (ROOT / "Makefile").read_text()
    test = re.search(r"^test:.*\n((?:\t.*\n)+)", recipes, re.MULTILINE)
    assert test is not None
    pytests = [line for line in test[1].splitlines() if "pytest" in line]
    assert len(pytests) == 1
    options = pytests[0].partition("-m pytest")[2]
    assert not re.search(r" -[mk] | tests/", options), "it selects tests"
    assert "cargo test --locked --quiet\n" in test[1]


def test_rust_tests_lie_in_crates_that_a_plain_cargo_test_runs() -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    run = {ROOT / crate for crate in workspace["default-members"]}
    # A workspace of its own has a target of its own.
    recipes = (ROOT / "Makefile").read_text()
    for crate in workspace["exclude"]:
        assert re.search(rf"^\tcd {crate} && .*\bcargo test --locked", recipes, re.MULTILINE)
        run.add(ROOT / crate)
    for path in tracked("*.rs"):
        if re.search(r"#\[test\]|proptest!", path.read_text()):
            assert run & set(path.parents), f"{path} is in no default member"


def test_rust_files_belong_to_a_program_or_a_module() -> None:
    """A file that no other declares with `mod` is not compiled, so its tests never run."""
    for path in tracked("crates/*.rs"):
        folder = path.parent
        if path.name in {"lib.rs", "main.rs", "build.rs"}:
            continue
        if folder.name in {"tests", "examples", "bin", "benches"} and folder.parent.name != "src":
            continue
        if folder.name == "bin":
            continue
        name, places = path.stem, [folder]
        if path.name == "mod.rs":
            name, places = folder.name, [folder.parent]
        names = ["lib.rs", "main.rs", "mod.rs"]
        parents = [place / one for place in places for one in names]
        parents += [places[0].with_suffix(".rs")]
        parents += list(places[0].glob("*.rs")) if places[0].name == "tests" else []
        texts = [one.read_text() for one in parents if one.is_file() and one != path]
        declared = rf"^\s*(?:pub(?:\([^)]*\))? )?mod {name};|#\[path = \"(?:.*/)?{path.name}\"\]"
        assert any(re.search(declared, text, re.MULTILINE) for text in texts), path


def test_no_rust_test_is_ignored() -> None:
    for path in tracked("crates/*.rs"):
        assert "#[ignore" not in path.read_text(), path
