"""Builds use fixed versions: base images by digest, packages by hash, actions by commit."""

from __future__ import annotations

import re
import tomllib

import pytest

from conftest import ROOT, tracked

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_base_images_have_digests() -> None:
    images = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    assert len(images) == 2
    for image in images:
        assert re.search(r":[\w.-]+@sha256:[0-9a-f]{64}$", image), image


def test_packages_of_the_image_have_hashes() -> None:
    """A wheel of our own build, which has no hash, may get no other package."""
    installs = re.findall(r"pip install ([^&]*)", DOCKERFILE.replace("\\\n", " "))
    assert len(installs) == 3
    for install in installs:
        assert "--no-deps" in install
        assert "--require-hashes" in install or ("--no-index" in install and ".whl" in install)
    for file in re.findall(r"\S+\.lock", DOCKERFILE):
        name = file.rpartition("/")[2]
        assert (ROOT / "tools/image" / name).is_file(), file


@pytest.mark.parametrize("lock", [path.relative_to(ROOT) for path in tracked("*.lock")], ids=str)
def test_every_pinned_package_has_a_hash(lock: object) -> None:
    text = (ROOT / str(lock)).read_text(encoding="utf-8")
    if str(lock).endswith("Cargo.lock"):
        for package in tomllib.loads(text)["package"]:
            assert "checksum" in package or "source" not in package, package["name"]
        return
    pinned = re.findall(r"^(\S+==\S+)(.*(?:\n .*)*)", text, re.MULTILINE)
    assert pinned
    for package, rest in pinned:
        assert "--hash=sha256:" in rest, package


def test_the_image_has_the_versions_of_the_tests() -> None:
    def versions(file: str) -> dict[str, str]:
        return dict(re.findall(r"^(\S+)==(\S+)", (ROOT / file).read_text(), re.MULTILINE))

    tested = versions("requirements.lock")
    for file in ("tools/image/requirements.lock", "tools/image/build.lock"):
        image = versions(file)
        assert image
        assert image.items() <= tested.items(), f"{file}: `make lock` writes it again"


def test_actions_have_commits() -> None:
    for path in tracked(".github/*.yml"):
        uses = re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))
        assert uses
        for action in uses:
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action
