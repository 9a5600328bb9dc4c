#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the corrected version of every case compiles, without a warning: all of them at once.

    corrected.py CASE.cpp… -- COMPILER [ARGUMENT...]

Each case stands in a namespace of its own, behind the headers of all: so what is corrected is compiled in seconds.
"""

import os
import re
import subprocess
import sys


def all_of(cases):
    """A file that contains the corrected version of every case."""
    headers, namespaces = set(), []
    for number, case in enumerate(cases):
        with open(case, encoding="utf-8") as file:
            headers |= set(re.findall(r"^#include (<.*>)$", file.read(), re.MULTILINE))
        namespaces.append(f'namespace case_{number} {{\n#include "{os.path.abspath(case)}"\n}}\n')
    return "".join(f"#include {header}\n" for header in sorted(headers)) + "".join(namespaces)


def main():
    end = sys.argv.index("--")
    cases, compiler = sys.argv[1:end], sys.argv[end + 1:]
    command = [*compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-x", "c++", "-"]
    result = subprocess.run(command, input=all_of(cases), capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(result.stderr)


if __name__ == "__main__":
    main()
