"""Well-known programs run behind an emulated link, started by a user without privileges."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conftest import ROOT
from helpers.emulation import ENDED, LINK, missing, need_emulation

if TYPE_CHECKING:
    from collections.abc import Iterator

NOBODY = 65534
"""Number of the user `nobody`."""

MAIN = "from goodqueue.cli import main; raise SystemExit(main())"


@dataclass(frozen=True, slots=True)
class User:
    """A user without privileges.

    Attributes:
        number: number of the user, None for the present one.
        python: command of an interpreter that the user can start.
        home: directory in which the user may write.
    """

    number: int | None
    python: tuple[str, ...]
    home: Path

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs the interpreter."""
        paths = [ROOT / "python", *(path for path in sys.path if "site-packages" in path)]
        return subprocess.run(
            [*self.python, *arguments],
            user=self.number,
            group=self.number,
            extra_groups=None if self.number is None else [],
            cwd=self.home,
            env={
                "PATH": "/usr/bin:/bin:/usr/local/bin",
                "HOME": str(self.home),
                "PYTHONPATH": os.pathsep.join(map(str, paths)),
            },
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def emulate(self, *arguments: str) -> tuple[str, dict[str, Any]]:
        """Runs `goodqueue emulate`. Returns what its programs printed, and the figures."""
        done = self.run("-c", MAIN, "emulate", *LINK, "--json", *arguments)
        assert done.returncode in ENDED, done.stderr
        return done.stderr, dict(json.loads(done.stdout))


def interpreters() -> list[tuple[int | None, tuple[str, ...]]]:
    """Returns interpreters that users without privileges may be able to start, with the user.

    The last one is for a checkout that only root can read: root without any privileges.
    """
    alone = ("unshare", "--user", "--map-user=1000", "--map-group=1000", sys.executable)
    return [(NOBODY, (sys.executable,)), (NOBODY, ("/usr/bin/python3",)), (None, alone)]


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[User]:
    """Yields a user without privileges: the present user, or `nobody` in place of root."""
    need_emulation()
    if os.getuid() != 0:
        yield User(None, (sys.executable,), tmp_path_factory.mktemp("home"))
        return
    # Only root can look into the directories of pytest.
    home = Path("/tmp") / f"goodqueue-nobody-{os.getpid()}"  # noqa: S108
    home.mkdir()
    home.chmod(0o777)
    try:
        for number, python in interpreters():
            someone = User(number, python, home)
            with suppress(OSError):
                if someone.run("-c", "from goodqueue import _core").returncode == 0:
                    break
        else:
            missing("no interpreter that an ordinary user can start")
        done = someone.run("-c", MAIN, "emulate", "--check")
        if done.returncode != 0:
            missing(f"as an ordinary user: {done.stderr}")
        yield someone
    finally:
        shutil.rmtree(home)


def needed(*names: str) -> str:
    """Returns the first of these programs that exists, or skips the test."""
    for name in names:
        if found := shutil.which(name):
            return found
    pytest.skip(f"NOT TESTED BEHIND AN EMULATED LINK: {' or '.join(names)} is not installed")


def site(home: Path) -> str:
    """Returns the command of a server of one page."""
    page = home / "site"
    page.mkdir(exist_ok=True)
    (page / "index.html").write_text("<p id=a></p><script>a.textContent = 6 * 7</script>")
    return shlex.join(["/usr/bin/env", "python3", "-m", "http.server", "8000", "-d", str(page)])


def test_iperf3(user: User) -> None:
    iperf3 = needed("iperf3")
    command = (iperf3, "-c", "server", "-t", "5", "--json")
    printed, figures = user.emulate(f"--server={iperf3} -s --logfile /dev/null", "--", *command)
    goodput = json.loads(printed)["end"]["sum_received"]["bits_per_second"]
    assert 5e6 < goodput < 10e6
    assert figures["links"]["bottleneck"]["utilization"] > 0.5


def test_ping(user: User) -> None:
    printed, figures = user.emulate("--", needed("ping"), "-c", "5", "-i", "0.2", "server")
    assert "5 received, 0% packet loss" in printed
    # Each request and each answer has 84 bytes.
    bits = figures["links"]["bottleneck"]["throughput_bps"] * figures["measured_s"]
    assert bits >= 5 * 84 * 8
    shortest = printed.partition("mdev = ")[2].partition("/")[0]
    assert float(shortest) >= 40


def test_curl(user: User) -> None:
    command = (needed("curl"), "-sS", "http://server:8000/")
    printed, figures = user.emulate(f"--server={site(user.home)}", "--", *command)
    assert "<p id=a>" in printed
    assert figures["links"]["bottleneck.reverse"]["utilization"] > 0


def test_chromium(user: User) -> None:
    browser = needed("chromium", "chromium-browser", "google-chrome")
    options = (
        "--headless",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        f"--user-data-dir={user.home}/browser",
        "--dump-dom",
    )
    printed, _ = user.emulate(
        f"--server={site(user.home)}", "--", browser, *options, "http://server:8000/"
    )
    assert '<p id="a">42</p>' in printed
