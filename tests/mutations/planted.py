#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plants changes in a copy of the library, one at a time, and requires that the check named beside each sees it.

    planted.py PLANTED.toml SOURCES BUILD DOCTEST_MAIN COMPILER [ARGUMENT...]
    planted.py --places PLANTED.toml SOURCES

With --places it only looks whether every change has its place in the headers. An entry of PLANTED.toml is

    [[planted]]
    change = "row i sees one key too many"      what is wrong, in words
    header = "attention/mask.hpp"
    old = 'return «i + 1»;'                     occurs once in the header; what stands between « and », or all of it,
    new = 'i + 2'                               becomes this
    seen_by = "proofs/03_product"               the program, or the file or case that is compiled
    falls = "A a causal kernel"                 part of the name of the test case, or of what the compiler then says

and, if need be,

    ends = "crash"         or "timeout": so it ends, instead of by a test case that fails
    equivalent = "…"       why it changes nothing: the test case must pass, although it comes to the place
    for_real = true        made in a copy of its own, for which the program is compiled again

In the copy of all other changes both stand side by side: `old` is an expression, or statements if it ends with ;, and
the environment variable TLM_PLANTED says which change is on, by its number in the file. So each program is compiled
once. What the compiler reads (constant expressions, types, declarations) is never switched: such changes are made for real,
as are all whose `seen_by` is static/…, compile_fail/… or headers/…, where nothing is linked. JOBS=1 does one thing at a
time.
"""

import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import tomllib

SWITCH = """// Which of the planted changes is on, and whether the program came to its place.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <type_traits>

struct TlmPlanted {
  int number = std::getenv("TLM_PLANTED") ? std::atoi(std::getenv("TLM_PLANTED")) : 0;
  bool reached = false;
  ~TlmPlanted() {
    if (reached) std::fputs("the planted change was reached\\n", stderr);
  }
};
inline TlmPlanted tlm_planted_change;

constexpr bool tlm_planted(int number) {
  if (std::is_constant_evaluated() || tlm_planted_change.number != number) return false;
  return tlm_planted_change.reached = true;
}
"""
NEEDED, OPTIONAL = {"change", "header", "old", "new", "seen_by", "falls"}, {"ends", "equivalent", "for_real"}
SUITES = {"proofs": "proofs", "unit": "tests/unit", "gradients": "tests/gradients",
          "encoder_decoder": "tests/encoder_decoder", "static": "tests/static", "headers": "tests/headers",
          "storage": "tests/storage", "mpi": "tests/mpi"}
CASES = "tests/compile_fail/cases.toml"
RANKS = 3  # on which what is in mpi runs
Place = collections.namedtuple("Place", "begin end")
Outcome = collections.namedtuple("Outcome", "ran failed ended reached seconds said", defaults=[0, 0, "", False, 0, ""])


class Change:
    """An entry of the file: its number, and what it says."""

    def __init__(self, number, entry):
        self.number, self.entry = number, entry
        self.ends, self.equivalent = entry.get("ends", ""), "equivalent" in entry
        for key in NEEDED:
            setattr(self, key, entry.get(key, ""))

    @property
    def program(self):
        """Whether a program sees it; otherwise the compiler or a script."""
        return self.seen_by.split("/")[0] not in ("static", "compile_fail", "headers")

    @property
    def for_real(self):
        return self.entry.get("for_real", False) or not self.program

    def place(self, text):
        """Where in a header the part stands that it replaces."""
        before, part, _ = re.fullmatch(r"([^«]*)«(.*)»([^»]*)", self.old, re.DOTALL).groups() if "«" in self.old else (
            "", self.old, "")
        begin = text.index(re.sub("[«»]", "", self.old)) + len(before)
        return Place(begin, begin + len(part))

    def complaint(self, sources):
        """What is wrong with the entry, or None."""
        if missing := NEEDED - set(self.entry):
            return f"it does not say {', '.join(sorted(missing))}"
        if unknown := set(self.entry) - NEEDED - OPTIONAL:
            return f"nobody reads {', '.join(sorted(unknown))}"
        header = sources / "tlm" / self.header
        if not header.is_file():
            return f"there is no header {self.header}"
        if (self.old.count("«"), self.old.count("»")) not in ((0, 0), (1, 1)):
            return f"there is not one part between « and »: {self.old}"
        if (count := header.read_text().count(re.sub("[«»]", "", self.old))) != 1:
            return f"{self.header} has {count} times instead of once: {self.old}"
        suite, _, name = self.seen_by.partition("/")
        files = list((sources / SUITES.get(suite, "nowhere")).glob(f"{name}.*"))
        if name not in tomllib.loads((sources / CASES).read_text()) if suite == "compile_fail" else not files:
            return f"there is no {self.seen_by}"
        if self.program and self.falls not in re.sub(r'"\s*"', "", files[0].read_text()):
            return f"no test case of {self.seen_by} has in its name: {self.falls}"
        return None


def switched(text, changes):
    """A header in which every change can be switched on. Of changes within each other the outermost is the place of all."""
    groups = []
    for place, change in sorted(((change.place(text), change) for change in changes),
                                key=lambda pair: (pair[0].begin, -pair[0].end)):
        if not groups or place.begin >= groups[-1][0].end:
            groups.append((place, []))
        outer, within = groups[-1]
        if place.end > outer.end:
            raise ValueError(f"{change.header}: two changes overlap: »{text[outer.begin:outer.end]}« and "
                             f"»{text[place.begin:place.end]}«")
        new = text[outer.begin:place.begin] + change.new + text[place.end:outer.end]
        within.append((change.number, new))
    for outer, within in reversed(groups):
        old = text[outer.begin:outer.end]
        if old.rstrip().endswith(";"):
            new = "".join(f"if (::tlm_planted({number})) {{ {new} }} else " for number, new in within) + f"{{ {old} }}"
        else:
            new = "".join(f"::tlm_planted({number}) ? ({new}) : " for number, new in within)
            new = f"({new}({old}))"
        text = text[:outer.begin] + new + text[outer.end:]
    return text


def changed(text, change):
    """A header with the change made for real."""
    place = change.place(text)
    return text[:place.begin] + change.new + text[place.end:]


def on_ranks(program):
    """Whether this program is started by mpirun."""
    return program.name.startswith("mpi_")


class Runner:
    """What compiles, and runs what is compiled."""

    def __init__(self, sources, build, doctest_main, compiler):
        self.sources, self.build, self.main = sources, build, doctest_main
        self.compiler = compiler
        self.libraries = subprocess.check_output(["pkg-config", "--libs", "openblas"], text=True).split() + ["-lrapidcheck"]

    def copy(self, name):
        """A copy of the library under the build directory."""
        copy = self.build / name
        shutil.copytree(self.sources / "tlm", copy / "tlm")
        return copy

    def source(self, seen_by):
        """The file of a check."""
        suite, _, name = seen_by.partition("/")
        return next((self.sources / SUITES[suite]).glob(f"{name}.*"))

    def compiling(self, copy):
        """The compiler, which reads the copy of the library instead of the library."""
        return [f"-I{copy}" if argument == f"-I{self.sources}" else argument for argument in self.compiler]

    def compile(self, seen_by, copy):
        """The program of a check over a copy of the library. Throws RuntimeError if it does not compile."""
        began, program = time.monotonic(), copy / seen_by.replace("/", "_")
        (copy / "switch.hpp").write_text(SWITCH)
        libraries = list(self.libraries)
        if on_ranks(program):
            libraries += subprocess.check_output(["pkg-config", "--cflags", "--libs", "ompi-c"], text=True).split()
        result = subprocess.run([*self.compiling(copy), "-std=c++20", "-O0", "-w", "-include", copy / "switch.hpp", "-o",
                                 program, self.source(seen_by), self.main, *libraries],
                                capture_output=True, text=True, check=False)
        if result.returncode != 0:
            errors = [line for line in result.stderr.splitlines() if "error" in line]
            raise RuntimeError(f"{seen_by} does not compile:\n" + "\n".join(errors[:5]))
        return program, time.monotonic() - began

    def run(self, program, falls, number=0, limit=300):
        """What becomes of the test cases with this part in their name."""
        pattern = falls.replace("\\", "\\\\").replace(",", "\\,")
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "TLM_PLANTED": str(number)}
        began = time.monotonic()
        if on_ranks(program):  # One that ended at its first failure would leave the others waiting.
            command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(RANKS), program]
        else:
            command = [program, "--abort-after=1"]
        try:
            result = subprocess.run([*command, "--no-colors=true", f"--test-case=*{pattern}*"], env=environment, check=False,
                                    capture_output=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return Outcome(ended="timeout")
        said = result.stdout.decode("utf-8", "replace")
        counts = re.findall(r"test cases: +(\d+) +\| +\d+ passed +\| +(\d+) failed", said)
        if result.returncode not in (0, 1) or not counts:
            return Outcome(ended="crash", said=said)
        ran, failed = (max(map(int, those)) for those in zip(*counts))  # of several ranks one that sees it is enough
        return Outcome(ran, failed, "", b"was reached" in result.stderr, time.monotonic() - began, said)

    def read(self, seen_by, copy):
        """The exit code of the compiler or the script that reads a copy of the library, and what it says."""
        suite, _, name = seen_by.partition("/")
        if suite == "compile_fail":
            command = [sys.executable, self.sources / "tests/compile_fail/check.py", "--only", name, "wrong",
                       self.sources / CASES, *self.compiling(copy)]
        elif suite == "static":
            command = [*self.compiling(copy), "-std=c++20", "-w", "-fsyntax-only", self.source(seen_by)]
        else:
            command = [sys.executable, self.source(seen_by), copy / "tlm"]
        result = subprocess.run(command, capture_output=True, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"})
        return result.returncode, (result.stdout + result.stderr).decode("utf-8", "replace")


class Campaign:
    """All changes of a file, and what was seen of them."""

    def __init__(self, changes, runner, jobs):
        self.changes, self.runner, self.jobs = changes, runner, jobs
        self.programs, self.unchanged = {}, {}

    def each(self, action, *what):
        """The results of the action, as they come."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            yield from concurrent.futures.as_completed([pool.submit(action, one) for one in what])

    def prepare(self):
        """Compiles all programs over the copy in which every change can be switched on, and runs them with none."""
        runner, copy = self.runner, self.runner.copy("switched")
        of_header = collections.defaultdict(list)
        for change in self.changes:
            if not change.for_real:
                of_header[change.header].append(change)
        for header, changes in of_header.items():
            path = copy / "tlm" / header
            path.write_text(switched(path.read_text(), changes))
        needed = list(dict.fromkeys(change.seen_by for change in self.changes if change.program))
        needed.sort(key=lambda name: not name.startswith("proofs/"))  # the greatest first
        broken = []
        for done in self.each(lambda name: (name, *runner.compile(name, copy)), *needed):
            if done.exception():
                broken.append(str(done.exception()))
                continue
            name, program, seconds = done.result()
            self.programs[name] = program
            print(f"compiled {len(self.programs)} of {len(needed)}: {name} ({seconds:.0f} s)", flush=True)

        if broken:
            raise RuntimeError("\n".join(broken))

        plain = runner.copy("unchanged")
        checks = dict.fromkeys((change.seen_by, change.falls if change.program else "") for change in self.changes)

        def passes(check):
            seen_by, falls = check
            if seen_by in self.programs:
                return check, runner.run(self.programs[seen_by], falls)
            code, said = runner.read(seen_by, plain)
            return check, Outcome(1, int(code != 0), said=said)
        fallen = []
        for done in self.each(passes, *checks):
            (seen_by, falls), outcome = done.result()
            self.unchanged[seen_by, falls] = outcome
            if outcome.ended or outcome.failed or not outcome.ran:
                fallen.append(f"{seen_by}, »{falls}«, does not pass without any change: "
                              f"{outcome.ended or f'{outcome.failed} of {outcome.ran} fail'}\n{outcome.said[-2000:]}")
        if fallen:
            raise RuntimeError("\n".join(fallen))
        print(f"without any change {len(checks)} checks pass", flush=True)

    def complaint(self, change):
        """Why a change does not count as seen, or an equivalent one as harmless; None if it does."""
        runner, program = self.runner, self.programs.get(change.seen_by)
        if change.for_real:
            copy = runner.copy(f"change_{change.number}")
            header = copy / "tlm" / change.header
            header.write_text(changed(header.read_text(), change))
            if change.program:
                program, _ = runner.compile(change.seen_by, copy)
            else:
                code, said = runner.read(change.seen_by, copy)
                shutil.rmtree(copy)
                if code == 0:
                    return f"{change.seen_by} accepts it"
                return None if change.falls in said else f"{change.seen_by} does not say »{change.falls}«:\n{said[:2000]}"
        before = self.unchanged[change.seen_by, change.falls]
        outcome = runner.run(program, change.falls, change.number, 20 + 10 * before.seconds)
        if change.equivalent:
            if outcome.ended or outcome.failed:
                return "it is said to be equivalent, and is seen"
            return None if outcome.reached else "it is said to be equivalent, but nothing comes to its place"
        if outcome.ended != change.ends:
            return f"it ends by {outcome.ended or 'itself'}:\n{outcome.said[-1000:]}"
        if not outcome.ended and not outcome.failed:
            return f"{change.seen_by}, »{change.falls}«, passes" + (
                "" if outcome.reached or change.for_real else ", and nothing comes to its place")
        return None

    def run(self):
        """Whether all is as the file says."""
        began = time.monotonic()
        self.prepare()
        good = 0

        def look(change):
            try:
                return change, self.complaint(change)
            except RuntimeError as error:
                return change, str(error)
        for done in self.each(look, *self.changes):
            change, complaint = done.result()
            good += not complaint
            verdict = "NOT SEEN" if complaint else "not seen, rightly" if change.equivalent else "seen"
            print(f"{verdict}: {change.number}. {change.header}: {change.change} — {change.seen_by}, »{change.falls}«"
                  + (f": {complaint}" if complaint else ""), flush=True)
        equivalent = sum(change.equivalent for change in self.changes)
        print(f"{good} of {len(self.changes)} as expected, {equivalent} of which are equivalent and not to be seen "
              f"({(time.monotonic() - began) / 60:.1f} minutes)")
        return good == len(self.changes)


def main():
    only_places = sys.argv[1] == "--places"
    file, sources, *rest = sys.argv[1 + only_places:]
    sources = pathlib.Path(sources)
    with open(file, "rb") as entries:
        changes = [Change(number, entry) for number, entry in enumerate(tomllib.load(entries)["planted"], 1)]
    complaints = [f"{change.number}. {change.change}: {complaint}" for change in changes
                  if (complaint := change.complaint(sources))]
    if complaints:
        sys.exit("\n".join(complaints))
    headers = {change.header: (sources / "tlm" / change.header).read_text() for change in changes}
    try:
        for header, text in headers.items():
            switched(text, [change for change in changes if change.header == header and not change.for_real])
    except ValueError as overlap:
        sys.exit(str(overlap))
    print(f"{len(changes)} changes in {len(headers)} headers")
    if only_places:
        untouched = {path.relative_to(sources / "tlm").as_posix() for path in sources.glob("tlm/**/*.hpp")} - set(headers)
        print("".join(f"none in {header}\n" for header in sorted(untouched)), end="")
        return 0

    build, doctest_main, *compiler = rest
    build = pathlib.Path(build)
    shutil.rmtree(build, ignore_errors=True)
    jobs = int(os.environ.get("JOBS") or os.cpu_count())
    try:
        return int(not Campaign(changes, Runner(sources, build, doctest_main, compiler), jobs).run())
    except RuntimeError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    sys.exit(main())
