#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the words a sentence of each page, the median and the maximum, and names the pages where either is too large.

    words.py [PAGE ...]     by default all pages of docs/, the Markdown files beside it, proofs/kernel/README.md and tlm/

A formula, a symbol and a link are a word each; of a piece of code each word counts. Listings, directives, tables and headings
are not read. Of a header its comments are read: a line that is indented by three spaces or more is a formula, and each folder
of headers counts as a page.
"""

import pathlib
import re
import statistics
import sys

MEDIAN, MAXIMUM = 15, 40
ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = [*sorted(ROOT.glob("docs/*.rst")), *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("*.md")),
         ROOT / "proofs/kernel/README.md", *sorted(folder for folder in ROOT.glob("tlm/*") if folder.is_dir())]


def formula(match):
    """A displayed formula belongs to the sentence around it, which ends with it where no text follows."""
    return "\0" + ("" if match["text"] is not None and not match[0].rstrip().endswith(".") else ".") + "\n\n"


def code(match):
    """The words of a piece of code, with nothing in it that would end a sentence."""
    return re.sub(r"[.!?]", "", match[1])


def of_rst(text):
    text = re.sub(r"(?m)^( *)\.\. math::.*\n(?:\1 +.*\n|\n)*(?P<text>(?=\1[^ .\n]))?", lambda m: m[1] + formula(m), text)
    text = re.sub(r"(?m)^( *)\.\. (?:beside|picture)::.*\n(?:\1 +:[\w-]+:.*\n)*", "\n", text)  # which are read within
    text = re.sub(r"(?m)^( *)(?:\.\. .*|:[\w-]+:(?: .*)?)\n(?:(?:\1 +.*)?\n)*", "\n", text)
    text = re.sub(r"(?m)^( *)(.*)::\n(?:(?:\1 +.*)?\n)*", r"\1\2:\n\n", text)
    text = re.sub(r"(?m)^.*\n[=-]{3,}$", "", text)
    text = re.sub(r"\s*\0(\.?)\s*", r" formula\1 ", text)
    return re.sub(r":[\w-]+:`[^`]*`|`[^`]*`_+", "x", re.sub(r"``([^`]*)``", code, text))


def of_markdown(text):
    text = re.sub(r"(?m)^```[^`]*^```|^<.*>$|^\|.*$|^#.*$|^    .*$", "", text)
    return re.sub(r"`([^`]*)`", code, re.sub(r"\]\([^)]*\)", "", text))


def of_header(text):
    """The comments. A formula belongs to the sentence around it; code between two comments ends a sentence."""
    blocks = re.sub(r"(?m)^ *///? ?|^.*[;{},()] +///?<? |^(?! *//).*$", lambda m: "" if "//" in m[0] else "\n", text)
    blocks = re.sub(r"(?m)^\s*SPDX-.*$|^clang-format o.*$", "", blocks)
    blocks = re.sub(r"\s*\n(?: {2,}.*\n|\n(?= {2}))+\s*", " formula\n\n", blocks)
    return re.sub(r"`([^`]*)`", code, blocks)


READERS = {".rst": of_rst, ".md": of_markdown, ".hpp": of_header}


def sentences(page):
    if page.is_dir():
        for header in sorted(page.glob("*.hpp")):
            for count, sentence in sentences(header):
                yield count, f"{header.name}: {sentence}"
        return
    for paragraph in re.split(r"\n\s*\n|\n *(?:[-*]|\d+\.) ", READERS[page.suffix](page.read_text(encoding="utf-8"))):
        for sentence in re.split(r"(?<=[.!?])[)”»*]*\s+", paragraph.strip()):
            if words := re.findall(r"\S*\w\S*", sentence):
                yield len(words), " ".join(sentence.split())


refused = False
for path in map(pathlib.Path, sys.argv[1:] or PAGES):
    found = sorted(sentences(path)) or [(0, "")]
    median, (maximum, longest) = statistics.median(count for count, _ in found), found[-1]
    wrong = median > MEDIAN or maximum > MAXIMUM
    refused |= wrong
    print(f"{str(path).removeprefix(f'{ROOT}/'):30} median {median:4}, maximum {maximum:3}" + (f": too long: {longest}" if wrong else ""))
sys.exit(refused)
