"""Tables as text for other programs: LaTeX, CSV and Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.core.text import cell, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMATS = ("tex", "csv", "md")

LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",
    "\u00b1": r"$\pm$",
    "\u00d7": r"$\times$",
    "\u2212": r"$-$",
    "\u2026": r"\ldots{}",
    "\u2265": r"$\geq$",
    "\u2264": r"$\leq$",
    "[": "{[}",
    "]": "{]}",
    "-": "{-}",
}
"""Text of LaTeX for characters that it reads as commands, as ligatures or not at all.

A bracket after the end of a row would be its argument, and two hyphens would be a dash. No package
is needed.
"""


def written(
    kind: str, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1
) -> str:
    """Returns a table as text.

    Args:
        kind: `tex` (a `tabular`, with the title as a comment), `csv` (RFC 4180, without the title)
            or `md`.
        title: title of the table; may be empty.
        columns: headings of the columns.
        rows: texts of the cells.
        left: number of columns, from the first on, whose texts begin at the left; figures end at
            the right.
    """
    cells = [[printable(text) for text in row] for row in (columns, *rows)]
    makers = {"tex": _tex, "csv": _csv, "md": _md}
    return makers[kind](printable(title), cells, left)


def latex(text: str) -> str:
    """Returns a text so that LaTeX prints it as it is."""
    return "".join(LATEX.get(one, one) for one in text)


def _tex(title: str, cells: Sequence[Sequence[str]], left: int) -> str:
    head, *rows = (" & ".join(map(latex, row)) + r" \\" for row in cells)
    count = len(cells[0])
    lines = [f"% {title}"] if title else []
    lines += [rf"\begin{{tabular}}{{{'l' * min(left, count)}{'r' * (count - left)}}}", r"\hline"]
    return "\n".join([*lines, head, r"\hline", *rows, r"\hline", r"\end{tabular}", ""])


def _csv(_title: str, cells: Sequence[Sequence[str]], _left: int) -> str:
    return "".join(f"{','.join(map(_of_csv, row))}\n" for row in cells)


def _of_csv(text: str) -> str:
    """Returns a cell that no spreadsheet computes, in quotation marks where CSV needs them.

    A dash, which stands for a missing value, becomes an empty cell.
    """
    safe = "" if text == "-" else cell(text).replace('"', '""')
    return f'"{safe}"' if set(safe) & set(',"\r\n') else safe


def _md(title: str, cells: Sequence[Sequence[str]], left: int) -> str:
    def line(row: Sequence[str]) -> str:
        return f"| {' | '.join(row)} |"

    safe = [[_of_markdown(text) for text in row] for row in cells]
    rules = ["---" if place < left else "---:" for place in range(len(cells[0]))]
    caption = [f"**{_of_markdown(title)}**", ""] if title else []
    return "\n".join([*caption, line(safe[0]), line(rules), *map(line, safe[1:]), ""])


def _of_markdown(text: str) -> str:
    """Returns a text without the signs that Markdown would read as its own."""
    return "".join(f"\\{one}" if one in r"\`*_[]<>|" else one for one in text)
