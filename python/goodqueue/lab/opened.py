"""A file that the command line opens in the lab: a scenario with its files, or a report."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.core.files.reading import read_text
from goodqueue.errors import RequestError, nearest_file
from goodqueue.runs.api import MAX_BYTES, NamedText, load

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SIDE_BYTES = 4 << 20
"""Largest sum of the files that a scenario names, in bytes."""

REPORTS = (".html", ".htm", ".json")
"""Endings of reports: pages of `--report`, and documents of `--json`."""

MAX_REPORT_BYTES = 32 << 20
"""Largest report, in bytes."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A scenario file or a report as the page gets it; the page distinguishes them by their names.

    Attributes:
        name: name of the file.
        text: its text.
        files: texts of the files that it names, by the names that it uses.
    """

    name: str
    text: str
    files: dict[str, str]


def read_file(source: str | NamedText) -> Opened:
    """Reads a scenario that the page can run, or a report.

    Raises:
        ScenarioError: the scenario has a mistake.
        RequestError: if the file cannot be read or is too large, or if a run of the scenario would
            exceed a bound of the lab.
    """
    if isinstance(source, NamedText) or not source.lower().endswith(REPORTS):
        return read_scenario(source)
    try:
        with Path(source).open("rb") as file:
            data = file.read(MAX_REPORT_BYTES + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise _unread(source, error) from error
    except UnicodeDecodeError as error:
        raise RequestError(f"{source}: this is no text in UTF-8, so it is no report") from error
    if len(data) > MAX_REPORT_BYTES:
        raise RequestError(f"{source}: the lab opens reports of at most 32 MiB")
    return Opened(Path(source).name, text, {})


def _unread(source: str, error: OSError) -> RequestError:
    """Returns the error of a file that cannot be read, with a remedy."""
    remedy = nearest_file(Path(source), "a scenario file or a report")
    return RequestError(f"{source}: {error.strerror or error}; {remedy}")


def read_scenario(source: str | NamedText) -> Opened:
    """Reads a scenario that the page can run.

    Raises:
        ScenarioError: the scenario has a mistake.
        RequestError: if the file cannot be read, or its run would exceed a bound of the lab.
    """
    if isinstance(source, NamedText):
        data, name, folder = source.text, source.name, Path()
    else:
        path = Path(source)
        try:
            with path.open("rb") as file:
                data, name, folder = file.read(MAX_BYTES + 1), str(path), path.parent
        except OSError as error:
            raise _unread(source, error) from error
    # The message of a mistake names the file.
    load(NamedText(data, name))
    text = data.decode("utf-8-sig")
    files = _side_files(text, folder)
    status, answer = _core.LabJob("open", json.dumps({"text": text, "files": files})).answer()
    found = json.loads(answer)
    problem = found["too_large"] if status == 200 else found["message"]
    if problem is not None:
        raise RequestError(f"{name}: {problem}")
    return Opened(Path(name).name, text, files)


def _side_files(text: str, folder: Path) -> dict[str, str]:
    """Returns the texts of the files that a valid scenario names."""
    names = set(_named(json.loads(_core.toml_json(text.encode(), "the scenario"))))
    bytes_each = {name: (folder / name).stat().st_size for name in names}
    if sum(bytes_each.values()) > MAX_SIDE_BYTES:
        raise RequestError(
            f"the files that this scenario names have more than {MAX_SIDE_BYTES >> 20} MiB, the "
            "most that the lab opens; run it with goodqueue run"
        )
    return {name: read_text(folder / name, MAX_SIDE_BYTES) for name in sorted(names)}


def _named(node: Any) -> Iterator[str]:  # noqa: ANN401 - any value of a TOML file
    """Yields the values of all keys `file`, which name files in every table that has one."""
    if isinstance(node, dict):
        if isinstance(node.get("file"), str):
            yield node["file"]
        for value in node.values():
            yield from _named(value)
    elif isinstance(node, list):
        for item in node:
            yield from _named(item)
