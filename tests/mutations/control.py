#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that planted.py refuses what it must, and says why.

    control.py CONTROLS.txt PLANTED.py [--places] ARGUMENT...

With --places these are the lines before "# When it is run", otherwise those after it. For each, planted.py is given a file
with what stands after ⇐; it must end with the exit code 1 and say what stands before.
"""

import pathlib
import subprocess
import sys
import tempfile


def main():
    controls, script, *arguments = sys.argv[1:]
    option, arguments = arguments[:arguments[0] == "--places"], arguments[arguments[0] == "--places":]
    at_once, when_run = pathlib.Path(controls).read_text(encoding="utf-8").split("# When it is run")
    lines = [line for line in (at_once if option else when_run).splitlines() if "⇐" in line and not line.startswith("#")]
    accepted = []
    for says, planted in (line.split(" ⇐ ") for line in lines):
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.write(planted.replace(" ⏎ ", "\n"))
            file.flush()
            result = subprocess.run([sys.executable, script, *option, file.name, *arguments], capture_output=True, text=True,
                                    check=False)
        said = result.stdout + result.stderr
        if result.returncode != 1 or says not in said:
            accepted.append(f"it ends with {result.returncode} instead of 1, or does not say »{says}«:\n{said}")
    print(f"{len(lines) - len(accepted)} of {len(lines)} refused")
    sys.exit("\n".join(accepted) or 0)


if __name__ == "__main__":
    main()
