"""Every leaf of the library is in the list that the proofs run over.

A leaf is a struct that declares what it is; the list is proofs/layers.hpp. A declared but untested leaf cannot exist.

usage: listed.py SOURCE_ROOT [FORGOTTEN], where FORGOTTEN is left out of the list
"""

import pathlib
import re
import sys

ROOT, FORGOTTEN = pathlib.Path(sys.argv[1]), sys.argv[2:]


def leaves():
    """The names of the structs that declare what they are."""
    for header in sorted((ROOT / "tlm").rglob("*.hpp")):
        text = header.read_text(encoding="utf-8")
        for declared in re.finditer(r"^  using declared = ", text, re.MULTILINE):
            yield re.findall(r"^struct (\w+)", text[:declared.start()], re.MULTILINE)[-1]


def main():
    listed = re.findall(r"\b(\w+)<", (ROOT / "proofs/layers.hpp").read_text(encoding="utf-8"))
    # A leaf that others derive from is listed by these.
    listed += ["StandardizedRows"] if {"Normalization", "LayerNorm"} <= set(listed) else []
    missing = [leaf for leaf in leaves() if leaf not in listed or leaf in FORGOTTEN]
    for leaf in missing:
        print(f"{leaf} declares what it is and is not in proofs/layers.hpp")
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
