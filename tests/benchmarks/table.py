# SPDX-License-Identifier: MIT
"""Tables of what was measured: as table.hpp writes them."""

import pathlib


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
