#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that what must not compile does not, and that the compiler says why in one sentence.

    check.py wrong CASES.toml COMPILER [ARGUMENT...]
    check.py corrected CASES.toml COMPILER [ARGUMENT...]
    check.py sentences CASES.toml LIBRARY

cases.toml says what a case is. `wrong` requires that each wrong program does not compile. The first error must contain the
sentence, and must be the only one unless the case allows more. The sentence and the name must be in the first nine lines that the
compiler prints, without its list of which file includes which. The notes must contain the explanation. `corrected` requires that
all corrected programs compile without a warning. `sentences` requires that some case expects each sentence of the library: those
of a static_assert, of an #error, and of an #include of a file that does not exist.

A single case:

    tests/compile_fail/check.py --only stack_of_none wrong tests/compile_fail/cases.toml \\
        g++ -I. $(pkg-config --cflags xtensor openblas)
"""

import argparse
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).parent
EVERYTHING = HERE / "everything.hpp"
CHANGE = re.compile("«(.*?) → (.*?)»", re.DOTALL)


@dataclasses.dataclass
class Case:
    """An entry of the table."""

    name: str
    says: str
    names: str | None = None  # where a program is changed: the struct in it
    code: str = ""
    change: dict[str, str] = dataclasses.field(default_factory=dict)
    within: int = 9
    explains: str = ""
    more: bool = False
    options: str = ""

    def __post_init__(self):
        for program, change in self.change.items():
            self.code = (HERE / "programs" / f"{program}.cpp").read_text(encoding="utf-8")
            if self.names is None:
                self.names = re.search(r"^struct (\w+)", self.code, re.MULTILINE)[1]
            before = CHANGE.sub(r"\1", change.strip())
            if self.code.count(before) != 1:
                raise ValueError(f"{self.name}: {program}.cpp has {self.code.count(before)} times instead of once: {before}")
            self.code = self.code.replace(before, change.strip())
        if not self.options and self.corrected == self.wrong:
            raise ValueError(f"{self.name}: nothing is changed")

    @property
    def corrected(self):
        """The program that compiles."""
        return CHANGE.sub(r"\1", self.code)

    @property
    def wrong(self):
        """The program that must not."""
        return CHANGE.sub(r"\2", self.code)


def cases_of(table, only=None):
    """The cases of a table, or the one with this name."""
    entries = tomllib.loads(pathlib.Path(table).read_text(encoding="utf-8"))
    if only and only not in entries:
        raise ValueError(f"{table} has no case {only}")
    return [Case(name, **entry) for name, entry in entries.items() if only in (None, name)]


def run(command, **options):
    """The exit code of a compiler, and what it says. Clang shows letters beyond ASCII as octal escapes."""
    result = subprocess.run(command, capture_output=True, check=False, env={**os.environ, "LC_ALL": "C"}, **options)
    octal = re.compile(rb"\\([0-3][0-7]{2})")
    said = octal.sub(lambda escape: bytes([int(escape.group(1), 8)]), result.stderr)
    return result.returncode, said.decode("utf-8", "replace")


def first_lines(said, count):
    """What a reader sees first, in so many lines: without the list of which file includes which."""
    lines = [line for line in said.splitlines() if not re.match(r"In file included from |\s+from \S+[:,]", line)]
    return "\n".join(lines[:count])


def complaint(case, said):
    """What is wrong with what the compiler says of the wrong program, or None."""
    errors = [line for line in said.splitlines() if re.search(r"\berror: ", line)]
    if not errors or case.says not in errors[0]:
        return f"the first error does not say »{case.says}«:\n{said}"
    if len(errors) > 1 and not case.more:
        return f"there are {len(errors)} errors instead of one:\n{said}"
    for expected in (case.says, case.names or ""):
        if expected not in first_lines(said, case.within):
            return f"the first {case.within} lines do not contain »{expected}«:\n{said}"
    if not re.search(case.explains, said):
        return f"the notes do not explain »{case.explains}«:\n{said}"
    return None


def complaint_alone(case, compiler, beginning):
    """The same, where the program is compiled by itself."""
    options = case.options.split() if case.options else ["-std=c++20", "-include", beginning]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / f"{case.name}.cpp"
        file.write_text(case.wrong, encoding="utf-8")
        code, said = run([*compiler, *options, "-fsyntax-only", file])
    return complaint(case, said) if code != 0 else "it compiles although it is WRONG"


def at_once(programs, compiler, beginning):
    """The exit code of a compiler for programs, and what it says of them. Each is in a file of its name, and in a namespace."""
    with tempfile.TemporaryDirectory() as folder:
        included = [line for code in programs.values() for line in code.splitlines() if line.startswith("#include")]
        lines = [f'#include "{beginning}"', *included]
        for name, code in programs.items():
            file = pathlib.Path(folder) / f"{name}.cpp"
            file.write_text(code, encoding="utf-8")
            lines.append(f'namespace {name} {{\n#include "{file}"\n}}')
        return run([*compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", "-"], input="\n".join(lines).encode())


def said_of(programs, said):
    """What the compiler says of each program, whose file it names there. Of several errors in one place only the first says where that
    is: so what names no program is said of the one before."""
    of, names, before = dict.fromkeys(programs, ""), set(), ""
    for part in re.split(r"^(?=In file included from |\S+: In |\S+ (?:fatal error|error|warning): )", said, flags=re.MULTILINE):
        is_note = not re.search(r"\b(error|warning): ", part)
        if is_note and not re.search(r"\bnote: ", part):  # where the next one arose
            before += part
            continue
        if not is_note:
            part, before = before + part, ""
            names = {name for name in re.findall(r"\b(\w+)\.cpp:\d", part) if name in of} or names
            if not names:
                raise ValueError(f"before any program the compiler says:\n{part}")
        for name in names:
            of[name] += part
    return of


def wrong(cases, compiler, beginning=EVERYTHING):
    """What is wrong with each of the cases. Several are compiled at once. If that does not show what a case is to show, it is
    compiled alone. (What is wrong with a type that several of them have is said once, of one of them.)"""
    several = {case.name: case.wrong for case in cases if not case.options} if len(cases) > 1 else {}
    together = said_of(several, at_once(several, compiler, beginning)[1]) if several else {}
    return [f"{case.name}: {said}" for case in cases
            if (said := complaint(case, together.get(case.name, "")) and complaint_alone(case, compiler, beginning))]


def corrected(cases, compiler, beginning=EVERYTHING):
    """What the compiler says of all corrected programs, each once."""
    programs = {case.corrected: case.name for case in cases}
    code, said = at_once({name: code for code, name in programs.items()},
                         [*compiler, "-Wall", "-Wextra", "-Werror"], beginning)
    return [said] if code != 0 else []


def sentences(cases, library):
    """Which sentences of the library no case expects."""
    says = []
    for header in sorted(pathlib.Path(library).rglob("*.hpp")):
        text = header.read_text(encoding="utf-8")
        errors = re.findall(r"static_assert\(.*?\);|^#error [^\n]*|^#include \"[^\"\n]* [^\n]*", text, re.DOTALL | re.MULTILINE)
        says += [(header, said) for error in errors if (said := "".join(re.findall(r'"([^"]*)"', error)))]
    if not says:
        raise ValueError(f"{library} has no static_assert that says anything")
    return [f"no case expects what {header} says: {said}" for header, said in says
            if not any(case.says in said for case in cases)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="CASE")
    parser.add_argument("check", choices=["wrong", "corrected", "sentences"])
    parser.add_argument("table", metavar="CASES.toml")
    parser.add_argument("rest", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    try:
        cases = cases_of(given.table, given.only)
        found = sentences(cases, *given.rest) if given.check == "sentences" else globals()[given.check](cases, given.rest)
    except ValueError as error:
        sys.exit(str(error))
    if found:
        sys.exit("\n".join(found))
    print(f"{given.check}: {len(cases)} cases")


if __name__ == "__main__":
    main()
