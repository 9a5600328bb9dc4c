# SPDX-License-Identifier: MIT
"""Which tests to run: prints the targets that they need on one line, then the arguments for `meson test`, a line each.

usage: choose.py BUILD [SUITE | SUITE/TEST] …
       choose.py BUILD --list [SUITE] …

The suite `default` is what runs without a name.
"""

import json
import os
import subprocess
import sys

LEFT_OUT = ("docs", "kernel", "mpi", "mutations", "fuzz", "wasm")  # by default
# Suites of which a build directory may know nothing.
ABSENT = {"fuzz": "needs Clang and its libFuzzer: CXX=clang++ ./tests/run fuzz",
          "mpi": "needs Open MPI, which ./tests/run mpi installs",
          "mutations": "needs RapidCheck and Open MPI, which ./tests/run mutations installs"}


def introspect(build, what):
    return json.loads(subprocess.check_output(["meson", "introspect", build, what], text=True))


def refuse(sentence):
    """Wrong arguments end with a sentence and, as a test that fails does not, with 2."""
    print(f"tests/run: {sentence}", file=sys.stderr)
    sys.exit(2)


def list_tests(suites, names):
    """All suites, and the tests of some of them: if none is named, the proofs, which are those that one runs alone."""
    names = [name.removesuffix("/") for name in names]
    for name in set(names) - set(suites) - set(ABSENT):
        refuse(f"there is no suite '{name}'; --list alone names all of them")
    for suite, tests in sorted(suites.items()):
        if not names or suite in names:
            named = "   only when named" if suite in LEFT_OUT else ""
            print(f"{suite:<16} {len(tests):3} test{'s' if len(tests) > 1 else ''}{named}")
        if suite in (names or ["proofs"]):
            print("\n".join(f"  {suite}/{test['name']}" for test in tests))
    for suite in sorted(set(ABSENT) - set(suites)):
        if not names or suite in names:
            print(f"{suite:<16} {ABSENT[suite]}")
    if not names:
        print("./tests/run --list SUITE names the tests of a suite.")


def main():
    build, *names = sys.argv[1:]
    suites = {}
    for test in introspect(build, "--tests"):
        for suite in test["suite"]:
            suites.setdefault(suite.split(":")[-1], []).append(test)
    if names[:1] == ["--list"]:
        list_tests(suites, names[1:])
        return
    if "--list" in names:
        refuse("--list stands first, and the names of suites behind it")

    suites["default"] = [test for suite, tests in suites.items() if suite not in LEFT_OUT for test in tests]
    chosen, arguments = [], []
    for name in names or ["default"]:
        name = name.removesuffix("/")  # as a shell completes the name of a folder
        suite, slash, part = name.partition("/")
        number = part.zfill(2) if part.isdigit() else part
        tests = [test for test in suites.get(suite, []) if test["name"].startswith(number)]
        if name.startswith("-"):
            refuse(f"there is no option '{name}'; --help says what there is")
        if suite in ABSENT and suite not in suites:
            refuse(f"{suite} {ABSENT[suite]}")
        if slash and not tests and suite in suites:
            refuse(f"there is no test '{name}'; those of {suite} are: " + ", ".join(test["name"] for test in suites[suite]))
        if not tests or not name:
            refuse(f"there is no test '{name}'; the suites are: {' '.join(sorted(set(suites) | set(ABSENT)))} (--list names their tests)")
        if slash and len(names) > 1:
            refuse(f"a single test runs alone: '{name}' stands beside others")
        chosen += tests
        for each in (sorted(set(suites) - {"default", *LEFT_OUT}) if suite == "default" else [suite]):
            arguments += ["--suite", each] + [test["name"] for test in tests if slash]
    if len(names) == 1 and names[0].split("/")[0] in ("proofs", "mutations", "kernel"):
        arguments += ["--verbose", "--num-processes", "1"]  # the list of claims, theorems, or what was seen

    files = {target["id"]: target["filename"] for target in introspect(build, "--targets")}
    needed = {os.path.relpath(file, build) for test in chosen for target in test["depends"] for file in files[target]}
    print(*sorted(needed))
    print(*arguments, sep="\n")


if __name__ == "__main__":
    sys.exit(main())
