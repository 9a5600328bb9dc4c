# SPDX-License-Identifier: MIT
"""If training is compiled without optimisation, the compiler prints a note of one line. The program compiles even if every warning
is an error. With optimisation, or with TLM_QUIET, there is no note.

usage: note.py COMPILER [ARGUMENT …]
"""

import subprocess
import sys

NOTE = "tlm: without optimisation a small model trains about 30 times as slowly"


def notes(*arguments):
    """How many lines say it."""
    compiler = [argument for argument in sys.argv[1:] if argument != "-DTLM_QUIET"]
    command = [*compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *arguments, "-x", "c++", "-"]
    result = subprocess.run(command, input="#include <tlm/training/train.hpp>\n", capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} fails:\n{result.stderr}")
    return sum(NOTE in line and ("note: " in line or "warning: " in line) for line in result.stderr.splitlines())


def main():
    for arguments, expected in ((["-O0"], 1), (["-O1"], 0), (["-O0", "-DTLM_QUIET"], 0)):
        if notes(*arguments) != expected:
            sys.exit(f"with {' '.join(arguments)} it is said {notes(*arguments)} times")


if __name__ == "__main__":
    main()
