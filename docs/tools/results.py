# SPDX-License-Identifier: MIT
"""What the proofs said in the build's own run: the lines "checked: …" and "FAILS: …" of meson-logs/; and where the theorems stand
that they name."""

import functools
import json
import re

from . import sources


@functools.cache
def results(log):
    """For each proof its claims in the order in which they were checked, with whether they hold; and the seconds it took."""
    found = {}
    with open(log, encoding="utf-8") as file:
        for line in file:
            test = json.loads(line)
            name = test["name"].split(" / ")[-1]
            # A claim that is proved, too, is followed by its theorems.
            claims = re.findall(r"^(checked|FAILS): (.*?)(?:; proved: (.*))?$", test.get("stdout", ""), re.MULTILINE)
            found[name] = {"claims": {claim: verdict == "checked" for verdict, claim, _ in claims},
                           "theorems": {claim: theorems.split(", ") for _, claim, theorems in claims if theorems},
                           "seconds": test["duration"]}
    return found


@functools.cache
def place_of_theorem(name):
    """The file of proofs/kernel and the line in which a theorem is stated; None if it is stated in none, as those that are
    exported."""
    for file in sorted((sources.ROOT / "proofs/kernel").glob("*.v")):
        path = str(file.relative_to(sources.ROOT))
        for number, line in enumerate(sources.lines_of(path), 1):
            if re.match(rf"\s*(Theorem|Corollary|Lemma|Definition|Program Definition) {re.escape(name)}\b", line):
                return path, number
    return None


def holds(log, case):
    """Whether a test case held in the run. Raises NotFound if it did not run."""
    run = results(log).get(case.file, {"claims": {}})["claims"]
    if case.name not in run:
        raise sources.NotFound(f"'{case.name}' of proofs/{case.file}.cpp is not in {log}: it did not run")
    return run[case.name]


def numbers_of(name):
    """Over which numbers a theorem is: as its file says, which ./tests/run kernel verifies; of one that is exported its end says
    it."""
    if place := place_of_theorem(name):
        return re.search(r"^\(\* Over (.*)\. \*\)$", "\n".join(sources.lines_of(place[0])), re.MULTILINE)[1]
    return "ℝ" if name.endswith(("_pullback_is_transpose", "_is_equivariant")) else "any numbers"


def numbers_of_all(names):
    """Over which numbers all of these theorems are: over ℝ if one of them is."""
    return "ℝ" if "ℝ" in map(numbers_of, names) else "any numbers"


def chosen(claim, names):
    """Of the theorems that a test case names, those that say what the page says. Raises NotFound if it does not name one."""
    if claim.theorems is None:
        return names
    if others := set(claim.theorems) - set(names):
        raise sources.NotFound(f"'{claim.case.name}' of proofs/{claim.case.file}.cpp does not name the theorem {', '.join(others)}")
    return list(claim.theorems)


def theorems(log, claim):
    """The theorems that a line of the listing names after a test case, as far as they say what the page says."""
    return chosen(claim, results(log).get(claim.case.file, {"theorems": {}})["theorems"].get(claim.case.name, []))
