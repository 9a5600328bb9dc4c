# SPDX-License-Identifier: MIT
"""What the book shows of the sources: declarations, found by their text, and test cases, found by their names."""

import dataclasses
import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


class NotFound(Exception):
    """What the book names is not there, or there more than once."""


@functools.cache
def lines_of(path):
    """The lines of a file of the project."""
    file = ROOT / path
    if not file.is_file():
        raise NotFound(f"there is no file {path}")
    return file.read_text(encoding="utf-8").split("\n")


@dataclasses.dataclass(frozen=True)
class Excerpt:
    """Lines first, …, last of a file, from 1."""

    path: str
    first: int
    last: int

    @property
    def text(self):
        lines = lines_of(self.path)[self.first - 1 : self.last]
        margin = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
        return "\n".join(line[margin:] for line in lines)


def code_of(line):
    """A line without its comment."""
    return re.sub(r"\s*//.*", "", line)


def ends(line, depth):
    """Whether a declaration ends with this line, behind which so many brackets are open."""
    code = code_of(line).rstrip()
    return depth == 0 and (code.endswith((";", "}")))


@functools.cache
def declaration(path, text, with_comment=False):
    """The declaration in whose first lines, comments aside, the text stands, which must be the only one: from its `template`
    to its end; with the comment above it if asked for."""
    lines = lines_of(path)
    found = [i for i, line in enumerate(lines) if text in code_of(line)]
    if len(found) != 1:
        raise NotFound(f"'{text}' occurs {len(found)} times in {path}, not once")
    return declaration_at(path, found[0] + 1, with_comment)


def declaration_at(path, line, with_comment=False):
    """The declaration that this line, from 1, belongs to, if it is one of its first."""
    lines = lines_of(path)
    first = last = line - 1

    def goes_on(line):
        code = code_of(line).rstrip()
        return code and not code.endswith((";", "}", "{", ":")) and not line.lstrip().startswith("#")

    while first > 0 and goes_on(lines[first - 1]):
        first -= 1
    depth = 0
    for last in range(first, len(lines)):
        code = re.sub(r'"(\\.|[^"\\])*"', '""', code_of(lines[last]))
        depth += sum(code.count(c) for c in "({[") - sum(code.count(c) for c in ")}]")
        if ends(lines[last], depth):
            break
    if with_comment:
        while first > 0 and lines[first - 1].lstrip().startswith("//"):
            first -= 1
    return Excerpt(path, first + 1, last + 1)


def head_of(text):
    """A declaration without its body; all of a concept and of an enumeration, which have none."""
    if re.search(r"^(concept|enum)\b", text, re.MULTILINE):
        return text
    depth, code = 0, re.sub(r"//.*", lambda comment: " " * len(comment[0]), text)
    for i, character in enumerate(code):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        # A brace behind a space opens a body; size_t{1} is a number.
        if depth == 0 and (character == ";" or (character == "{" and text[i - 1] == " ")):
            text = text[:i]
            break
    return re.sub(r"(\)) : \w+\{.*|\s*=\s*\[\]$", r"\1", text.rstrip(), flags=re.DOTALL)


def comment_above(path, line):
    """The lines of the comment above a line, from 1, without their slashes; and behind it on the same line."""
    lines = lines_of(path)
    above, i = [], line - 2
    while i >= 0 and lines[i].lstrip().startswith("///"):
        above.insert(0, lines[i].lstrip()[3:].removeprefix(" "))
        i -= 1
    behind = re.search(r"///< ?(.*)$", lines[line - 1])
    return above + ([behind[1]] if behind else [])


def line_of(text, path):
    """The first line of a file that has the text."""
    for number, line in enumerate(lines_of(path), 1):
        if text in line:
            return number
    raise NotFound(f"'{text}' is not in {path}")


@dataclasses.dataclass(frozen=True)
class TestCase:
    """A test case: its file, without folder and ending if it is a proof's; its name, and its line."""

    file: str
    name: str
    line: int


@functools.cache
def blocks_of(chapter):
    """The titles of a chapter's blocks, which have a formula, its code and the evidence."""
    return re.findall(r"^ *\.\. beside:: (.*)$", "\n".join(lines_of(f"docs/{chapter}.rst")), re.MULTILINE)


def anchor_of(block):
    """The place of a block in its page."""
    return "at-" + re.sub(r"\W+", "-", block).strip("-")


def path_of(file):
    """Where the test cases of a FILE stand: those of a proof, or of tests/unit, tests/storage, …"""
    return f"tests/{file}.cpp" if "/" in file else f"proofs/{file}.cpp"


@functools.cache
def test_cases(file):
    """The test cases of a FILE."""
    text = "\n".join(lines_of(path_of(file)))
    cases = []
    for match in re.finditer(r'^TEST_CASE(?:_TEMPLATE)?\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)[)*,]', text, re.MULTILINE):
        name = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match[1]))
        cases.append(TestCase(file, name, text.count("\n", 0, match.start()) + 1))
    return cases


@dataclasses.dataclass(frozen=True)
class Claim:
    """A test case, and what a page says is proved of it: these theorems, or, if None, all that the test case names. `in_part`:
    they say some of what the page says at this place."""

    case: TestCase
    theorems: tuple | None
    in_part: bool


@functools.cache
def claim(reference):
    """What 'FILE: BEGINNING OF ITS NAME' means, or the same with '; proved: THEOREM, …', '; proved: nothing', '; proved in part:
    THEOREM, …' or '; proved in part: all', if the test case is about more than the page is at this place, or its theorems about less."""
    match = re.fullmatch(r"(.*?); proved( in part)?: (.*)", reference)
    if not match:
        return Claim(test_case(reference), None, False)
    names = {"nothing": (), "all": None}.get(match[3], tuple(match[3].split(", ")))
    return Claim(test_case(match[1]), names, bool(match[2]))


@functools.cache
def test_case(reference):
    """The test case that 'FILE: BEGINNING OF ITS NAME' means; there must be one."""
    file, colon, beginning = reference.partition(": ")
    if not colon:
        raise NotFound(f"'{reference}' is not of the form FILE: NAME")
    found = [case for case in test_cases(file) if case.name.startswith(beginning)]
    if len(found) > 1:
        found = [case for case in found if case.name == beginning]
    if len(found) != 1:
        raise NotFound(f"{path_of(file)} has {len(found)} test cases whose names begin with '{beginning}', not one")
    return found[0]


def place(reference):
    """What 'PATH' or 'PATH: TEXT' means: the path, and the line of the declaration, or 1."""
    path, colon, text = reference.partition(": ")
    if not colon:
        lines_of(path)
        return path, 1
    return path, declaration(path, text).first
