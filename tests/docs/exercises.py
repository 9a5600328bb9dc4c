# SPDX-License-Identifier: MIT
"""Each exercise of the book is not solved as it stands, and is by its solution.

usage: exercises.py NUMBER
"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def marked(number, *file):
    return subprocess.run([ROOT / "docs/exercises/mark", number, *file], capture_output=True, text=True)


def main():
    number = sys.argv[1]
    as_it_stands = marked(number)
    if as_it_stands.returncode == 77:
        sys.exit(77)
    if as_it_stands.returncode != 1 or "is not solved yet" not in as_it_stands.stdout:
        sys.exit(f"as it stands: {as_it_stands.stdout}{as_it_stands.stderr}")
    exercise, = (ROOT / "docs/exercises").glob(f"{number}.*")
    text = exercise.read_text(encoding="utf-8")
    solution = (ROOT / f"tests/docs/solutions/{number}.txt").read_text(encoding="utf-8")
    text, count = re.subn(r"(---- change this ----(?: \*\))?\n).*?( *(?://|\(\*) ---- to here ----)", lambda m: m[1] + solution + m[2], text,
                          flags=re.DOTALL)
    with tempfile.NamedTemporaryFile("w", suffix=exercise.suffix, encoding="utf-8") as file:
        file.write(text)
        file.flush()
        solved = marked(number, file.name)
    if count != 1 or solved.returncode != 0 or f"Exercise {number} is solved." not in solved.stdout:
        sys.exit(f"solved: {solved.stdout}{solved.stderr}")


if __name__ == "__main__":
    main()
