#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that what must not compile does not, and that the compiler says why in one sentence.

    check.py CASE.cpp PRECOMPILED COMPILER [ARGUMENT...]

A case begins with the sentence that its reader is to see:

    /// Says: …
    /// Names: …      (if need be: what the sentence is about, as the compiler writes it)
    /// Within: …     (if need be: in how many lines, instead of five)
    /// Explains: …   (if need be: a regular expression, for the notes below the error)
    /// Standard: …   (if need be: the language in which it is WRONG, instead of c++20)

and is wrong where the macro WRONG is defined. Required are: with WRONG it does not compile; there is one error, and it
contains the sentence; it stands, with the name, in the first five lines that the compiler says, not counting its list of
which file includes which; the notes contain the explanation. (That it compiles without WRONG: corrected.py.)

PRECOMPILED is a header for the cases that include first and are wrong after: .gch as GCC makes it, .pch as Clang does; or -
for none.
"""

import os
import re
import subprocess
import sys


def sentence(case, key):
    """What the case expects under this key, or None."""
    with open(case, encoding="utf-8") as file:
        found = re.search(rf"^/// {key}: (.*)$", file.read(), re.MULTILINE)
    return found and found.group(1)


def includes_first(case):
    """Whether a case, in C++20, begins with its includes."""
    with open(case, encoding="utf-8") as file:
        return "#if" not in file.read().split("#include", 1)[0] and not sentence(case, "Standard")


def compile_wrong(case, precompiled, compiler):
    """The exit code of the compiler for the wrong version, and what it says."""
    standard = sentence(case, "Standard") or "c++20"
    command = [*compiler, f"-std={standard}", "-fsyntax-only", "-DWRONG", case]
    if precompiled != "-" and includes_first(case):
        header, kind = os.path.splitext(precompiled)
        command += ["-include", header] if kind == ".gch" else ["-include-pch", precompiled]
    result = subprocess.run(command, capture_output=True, check=False, env={**os.environ, "LC_ALL": "C"})
    # Clang shows letters beyond ASCII as octal escapes.
    octal = re.compile(rb"\\([0-3][0-7]{2})")
    said = octal.sub(lambda escape: bytes([int(escape.group(1), 8)]), result.stderr)
    return result.returncode, said.decode("utf-8", "replace")


def first_lines(said, count):
    """What a reader sees first, in so many lines: without the list of which file includes which."""
    lines = [line for line in said.splitlines() if not re.match(r"In file included from |\s+from \S+:\d+[:,]", line)]
    return "\n".join(lines[:count])


def complaint(case, precompiled, compiler):
    """What is wrong with the case, or None."""
    says, names, explains = (sentence(case, key) for key in ("Says", "Names", "Explains"))
    within = int(sentence(case, "Within") or 5)
    if not says:
        return "the case does not say which sentence it expects"
    code, said = compile_wrong(case, precompiled, compiler)
    if code == 0:
        return "it compiles although it is WRONG"
    errors = [line for line in said.splitlines() if re.search(r"\berror: ", line)]
    if not errors or says not in errors[0]:
        return f"the first error does not say »{says}«:\n{said}"
    if len(errors) > 1:
        return f"there are {len(errors)} errors instead of one:\n{said}"
    for expected in filter(None, (says, names)):
        if expected not in first_lines(said, within):
            return f"the first {within} lines do not contain »{expected}«:\n{said}"
    if explains and not re.search(explains, said):
        return f"the notes do not explain »{explains}«:\n{said}"
    return None


def main():
    case, precompiled, *compiler = sys.argv[1:]
    found = complaint(case, precompiled, compiler)
    if found:
        sys.exit(f"{os.path.basename(case)}: {found}")


if __name__ == "__main__":
    main()
