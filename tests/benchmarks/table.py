# SPDX-License-Identifier: MIT
"""Runs a benchmark, and shows and keeps the tables that it prints: TSV, with an empty line between two tables.

usage: table.py FILE.tsv … -- COMMAND …, with a file for each table; tables without a file are only shown
"""

import pathlib
import subprocess
import sys


def main():
    end = sys.argv.index("--")
    files, command = sys.argv[1:end], sys.argv[end + 1:]
    tables = [[]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as process:
        for line in process.stdout:
            cells = line.rstrip("\n").split("\t")
            if cells == [""]:
                tables.append([])
                continue
            tables[-1].append(line)
            widths = [len(column) for column in tables[-1][0].rstrip("\n").split("\t")]
            print(f"{cells[0]:<34}", *(f"{cell:>{max(width, 8)}}" for cell, width in zip(cells[1:], widths[1:])), sep="  ",
                  flush=True)
    if process.returncode == 0:
        for file, lines in zip(map(pathlib.Path, files), tables[:len(files)], strict=True):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("".join(lines), encoding="utf-8")
    sys.exit(process.returncode)


if __name__ == "__main__":
    main()
