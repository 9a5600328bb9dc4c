#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every header compiles alone, without a warning, and can be included in two files of one program.

    alone.py DIRECTORY COMPILER [ARGUMENT...]

Headers are compiled in rows, each after one that it includes, itself or by what it includes: so it sees nothing that it does
not include. What takes long to read, FOUNDATION, is compiled once for all that include it.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

from includes import reached

FOUNDATION = "matrix/matrix.hpp"
APART = ["parallel/mpi.hpp"]  # what not every machine can compile; its test includes it first


def in_rows(headers):
    """Headers, of each of which is given what it includes, in rows: in one all include the foundation, or none."""
    rows = []
    for name in sorted(headers, key=lambda name: len(headers[name])):
        for row in reversed(rows):
            if row[-1] in headers[name] and (FOUNDATION in headers[row[0]]) == (FOUNDATION in headers[name]):
                row.append(name)
                break
        else:
            rows.append([name])
    return rows


def main():
    directory = pathlib.Path(sys.argv[1]).resolve()
    command = [*sys.argv[2:], "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    names = sorted(header.relative_to(directory).as_posix() for header in directory.rglob("*.hpp"))
    headers = {name: reached(directory, name) - {name} for name in names if name not in APART}
    if not headers:
        sys.exit(f"there is no header in {directory}")

    def included(row):
        return "".join(f'#include "{directory / name}"\n' for name in row)

    def complaint(*arguments, **options):
        """What the compiler says, if it fails."""
        result = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False, **options)
        return (result.stderr or "the compiler fails\n") if result.returncode != 0 else ""

    def compiled(row):
        """An object file of nothing but these headers, or why there is none."""
        given = ["-include", header] if FOUNDATION in headers[row[0]] else []
        return complaint(*given, "-c", "-x", "c++", "-", "-o", objects / f"{row[0].replace('/', '_')}.o", input=included(row))

    with tempfile.TemporaryDirectory() as place, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects, header = pathlib.Path(place), pathlib.Path(place, "foundation.hpp")
        if FOUNDATION in headers:
            header.write_text(included([FOUNDATION]), encoding="utf-8")
            subprocess.run([*command, "-x", "c++-header", header, "-o", f"{header}.gch"], check=True)
        complaints = list(pool.map(compiled, in_rows(headers)))
        if not any(complaints):
            linked = 2 * sorted(objects.glob("*.o"))
            complaints = [complaint("-r", "-nostdlib", *linked, "-o", objects / "twice.o")]
    sys.exit("".join(complaints) or 0)


if __name__ == "__main__":
    main()
