"""Pictures that commands and examples of the documentation draw, made by these commands."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evidence.core.cells import Cell
from evidence.core.derived import ROOT, Derived

if TYPE_CHECKING:
    from collections.abc import Iterator

IMAGES = ROOT / "docs" / "img"
NOTEBOOK = "examples/9-a-learned-control.ipynb"
CONTROL = "flow.upload.tcp.congestion_control"
TRAINING = "learned_control.train("
"""Text of the notebook's cell that trains: the picture uses the committed weights."""


def goodqueue(*words: str, cwd: Path = ROOT) -> None:
    """Runs the command line.

    Raises:
        subprocess.CalledProcessError: if it fails.
    """
    call = "import sys; from goodqueue.cli import main; sys.exit(main())"
    subprocess.run([sys.executable, "-c", call, *words], cwd=cwd, check=True)  # noqa: S603 - ours


def blocks(page: str, language: str) -> list[str]:
    """Returns the code blocks of a page in a language."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def answer() -> None:
    """Draws the curve of `goodqueue size` for the home uplink."""
    with tempfile.TemporaryDirectory() as folder:
        goodqueue("size", "scenarios/bufferbloat.toml", "--out", folder)
        shutil.copy(Path(folder) / "curve.png", IMAGES / "what-a-buffer-buys.png")


def study(name: str, file: str, plot: str) -> None:
    """Runs a study, and keeps one of its pictures.

    Args:
        name: name of the picture.
        file: file of the study.
        plot: name of the plot in the study.
    """
    with tempfile.TemporaryDirectory() as folder:
        goodqueue("sweep", file, "--out", folder, "--format", "svg")
        shutil.copy(Path(folder) / f"{plot}.svg", IMAGES / f"{name}.svg")


def study_of_page() -> None:
    """Runs the study at the beginning of docs/studies.md."""
    with tempfile.NamedTemporaryFile("w", dir=ROOT / "studies", suffix=".toml") as file:
        file.write(blocks("docs/studies.md", "toml")[0])
        file.flush()
        study("study", file.name, "plot-1")


def own_study() -> None:
    """Trains the control of docs/own-study.md, and runs the study with the page's classes."""
    names = ("controls.py", "learned.py", "train.py", "study.toml")
    texts = re.findall(
        r"^```(?:python|toml)\n(.*?)^```$",
        (ROOT / "docs/own-study.md").read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    )
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, text in zip(names, texts, strict=True):
            (folder / name).write_text(text, encoding="utf-8")
        train = (sys.executable, "train.py", "6")
        subprocess.run(train, cwd=folder, check=True)  # noqa: S603 - ours
        words = ("sweep", "study.toml", "--allow-python", "--out", "runs", "--format", "svg")
        goodqueue(*words, cwd=folder)
        shutil.copy(folder / "runs" / "share.svg", IMAGES / "own-study.svg")


def learned_control() -> None:
    """Executes the notebook without its training, and keeps its picture."""
    notebook = json.loads((ROOT / NOTEBOOK).read_text(encoding="utf-8"))
    sources = ("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
    kept = [source for source in sources if TRAINING not in source]
    save = f"figure.savefig({str(IMAGES / 'learned-control.svg')!r}, metadata={{'Date': None}})"
    hashes = "import matplotlib\nmatplotlib.use('agg')\nmatplotlib.rcParams['svg.hashsalt'] = 'g'"
    code = "\n".join([hashes, *kept, save])
    place = (ROOT / NOTEBOOK).parent
    subprocess.run([sys.executable, "-c", code], cwd=place, check=True)  # noqa: S603 - ours


def cells_of_answer() -> Iterator[Cell]:
    """Yields the home uplink behind its own buffer."""
    yield Cell("scenarios/bufferbloat.toml")


def cells_of_studies() -> Iterator[Cell]:
    """Yields the home uplink with each control, and the link of docs/studies.md: one canary."""
    for control in ("reno", "cubic"):
        yield Cell.of("scenarios/bufferbloat.toml", {CONTROL: control})
    yield Cell.of("scenarios/s3.toml", {"flow.bulk.count": "4"})


def cells_of_queues() -> Iterator[Cell]:
    """Yields Reno and CUBIC behind each queue of the studies."""
    for control in ("reno", "cubic"):
        for kind in ("drop_tail", "codel", "pie", "fq_codel", "fq_pie"):
            limit = ', limit = "200ms"' if kind == "drop_tail" else ""
            queue = {"topology.bottleneck.queue": f'{{ kind = "{kind}"{limit} }}'}
            changes = {**queue, "tcp.congestion_control": control, "flow.bulk.count": 2}
            yield Cell.of("scenarios/linux-bottleneck.toml", changes)


def cells_of_learned() -> Iterator[Cell]:
    """Yields CUBIC alone: the learned control has no engine of its own."""
    yield Cell("scenarios/linux-bottleneck.toml")


def _picture(name: str) -> tuple[str]:
    return (f"docs/img/{name}",)


THINGS = [
    Derived(
        "pages/what-a-buffer-buys",
        answer,
        products=_picture("what-a-buffer-buys.png"),
        inputs=("scenarios/bufferbloat.toml",),
        cells=cells_of_answer,
        seeds="those of `goodqueue size`",
    ),
    Derived(
        "pages/tutorial",
        partial(study, "tutorial", "studies/home-uplink.toml", "ping"),
        products=_picture("tutorial.svg"),
        inputs=("studies/home-uplink.toml", "scenarios/bufferbloat.toml"),
        cells=cells_of_studies,
        seeds="1 to 5",
    ),
    Derived(
        "pages/queues-and-rates",
        partial(study, "queues-and-rates", "studies/queues-and-rates.toml", "delay"),
        products=_picture("queues-and-rates.svg"),
        inputs=("studies/queues-and-rates.toml",),
        cells=cells_of_queues,
        seeds="those of the study",
    ),
    Derived(
        "pages/study",
        study_of_page,
        products=_picture("study.svg"),
        inputs=("scenarios/s3.toml",),
        cells=cells_of_studies,
        seeds="1 to 5",
    ),
    Derived(
        "pages/own-study",
        own_study,
        products=_picture("own-study.svg"),
        cells=cells_of_queues,
        seeds="1 to 5",
    ),
    Derived(
        "pages/learned-control",
        learned_control,
        products=_picture("learned-control.svg"),
        inputs=(NOTEBOOK, "examples/learned_control.py", "examples/learned_control.json"),
        cells=cells_of_learned,
        seeds="1 to 5",
    ),
]
