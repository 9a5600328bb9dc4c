# SPDX-License-Identifier: MIT
"""Follows every link within the book, to its file and to the place in it.

usage: links.py SITE
"""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The places in a page, and where its links lead."""

    def __init__(self, file):
        super().__init__()
        self.places, self.links = set(), []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.places |= {attributes[name] for name in ("id", "name") if attributes.get(name)}
        for name in ("href", "src", "xlink:href"):
            if attributes.get(name):
                self.links.append(attributes[name])

    handle_startendtag = handle_starttag


def main():
    site = pathlib.Path(sys.argv[1]).resolve()
    pages = {file: Page(file) for file in site.rglob("*.html") if "_static" not in file.parts}
    dead, followed, without = [], 0, ("genindex.html", "search.html", "py-modindex.html")
    for file, page in sorted(pages.items()):
        for link in page.links:
            url = urllib.parse.urlsplit(link)
            if url.scheme or url.netloc:
                if tuple(url)[0] not in ("https", "data", "mailto"):
                    dead.append(f"{file.relative_to(site)}: {link} leads out of the site, and not by https")
                continue
            followed += 1
            target = (file.parent / urllib.parse.unquote(url.path)).resolve() if url.path else file
            place = urllib.parse.unquote(url.fragment)
            if not target.exists():
                dead.append(f"{file.relative_to(site)}: {link}: there is no such file")
            elif place and target in pages and place not in pages[target].places and file.name not in without:
                dead.append(f"{file.relative_to(site)}: {link}: there is no such place")
    if not followed:
        sys.exit(f"{site} has no links at all")
    if dead:
        sys.exit("\n".join(dead[:40] + ([f"… {len(dead)} dead links"] if len(dead) > 40 else [])))
    print(f"{followed} links of {len(pages)} pages lead somewhere")


if __name__ == "__main__":
    main()
