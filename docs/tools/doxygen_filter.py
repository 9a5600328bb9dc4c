# SPDX-License-Identifier: MIT
"""What Doxygen reads of a header: the same lines, with formulas and code in comments as they are written, and without what
its parser takes for something else.

usage: doxygen_filter.py HEADER
"""

import pathlib
import re
import sys

COMMENT = re.compile(r"^(\s*///)( *)(.*)$")


def is_shown_as_it_is(line):
    """Whether a line of a comment is a formula or code: it is indented."""
    match = COMMENT.match(line)
    return bool(match and match[3] and len(match[2]) >= 3)


def filtered(lines):
    shown = [is_shown_as_it_is(line) for line in lines]
    for i, line in enumerate(lines):
        if not COMMENT.match(line):
            # A specialization that another one derives from is no class that derives from itself.
            line = re.sub(r"^(class Matrix)(<[^:]*>)? : public Matrix<.*\{$", r"\1\2 {", line)
            line = re.sub(r"^struct ((\w+)(?:<.*>)?) : \2<.*?\{(\}?;?)$", r"struct \1 {\3", line)
            lines[i] = line
            continue
        if shown[i]:
            continue
        line = line.replace("\\x", "\\\\x").replace("@", "\\@")
        blank = not COMMENT.match(line)[3]
        if i + 1 < len(lines) and shown[i + 1]:
            line += " \\verbatim" if not (i > 0 and shown[i - 1] and blank) else ""
        if i > 0 and shown[i - 1] and not (blank and i + 1 < len(lines) and shown[i + 1]):
            line = re.sub(r"^(\s*///)", r"\1 \\endverbatim", line)
        lines[i] = line
    # A comment that ends with a formula is followed by code: its last line ends the formula.
    for i in range(len(lines) - 1):
        if shown[i] and not COMMENT.match(lines[i + 1]):
            lines[i] += " \\endverbatim"
    return lines


if __name__ == "__main__":
    text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    sys.stdout.write("\n".join(filtered(text.split("\n"))))
