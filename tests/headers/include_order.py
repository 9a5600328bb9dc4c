#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Verifies that every folder of the library includes only from itself and from the folders before it. all.hpp must be the whole
book and nothing else. Every header must include, itself or through others, the one that asks for the language.

    include_order.py LIBRARY
"""

import pathlib
import sys

from includes import BOOK, WORKSHOP, includes, reached

ORDER = BOOK + WORKSHOP
# What stands beside the folders: the article, and the whole book.
AT_THE_TOP = ["tlm.hpp", "all.hpp"]
# What includes nothing.
FIRST = ["base/language.hpp", "base/version.hpp"]


def complaints(library):
    """A line for everything that is wrong."""
    everything = reached(library, "all.hpp")
    for header in sorted(library.rglob("*.hpp")):
        path = header.relative_to(library)
        by_choice = path.parts[0] in WORKSHOP
        if (path.as_posix() in everything) == by_choice:
            yield f"{path} is {'' if by_choice else 'not '}included by all.hpp"
        if path.as_posix() in AT_THE_TOP:
            continue
        if path.as_posix() in FIRST:
            if includes(header):
                yield f"{path} includes {', '.join(includes(header))}"
            continue
        if "base/language.hpp" not in reached(library, path.as_posix()):
            yield f"{path} does not include base/language.hpp"
        if path.parts[0] not in ORDER:
            yield f"{path} is in a folder that has no place in the order {', '.join(ORDER)}"
            continue
        for included in includes(header):
            folder = included.split("/")[0]
            if folder not in ORDER or ORDER.index(folder) > ORDER.index(path.parts[0]):
                yield f"{path} includes {included}: {path.parts[0]} comes before {folder}"


def main():
    found = list(complaints(pathlib.Path(sys.argv[1])))
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
