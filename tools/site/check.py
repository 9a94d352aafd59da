"""Checks a built site: every link and anchor leads somewhere, and nothing comes from other hosts.

`python tools/site/check.py FOLDER` prints the faults that it finds.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script", "img", "iframe", "source", "link"}
"""Tags whose address a browser loads by itself."""

NOT_LOADED = {"canonical", "prev", "next", "alternate", "edit"}
"""Values of `rel` of `link` that only name a page."""


class Page(HTMLParser):
    """Names and addresses of one page.

    Attributes:
        names: fragments that the page has.
        links: addresses of its links, images, scripts and styles.
        foreign: addresses on other hosts that a browser would load.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.names: set[str] = {"", "__top"}
        self.links: list[str] = []
        self.foreign: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Records the anchors that a tag defines and the targets of its links."""
        found = {key: value or "" for key, value in attrs}
        self.names |= {found[key] for key in ("id", "name") if key in found}
        address = found.get("href", found.get("src"))
        if address is None:
            return
        parts = urlsplit(address)
        if not parts.scheme and not parts.netloc:
            # The lab, in a frame, reads its settings after `#`, where other pages have anchors.
            self.links.append(parts.path if tag == "iframe" else address)
        elif tag in LOADED and parts.scheme != "data" and found.get("rel") not in NOT_LOADED:
            self.foreign.append(address)


def faults(site: Path) -> list[str]:
    """Returns a line for each broken link, missing anchor, and address on another host."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        found += [f"{name}: {address} is loaded from another host" for address in page.foreign]
        if name.name == "404.html":  # its links begin at the root of a host
            continue
        for address in dict.fromkeys(page.links):
            parts = urlsplit(address)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                found.append(f"{name}: {address}: there is no such file")
            elif target in pages and unquote(parts.fragment) not in pages[target].names:
                found.append(f"{name}: {address}: the page has no such anchor")
    return found


if __name__ == "__main__":
    wrong = faults(Path(sys.argv[1]))
    print("\n".join(wrong) or "every link of the site leads somewhere")
    sys.exit(bool(wrong))
