#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that check.py refuses each case of controls.toml for the reason below, and a library of which no case is known.

    controls.py LIBRARY COMPILER [ARGUMENT...]
"""

import os
import pathlib
import sys

import check

WRONG = {
    "compiles": "it compiles although it is WRONG",
    "says_something_else": "the first error does not say",
    "names_something_else": "the first 5 lines do not contain »MyLayer«",
    "too_late": "the first 5 lines do not contain »the sentence«",
    "two_errors": "there are 2 errors instead of one",
    "unexplained": "the notes do not explain",
}
NOTHING = pathlib.Path(os.devnull)  # which they begin with
CORRECTED = {"corrected_is_wrong": "the sentence", "corrected_warns": "unused"}


def main():
    library, *compiler = sys.argv[1:]
    cases = {case.name: case for case in check.cases_of(pathlib.Path(__file__).with_name("controls.toml"))}
    found = check.wrong([cases[name] for name in WRONG], compiler, NOTHING)
    accepted = [name for name, reason in WRONG.items() if not any(said.startswith(f"{name}: {reason}") for said in found)]
    accepted += [name for name, reason in CORRECTED.items()
                 if not any(reason in said for said in check.corrected([cases[name]], compiler, NOTHING))]
    accepted += [] if check.sentences([cases["unexplained"]], library) else ["a library of which no case is known"]
    if accepted:
        sys.exit(f"check.py does not refuse {', '.join(accepted)}, or not for the reason that controls.py gives:\n"
                 + "\n".join(found))


if __name__ == "__main__":
    main()
