# SPDX-License-Identifier: MIT
"""Every leaf of the library is reached from the list that proofs and tests of all layers run over.

A leaf is a struct that declares what it is, or derives from one that does; masks and biases declare, too. Whether it is
reached the types say (leaves.cpp): that its name, or an alias of it, stands beside the list is not enough. A struct that is
nothing but the base of others, and used nowhere else, is reached by all of these.

usage: leaves.py LIBRARY PROGRAM [NAME], where NAME is taken for a leaf of the library that the list does not reach
"""

import pathlib
import re
import subprocess
import sys

LIBRARY, PROGRAM, *CONTROL = sys.argv[1:]
# A struct that a header defines: name, what stands between the colon and the brace, body.
STRUCT = re.compile(r"^struct (\w+)(?:\s*:\s([^{;]*?))?\s*\{(\}|.*?^\})", re.MULTILINE | re.DOTALL)


def main():
    text = "\n".join(header.read_text(encoding="utf-8") for header in sorted(pathlib.Path(LIBRARY).rglob("*.hpp")))
    text = re.sub(r"//.*", "", text)
    structs = STRUCT.findall(text)
    bodies = {name: body for name, _, body in structs}
    bases = {name: re.match(r"[\w:]*", base)[0].split("::")[-1] for name, base, _ in structs if base}
    declaring = {name for name, _, body in structs if re.search(r"^  using declared = ", body, re.MULTILINE)}
    if not declaring:
        sys.exit(f"{LIBRARY} declares no leaf")

    leaves = set(declaring)
    while derived := {name for name, base in bases.items() if base in leaves} - leaves:
        leaves |= derived
    leaves |= set(CONTROL)

    output = subprocess.run([PROGRAM], capture_output=True, text=True, check=True).stdout
    reached = {re.match(r"tlm::(?:\w+::)*(\w+)", line)[1] for line in output.splitlines()} - set(CONTROL)

    def is_reached(leaf):
        if leaf in reached:
            return True
        heirs = [name for name, base in bases.items() if base == leaf]
        other_uses = re.findall(rf"\b{leaf}<", text.replace(bodies.get(leaf, ""), ""))
        as_a_base = re.findall(rf"^struct \w+\s*: (?:\w+::)*{leaf}<", text, re.MULTILINE)
        return bool(heirs) and len(other_uses) == len(as_a_base) and all(map(is_reached, heirs))

    missing = sorted(leaf for leaf in leaves if not is_reached(leaf))
    for leaf in missing:
        print(f"{leaf} declares what it is, and no layer of proofs/all_layers.hpp has it in it")
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
