# SPDX-License-Identifier: MIT
"""Every statement of coverage.toml and every symbol of notation.toml leads to a declaration and to a test case that are there.

usage: coverage.py [TABLE], of another table than docs/coverage.toml
"""

import pathlib
import sys
import tomllib

import evidence
from tools import results, sources

DOCS = pathlib.Path(__file__).resolve().parent


def theorems_of(reference):
    """The theorems that a check of the table names, if it is there."""
    claim = sources.claim(reference)
    return results.chosen(claim, evidence.theorems_named_by(claim.case))


def wrong_in(table):
    """What does not exist of what a table of statements names."""
    for source, entries in table.items():
        for entry in entries:
            what = f"{source}, {entry.get('section')}: {entry.get('says')}"
            if unknown := set(entry) - {"section", "kind", "says", "chapter", "code", "proof", "tests", "erratum", "note", "false", "unproved", "block"}:
                yield f"{what}: what is {unknown}?"
            if not any(key in entry for key in ("code", "proof", "erratum", "note")):
                yield f"{what}: it leads nowhere"
            if "chapter" in entry and not (DOCS / f"{entry['chapter']}.rst").is_file():
                yield f"{what}: there is no chapter {entry['chapter']}"
            elif "block" in entry and entry["block"] not in sources.blocks_of(entry["chapter"]):
                yield f"{what}: {entry['chapter']} has no block '{entry['block']}'"
            for look_up, key in ((sources.place, "code"), (theorems_of, "proof"), (sources.test_case, "tests")):
                for reference in entry.get(key, []):
                    try:
                        look_up(reference)
                    except sources.NotFound as error:
                        yield f"{what}: {error}"


def main():
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "coverage.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    found = list(wrong_in(table))
    for symbol in tomllib.loads((DOCS / "notation.toml").read_text(encoding="utf-8"))["symbol"]:
        try:
            sources.place(symbol["header"]) if "header" in symbol else None
        except sources.NotFound as error:
            found.append(f"notation.toml, {symbol['id']}: {error}")
    if found or not table:
        sys.exit("\n".join(found) or "there are no statements")
    print(f"{sum(map(len, table.values()))} statements of {len(table)} sources")


if __name__ == "__main__":
    main()
