# SPDX-License-Identifier: MIT
"""Compiles the program that the README shows.

usage: readme.py README COMPILER [ARGUMENT …]
"""

import pathlib
import re
import subprocess
import sys

programs = [block for block in re.findall(r"```cpp\n(.*?)```", pathlib.Path(sys.argv[1]).read_text(), re.S)
            if "int main()" in block]
if len(programs) != 1:
    sys.exit(f"the README shows {len(programs)} programs, not one")
sys.exit(subprocess.run([*sys.argv[2:], "-std=c++20", "-fsyntax-only", "-x", "c++", "-"], input=programs[0],
                        text=True).returncode)
