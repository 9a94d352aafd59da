"""Public names and methods without the libraries of the extras.

They work, or raise `goodqueue.RequestError`, whose text names the extra to install. The scripts run
in a process of their own, in which these libraries cannot be imported.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT, SMALL
from goodqueue import Study
from goodqueue.core.extras import EXTRAS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGE = ROOT / "python/goodqueue"

BLOCKS = {
    "none in sys.modules": "sys.modules.update(dict.fromkeys(EXTRAS))",
    "refused by a finder": """\
class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Refusing())""",
    "refused by import": """\
import builtins
real = builtins.__import__
def refusing(name, *rest, **more):
    if name.partition(".")[0] in EXTRAS:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return real(name, *rest, **more)
builtins.__import__ = refusing
import importlib
real_module = importlib.import_module
importlib.import_module = lambda name, package=None: (
    refusing(name) if name in EXTRAS else real_module(name, package))""",
}
"""Ways in which a library is missing."""

PUBLIC = """\
import inspect, json
from pathlib import Path
from goodqueue.sizing import *
from goodqueue.exchange import *
from goodqueue.passive import *
from goodqueue import *
import goodqueue, goodqueue.exchange, goodqueue.sizing

def trial(use):
    try:
        use()
    except Exception as error:
        named = isinstance(error, RequestError) and "goodqueue[" in str(error)
        return "named" if named else f"{type(error).__name__}: {error}"
    return "works"

folder = Path()
traces = {"before": "before.pcapng"}
result = run("small.toml", series=True, packets=True, set={"duration": "2s"}, trace=traces)
link = Link(1e6, rtt_range(0.02, 0.02), flows=1)
analysis = analyze(folder / "before.pcapng")
study = Study(folder / "study.toml")
given = {
    "Result.classes": ["bottleneck"], "Answer.runs": [3], "Answer.interval": [3, "utilization"],
    "Answer.figures": [3], "Study.run": ["runs"],
}
values = {
    "Result": result, "Answer": size_link(link, Effort(3, (), changes=False, rules=False)),
    "Study": study, "Analysis": analysis, "Link": link,
}
found = {
    "Results": trial(lambda: Results("runs")),
    "throughput": trial(lambda: run("small.toml", throughput=True)),
}
for name, value in values.items():
    for member in dir(type(value)):
        if (member.startswith("_") and member != "_repr_html_") or name == "Link":
            continue
        def use():
            taken = getattr(value, member)
            taken(*given.get(f"{name}.{member}", [])) if callable(taken) else None
        found[f"{name}.{member}"] = trial(use)
found["characterize"] = trial(
    lambda: characterize(queue="codel", sections=["5.1"], seeds=2, store=folder / "store"))
found["gym"] = trial(lambda: __import__("goodqueue.gym"))
print(json.dumps(found))
"""
"""Uses every public name and every public method; prints what each does."""

STUDY = """
scenario = "small.toml"
schema_version = 1
seeds = 2
[sweep]
topology.bottleneck.rate = ["1Mbps", "2Mbps"]
"""

CHECK = re.compile(r"^require\((.*)\)$", re.MULTILINE)
"""A check for libraries, of which the extra is named."""

FRAMES = {
    *(f"Result.{name}" for name in ("links", "flows", "groups", "classes", "delays", "packets")),
    *(f"Result.{name}" for name in ("series", "plot")),
    *(f"Answer.{name}" for name in ("rules", "curve", "queues", "plot")),
    *(f"Analysis.{name}" for name in ("flows", "rtts", "losses", "bursts", "series")),
    *("Study.run", "Results", "gym", "throughput"),
}
"""Names that need a library of an extra: frames and pictures."""


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_all_public_names_work_or_name_the_extra(block: str, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "study.toml").write_text(STUDY)
    Study(tmp_path / "study.toml").run(tmp_path / "runs")
    script = f"import sys\nfrom goodqueue.core.extras import EXTRAS\n{block}\n"
    script += PUBLIC
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {name: how for name, how in found.items() if how not in {"works", "named"}} == {}
    assert {name for name, how in found.items() if how == "named"} == FRAMES


def loose_imports(path: Path) -> Iterator[str]:
    """Yields the libraries of extras that a module imports when it is imported."""
    for node in ast.parse(path.read_text("utf-8")).body:
        names = []
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        yield from (name for name in names if name.partition(".")[0] in EXTRAS)


def test_only_folders_that_check_for_a_library_import_it() -> None:
    """Python runs `__init__.py` of a folder before its modules, so a check there comes first."""
    for path in PACKAGE.rglob("*.py"):
        for name in loose_imports(path):
            library = name.partition(".")[0]
            checks = [path, *(folder / "__init__.py" for folder in path.parents)]
            calls = [one.read_text("utf-8") for one in checks if one.is_file()]
            checked = {one for text in calls for one in CHECK.findall(text)}
            assert any(f'"{library}"' in one for one in checked), (path, name)
