"""Tables as text of LaTeX, CSV and Markdown: what is read back is what was printed."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from conftest import SMALL, refused
from conftest import goodqueue as command
from goodqueue.output.terminal import only_tables, say, stdout, table
from goodqueue.output.written import latex, written

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("own_cache")

COLUMNS = ["figure", "a_b & c", "100 %"]
ROWS = [
    ["p50 | p99", "9.493 ± 0.07 Mb/s", "{x}^2 ~ $5 #1"],
    ['"quoted", [1]', r"back\slash", "<1 -- 2> µs"],
    ["*bold* `code`", "", "-"],
]

NAMED = {
    "textbackslash": "\\",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
    "char34": '"',
    "ldots": "…",
}
MINUS = "\N{MINUS SIGN}"

MATHS = {r"\pm": "±", r"\times": "\u00d7", "-": MINUS, r"\geq": "≥", r"\leq": "≤"}
TOKEN = re.compile(
    r"\\(?P<name>[a-z]+\d*)(?:\{\})?|\\(?P<sign>.)|\$(?P<maths>[^$]*)\$|(?P<brace>[{}])|(?P<text>.)"
)


def read_latex(text: str) -> str:
    """Returns what LaTeX prints: commands by their definitions, and groups without braces."""
    found = []
    for token in TOKEN.finditer(text):
        if token["name"]:
            found.append(NAMED[token["name"]])
        elif token["maths"] is not None:
            found.append(MATHS[token["maths"]])
        else:
            found.append(token["sign"] or token["text"] or "")
    return "".join(found)


def test_latex_prints_every_cell_as_it_is() -> None:
    lines = written("tex", "what_it is", COLUMNS, ROWS).splitlines()
    assert lines[0] == "% what_it is"
    assert lines[1:3] == [r"\begin{tabular}{lrr}", r"\hline"]
    rows = [line for line in lines if line.endswith(r" \\")]
    cells = [re.split(r"(?<!\\) & ", row.removesuffix(r" \\")) for row in rows]
    assert [[read_latex(cell) for cell in row] for row in cells] == [COLUMNS, *ROWS]
    assert lines[-1] == r"\end{tabular}"


@pytest.mark.parametrize("sign", list('\\{}&%$#_~^<>|"[]-±\u00d7\u2212≥≤…'))
def test_a_sign_is_escaped(sign: str) -> None:
    made = latex(f"a{sign}{sign}b")
    assert read_latex(made) == f"a{sign}{sign}b"
    bare = re.sub(r"\\[a-z]+\d*(\{\})?|\\.|\$[^$]*\$|[{}]", "", made)
    assert not set(bare) & set('\\&%$#_~^<>|"±\u00d7\u2212≥≤…')


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no TeX on this machine")
def test_latex_compiles(tmp_path: Path) -> None:
    text = written("tex", "title", COLUMNS, ROWS)
    page = f"\\documentclass{{article}}\n\\begin{{document}}\n{text}\\end{{document}}\n"
    (tmp_path / "table.tex").write_text(page, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "table.tex"],  # noqa: S607
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_csv_is_read_back() -> None:
    text = written("csv", "title", COLUMNS, ROWS)
    missing = [["" if one == "-" else one for one in row] for row in ROWS]
    assert list(csv.reader(io.StringIO(text))) == [COLUMNS, *missing]


def test_a_cell_of_csv_is_no_formula() -> None:
    assert written("csv", "", ["=a"], [["=1+1"], ["-1.5"]]) == "'=a\n'=1+1\n-1.5\n"


def test_markdown_is_read_back() -> None:
    lines = written("md", "title", COLUMNS, ROWS).splitlines()
    assert lines[0] == "**title**"
    assert lines[3] == "| --- | ---: | ---: |"
    for line, row in zip([lines[2], *lines[4:]], [COLUMNS, *ROWS], strict=True):
        cells = re.split(r"(?<!\\)\|", line)[1:-1]
        assert [re.sub(r"\\(.)", r"\1", cell.strip()) for cell in cells] == row


def test_only_tables_are_printed_and_a_blank_line_lies_between(
    capsys: pytest.CaptureFixture[str],
) -> None:
    stdout.cache_clear()
    made = table("t", ["name", "value"], [["[bold]a[/]", "1"]])
    with only_tables("csv"):
        say("a sentence")
        stdout().print(made, "another sentence")
        stdout().print(made)
    assert capsys.readouterr().out == "name,value\na,1\n\nname,value\na,1\n"
    say("a sentence")
    assert capsys.readouterr().out == "a sentence\n"
    stdout.cache_clear()


LIMIT = "topology.bottleneck.queue.limit"
SHORT = ("--set", "duration=4s", "--set", "warmup=1s", "--replicates", "8")


@pytest.mark.parametrize(
    ("arguments", "head"),
    [
        (("tune", "{file}", *SHORT, "--vary", f"{LIMIT}=2p..9p", "--keep", "probe.p50<=1s"), LIMIT),
        (("compare", "{file}", *SHORT, "--variant", "", "--variant", f"{LIMIT}=2p"), "figure"),
        (("size", "--rate", "2Mbps", "--rtt", "20ms", "--flows", "1", "--quick"), "rule"),
        (("reproduce", "clustering-buffer", "shortest-rtt"), "middle_ms"),
    ],
)
def test_a_command_prints_its_tables_only(
    arguments: tuple[str, ...], head: str, tmp_path: Path
) -> None:
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    done = command(*(word.format(file=file) for word in arguments), "--tables", "csv")
    assert done.returncode in {0, 6}, done
    first, *_ = done.stdout.split("\n\n")
    rows = list(csv.reader(io.StringIO(first)))
    assert rows[0][0].startswith(head)
    assert len(rows) > 1
    assert len({len(row) for row in rows}) == 1


def test_results_print_their_table_only(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    scenario = tmp_path / "small.toml"
    scenario.write_text(SMALL.replace("20s", "4s"))
    study.write_text(
        f'schema_version = 1\nscenario = "small.toml"\nseeds = 2\n[sweep]\n{LIMIT} = ["2p", "9p"]\n'
    )
    runs = tmp_path / "runs"
    assert command("sweep", study, "--out", runs).returncode == 0
    done = command("results", runs, "--metric", "bottleneck.utilization", "--tables", "md")
    assert done.returncode == 0, done
    lines = [line for line in done.stdout.splitlines() if line.startswith("|")]
    assert len(lines) == 4
    assert len({line.count("|") for line in lines}) == 1
    assert not [line for line in done.stdout.splitlines() if line and line[0] not in "|*"]


def test_another_format_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    arguments = ("compare", file, "--variant", "", "--variant", f"{LIMIT}=2p")
    assert "did you mean 'tex'?" in refused(command(*arguments, "--tables", "text"))
    assert "give one of them" in refused(command(*arguments, "--tables", "tex", "--json"))
