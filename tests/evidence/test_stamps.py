"""Derived things have makers and stamps, and a stamp shows that the engine gives other figures."""

from __future__ import annotations

import json
import re
import string
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import ROOT
from evidence.core import cells, check, derived, fingerprints, stamps
from evidence.core.answers import Asked
from evidence.core.cells import Cell
from evidence.core.derived import Derived, everything
from evidence.core.stamps import State
from goodqueue.sizing.link import Link
from goodqueue.sizing.trials.described import LinkTrial

LINK = "scenarios/linux-bottleneck.toml"

PART = re.compile(r"<!-- (?P<name>[^:]*): begin -->")

GENERATED = {
    ("docs/scenario.md", "keys"),
    ("docs/performance.md", "times"),
    ("docs/performance.md", "instructions"),
}
"""Parts that Rust programs write: a test, `make bench` and `make counts`."""

RECORDED = (
    "evidence/validation/",
    "evidence/judges/published/",
    "evidence/headroom/published/",
    "evidence/course/published/",
)
"""Folders whose data come from other laboratories and from kernels, with their sources."""

DATA = {".png", ".svg", ".csv", ".parquet", ".npz", ".jsonl"}


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def committed(*folders: str) -> list[str]:
    found = subprocess.run(
        ["git", "ls-files", *folders],  # noqa: S607 - the git that made the checkout
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return found.stdout.splitlines()


def products() -> set[str]:
    return {name for thing in everything().values() for name in thing.products}


def test_every_committed_picture_and_table_has_a_maker() -> None:
    files = committed("docs/img", "evidence", "python/goodqueue/sizing/calibrated")
    data = {file for file in files if Path(file).suffix in DATA}
    known = products()
    assert data
    orphans = {file for file in data - known if not file.startswith(RECORDED)}
    assert not orphans, "declare what makes them in evidence/NAME/make.py"


def test_every_marked_part_of_a_page_has_a_maker() -> None:
    pages = [file for file in committed("docs", "README.md") if file.endswith(".md")]
    known = products()
    orphans = {
        (page, part["name"])
        for page in pages
        for part in PART.finditer((ROOT / page).read_text("utf-8"))
        if f"{page}#{part['name']}" not in known and (page, part["name"]) not in GENERATED
    }
    assert not orphans, "declare what makes them in evidence/NAME/make.py"


def test_makers_name_inputs_and_needs_that_exist() -> None:
    for thing in everything().values():
        assert all((ROOT / name).exists() for name in thing.inputs), thing.name
        assert all(need in everything() for need in thing.needs), thing.name
        folder = ROOT / "evidence" / thing.folder
        assert all((folder / name).exists() for name in thing.programs), thing.name


def test_a_canary_that_things_share_stands_once_in_their_file() -> None:
    for path in (ROOT / "evidence").glob("*/stamp.json"):
        found = json.loads(path.read_text(encoding="utf-8")).values()
        whole = [json.dumps(one["canary"]) for one in found if isinstance(one["canary"], list)]
        written = [text for text in whole if text != "[]"]
        assert len(set(written)) == len(written), path
    first, last = (
        stamps.read(everything()[f"judges/{name}"]) for name in ("bbr3-rtt", "spang2021")
    )
    assert first is not None
    assert last is not None
    assert first.canary == last.canary != []


def test_there_are_few_enough_canaries() -> None:
    declared = {
        tuple(sorted(cell.kind for cell in thing.cells()))
        for thing in everything().values()
        if thing.cells is not None
    }
    recorded = [
        thing
        for thing in everything().values()
        if not (thing.cells or thing.needs or thing.measured)
        and (stamp := stamps.read(thing))
        and stamp.canary  # a page that is made without a run has none
    ]
    assert len(declared) + len(recorded) <= check.MAX_CANARIES
    assert all(len(set(kinds)) <= cells.MAX_CELLS for kinds in declared)


def test_a_kind_of_cell_ignores_numbers_only() -> None:
    assert Cell.of(LINK, {"a.limit": "10p"}).kind == Cell.of(LINK, {"a.limit": "2.5p"}).kind
    assert Cell.of(LINK, {"a.limit": "10p"}).kind != Cell.of(LINK, {"a.limit": "10kB"}).kind


def test_a_canary_has_one_short_cell_of_each_kind() -> None:
    control = "tcp.congestion_control"
    drawn = [Cell.of(LINK, {control: name}) for name in ("reno", "reno", "cubic")]
    canary = cells.chosen([*drawn, Cell.of(LINK, {control: "cubic"})])
    documents = [one.document(one.run()) for one in canary]
    assert [one["set"][control] for one in documents] == ["reno", "cubic"]
    crossings = sum(one["figures"]["links.arrivals"] for one in documents)
    assert 1_000 < crossings <= cells.MAX_CROSSINGS


def test_a_cell_belongs_to_its_engine() -> None:
    packets = Cell(LinkTrial().scenario(Link(2e6, (0.04,), 2), 9).canonical_toml())
    hybrid = replace(packets, engine="hybrid")
    assert packets.kind != hybrid.kind
    canary = [one.document(one.run()) for one in cells.chosen([packets, hybrid])]
    assert "engine" not in canary[0]
    assert canary[1]["engine"] == "hybrid"
    assert [cells.cell_in(one) for one in canary] == cells.chosen([packets, hybrid])
    assert canary[1]["figures"]["links.drops"] > 0
    assert cells.agree(canary)
    of_another_engine = canary[1] | {"engine": "packets"}
    assert not cells.agree([of_another_engine])


def test_a_question_is_a_canary_of_the_search_over_runs() -> None:
    question = Asked("size --rate 1168kbps --rtt 76.4ms --flows 2 --target 95% --json")
    (chosen,) = cells.chosen([question, question])
    document = chosen.document(chosen.run())
    assert document["figures"]["decision"]["packets"] > 0
    assert cells.cell_in(document) == question
    assert cells.agree([document])
    decision = document["figures"]["decision"] | {"chance": [1, 1]}
    assert not cells.agree([document | {"figures": {"exit_code": 0, "decision": decision}}])


def test_a_question_without_an_answer_is_named_with_what_the_command_said() -> None:
    with pytest.raises(RuntimeError, match=r"goodqueue size --rate banana .*: error: .*banana"):
        Asked("size --rate banana --rtt 10ms --flows 2").run()


def test_more_kinds_than_a_canary_has_room_for_are_refused() -> None:
    names = [first + second for first in "ab" for second in string.ascii_letters]
    many = [Cell.of(LINK, {"title": name}) for name in names[: cells.MAX_CELLS + 1]]
    with pytest.raises(ValueError, match="kinds of cells"):
        cells.chosen(many)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a root with one experiment, `one`, and a thing that needs it, `two`."""
    folder = tmp_path / "evidence"
    for name in ("one", "two"):
        (folder / name).mkdir(parents=True)
        (folder / name / "make.py").write_text("# a maker\n", "utf-8")
    (tmp_path / "input.csv").write_text("1\n", "utf-8")

    def write(name: str) -> None:
        (tmp_path / f"{name}.txt").write_text("a product\n", "utf-8")

    def maker_of_one() -> None:
        write("one")

    def maker_of_two() -> None:
        write("two")

    def canary() -> list[Cell]:
        return [Cell.of(str(ROOT / LINK), {"tcp.congestion_control": "reno"})]

    things = {
        "one": Derived("one", maker_of_one, ("one.txt",), inputs=("input.csv",), cells=canary),
        "two": Derived("two", maker_of_two, ("two.txt",), needs=("one",)),
    }
    for module in (derived, stamps):
        monkeypatch.setattr(module, "HOME", folder)
        monkeypatch.setattr(module, "everything", lambda: things)
    monkeypatch.setattr(derived, "ROOT", tmp_path)
    again()
    return tmp_path


def again() -> None:
    """Lets states be found anew."""
    stamps.forget()
    derived.programs.cache_clear()


def states() -> list[State]:
    again()
    return [stamps.state_of(thing) for thing in derived.everything().values()]


def make_all() -> None:
    for thing in derived.everything().values():
        stamps.make(thing)


def alter(home: Path, change: object) -> None:
    path = home / "evidence" / "one" / "stamp.json"
    document = json.loads(path.read_text("utf-8"))
    assert callable(change)
    change(document["one"])
    path.write_text(json.dumps(document), "utf-8")


def test_a_thing_without_a_stamp_is_unknown_and_a_made_one_is_fresh(home: Path) -> None:
    assert home.exists()
    assert states() == [State.UNKNOWN, State.UNKNOWN]
    make_all()
    assert states() == [State.FRESH, State.FRESH]


def test_another_figure_of_the_canary_ages_a_thing_and_all_that_needs_it(home: Path) -> None:
    make_all()

    def move(stamp: dict[str, object]) -> None:
        canary = stamp["canary"]
        assert isinstance(canary, list)
        canary[0]["figures"]["links.mean_queueing_delay_s"] *= 1 + 1e-15

    alter(home, move)
    assert states() == [State.STALE, State.STALE]


@pytest.mark.parametrize("changed", ["input.csv", "one.txt", "evidence/one/make.py"])
def test_a_change_of_input_product_or_program_makes_it_unknown(home: Path, changed: str) -> None:
    make_all()
    (home / changed).write_text("# changed\n", "utf-8")
    assert states() == [State.UNKNOWN, State.UNKNOWN]
    stamps.make(derived.everything()["one"])
    assert states()[0] is State.FRESH


def test_a_maker_that_does_not_make_its_product_gets_no_stamp(home: Path) -> None:
    thing = replace(derived.everything()["one"], products=("missing.txt",))
    with pytest.raises(ValueError, match=r"did not make missing\.txt"):
        stamps.make(thing)
    assert stamps.read(thing) is None
    assert not (home / "missing.txt").exists()


def verdict(states: dict[str, State], excused: dict[str, str], canaries: int = 1) -> list[str]:
    reasons = dict.fromkeys(states, "the canary has other figures")
    return check.Verdict(states, reasons, excused, canaries).faults


def test_a_stale_thing_is_a_fault_unless_the_list_names_it() -> None:
    stale = {"one": State.STALE, "two": State.FRESH}
    (fault,) = verdict(stale, {})
    assert "python -m evidence make one" in fault
    assert verdict(stale, {"one": "reason"}) == []


def test_the_list_names_only_things_that_exist_and_are_not_fresh() -> None:
    assert "fresh" in verdict({"one": State.FRESH}, {"one": "reason"})[0]
    assert "nothing makes" in verdict({"one": State.FRESH}, {"three": "reason"})[0]


def test_a_row_of_the_list_needs_a_reason_and_a_date(tmp_path: Path) -> None:
    path = tmp_path / "STALE.md"
    path.write_text("| `a/b` | the engine changed | 2026-01-31 |\n", "utf-8")
    assert check.excuses(path) == {"a/b": "the engine changed"}
    path.write_text("| `a/b` | the engine changed | soon |\n", "utf-8")
    with pytest.raises(ValueError, match=r"STALE\.md:1: write"):
        check.excuses(path)


def test_the_package_has_the_fingerprints_of_this_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check fails, and the fitted table is older, as soon as a figure of a canary differs."""
    assert fingerprints.is_current()
    assert not check.Verdict({}, {}, {}, 1, fingerprinted=True).faults
    own = fingerprints.fingerprints()["calibrated"]
    assert own["fitted"] == own["engine"]
    monkeypatch.setattr(Cell, "run", lambda _: {"links.drops": 1})
    changed = fingerprints.fingerprints()["calibrated"]
    assert changed["fitted"] == own["fitted"] != changed["engine"]
    assert not fingerprints.is_current()
    (fault,) = check.Verdict({}, {}, {}, 1, fingerprinted=False).faults
    assert "python -m evidence fingerprints" in fault


def test_a_maker_has_the_modules_that_it_imports_and_no_others() -> None:
    """Papers import two modules of the comparisons with ns-2, so the others do not age them."""
    names = {path.relative_to(ROOT).as_posix() for path in derived.programs("papers")}
    assert "evidence/validation/papers/two_pass.py" in names
    assert "evidence/validation/make.py" not in names
    assert not any(name.startswith("evidence/core") for name in names)


@pytest.mark.parametrize(
    "text",
    [
        "from evidence.gallery import core, home",
        "from evidence.gallery import (\n    core,\n    home,\n)",
        "    from evidence.gallery.core import satellite\nfrom evidence.gallery.home import wifi",
        "import evidence.gallery.core\nimport evidence.gallery.home",
    ],
)
def test_all_forms_of_imports_are_seen(text: str) -> None:
    found = {path.relative_to(ROOT).as_posix() for path in derived.imported(text)}
    assert found >= {"evidence/gallery/core.py", "evidence/gallery/home.py"}
