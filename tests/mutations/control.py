#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that planted.py refuses a file, and says why.

    control.py CONTROL.toml COMMAND...

The file says on its second line what is to be said, `# Says: …`. The command, planted.py with its arguments, is to end with
the exit code 1 and to have said it.
"""

import pathlib
import re
import subprocess
import sys


def main():
    control, *command = sys.argv[1:]
    says = re.search(r"^# Says: (.*)$", pathlib.Path(control).read_text(), re.MULTILINE)[1]
    result = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    said = result.stdout + result.stderr
    if result.returncode != 1 or says not in said:
        sys.exit(f"it ends with {result.returncode} instead of 1, or does not say »{says}«:\n{said}")


if __name__ == "__main__":
    main()
