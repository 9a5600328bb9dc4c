# SPDX-License-Identifier: MIT
"""What the statements of the sources rest on, counted: those that a theorem of proofs/kernel says, too, over any numbers or over
ℝ; those that are only checked; and what is neither claimed nor proved. From coverage.toml, the lines of the proofs that it names,
and the theorems that these name.

usage: evidence.py [--all] prints the table, and with --all each statement under its kind
"""

import pathlib
import re
import sys
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from tools import results, sources  # noqa: E402

# A statement that is proved over any numbers is not counted again over ℝ.
KINDS = ("proved over any numbers", "proved over ℝ", "proved in part", "only checked", "only tested, or a note")
DOCS = pathlib.Path(__file__).resolve().parent
NAMES = {"article": "the article", "notebook": "its notebook", "numpy": "the NumPy notebook",
         "formulated": "The Formulated Transformer", "wolfram": "the Wolfram article"}


def theorems_named_by(case):
    """The theorems that a test case of the proofs names in its description."""
    text = "\n".join(sources.lines_of(sources.path_of(case.file))[case.line - 1:])
    heading = text[:text.index(") {\n")]
    found = re.search(r'doctest::description\(\s*((?:"[^"]*"\s*)+)', heading)
    return "".join(re.findall(r'"([^"]*)"', found[1])).split(", ") if found else []


def kind_of(entry):
    """What an entry of coverage.toml rests on: one of KINDS. It is proved over any numbers if all its theorems are."""
    claims = [sources.claim(proof) for proof in entry.get("proof", [])]
    theorems = [name for claim in claims for name in results.chosen(claim, theorems_named_by(claim.case))]
    if theorems:
        in_part = "unproved" in entry or any(claim.in_part for claim in claims)
        return "proved in part" if in_part else f"proved over {results.numbers_of_all(theorems)}"
    return "only checked" if claims else "only tested, or a note"


def counted(table):
    """For each source how many of its claims and remarks are of each kind. (Definitions and code claim nothing.)"""
    return {source: {kind: sum(kind_of(entry) == kind for entry in entries if entry["kind"] in ("claim", "remark"))
                     for kind in KINDS} for source, entries in table.items()}


def main():
    table = tomllib.loads((DOCS / "coverage.toml").read_text(encoding="utf-8"))
    for source, counts in counted(table).items():
        print(f"{NAMES[source]}: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()))
        for entry in table[source] if "--all" in sys.argv else ():
            print(f"  {entry['kind']}, {kind_of(entry)}: {entry['says']}")


if __name__ == "__main__":
    main()
