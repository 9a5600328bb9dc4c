#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every sentence that a static_assert or #error of the library says, or an #include of a file that there is
not, is expected by a case.

    every_sentence.py LIBRARY CASE.cpp …
"""

import pathlib
import re
import sys


def sentences(library):
    """What the library's static_asserts, #errors and #includes of a sentence say."""
    for header in sorted(library.rglob("*.hpp")):
        text = header.read_text(encoding="utf-8")
        errors = re.findall(r"static_assert\(.*?\);|^#error [^\n]*|^#include \"[^\"\n]* [^\n]*", text, re.DOTALL | re.MULTILINE)
        for error in errors:
            literals = re.findall(r'"([^"]*)"', error)
            if literals:
                yield header, "".join(literals)


def expected(cases):
    """What the cases expect."""
    for case in cases:
        yield from re.findall(r"^/// Says: (.*)$", case.read_text(encoding="utf-8"), re.MULTILINE)


def main():
    library, *cases = map(pathlib.Path, sys.argv[1:])
    says = list(sentences(library))
    if not says:
        sys.exit(f"{library} has no static_assert that says anything")
    known = list(expected(cases))
    missing = [f"{header}: {said}" for header, said in says if not any(sentence in said for sentence in known)]
    if missing:
        sys.exit("No case expects\n" + "\n".join(missing))


if __name__ == "__main__":
    main()
