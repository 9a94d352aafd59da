"""Runs every fuzz target for so many seconds: `make fuzz SECONDS=60 SEED=1`."""

from __future__ import annotations

import lzma
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CAPTURES = ("reno-before", "reno-after", "cubic4-before", "cubic4-after")
"""Of two sides of a link, one after the other."""

TRACE = ROOT / "tests/data/ns2/dumbbell.tr.xz"
TEXTS = ("scenario", "study", "tc", "ns2", "records", "rates", "probe")


def unpacked(folder: Path) -> list[str]:
    """Captures and a trace as the reader of captures wants them: not packed."""
    files = []
    for packed in [*(ROOT / f"tests/data/captures/{name}.pcap.xz" for name in CAPTURES), TRACE]:
        file = folder / packed.stem
        file.write_bytes(lzma.decompress(packed.read_bytes()))
        files.append(str(file))
    return files


def main(program: str, seconds: str, seed: str) -> None:
    """Runs the targets one after the other; ends at the first fault.

    Args:
        program: the fuzz program, built.
        seconds: how long each target takes.
        seed: of all that is drawn.
    """
    with tempfile.TemporaryDirectory(prefix="goodqueue-fuzz-") as folder:
        captures = ["captures", seconds, seed, *unpacked(Path(folder))]
        targets = [[program, *captures], *([program, name, seconds, seed] for name in TEXTS)]
        targets.append([sys.executable, "-m", "evidence.studies.flips", seconds, seed])
        for command in targets:
            if subprocess.run(command, cwd=ROOT, check=False).returncode:  # noqa: S603 - our own
                sys.exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
