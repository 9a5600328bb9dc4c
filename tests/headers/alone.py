#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every header compiles alone, without a warning.

    alone.py DIRECTORY COMPILER [ARGUMENT...]

What takes long to read is compiled once, FOUNDATIONS; a header that includes one, itself or by what it includes, is given the
last of them compiled. It sees nothing by that which it does not include: what comes before the foundation in it is a header
that is checked alone, too.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

from includes import reached

FOUNDATIONS = ["base/xtensor.hpp", "matrix/matrix.hpp"]
APART = ["parallel/mpi.hpp"]  # what not every machine can compile; its test includes it first
COMPILED = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-x"]


def with_foundation(foundation, compiler, place):
    """The arguments by which a compilation has a foundation."""
    header = pathlib.Path(place) / foundation.name
    header.write_text(f'#include "{foundation}"\n', encoding="utf-8")
    subprocess.run([*compiler, *COMPILED, "c++-header", header, "-o", f"{header}.gch"], check=True)
    return ["-include", header]


def complaint(header, compiler):
    """What the compiler says of a file that includes nothing but this header."""
    command = [*compiler, *COMPILED, "c++", "-fsyntax-only", "-"]
    result = subprocess.run(command, input=f'#include "{header}"\n', capture_output=True, text=True, check=False)
    return (result.stderr or "the compiler fails\n") if result.returncode != 0 else ""


def main():
    directory, compiler = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    names = sorted(header.relative_to(directory).as_posix() for header in directory.rglob("*.hpp"))
    headers = {name: reached(directory, name) - {name} for name in names if name not in APART}
    if not headers:
        sys.exit(f"there is no header in {directory}")
    with tempfile.TemporaryDirectory() as place, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        compiled = {name: with_foundation(directory / name, compiler, place) for name in FOUNDATIONS if name in headers}

        def complaint_of(name):
            given = [compiled[foundation] for foundation in compiled if foundation in headers[name]]
            return complaint(directory / name, compiler + (given[-1] if given else []))

        complaints = list(pool.map(complaint_of, headers))
    if any(complaints):
        sys.exit("".join(complaints))


if __name__ == "__main__":
    main()
