# SPDX-License-Identifier: MIT
"""What the proofs said in the build's own run: the lines "holds: …" and "FALLS: …" of meson-logs/."""

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
            claims = re.findall(r"^(holds|FALLS): (.*)$", test.get("stdout", ""), re.MULTILINE)
            found[name] = {"claims": {claim: verdict == "holds" for verdict, claim in claims}, "seconds": test["duration"]}
    return found


def holds(log, case):
    """Whether a test case held in the run. Raises NotFound if it did not run."""
    run = results(log).get(case.file, {"claims": {}})["claims"]
    if case.name not in run:
        raise sources.NotFound(f"'{case.name}' of proofs/{case.file}.cpp is not in {log}: it did not run")
    return run[case.name]
