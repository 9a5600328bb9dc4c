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
import functools
import os
import pathlib
import re
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
ON_RANKS = 'mpirun --allow-run-as-root --oversubscribe -n 3 "$0" "$@" && "$0" "$@"'  # what is in mpi: on three, and alone
SEED = 44
MEMORY, OUTPUT = 8 << 30, 1 << 28  # bytes, for a change that asks for more and more
Outcome = collections.namedtuple("Outcome", "ran failed ended reached seconds said")
General = collections.namedtuple("General", "header change folder equivalent")  # and the line that says that it changes nothing


class Library:
    """The headers, and the files of the checks."""

    def __init__(self, sources):
        self.sources, self.tlm = sources, sources / "tlm"

    @functools.cache
    def header(self, name):
        return Header((self.tlm / name).read_text())

    def check(self, beginning):
        """The whole name of a check."""
        suite, _, name = beginning.partition("/")
        if suite == "compile_fail":
            names = {case for case in tomllib.loads((self.sources / CASES).read_text()) if case.startswith(name)}
        else:
            names = {file.stem for file in (self.sources / SUITES.get(suite, "nowhere")).glob(f"{name}*.cpp")}
        if len(names) != 1 and name not in names:
            raise ValueError(f"there are {len(names)} checks {beginning}" if names else f"there is no {beginning}")
        return f"{suite}/{name if name in names else names.pop()}"

    def source(self, check):
        """The file of a check."""
        suite, _, name = check.partition("/")
        return self.sources / SUITES[suite] / f"{name}.cpp"


class Line:
    """A line of the file. Throws ValueError if it is none."""

    def __init__(self, number, text, library):
        self.number, self.text = number, text
        self.header, _, rest = text.partition(" | ")
        change, _, last = rest.rpartition(" | ")
        if not change or not last:
            raise ValueError("it has not three columns")
        self.kind = "/" if self.header.endswith("/") else next((mark for mark in "→⇒≡∅" if mark in change), "")
        if not self.kind:
            raise ValueError("it says none of → ⇒ ≡ ∅")
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
        if self.kind in "→⇒":
            check, _, self.falls = last.partition(": ")
            self.check = library.check(check)
            self.program = check.split("/")[0] not in ("static", "compile_fail")  # sees it; otherwise the compiler
            self.switched = self.program and self.kind == "→"  # the change stands beside what it replaces
            if self.program and self.falls not in re.sub(r'"\s*"', "", library.source(self.check).read_text()):
                raise ValueError(f"no test case of {self.check} has in its name: {self.falls}")


class Planted:
    """What is planted: the lines, and {number: change} of each header. `general` has those of the folders, by their numbers."""

    def __init__(self, file, library):
        self.library, self.general, self.changes = library, {}, collections.defaultdict(dict)
        lines, complaints, texts = [], [], file.read_text().splitlines()
        for number, text in enumerate(texts, 1):
            if text.strip() and not text.startswith("#"):
                try:
                    lines.append(Line(number, text, library))
                except ValueError as error:
                    complaints.append(f"{file.name}:{number}: {error}")
        self.by_hand = [line for line in lines if line.kind in "→⇒"]
        self.folders = [line for line in lines if line.kind == "/"]
        for line in self.by_hand:
            if line.switched:
                self.changes[line.header][line.number] = line.change
        for folder in self.folders:
            for general in self.sample(folder, lines):
                number = len(texts) + 1 + len(self.general)
                self.general[number], self.changes[general.header][number] = general, general.change
        found = [general.equivalent for general in self.general.values()]
        complaints += [f"{file.name}:{line.number}: no general change is so: {line.text}" for line in lines
                       if line.kind == "≡" and line not in found]
        for name, changes in self.changes.items():
            try:
                library.header(name).switched(changes)
            except ValueError as error:
                complaints.append(f"{name}: {error}")
        if complaints:
            sys.exit("\n".join(complaints))

    def sample(self, folder, lines):
        """The general changes of a folder that are tried, and those that are said to change nothing."""
        some, count = [], 0
        for path in (self.library.tlm / folder.header).glob("*.hpp"):
            name = path.relative_to(self.library.tlm).as_posix()
            if not any(line.header == name for line in self.by_hand):
                left_out = [line for line in lines if line.kind == "∅" and line.header == name]
                some += [(key, name, change) for key, change in self.library.header(name).sample(name, SEED)
                         if not any(line.begin <= change.begin < line.end for line in left_out)]
        for _, name, change in sorted(some):
            line = next((line for line in lines if line.kind == "≡" and line.header == name
                         and line.change[:2] == change[:2] and words(line.change.new) == words(change.new)), None)
            if line or count < folder.count:
                count += not line
                yield General(name, change, folder, line)

    def text(self, number):
        """A general change, as a line of the file would have it."""
        name, change, *_ = self.general[number]
        header = self.library.header(name)
        return f"{name}:{header.text[:change.begin].count(chr(10)) + 1} | {header.line(change)}"


class Campaign:
    """Compiles, runs what is compiled, and counts what is seen."""

    def __init__(self, planted, build, doctest_main, compiler, libraries):
        self.planted, self.library, self.build, self.main = planted, planted.library, build, doctest_main
        self.compiler, self.libraries, self.programs, self.unchanged = compiler, libraries, {}, {}
        self.dropped, self.lock = set(), threading.Lock()
        self.pool = concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count()))
        self.copy = self.copied("switched")
        (self.copy / "switch.hpp").write_text(SWITCH)
        for name in planted.changes:
            self.write(name)

    def copied(self, name):
        """A copy of the library under the build directory."""
        shutil.copytree(self.library.tlm, self.build / name / "tlm")
        return self.build / name

    def write(self, name):
        """Writes a header in which its changes can be switched on, at once for those who are reading it."""
        changes = {number: change for number, change in self.planted.changes[name].items() if number not in self.dropped}
        header = self.copy / "tlm" / name
        header.with_suffix(".new").write_text(self.library.header(name).switched(changes))
        header.with_suffix(".new").replace(header)

    def drop(self, said):
        """Leaves out the general changes in whose lines the compiler finds errors."""
        for file, line in re.findall(rf"({re.escape(str(self.copy))}/[^\s:]+\.hpp):(\d+):", said):
            text = pathlib.Path(file).read_text().split("\n")[int(line) - 1]
            self.dropped |= {*map(int, re.findall(r"tlm_planted\((\d+)\)", text))} & set(self.planted.general)
        for name in {self.planted.general[number].header for number in self.dropped}:
            self.write(name)

    def compiling(self, copy):
        """The compiler, which reads the copy of the library before the library; what else is there is not copied."""
        return [self.compiler[0], f"-I{copy}", *self.compiler[1:]]

    def compile(self, check, copy=None):
        """The program of a check over a copy of the library. Throws RuntimeError if it does not compile."""
        copy = copy or self.copy
        program, libraries = copy / check.replace("/", "_"), list(self.libraries)
        if check.startswith("mpi/"):
            libraries += subprocess.check_output(["pkg-config", "--cflags", "--libs", "ompi-c"], text=True).split()
        command = [*self.compiling(copy), "-std=c++20", "-Og", "-w", "-include", self.copy / "switch.hpp",
                   "-o", program, self.library.source(check), self.main, *libraries]
        while True:
            with self.lock:
                before = len(self.dropped)
            result = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"})
            if result.returncode == 0:
                return program
            errors = "\n".join(line for line in result.stderr.splitlines() if " error: " in line)
            with self.lock:
                for said in errors, result.stderr:  # if another thread has dropped something meanwhile, lines have moved
                    if copy == self.copy and len(self.dropped) == before:
                        self.drop(said)
                if len(self.dropped) == before:
                    raise RuntimeError(f"{check} does not compile:\n" + "\n".join(errors.splitlines()[:5]))

    def run(self, check, falls="", number=0, limit=300, program=None):
        """What becomes of the test cases with this part in their name."""
        pattern = falls.replace("\\", "\\\\").replace(",", "\\,")
        if check.startswith("mpi/"):  # One that ended at its first failure would leave the others waiting.
            command = ["sh", "-c", ON_RANKS, program or self.programs[check]]
        else:
            command = [program or self.programs[check], "--abort-after=1"]
        with tempfile.TemporaryDirectory() as directory:
            reached, output = pathlib.Path(directory, "reached"), pathlib.Path(directory, "said")
            environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "TLM_PLANTED": str(number), "TLM_REACHED": str(reached)}
            began = time.monotonic()
            with open(output, "wb") as file:
                code = subprocess.run(
                    ["timeout", "--signal=KILL", str(limit), "prlimit", f"--as={MEMORY}", f"--fsize={OUTPUT}", *command,
                     "--no-colors=true", f"--test-case=*{pattern}*"],
                    env=environment, stdout=file, stderr=subprocess.DEVNULL, cwd=directory, check=False).returncode
            seconds = time.monotonic() - began
            said = output.read_bytes()[-5000:].decode("utf-8", "replace")
            numbers = set(map(int, reached.read_text().split())) if reached.exists() else set()
        counts = re.findall(r"test cases: +(\d+) +\| +\d+ passed +\| +(\d+) failed", said)
        ran, failed = (max(map(int, those)) for those in zip(*counts)) if counts else (0, 0)  # of ranks one is enough
        ended = "" if code in (0, 1) and counts else "timeout" if seconds >= limit else "crash"
        return Outcome(ran, failed, ended, numbers, seconds, said)

    def read(self, check, copy):
        """The outcome of the compiler that reads a copy of the library, or of check.py."""
        suite, _, name = check.partition("/")
        if suite == "compile_fail":
            cases = self.library.sources / CASES
            command = [sys.executable, cases.with_name("check.py"), "--only", name, "wrong", cases, *self.compiling(copy)]
        else:
            command = [*self.compiling(copy), "-std=c++20", "-w", "-fsyntax-only", self.library.source(check)]
        result = subprocess.run(command, capture_output=True, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"})
        return Outcome(1, int(result.returncode != 0), "", set(), 0, (result.stdout + result.stderr).decode("utf-8", "replace"))

    def prepare(self):
        """Compiles all programs over the copy in which every change can be switched on, and runs them with none."""
        whole = [(check, "") for folder in self.planted.folders for check in folder.checks]
        needed = dict.fromkeys([line.check for line in self.planted.by_hand if line.program] + [check for check, _ in whole])
        for check, program in zip(needed, self.pool.map(self.compile, needed)):
            self.programs[check] = program
            print(f"compiled {len(self.programs)} of {len(needed)}: {check}", flush=True)
        plain, fallen = self.copied("unchanged"), []
        by_hand = [(line.check, line.falls if line.program else "") for line in self.planted.by_hand]
        checks = list(dict.fromkeys(by_hand + whole))
        self.unchanged = dict(zip(checks, self.pool.map(
            lambda check: self.run(*check) if check[0] in self.programs else self.read(check[0], plain), checks)))
        for (check, falls), (ran, failed, ended, _, _, said) in self.unchanged.items():
            if ended or failed or not ran:
                fallen.append(f"{check}, »{falls}«, does not pass without any change: "
                              f"{ended or f'{failed} of {ran} fail'}\n{said[-2000:]}")
        if fallen:
            raise RuntimeError("\n".join(fallen))
        print(f"without any change {len(checks)} checks pass", flush=True)

    def complaint(self, line):
        """Why a change by hand does not count as seen; empty if it does."""
        program = None
        if not line.switched:
            copy = self.copied(f"line_{line.number}")
            (copy / "tlm" / line.header).write_text(self.library.header(line.header).changed(line.change))
            if not line.program:
                outcome = self.read(line.check, copy)
                shutil.rmtree(copy)
                if not outcome.failed:
                    return f"{line.check} accepts it"
                return "" if line.falls in outcome.said else f"{line.check} does not say »{line.falls}«:\n{outcome.said[:2000]}"
            try:
                program = self.compile(line.check, copy)
            except RuntimeError as error:
                return str(error)
        limit = 20 + 10 * self.unchanged[line.check, line.falls].seconds
        outcome = self.run(line.check, line.falls, line.number, limit, program)
        if outcome.ended:
            return f"it ends by {outcome.ended}:\n{outcome.said[-1000:]}"
        if not outcome.failed:
            return f"{line.check}, »{line.falls}«, passes" + (
                "" if line.number in outcome.reached or not line.switched else ", and nothing comes to its place")
        return ""

    def seen_by(self, number):
        """The quickest check of the folder that sees a general change, or None; and whether any comes to it."""
        of = {check: self.unchanged[check, ""] for check in self.planted.general[number].folder.checks}
        came = [check for check in sorted(of, key=lambda check: of[check].seconds) if number in of[check].reached]
        for check in came:
            outcome = self.run(check, "", number, 10 + 5 * of[check].seconds)
            if outcome.ended or outcome.failed:
                return check, True
        return None, bool(came)

    def by_hand(self):
        """Whether all changes by hand are seen."""
        lines, good = self.planted.by_hand, 0
        for line, complaint in zip(lines, self.pool.map(self.complaint, lines)):
            good += not complaint
            print(f"{'NOT SEEN' if complaint else 'seen'}: {line.number}. {line.text}"
                  + (f": {complaint}" if complaint else ""), flush=True)
        print(f"{good} of {len(lines)} changes by hand are seen")
        return good == len(lines)

    def general(self):
        """Whether the share of each folder is as large as it should be, and what changes nothing is seen nowhere."""
        good, tried, seen = True, collections.Counter(), collections.Counter()
        numbers = [number for number in self.planted.general if number not in self.dropped]
        for number, (check, reached) in zip(numbers, self.pool.map(self.seen_by, numbers)):
            place, (_, _, folder, line) = self.planted.text(number), self.planted.general[number]
            if line:
                wrong = "is seen" if check else "" if reached else "but nothing comes to its place"
                good &= not wrong
                print(f"NOT SO: {line.number}. it is said to change nothing, {wrong}: {line.text}" if wrong else
                      f"not seen, rightly: {place}", flush=True)
            else:
                tried[folder] += 1
                seen[folder] += bool(check)
                print(f"seen by {check}: {place}" if check else
                      f"NOT SEEN{'' if reached else ', and nothing comes to its place'}: {place}", flush=True)
        for folder in self.planted.folders:
            share = 100 * seen[folder] / max(tried[folder], 1)
            good &= share >= folder.floor
            print(f"{folder.header}: {share:.0f} % of {tried[folder]} are seen, {folder.floor} % must be"
                  + ("" if share >= folder.floor else ": TOO FEW"))
        return good


def main():
    only_places = sys.argv[1] == "--places"
    file, sources, *rest = sys.argv[1 + only_places:]
    planted = Planted(pathlib.Path(file), Library(pathlib.Path(sources)))
    print(f"{len(planted.by_hand)} changes by hand, {len(planted.general)} general ones in {len(planted.folders)} folders")
    if only_places:
        return 0
    build, doctest_main, *rest = rest
    shutil.rmtree(build, ignore_errors=True)
    end, began = rest.index("--"), time.monotonic()
    campaign = Campaign(planted, pathlib.Path(build), doctest_main, rest[:end], rest[end + 1:])
    try:
        campaign.prepare()
        good = campaign.by_hand() & campaign.general()
    except RuntimeError as error:
        sys.exit(str(error))
    print(f"{(time.monotonic() - began) / 60:.1f} minutes")
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
