# SPDX-License-Identifier: MIT
"""How much there is to read: it may become less, and not more.

    size.py LIBRARY [LIMITS.json]

It prints the number of lines of the library and of the book, and of those that a header reads with it. It prints the number of
names that tlm.hpp brings into namespace tlm. Each is beside its limit. Names of tlm::detail do not count. LIMITS.json has other
limits, for the test of this test.
"""

import json
import pathlib
import re
import sys

from includes import BOOK, reached

LIMITS = {
    "lines of tlm/": 10497,
    "lines of the book": 6294,
    "lines of algebra/layer.hpp": 100,
    "lines read with layers/causal_attention.hpp": 2396,
    "lines read with training/loss.hpp": 1003,
    "lines read with matrix/product.hpp": 789,
    "names that tlm.hpp brings": 118,
}


def lines(library, paths):
    return sum(len((library / path).read_text(encoding="utf-8").splitlines()) for path in paths)


def names(text):
    """The names that a header declares in namespace tlm, those of enumerators and of the standard library's functions too."""
    text = re.sub(r"^namespace (?!tlm \{)[\w:]+ \{$.*?^\}  // namespace (?!tlm$).*?$", "", text, flags=re.MULTILINE | re.DOTALL)
    for text in re.findall(r"^namespace tlm \{$(.*?)^\}  // namespace tlm$", text, re.MULTILINE | re.DOTALL):
        text = re.sub(r"//.*|^#.*|\[\[.*?\]\]", "", text, flags=re.MULTILINE)
        text = re.sub(r'"(\\.|[^"\\])*"', '""', text)
        yield from re.findall(r"\w+", " ".join(re.findall(r"^enum \w+ \{([^}]*)\}", text, re.MULTILINE)))
        text = re.sub(r"->|operator *[^\w\s]+(?=\()", " operator", text)
        # What is between brackets declares nothing here: ¶ is a body, § are parameters, ¦ arguments of a template.
        for inside, mark in ((r"\{[^{}]*\}", "¶"), (r"\([^()]*\)", "§"), (r"<[^<>]*>", "¦")):
            while (emptied := re.sub(inside, mark, text)) != text:
                text = emptied
        for declaration in re.split(r";|¶\s*(?=\n[^ ]|$)", text):
            declaration = re.sub(r"decltype§", "auto", re.sub(r"^\s*(template *¦\s*)*", "", declaration))
            found = re.match(r"using std::(\w+)", declaration) or re.match(
                r"(?:requires\b.*?)?\b(?:class|struct|union|concept|using|enum class|enum) (\w+)", declaration, re.DOTALL)
            found = found or re.search(r"(\w+)\s*¦?\s*(?:§|=|$)", declaration)
            if found and found[1] not in ("operator", "requires"):
                yield found[1]


def main():
    library = pathlib.Path(sys.argv[1])
    limits = json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")) if len(sys.argv) > 2 else LIMITS
    everything = [path.relative_to(library).as_posix() for path in sorted(library.rglob("*.hpp"))]
    brought = sorted({name for path in reached(library, "tlm.hpp")
                      for name in names((library / path).read_text(encoding="utf-8"))})
    sizes = {
        "lines of tlm/": lines(library, everything),
        "lines of the book": lines(library, [path for path in everything if path.split("/")[0] in BOOK]),
        "lines of algebra/layer.hpp": lines(library, ["algebra/layer.hpp"]),
        "names that tlm.hpp brings": len(brought),
    }
    for header in ("layers/causal_attention.hpp", "training/loss.hpp", "matrix/product.hpp"):
        sizes[f"lines read with {header}"] = lines(library, reached(library, header))
    print(*(f"{what}: {sizes[what]:,} of at most {limit:,}" for what, limit in limits.items()), sep="\n")
    print("the names:", *brought)
    sys.exit("Matrix" not in brought or any(sizes[what] > limit for what, limit in limits.items()))


if __name__ == "__main__":
    main()
