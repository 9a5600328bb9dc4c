# SPDX-License-Identifier: MIT
"""include_order.py refuses each of these libraries, for what is wrong with it and for nothing else."""

import pathlib
import sys
import tempfile

import include_order

# What is said of a library, and what its headers include. Each has base/language.hpp, too.
LIBRARIES = {
    "matrix/below.hpp includes algebra/above.hpp: matrix comes before algebra": {
        "all.hpp": ["algebra/above.hpp"], "algebra/above.hpp": ["base/language.hpp", "matrix/below.hpp"],
        "matrix/below.hpp": ["algebra/above.hpp"]},
    "matrix/forgotten.hpp is not included by all.hpp": {
        "all.hpp": ["base/language.hpp"], "matrix/forgotten.hpp": ["base/language.hpp"]},
    "storage/chosen.hpp is included by all.hpp": {
        "all.hpp": ["storage/chosen.hpp"], "storage/chosen.hpp": ["base/language.hpp"]},
    "base/version.hpp includes matrix/below.hpp": {
        "all.hpp": ["base/version.hpp"], "base/version.hpp": ["matrix/below.hpp"], "matrix/below.hpp": ["base/language.hpp"]},
    "matrix/below.hpp does not include base/language.hpp": {
        "all.hpp": ["base/language.hpp", "matrix/below.hpp"], "matrix/below.hpp": []},
}


def main():
    for said, headers in LIBRARIES.items():
        with tempfile.TemporaryDirectory() as place:
            for header, included in ({"base/language.hpp": []} | headers).items():
                path = pathlib.Path(place, header)
                path.parent.mkdir(exist_ok=True)
                path.write_text("".join(f"#include <tlm/{name}>\n" for name in included), encoding="utf-8")
            found = list(include_order.complaints(pathlib.Path(place)))
        if found != [said]:
            sys.exit(f"instead of »{said}« it says: {found}")


if __name__ == "__main__":
    main()
