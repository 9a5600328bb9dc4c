#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the words a sentence of each page, the median and the maximum, and names the pages where either is too large.

    words.py [PAGE ...]     by default all pages of docs/, the Markdown files beside it, and proofs/kernel/README.md

A formula, a symbol and a link are a word each; of a piece of code each word counts. Listings, directives, tables and headings
are not read.
"""

import pathlib
import re
import statistics
import sys

MEDIAN, MAXIMUM = 15, 40
ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = [*sorted(ROOT.glob("docs/*.rst")), *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("*.md")),
         ROOT / "proofs/kernel/README.md"]


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


def sentences(page):
    text = page.read_text(encoding="utf-8")
    for paragraph in re.split(r"\n\s*\n|\n *(?:[-*]|\d+\.) ", of_rst(text) if page.suffix == ".rst" else of_markdown(text)):
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
