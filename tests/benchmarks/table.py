# SPDX-License-Identifier: MIT
"""Tables of what was measured, on the screen and in files.

usage: table.py PROGRAM FILE.tsv …, where the program prints a table for each file: TSV, with an empty line between two
"""

import pathlib
import subprocess
import sys


class Table:
    """Prints each row when it is there, and writes all of them as TSV."""

    def __init__(self, columns):
        self.rows = [columns]
        self.show(columns)

    def row(self, *cells):
        self.rows.append([str(cell) for cell in cells])
        self.show(self.rows[-1])

    def show(self, cells):
        widths = [len(column) for column in self.rows[0]]
        print(f"{cells[0]:<34}", *(f"{cell:>{max(width, 8)}}" for cell, width in zip(cells[1:], widths[1:])), sep="  ",
              flush=True)

    def write(self, path):
        path = pathlib.Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join("\t".join(row) + "\n" for row in self.rows), encoding="utf-8")


def main():
    program, *paths = sys.argv[1:]
    tables, begins = [], True
    with subprocess.Popen([program], stdout=subprocess.PIPE, encoding="utf-8") as process:
        for line in process.stdout:
            cells = line.rstrip("\n").split("\t")
            if begins:
                tables.append(Table(cells))
            elif cells != [""]:
                tables[-1].row(*cells)
            begins = cells == [""]
    if process.returncode != 0:
        sys.exit(f"{program} ended with {process.returncode}")
    for table, path in zip(tables, paths, strict=True):
        table.write(path)


if __name__ == "__main__":
    main()
