"""Every link within the built site leads somewhere: the page is there, and the place on it.

Addresses elsewhere are not looked up: the site is built without a network.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag


class Page(HTMLParser):
    """The links of a page, and the places on it that a link can name."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Collect what a tag links to, and what it is called."""
        for name, value in attributes:
            if name in {"href", "src"} and value:
                self.links.append(value)
            elif name in {"id", "name"} and value:
                self.places.add(value)


def broken(site: Path) -> list[str]:
    """A sentence for each link that leads nowhere."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        for link in page.links:
            address, place = urldefrag(link)
            if "://" in address or address.startswith(("mailto:", "data:", "//")):
                continue
            target = path if not address else (path.parent / unquote(address.split("?")[0])).resolve()
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                found.append(f"{path.relative_to(site.resolve())}: there is no {link}")
            elif place and target in pages and unquote(place) not in pages[target].places:
                found.append(f"{path.relative_to(site.resolve())}: {link} names no place on that page")
    return found


if __name__ == "__main__":
    wrong = broken(Path(sys.argv[1]))
    sys.stdout.write("\n".join([*wrong, f"{len(wrong)} broken links."]) + "\n")
    sys.exit(bool(wrong))
