# SPDX-License-Identifier: MIT
"""How much there is to read: it may become less, and not more.

    size.py LIBRARY [LIMITS.json]

It prints the lines of the library and of the book, those that a header reads with it, and the names that tlm.hpp brings into
namespace tlm, each beside its limit. Names of tlm::detail do not count. LIMITS.json has other limits, for the test of this test.
"""

import json
import pathlib
import re
import sys

BOOK = ["base", "numbers", "matrix", "algebra", "attention", "layers", "models", "training", "decoding"]
LIMITS = {
    "lines of tlm/": 12500,
    "lines of the book": 7050,
    "lines of algebra/layer.hpp": 100,
    "lines read with layers/causal_attention.hpp": 3040,
    "lines read with training/loss.hpp": 2000,
    "lines read with matrix/product.hpp": 900,
    "names that tlm.hpp brings": 242,
}
# A declaration begins at the first column, as clang-format sets it.
DECLARED = re.compile(r"""^(?!friend|namespace|\#|//|\}|static_assert|extern)
    (?:template\ <.*>\s*)? (?:requires[^\n]*\n)? (?:\[\[.*?\]\]\ )?
    (?: (?:class|struct|union|concept|using|enum(?:\ class)?)\ (?:\[\[\w+\]\]\ )?(?P<type>\w+)
      | (?:[\w:<>,&*.\s{}()-]*?[\w>&*\]]\s+[&*]?)(?P<other>\w+)\s*(?:\(|=|\{|;) )""", re.VERBOSE)


def read_with(library, path, seen):
    """A header and all that it includes of the library."""
    if path not in seen:
        seen.add(path)
        for included in re.findall(r"^#include <tlm/([^>]*)>", (library / path).read_text(encoding="utf-8"), re.MULTILINE):
            read_with(library, included, seen)
    return seen


def lines(library, paths):
    return sum(len((library / path).read_text(encoding="utf-8").splitlines()) for path in paths)


def names(text):
    """The names that a header declares in namespace tlm."""
    text = re.sub(r"^namespace (?!tlm \{)[\w:]+ \{.*?^\}  // namespace (?!tlm$)[\w:]+$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"//.*", "", text)
    # A template's head and what it declares in one line.
    text = re.sub(r"^(template <[^\n]*>)\n(?:requires[^\n]*?\n)?", r"\1 ", text, flags=re.MULTILINE)
    for line in re.findall(r"^[a-zA-Z\[][^\n]*(?:\n {4,}[^\n]*)*", text, re.MULTILINE):
        if found := DECLARED.match(line):
            name = found["type"] or found["other"]
            if name and not name.startswith("operator") and name not in ("if", "requires", "return", "std"):
                yield name


def main():
    library = pathlib.Path(sys.argv[1])
    limits = json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")) if len(sys.argv) > 2 else LIMITS
    everything = [path.relative_to(library).as_posix() for path in sorted(library.rglob("*.hpp"))]
    brought = sorted({name for path in read_with(library, "tlm.hpp", set())
                      for name in names((library / path).read_text(encoding="utf-8"))})
    sizes = {
        "lines of tlm/": lines(library, everything),
        "lines of the book": lines(library, [path for path in everything if path.split("/")[0] in BOOK]),
        "lines of algebra/layer.hpp": lines(library, ["algebra/layer.hpp"]),
        "names that tlm.hpp brings": len(brought),
    }
    for header in ("layers/causal_attention.hpp", "training/loss.hpp", "matrix/product.hpp"):
        sizes[f"lines read with {header}"] = lines(library, read_with(library, header, set()))
    print(*(f"{what}: {sizes[what]:,} of at most {limit:,}" for what, limit in limits.items()), sep="\n")
    print("the names:", *brought)
    sys.exit(any(sizes[what] > limit for what, limit in limits.items()))


if __name__ == "__main__":
    main()
