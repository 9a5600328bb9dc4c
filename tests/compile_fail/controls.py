#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that check.py refuses each case below for its reason, and a library of which no case is known.

    controls.py LIBRARY COMPILER [ARGUMENT...]
"""

import contextlib
import os
import pathlib
import sys

from check import Case, corrected, sentences, wrong

SAYS = 'static_assert(false, "the sentence");'
WRONG = {  # each is the program that must not compile, but for the first
    "it compiles although it is WRONG": {"code": "« → #warning nothing more\n»"},
    "the first error does not say": {"code": '« → static_assert(false, "another sentence");»'},
    "the first 5 lines do not contain »MyLayer«": {
        "within": 5, "names": "MyLayer",
        "code": 'template <class T>\nstruct Check {\n  static_assert(sizeof(T) == 1, "the sentence");\n};\n\nCheck<«char → int»> check;'},
    "the first 5 lines do not contain »the sentence«": {
        "within": 5, "code": f"« → #warning something else, which takes three lines\n#warning and again\n{SAYS}»"},
    "there are 2 errors instead of one": {"code": f'« → {SAYS}\nstatic_assert(false, "and another");»'},
    "there are 2 errors": {  # of which a compiler says once where they arose
        "code": '#line 1 "library.hpp"\ntemplate <class T>\nvoid check() {\n  static_assert(sizeof(T) == 1, "the sentence");\n'
                '  static_assert(sizeof(T) == 3, "and another");\n}\n#line 9 "control.cpp"\nauto used = &check<«char → int»>;'},
    "the notes do not explain": {"code": f"« → {SAYS}»", "explains": "a reason that no compiler gives"},
}
CORRECTED = {
    "the sentence": {"code": f"«{SAYS} → »"},
    "unused": {"code": f"void warn(int unused) {{« → {SAYS}»}}"},
}
BESIDE = Case("beside", "the sentence", code=f"« → {SAYS}»")  # as it is to be: what is said of it is not said of the control
NOTHING = pathlib.Path(os.devnull)  # which they begin with


def main():
    library, *compiler = sys.argv[1:]
    accepted = []
    for check, controls in (wrong, WRONG), (corrected, CORRECTED):
        for reason, control in controls.items():
            found = check([BESIDE, Case("control", "the sentence", **control)], compiler, NOTHING)
            if len(found) != 1 or reason not in found[0]:  # in what check.py says of it, or the compiler
                accepted.append(f"»{reason}«: {found}")
    with contextlib.suppress(ValueError):
        accepted.append(f"programs that begin with what is no C++: {wrong([BESIDE, BESIDE], compiler, pathlib.Path(__file__))}")
    if not sentences([Case("control", "the sentence", **CORRECTED["unused"])], library):
        accepted.append("a library of which no case is known")
    if accepted:
        sys.exit("check.py does not refuse, or not for this reason:\n" + "\n".join(accepted))


if __name__ == "__main__":
    main()
