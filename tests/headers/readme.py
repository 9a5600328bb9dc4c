# SPDX-License-Identifier: MIT
"""Compiles the program that the README shows, without a warning, in C++20 and C++23. It takes the compiler of the build, and
every other GCC from 12 on and Clang from 14 on that is installed.

usage: readme.py README ARGUMENT … -- COMPILER …
"""

import concurrent.futures
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys

OLDEST = {"g++": 12, "clang++": 14}
STANDARDS = ["c++20", "c++2b"]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]


def version(program):
    """The first number of the version of a compiler."""
    return int(re.match(r"\d+", subprocess.check_output([program, "-dumpversion"], text=True))[0])


def compilers(build):
    """The compiler of the build, and every other that is there, each once whatever its names."""
    found = {os.path.realpath(shutil.which(build[-1])): build}
    for directory in os.get_exec_path():
        for path in sorted(pathlib.Path(directory).glob("*g++*")):
            name = re.fullmatch(r"((?:clan)?g\+\+)(-\d+)?", path.name)
            if name and os.path.realpath(path) not in found and version(path) >= OLDEST[name[1]]:
                found[os.path.realpath(path)] = [str(path)]
    return found.values()


def main():
    readme, *arguments = sys.argv[1:]
    arguments, build = arguments[:arguments.index("--")], arguments[arguments.index("--") + 1:]
    text = pathlib.Path(readme).read_text(encoding="utf-8")
    programs = [block for block in re.findall(r"```cpp\n(.*?)```", text, re.S) if "int main()" in block]
    if len(programs) != 1:
        sys.exit(f"the README shows {len(programs)} programs, not one")

    def complaint(way):
        compiler, standard = way
        command = [*compiler, f"-std={standard}", *WARNINGS, *arguments, "-fsyntax-only", "-x", "c++", "-"]
        result = subprocess.run(command, input=programs[0], capture_output=True, text=True)
        print(*compiler, standard, "compiles it" if result.returncode == 0 else "does not compile it")
        return (result.stderr or "the compiler fails\n") if result.returncode != 0 else ""

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = list(pool.map(complaint, itertools.product(compilers(build), STANDARDS)))
    if any(complaints):
        sys.exit("".join(complaints))


if __name__ == "__main__":
    main()
