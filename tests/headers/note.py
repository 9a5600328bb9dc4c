# SPDX-License-Identifier: MIT
"""If training is compiled without optimisation, the compiler prints a note of one line. The program compiles even if every warning
is an error. With optimisation, or with TLM_QUIET, there is no note.

usage: note.py COMPILER [ARGUMENT …]
"""

import subprocess
import sys

NOTE = "tlm: without optimisation a small model trains about 30 times as slowly"


def notes(header, *arguments):
    """How many lines say it."""
    compiler = [argument for argument in sys.argv[1:] if argument != "-DTLM_QUIET"]
    command = [*compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *arguments, "-x", "c++", "-"]
    result = subprocess.run(command, input=f"#include <tlm/{header}>\n", capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} fails:\n{result.stderr}")
    return sum(NOTE in line and ("note: " in line or "warning: " in line) for line in result.stderr.splitlines())


def main():
    for header, arguments, expected in (("training/train.hpp", ["-O0"], 1), ("base/optimisation.hpp", ["-O1"], 0),
                                        ("base/optimisation.hpp", ["-O0", "-DTLM_QUIET"], 0)):
        if (said := notes(header, *arguments)) != expected:
            sys.exit(f"with {' '.join(arguments)} {header} says it {said} times")


if __name__ == "__main__":
    main()
