#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""From how many headers a value is understood: those whose functions a program calls.

    reached.py PROGRAM LIMIT

PROGRAM is compiled with --coverage by GCC, and its notes are in PROGRAM.p. It prints the headers of the library, and fails if there
are more than LIMIT.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

APART = ["numbers/evaluation.hpp"]  # x = e in a quicker way, which means what it means in xtensor


def reached(program):
    """The headers of the library with a function that the program calls."""
    with tempfile.TemporaryDirectory() as folder:
        counts = {"GCOV_PREFIX": folder, "GCOV_PREFIX_STRIP": "99"}
        subprocess.run([program], check=True, env=os.environ | counts)
        for notes in pathlib.Path(f"{program}.p").glob("*.gcno"):
            shutil.copy(notes, folder)
        data = [path.name for path in pathlib.Path(folder).glob("*.gcda")]
        report = subprocess.run(["gcov", "--json-format", "--stdout", *data], cwd=folder, check=True, capture_output=True)
    for file in json.loads(report.stdout.splitlines()[0])["files"]:
        if "/tlm/" in file["file"] and any(function["execution_count"] for function in file["functions"]):
            yield file["file"].split("/tlm/")[-1]


def main():
    headers = sorted(set(reached(pathlib.Path(sys.argv[1]).resolve())) - set(APART))
    print(f"CA(X) calls what is in {len(headers)} headers of at most {sys.argv[2]}:", *headers)
    sys.exit(not headers or len(headers) > int(sys.argv[2]))


if __name__ == "__main__":
    main()
