# SPDX-License-Identifier: MIT
"""Compiles the library where the headers of xtensor lie as they do from 0.26 on: in folders, and no longer beside each
other.

    moved.py INCLUDES COMPILER [ARGUMENT …]

INCLUDES is where xtensor is installed, in which the folder xtensor has its headers beside each other, as before 0.26. In
front of it comes a directory of the new form, made here: what has moved includes the old header by its whole path, and
whoever takes a header from the old place himself is refused. Where nothing has moved, the library must not compile: the
old places are out of sight indeed.
"""

import pathlib
import subprocess
import sys
import tempfile

MOVED = {"xexpression": "core", "xstorage": "containers", "xtensor_forward": "core"}


def compiles(old, moved, compiler):
    """Whether the library compiles where these headers have moved, and what the compiler says."""
    with tempfile.TemporaryDirectory() as directory:
        new = pathlib.Path(directory, "xtensor")
        new.mkdir()
        for header in old.glob("*.hpp"):
            (new / header.name).write_text(f'#error "{header.name} is no longer here"\n')
        for name, folder in moved.items():
            (new / folder).mkdir(exist_ok=True)
            (new / folder / f"{name}.hpp").write_text(f'#include "{old / name}.hpp"\n')
        command = [*compiler, f"-I{directory}", "-std=c++20", "-fsyntax-only", "-x", "c++", "-"]
        result = subprocess.run(command, input="#include <tlm/tlm.hpp>\n", capture_output=True, text=True)
        return result.returncode == 0, result.stderr


def main():
    includes, *compiler = sys.argv[1:]
    old = pathlib.Path(includes, "xtensor")
    if (old / "containers").is_dir():
        print("xtensor is installed in the new form, and every other test compiles with it")
        return
    moved, said = compiles(old, MOVED, compiler)
    if not moved:
        sys.exit(said)
    not_moved, _ = compiles(old, {}, compiler)
    if not_moved:
        sys.exit("the library compiles although xtensor has neither its old nor its new headers")


if __name__ == "__main__":
    main()
