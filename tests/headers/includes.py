# SPDX-License-Identifier: MIT
"""The folders of the library in their order, and which headers of it a header includes."""

import re

BOOK = ["base", "numbers", "matrix", "algebra", "attention", "layers", "models", "training", "decoding"]
WORKSHOP = ["derivation", "checking", "text", "storage", "parallel"]  # which is included by who wants it


def includes(header):
    """Directly, by their paths within the library."""
    return re.findall(r'^ *# *include [<"]tlm/([^>"]*)[>"]', header.read_text(encoding="utf-8"), re.MULTILINE)


def reached(library, path):
    """A header by its path, and all that it includes, directly or not."""
    seen, coming = set(), [path]
    while coming:
        path = coming.pop()
        if path not in seen:
            seen.add(path)
            coming += includes(library / path)
    return seen
