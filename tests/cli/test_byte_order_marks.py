"""A byte order mark, which programs of Windows write before a text, changes no answer."""

from __future__ import annotations

import lzma
import re
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT, SMALL, goodqueue, refused

if TYPE_CHECKING:
    from pathlib import Path

MARK = b"\xef\xbb\xbf"
LINK = ("--rate", "10Mbps", "--rtt", "40ms", "--flows", "9", "--quick", "--json")
DATA = ROOT / "tests/data"
TC = b'[{"kind":"pfifo","handle":"8001:","dev":"eth0","root":true,"options":{"limit":100}}]'
SONIC = b'{"BUFFER_POOL": {"p": {"type": "egress", "mode": "static", "size": "1000000"}}, '
SONIC += b'"BUFFER_PROFILE": {"a": {"pool": "p", "size": "0", "static_th": "50000"}}, '
SONIC += b'"BUFFER_QUEUE": {"Ethernet0|3": {"profile": "a"}}}'


def serving(kind: str, file: str) -> str:
    """Returns a scenario whose rate varies as a file says."""
    service = f'service = {{ kind = "{kind}", file = "{file}" }}'
    return SMALL.replace('rate = "1Mbps"', service, 1)


def transfers(file: str) -> str:
    """Returns a scenario with transfers whose sizes are in a file."""
    size = f'size = {{ law = "empirical", file = "{file}" }}'
    return SMALL.replace('kind = "bulk"', f'kind = "transfers", {size}, load = "50%"')


def held(pattern: str) -> bytes:
    """Returns a file of the tests' data."""
    return lzma.decompress(next(iter(DATA.rglob(pattern))).read_bytes())


def make_rates(folder: Path) -> None:
    (folder / "s.toml").write_text(serving("csv", "rates"))


def make_opportunities(folder: Path) -> None:
    (folder / "s.toml").write_text(serving("mahimahi", "rates"))


def make_sizes(folder: Path) -> None:
    (folder / "s.toml").write_text(transfers("sizes"))


def make_study(folder: Path) -> None:
    (folder / "s.toml").write_text(SMALL)


def make_capture(folder: Path) -> None:
    (folder / "c.pcap").write_bytes(held("reno-before.pcap.xz"))


STUDY = b'schema_version = 1\ntitle = ""\nscenario = "s.toml"\nseeds = 1\n'
STUDY += b'[sweep]\ntopology.bottleneck.queue.limit = ["5p", "10p"]\n'
RUN = ("run", "s.toml", "--json")

TEXTS = {
    "scenario": ("s.toml", SMALL.encode(), None, RUN),
    "rates": ("rates", b"time,rate\n0s,1Mbps\n1s,2Mbps\n", make_rates, RUN),
    "opportunities": ("rates", b"12\n24\n36\n", make_opportunities, RUN),
    "sizes": ("sizes", b"size_kB,share\n1,50%\n10,100%\n", make_sizes, RUN),
    "study": ("study", STUDY, make_study, ("sweep", "study", "--dry-run")),
    "tc": ("tc.json", TC, None, ("size", *LINK, "--device", "tc.json")),
    "SONiC": ("db.json", SONIC, None, ("size", *LINK, "--device", "db.json:Ethernet0|3")),
    "records": ("f.csv", held("mixed.csv.xz"), None, ("flows", "f.csv", "--json")),
    "records in JSON": ("f.json", held("mixed.json.xz"), None, ("flows", "f.json", "--json")),
    "script": ("d.tcl", (DATA / "dumbbell.tcl").read_bytes(), None, ("import", "d.tcl")),
    "trace": ("d.tr", held("dumbbell.tr.xz"), None, ("analyze", "d.tr", "--json")),
    "drops": (
        *("drops", b"time_s\n1.5\n2.5\n", make_capture),
        ("analyze", "c.pcap", "--drops", "drops", "--json"),
    ),
}
"""Texts that users name: file, bytes, a function that writes other files, and the command."""


@pytest.mark.parametrize("kind", TEXTS)
def test_a_byte_order_mark_changes_no_answer(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, content, prepare, command = TEXTS[kind]
    monkeypatch.chdir(tmp_path)
    if prepare is not None:
        prepare(tmp_path)
    answers = []
    for text in (content, MARK + content):
        (tmp_path / name).write_bytes(text)
        done = goodqueue(*command)
        assert done.returncode == (6 if "--quick" in command else 0), done.stderr
        answers.append((comparable(done.stdout), done.stderr))
    assert answers[0] == answers[1]


def comparable(text: str) -> str:
    """Returns an answer without the number of bytes that were read, and without times."""
    return re.sub(r'"bytes_read": \d+|[\d.]+ m?s of processor time|about [\d.]+ m?s.*', "", text)


@pytest.mark.parametrize("kind", TEXTS)
def test_a_text_in_utf_16_is_refused(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, content, prepare, command = TEXTS[kind]
    monkeypatch.chdir(tmp_path)
    if prepare is not None:
        prepare(tmp_path)
    (tmp_path / name).write_bytes(content.decode(errors="replace").encode("utf-16"))
    message = refused(goodqueue(*command))
    assert name in message


def test_a_file_without_the_mark_may_have_it_later(tmp_path: Path) -> None:
    """Only the first bytes of a file can be a mark."""
    file = tmp_path / "s.toml"
    file.write_bytes(SMALL.encode() + MARK + b"a = 1\n")
    assert "not valid TOML" in refused(goodqueue("run", file))
