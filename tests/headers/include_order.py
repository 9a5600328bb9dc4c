#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every folder of the library includes only from itself and the folders before it, that tlm.hpp is all of the
library but for what is included by who wants it, and that every header includes, itself or through others, the
one that asks for the language.

    include_order.py LIBRARY
"""

import pathlib
import re
import sys

ORDER = ["matrix", "random", "algebra", "attention", "layers", "models", "claims", "text", "training", "parallel",
         "decoding", "storage", "tasks", "checking"]
# What is included by who wants it: it needs further libraries, or costs every other program the time to compile it.
BY_CHOICE = ["checking", "claims", "storage", "text", "parallel", "tasks/numbers_in_words.hpp"]
# What stands beside the folders, and includes nothing.
AT_THE_TOP = ["language.hpp", "version.hpp"]


def includes(header):
    """The headers of the library that a header includes, by their paths within the library."""
    return re.findall(r'^#include [<"]tlm/([^>"]*)[>"]', header.read_text(encoding="utf-8"), re.MULTILINE)


def reached(library, path, seen):
    """All headers that a header includes, directly or not."""
    if path not in seen:
        seen.add(path)
        for included in includes(library / path):
            reached(library, included, seen)
    return seen


def complaints(library):
    """A line for everything that is wrong."""
    everything = reached(library, "tlm.hpp", set())
    for header in sorted(library.rglob("*.hpp")):
        path = header.relative_to(library)
        by_choice = path.parts[0] in BY_CHOICE or path.as_posix() in BY_CHOICE
        if (path.as_posix() in everything) == by_choice:
            yield f"{path} is {'' if by_choice else 'not '}included by tlm.hpp"
        if path.as_posix() == "tlm.hpp":
            continue
        if path.as_posix() in AT_THE_TOP:
            if includes(header):
                yield f"{path} includes {', '.join(includes(header))}"
            continue
        if "language.hpp" not in reached(library, path.as_posix(), set()):
            yield f"{path} does not include language.hpp"
        if path.parts[0] not in ORDER:
            yield f"{path} is in a folder that has no place in the order {', '.join(ORDER)}"
            continue
        for included in includes(header):
            folder = included.split("/")[0]
            if folder in AT_THE_TOP:
                continue
            if folder not in ORDER or ORDER.index(folder) > ORDER.index(path.parts[0]):
                yield f"{path} includes {included}: {path.parts[0]} comes before {folder}"


def main():
    found = list(complaints(pathlib.Path(sys.argv[1])))
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
