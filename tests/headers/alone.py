#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every header compiles alone, without a warning.

    alone.py DIRECTORY COMPILER [ARGUMENT...]
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys


def complaint(header, compiler):
    """What the compiler says of a file that includes nothing but this header."""
    command = [*compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-x", "c++", "-"]
    result = subprocess.run(command, input=f'#include "{header}"\n', capture_output=True, text=True, check=False)
    return result.stderr if result.returncode != 0 else ""


def main():
    directory, *compiler = sys.argv[1:]
    headers = sorted(pathlib.Path(directory).rglob("*.hpp"))
    if not headers:
        sys.exit(f"there is no header in {directory}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = list(pool.map(lambda header: complaint(header, compiler), headers))
    if any(complaints):
        sys.exit("".join(complaints))


if __name__ == "__main__":
    main()
