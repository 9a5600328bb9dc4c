#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plants changes in a copy of the library, one at a time, and requires that a check sees each.

    planted.py PLANTED.txt SOURCES BUILD DOCTEST_MAIN COMPILER [ARGUMENT...] -- [LIBRARY...]
    planted.py --places PLANTED.txt SOURCES

With --places it only verifies that every line is valid and has its place in the headers. The lines of PLANTED.txt:

    header | from → to | check: test case      a change by hand, and who must see it
    header | from ⇒ to | check: test case      the same, made in a copy of its own that is compiled again
    header | from ≡ to | why                   a general change that changes nothing: no check may see it
    header | from ∅ | why                      no general changes in the definition that begins like this
    folder/ | 90 % of 40 | check check …       this many general changes are tried, and at least this share is seen

`from` must occur once in the header, whatever the spaces, line breaks and comments between its tokens. If it has « and », only
what is between these becomes `to`. It is an expression, or statements if it ends with ;. A check is the path of its file, of which
the beginning is enough: proofs/08. The test case is a part of its name. For static/… and compile_fail/…, whose changes are
all made for real, it is a part of the message. A change by hand must make the test case fail, and not crash.

General changes (places.py) are made in the headers of the folder that have no change by hand. Those with the lowest hashes are
taken, so the same changes are taken wherever they are in a file. A change that does not compile does not count. A change that no
check reaches counts as not seen.

In the copy both texts are side by side, and the environment variable TLM_PLANTED says which change is on. So each program
is compiled once. JOBS=1 does one thing at a time.
"""

import collections
import concurrent.futures
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import tomllib

from places import Header, words

SWITCH = """// Which of the planted changes is on, and to which of them the program came: their numbers, at the end.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <type_traits>

struct TlmPlanted {
  int number = std::getenv("TLM_PLANTED") ? std::atoi(std::getenv("TLM_PLANTED")) : 0;
  bool reached[100000] = {};
  ~TlmPlanted() {
    std::FILE* file = std::getenv("TLM_REACHED") ? std::fopen(std::getenv("TLM_REACHED"), "a") : nullptr;
    if (!file) return;
    for (int k = 0; k < 100000; ++k)
      if (reached[k]) std::fprintf(file, "%d\\n", k);
    std::fclose(file);
  }
};
inline TlmPlanted tlm_planted_change;

constexpr bool tlm_planted(int number) {
  if (std::is_constant_evaluated()) return false;
  tlm_planted_change.reached[number] = true;
  return tlm_planted_change.number == number;
}
"""
SUITES = {"proofs": "proofs", "unit": "tests/unit", "encoder_decoder": "tests/encoder_decoder", "static": "tests/static",
          "storage": "tests/storage", "mpi": "tests/mpi"}
CASES = "tests/compile_fail/cases.toml"  # a case is a check of its own: compile_fail/NAME
RANKS = 3  # on which what is in mpi runs
SEED = 44
MEMORY = 8 << 30  # bytes, for a change that asks for more and more
Outcome = collections.namedtuple("Outcome", "ran failed ended reached seconds said")


class Line:
    """A line of the file. Throws ValueError if it is none."""

    def __init__(self, number, text, library):
        self.number = number
        self.header, _, rest = text.partition(" | ")
        change, _, last = rest.rpartition(" | ")
        if not change or not last:
            raise ValueError("it has not three columns")
        self.kind = "/" if self.header.endswith("/") else next((mark for mark in "→⇒≡∅" if mark in change), "")
        if not self.kind:
            raise ValueError("it says none of → ⇒ ≡ ∅")
        self.falls, self.change = "", None
        if self.kind == "/":
            floor = re.fullmatch(r"(\d+) % of (\d+)", change)
            if not floor or not (library.tlm / self.header).is_dir():
                raise ValueError("it is no folder of which a share must be seen")
            self.floor, self.count = map(int, floor.groups())
            self.checks = [library.check(check) for check in last.split()]
            return
        if not (library.tlm / self.header).is_file():
            raise ValueError(f"there is no header {self.header}")
        wanted, _, new = (part.strip() for part in change.partition(self.kind))
        try:
            if self.kind == "∅":
                self.begin, self.end = library.header(self.header).definition(wanted)
            else:
                self.change = library.header(self.header).replaced(wanted, new)
        except ValueError as error:
            raise ValueError(f"{self.header} {error}") from None
        self.text = text
        if self.kind in "→⇒":
            check, _, self.falls = last.partition(": ")
            self.checks = [library.check(check)]
            self.program = library.is_program(check)
            if self.program and self.falls not in re.sub(r'"\s*"', "", library.source(self.checks[0]).read_text()):
                raise ValueError(f"no test case of {self.checks[0]} has in its name: {self.falls}")

    @property
    def switched(self):
        """Whether the change is one by hand that stands beside what it replaces."""
        return self.kind == "→" and self.program


class Library:
    """The headers, and the files of the checks."""

    def __init__(self, sources):
        self.sources, self.tlm, self.headers = sources, sources / "tlm", {}

    def header(self, name):
        """A header, which is read once."""
        if name not in self.headers:
            self.headers[name] = Header((self.tlm / name).read_text())
        return self.headers[name]

    def check(self, beginning):
        """The whole name of a check."""
        suite, _, name = beginning.partition("/")
        if suite == "compile_fail":
            names = {case for case in tomllib.loads((self.sources / CASES).read_text()) if case.startswith(name)}
        else:
            folder = self.sources / SUITES.get(suite, "nowhere")
            names = {file.stem for file in folder.glob(f"{name}*.cpp")}
        if len(names) != 1 and name not in names:
            raise ValueError(f"there are {len(names)} checks {beginning}" if names else f"there is no {beginning}")
        return f"{suite}/{name if name in names else names.pop()}"

    def source(self, check):
        """The file of a check."""
        suite, _, name = check.partition("/")
        return self.sources / SUITES[suite] / f"{name}.cpp"

    @staticmethod
    def is_program(check):
        """Whether a program sees it; otherwise the compiler."""
        return check.split("/")[0] not in ("static", "compile_fail")


class Planted:
    """What is planted: the lines by hand, and {number: change} of each header, of which `general` are those of a folder."""

    def __init__(self, file, library):
        self.library, self.lines, complaints = library, [], []
        for number, text in enumerate(file.read_text().splitlines(), 1):
            if text.strip() and not text.startswith("#"):
                try:
                    self.lines.append(Line(number, text, library))
                except ValueError as error:
                    complaints.append(f"{file.name}:{number}: {error}")
        self.by_hand = [line for line in self.lines if line.kind in "→⇒"]
        self.folders = [line for line in self.lines if line.kind == "/"]
        self.changes = collections.defaultdict(dict)  # of each header
        self.general = collections.defaultdict(list)  # numbers, of each folder
        self.header_of, self.equivalent = {}, {}
        for line in self.by_hand:
            if line.switched:
                self.changes[line.header][line.number] = line.change
        self.sample(len(file.read_text().splitlines()) + 1)
        found = set(self.equivalent.values())
        complaints += [f"{file.name}:{line.number}: no general change is so: {line.text}" for line in self.lines
                       if line.kind == "≡" and line not in found]
        for name, changes in self.changes.items():
            try:
                library.header(name).switched(changes)
            except ValueError as error:
                complaints.append(f"{name}: {error}")
        if complaints:
            sys.exit("\n".join(complaints))

    def sample(self, number):
        """Takes the general changes of each folder, and numbers them."""
        kept_by_hand = {line.header for line in self.by_hand}
        for folder in self.folders:
            some = []
            for path in sorted((self.library.tlm / folder.header).glob("*.hpp")):
                name = path.relative_to(self.library.tlm).as_posix()
                if name not in kept_by_hand:
                    left_out = [line for line in self.lines if line.kind == "∅" and line.header == name]
                    some += [(key, name, change) for key, change in self.library.header(name).sample(name, SEED)
                             if not any(line.begin <= change.begin < line.end for line in left_out)]
            for key, name, change in sorted(some):
                line = next((line for line in self.lines if line.kind == "≡" and line.header == name
                             and line.change[:2] == change[:2] and words(line.change.new) == words(change.new)), None)
                if line:
                    self.equivalent[number] = line
                elif len(self.general[folder]) == folder.count:
                    continue
                else:
                    self.general[folder].append(number)
                self.changes[name][number] = change
                self.header_of[number] = name, folder
                number += 1

    def text(self, number):
        """A general change, as a line of the file would have it."""
        name, header = self.header_of[number][0], self.library.header(self.header_of[number][0])
        change = self.changes[name][number]
        return f"{name}:{header.text[:change.begin].count(chr(10)) + 1} | {header.line(change)}"


class Runner:
    """What compiles, and runs what is compiled."""

    def __init__(self, planted, build, doctest_main, compiler, libraries):
        self.planted, self.library, self.build, self.main = planted, planted.library, build, doctest_main
        self.libraries = libraries
        # Of loops for vector instructions the compiler reads the conditions.
        self.compiler = [argument for argument in compiler if argument != "-fopenmp-simd"]
        self.copy, self.dropped, self.lock = self.copied("switched"), set(), threading.Lock()
        (self.copy / "switch.hpp").write_text(SWITCH)
        for name in planted.changes:
            self.write(name)

    def copied(self, name):
        """A copy of the library under the build directory."""
        shutil.copytree(self.library.tlm, self.build / name / "tlm")
        return self.build / name

    def write(self, name):
        """Writes a header with its switches, but not those that do not compile."""
        changes = {number: change for number, change in self.planted.changes[name].items() if number not in self.dropped}
        path = self.copy / "tlm" / name
        path.with_suffix(".new").write_text(self.library.header(name).switched(changes))
        path.with_suffix(".new").rename(path)

    def drop(self, said):
        """Leaves out the general changes in whose lines the compiler finds errors, and says how many these are."""
        errors = "\n".join(line for line in said.splitlines() if " error: " in line)
        blamed = self.blamed(errors) or self.blamed(said)
        with self.lock:
            self.dropped |= blamed
            for name in {self.planted.header_of[number][0] for number in blamed}:
                self.write(name)
        return len(blamed)

    def blamed(self, said):
        """The general changes in the lines that the compiler names."""
        numbers = set()
        for file, line in re.findall(r"([^\s:]+\.hpp):(\d+):", said):
            if pathlib.Path(file).is_relative_to(self.copy) and pathlib.Path(file).is_file():
                lines = pathlib.Path(file).read_text().splitlines()
                numbers |= {int(n) for n in re.findall(r"tlm_planted\((\d+)\)", "".join(lines[int(line) - 1:int(line)]))}
        return numbers & set(self.planted.header_of)

    def compiling(self, copy):
        """The compiler, which reads the copy of the library before the library; what else is there is not copied."""
        return [self.compiler[0], f"-I{copy}", *self.compiler[1:]]

    def compile(self, check, copy=None):
        """The program of a check over a copy of the library. Throws RuntimeError if it does not compile."""
        copy, began = copy or self.copy, time.monotonic()
        program, libraries = copy / check.replace("/", "_"), list(self.libraries)
        if check.startswith("mpi/"):
            libraries += subprocess.check_output(["pkg-config", "--cflags", "--libs", "ompi-c"], text=True).split()
        command = [*self.compiling(copy), "-std=c++20", "-Og", "-w", "-include", self.copy / "switch.hpp",
                   "-o", program, self.library.source(check), self.main, *libraries]
        while True:
            with self.lock:  # by another thread, too, which has then written the headers
                before = len(self.dropped)
            result = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"})
            if result.returncode == 0:
                return program, time.monotonic() - began
            if copy != self.copy or not self.drop(result.stderr) and len(self.dropped) == before:
                errors = [line for line in result.stderr.splitlines() if "error" in line]
                raise RuntimeError(f"{check} does not compile:\n" + "\n".join(errors[:5]))

    def run(self, program, falls="", number=0, limit=300):
        """What becomes of the test cases with this part in their name."""
        pattern = falls.replace("\\", "\\\\").replace(",", "\\,")
        with tempfile.TemporaryDirectory() as directory:
            reached, output = pathlib.Path(directory) / "reached", pathlib.Path(directory) / "said"
            environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "TLM_PLANTED": str(number), "TLM_REACHED": str(reached)}
            if program.name.startswith("mpi_"):  # One that ended at its first failure would leave the others waiting.
                command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(RANKS), program]
            else:
                command = [program, "--abort-after=1"]
            began = time.monotonic()
            with open(output, "wb") as file:
                process = subprocess.Popen(
                    [*command, "--no-colors=true", f"--test-case=*{pattern}*"], env=environment, stdout=file,
                    stderr=subprocess.DEVNULL, start_new_session=True, cwd=directory,
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28)) or
                    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))
                try:
                    code = process.wait(limit)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, 9)
                    process.wait()
                    code = None
            said = output.read_bytes()[-5000:].decode("utf-8", "replace")
            counts = re.findall(r"test cases: +(\d+) +\| +\d+ passed +\| +(\d+) failed", said)
            ended = "timeout" if code is None else "crash" if code not in (0, 1) or not counts else ""
            ran, failed = (max(map(int, those)) for those in zip(*counts)) if counts else (0, 0)  # of ranks one is enough
            numbers = set(map(int, reached.read_text().split())) if reached.exists() else set()
            return Outcome(ran, failed, ended, numbers, time.monotonic() - began, said)

    def read(self, check, copy):
        """The exit code of the compiler that reads a copy of the library, or of check.py, and what it says."""
        suite, _, name = check.partition("/")
        if suite == "compile_fail":
            cases = self.library.sources / CASES
            command = [sys.executable, cases.with_name("check.py"), "--only", name, "wrong", cases, *self.compiling(copy)]
        else:
            command = [*self.compiling(copy), "-std=c++20", "-w", "-fsyntax-only", self.library.source(check)]
        result = subprocess.run(command, capture_output=True, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"})
        return result.returncode, (result.stdout + result.stderr).decode("utf-8", "replace")


class Campaign:
    """All that is planted, and what was seen of it."""

    def __init__(self, planted, runner, jobs):
        self.planted, self.runner, self.jobs = planted, runner, jobs
        self.programs, self.unchanged = {}, {}

    def each(self, action, what):
        """The results of the action, as they come."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for done in concurrent.futures.as_completed([pool.submit(action, one) for one in what]):
                if done.exception():
                    pool.shutdown(cancel_futures=True)  # the first fault ends the run
                yield done.result()

    def prepare(self):
        """Compiles all programs over the copy in which every change can be switched on, and runs them with none."""
        runner, planted = self.runner, self.planted
        whole = [(check, "") for folder in planted.folders for check in folder.checks]
        needed = list(dict.fromkeys([line.checks[0] for line in planted.by_hand if line.program] + [one for one, _ in whole]))
        for name, (program, seconds) in self.each(lambda name: (name, runner.compile(name)), needed):
            self.programs[name] = program
            print(f"compiled {len(self.programs)} of {len(needed)}: {name} ({seconds:.0f} s)", flush=True)
        plain, fallen = runner.copied("unchanged"), []

        def passes(check):
            if check[0] in self.programs:
                return check, runner.run(self.programs[check[0]], check[1])
            code, said = runner.read(check[0], plain)
            return check, Outcome(1, int(code != 0), "", set(), 0, said)
        by_hand = [(line.checks[0], line.falls if line.program else "") for line in planted.by_hand]
        for check, outcome in self.each(passes, dict.fromkeys(by_hand + whole)):
            self.unchanged[check] = outcome
            if outcome.ended or outcome.failed or not outcome.ran:
                fallen.append(f"{check[0]}, »{check[1]}«, does not pass without any change: "
                              f"{outcome.ended or f'{outcome.failed} of {outcome.ran} fail'}\n{outcome.said[-2000:]}")
        if fallen:
            raise RuntimeError("\n".join(fallen))
        print(f"without any change {len(self.unchanged)} checks pass", flush=True)

    def complaint(self, line):
        """Why a change by hand does not count as seen; None if it does."""
        runner, check = self.runner, line.checks[0]
        program = self.programs.get(check)
        if not line.switched:
            copy = runner.copied(f"line_{line.number}")
            (copy / "tlm" / line.header).write_text(self.planted.library.header(line.header).changed(line.change))
            if line.program:
                try:
                    program, _ = runner.compile(check, copy)
                except RuntimeError as error:
                    return str(error)
            else:
                code, said = runner.read(check, copy)
                shutil.rmtree(copy)
                if code == 0:
                    return f"{check} accepts it"
                return None if line.falls in said else f"{check} does not say »{line.falls}«:\n{said[:2000]}"
        limit = 20 + 10 * self.unchanged[check, line.falls].seconds
        outcome = runner.run(program, line.falls, line.number, limit)
        if outcome.ended:
            return f"it ends by {outcome.ended}:\n{outcome.said[-1000:]}"
        if not outcome.failed:
            return f"{check}, »{line.falls}«, passes" + (
                "" if line.number in outcome.reached or not line.switched else ", and nothing comes to its place")
        return None

    def seen_by(self, number):
        """The quickest check of the folder that sees a general change, or None; and whether any comes to it."""
        _, folder = self.planted.header_of[number]
        came = [check for check in folder.checks if number in self.unchanged[check, ""].reached]
        for check in sorted(came, key=lambda check: self.unchanged[check, ""].seconds):
            outcome = self.runner.run(self.programs[check], "", number, 10 + 5 * self.unchanged[check, ""].seconds)
            if outcome.ended or outcome.failed:
                return check, True
        return None, bool(came)

    def by_hand(self):
        """Whether all changes by hand are seen."""
        good = 0
        for line, complaint in self.each(lambda line: (line, self.complaint(line)), self.planted.by_hand):
            good += not complaint
            print(f"{'NOT SEEN' if complaint else 'seen'}: {line.number}. {line.text}"
                  + (f": {complaint}" if complaint else ""), flush=True)
        print(f"{good} of {len(self.planted.by_hand)} changes by hand are seen")
        return good == len(self.planted.by_hand)

    def general(self):
        """Whether the share of each folder is as great as it should be, and what changes nothing is seen nowhere."""
        planted, dropped = self.planted, self.runner.dropped
        good, seen = True, collections.Counter()
        tried = [number for number in planted.header_of if number not in dropped]
        for number, (check, reached) in self.each(lambda number: (number, self.seen_by(number)), tried):
            place = planted.text(number)
            if line := planted.equivalent.get(number):
                wrong = "is seen" if check else "" if reached else "but nothing comes to its place"
                good &= not wrong
                print(f"NOT SO: {line.number}. it is said to change nothing, {wrong}: {line.text}" if wrong else
                      f"not seen, rightly: {place}", flush=True)
            else:
                seen[planted.header_of[number][1]] += bool(check)
                print(f"seen by {check}: {place}" if check else
                      f"NOT SEEN{'' if reached else ', and nothing comes to its place'}: {place}", flush=True)
        for folder, numbers in planted.general.items():
            count = len(set(numbers) - dropped)
            share = 100 * seen[folder] / max(count, 1)
            enough = share >= folder.floor
            good &= enough
            print(f"{folder.header}: {share:.0f} % of {count} are seen, {folder.floor} % must be"
                  + ("" if enough else ": TOO FEW"))
        return good

    def run(self):
        """Whether all is as the file says."""
        began = time.monotonic()
        self.prepare()
        good = self.by_hand() & self.general()
        print(f"{(time.monotonic() - began) / 60:.1f} minutes")
        return good


def main():
    only_places = sys.argv[1] == "--places"
    file, sources, *rest = sys.argv[1 + only_places:]
    planted = Planted(pathlib.Path(file), Library(pathlib.Path(sources)))
    print(f"{len(planted.by_hand)} changes by hand, {len(planted.header_of)} general ones in {len(planted.folders)} folders")
    if only_places:
        return 0
    build, doctest_main, *rest = rest
    build, end = pathlib.Path(build), rest.index("--")
    shutil.rmtree(build, ignore_errors=True)
    jobs = int(os.environ.get("JOBS") or os.cpu_count())
    try:
        return int(not Campaign(planted, Runner(planted, build, doctest_main, rest[:end], rest[end + 1:]), jobs).run())
    except RuntimeError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    sys.exit(main())
