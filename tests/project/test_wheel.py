"""`make wheel` needs the profile tool of rustc's own LLVM, and names what is missing."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = ROOT / "tools" / "wheel" / "build.sh"

RUSTC = """\
#!/bin/sh
case $1 in
-vV) printf 'rustc 1.99.0\\nhost: machine\\nLLVM version: 22.1.2\\n' ;;
--print) echo {sysroot} ;;
esac
"""


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def refusal(folder: Path) -> str:
    """Returns the message of the script if `rustc` is the program in the folder."""
    program(folder / "bin" / "rustc", RUSTC.format(sysroot=folder))
    done = subprocess.run(
        [SCRIPT],
        env={**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    return done.stderr


def test_a_missing_profile_tool_is_named_with_its_command(tmp_path: Path) -> None:
    message = refusal(tmp_path)
    assert "llvm-profdata" in message
    assert "LLVM 22.1.2" in message
    assert "rustup component add llvm-tools" in message


def test_a_profile_tool_of_another_llvm_is_refused(tmp_path: Path) -> None:
    tool = tmp_path / "lib" / "rustlib" / "machine" / "bin" / "llvm-profdata"
    program(tool, "#!/bin/sh\necho '  LLVM version 14.0.6'\n")
    message = refusal(tmp_path)
    assert str(tool) in message
    assert "is not of rustc's LLVM 22.1.2" in message
