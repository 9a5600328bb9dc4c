# SPDX-License-Identifier: MIT
"""The tokens of a header, the places of changes in it, and general changes of it. It knows no more of C++ than it needs."""

import bisect
import collections
import contextlib
import hashlib
import itertools
import re

LEXER = re.compile(r"""
    (?P<space>   \s+ | //[^\n]* | /\*.*?\*/ | ^[ \t]*\#(?:[^\n\\]|\\.)* )
  | (?P<string>  R"(?P<raw>\w*)\(.*?\)(?P=raw)" | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])+' )
  | (?P<number>  \.?\d(?:[eEpP][+-]|'?[\w.])* )
  | (?P<name>    \w+ )
  | (?P<mark>    <=>|->|\+\+|--|::|&&|\|\||\.\.\.|<<|[-+*/%=!<>&|^]=|. )""", re.VERBOSE | re.DOTALL | re.MULTILINE)
Token = collections.namedtuple("Token", "kind text begin end")
# What is replaced, by what, and in which whole expression or statement; the change in words, as a line of the file has it.
Change = collections.namedtuple("Change", "begin end new outer_begin outer_end")
OPENING, CLOSING = dict(zip("([{", ")]}")), set(")]}")
SWAPS = {"+": ["-"], "-": ["+"], "+=": ["-="], "-=": ["+="], "<": ["<="], "<=": ["<"], ">": [">="], ">=": [">"],
         "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"], "true": ["false"], "false": ["true"]}
# Where the whole expression ends in which an operator stands.
OPERATORS = set(SWAPS) - {"true", "false"}
ASSIGNED = {"=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^="}
ENDS = {",", ";", "?", ":", "return", "throw", "case", "else", "do"} | ASSIGNED
COMPARED, JOINED = {"<", "<=", ">", ">=", "==", "!="}, {"&&", "||"}
# Who says what this is, reads it while compiling; no statement begins so that can be left out.
DECLARES = set("""alignas auto break case class concept const constexpr continue default delete do enum explicit extern for
    friend goto if inline mutable namespace operator private protected public requires return static static_assert struct
    switch template thread_local throw try typedef typename union using virtual void volatile while""".split())
READ_BY_THE_COMPILER = {"alignas", "decltype", "noexcept", "sizeof", "static_assert"}


def tokens(text):
    """What the compiler reads of a text."""
    return [Token(match.lastgroup if match.lastgroup != "raw" else "string", match[0], *match.span())
            for match in LEXER.finditer(text) if match.lastgroup != "space"]


def words(text):
    """The tokens, as texts."""
    return [token.text for token in tokens(text)]


def in_one_line(text):
    """A text without comments and line breaks."""
    parts = [" " if match.lastgroup == "space" else match[0] for match in LEXER.finditer(text)]
    return "".join(part for before, part in zip([""] + parts, parts) if not before == part == " ")


class Header:
    """A header, and what stands where in it."""

    def __init__(self, text):
        self.text, self.tokens = text, tokens(text)
        self.words = [token.text for token in self.tokens]
        self.partner, self.inside = {}, [None] * len(self.words)  # of a bracket; the bracket around a token
        stack = []
        for i, word in enumerate(self.words):
            if stack and (word in CLOSING or (word == ">" and self.words[stack[-1]] == "<" and not self.spaced(i))):
                self.partner[i], self.partner[stack[-1]] = stack[-1], i
                stack.pop()
            self.inside[i] = stack[-1] if stack else None
            before = self.words[i - 1] if i > 0 else ""
            if word in OPENING or (word == "<" and before != "operator" and (before == "template" or not self.spaced(i))):
                stack.append(i)

    def spaced(self, i):
        """Whether space stands in front of a token."""
        return self.tokens[i].begin > self.tokens[i - 1].end

    def find(self, wanted):
        """Where a text stands, whatever its spaces and comments: (first token, number of tokens) of «…», or of all of it."""
        before, _, rest = wanted.rpartition("«")
        part, _, after = rest.partition("»")
        before, part, after = words(before), words(part), words(after)
        whole = before + part + after
        places = [i for i in range(len(self.words) - len(whole) + 1) if self.words[i:i + len(whole)] == whole]
        if len(places) != 1 or not part:
            raise ValueError(f"has {len(places)} times instead of once: {wanted}")
        return places[0] + len(before), len(part)

    def replaced(self, wanted, new):
        """The change of what `wanted` finds."""
        first, count = self.find(wanted)
        begin, end = self.tokens[first].begin, self.tokens[first + count - 1].end
        return Change(begin, end, new, *(self.around(first) if count == 1 and self.words[first] in OPERATORS else (begin, end)))

    def begins_statement(self, i):
        """Whether a statement begins here: after another, a block, or what it depends on."""
        before = self.partner.get(i - 1, i)
        if self.words[i - 1] == "}":
            return self.tokens[i].kind == "name" or self.words[i] in ("*", "++", "--")
        return self.words[i - 1] in (";", "{", "else", "do") or (self.words[i - 1] == ")" and (
            self.words[before - 1] in ("if", "for", "while") or self.words[before - 2:before] == ["if", "constexpr"]))

    def definition(self, beginning):
        """Begin and end of the definition that begins so: to the end of its block, or to its semicolon."""
        first, _ = self.find(beginning)
        end = self.until(first, 1, {";", "{"}) + 1
        return self.tokens[first].begin, self.tokens[self.partner.get(end, end)].end

    def until(self, i, step, ends):
        """The last token of an expression in a direction, before brackets around it or one of its ends."""
        while True:
            after = i + step
            if self.words[after] in ends or (step < 0 and self.begins_statement(i)):
                return i
            if after in self.partner:
                if (self.partner[after] < after) == (step > 0):
                    return i
                after = self.partner[after]
            i = after

    def around(self, i):
        """Begin and end of the expression in which an operator stands."""
        word = self.words[i]
        weaker = set() if word in ASSIGNED | JOINED else JOINED if word in COMPARED else JOINED | COMPARED | {"<<"}
        last = self.until(i, 1, ENDS - ASSIGNED if word in ASSIGNED else ENDS | weaker)
        return self.tokens[self.until(i, -1, ENDS | weaker)].begin, self.tokens[last].end

    def read_by_the_compiler(self):
        """The tokens that are read while compiling: no program sees a change there."""
        found = set()
        for i, word in enumerate(self.words[:-1]):
            if word == "<" and i in self.partner:
                found.update(range(i, self.partner[i]))
            elif word in READ_BY_THE_COMPILER and self.words[i + 1] == "(" or (word, self.words[i + 1]) == ("if", "constexpr"):
                bracket = i + 1 + (word == "if")
                found.update(range(bracket, self.partner[bracket]))
            elif word in ("using", "concept", "typedef", "enum", "requires"):
                found.update(range(i, self.until(i, 1, {";", "{"} if word == "requires" else {";"}) + 1))
            elif word == "constexpr":
                end = self.until(i, 1, {";", "=", "{"})
                if self.words[end + 1] == "=" or self.words[end + 1] == "{" and self.words[end] not in (")", "const"):
                    found.update(range(i, self.until(i, 1, {";"}) + 1))
        return found

    def in_code(self, i):
        """Whether a token stands between statements, and not in a class or a list of values."""
        around = self.inside[i]
        if around is None or self.words[around] != "{":
            return False
        head = self.words[self.until(around, -1, {";"}):around]
        return head != [] and (head[-1] in (")", "]", "else", "do", "try", "const", "noexcept", "mutable", "override")
                               or "->" in head or head[0] in ("for", "if", "while", "else"))

    def statements(self):
        """(first, last token) of what is calculated, called or assigned for its effect."""
        for end, word in enumerate(self.words):
            if word != ";" or not self.in_code(end):
                continue
            begin = self.until(end, -1, set())
            outside = [self.tokens[i] for i in range(begin, end) if self.inside[i] == self.inside[end]]  # of brackets
            texts = [token.text for token in outside]
            left = next((n for n, text in enumerate(texts) if text in ENDS), len(texts))
            declared = any(token.kind == "name" and (before.kind == "name" or n > 0 and before.text in ("&", "&&", ">", "*", "]"))
                           for n, (before, token) in enumerate(itertools.pairwise(outside[:left])))
            if begin < end and not declared and texts[0] not in DECLARES and "reserve" not in texts:
                yield begin, end

    def general_changes(self):
        """All changes of general kinds: swapped operators, constants ± 1, statements left out."""
        fixed = self.read_by_the_compiler()
        for i, (kind, word, begin, end) in enumerate(self.tokens):
            if i in fixed or self.words[i - 1] == "operator":
                continue
            if word in ("true", "false"):
                yield Change(begin, end, *SWAPS[word], begin, end)
            elif kind == "number":
                if not (word == "0" and self.words[i - 1] == "=" and self.words[i + 1] == ";" and self.words[i - 2] == ")"):
                    for step in (1, -1) if word.strip("0.") else (1,):
                        new = str(int(word) + step) if word.isdecimal() else f"{word} {'-+'[step > 0]} 1"
                        yield Change(begin, end, new, begin, end)
            elif word in SWAPS and self.spaced(i) and self.spaced(i + 1) and i not in self.partner:
                outer_begin, outer_end = self.around(i)
                if word not in ("+", "+=") or '"' not in self.text[outer_begin:outer_end]:  # texts are not subtracted
                    yield Change(begin, end, *SWAPS[word], outer_begin, outer_end)
        for first, end in self.statements():
            if first not in fixed:
                begin, end = self.tokens[first].begin, self.tokens[end].end
                yield Change(begin, end, "", begin, end)

    def line(self, change):
        """A change as `from → to`, with as much around it as it needs to stand once in the header."""
        begins = [token.begin for token in self.tokens]
        first, end = bisect.bisect_left(begins, change.begin), bisect.bisect_left(begins, change.end)
        for around in range(2 if end == first + 1 else 0, 40):
            low, high = max(0, first - (around + 1) // 2), min(len(self.words), end + around // 2)
            wanted = in_one_line(f"{self.text[begins[low]:change.begin]}«{self.text[change.begin:change.end]}»"
                                 f"{self.text[change.end:self.tokens[high - 1].end]}")
            if wanted.startswith("«") and wanted.endswith("»"):
                wanted = wanted[1:-1]
            with contextlib.suppress(ValueError):
                self.find(wanted)
                return f"{wanted} → {change.new}".rstrip()
        return wanted

    def sample(self, name, seed):
        """General changes, each with the number that says whether it is among those that are tried. It does not depend on
        what else is in the header."""
        seen = collections.Counter()
        for change in self.general_changes():
            around = words(self.text[change.outer_begin:change.outer_end]), words(self.text[change.begin:change.end])
            key = f"{seed} {name} {around} {change.new}"
            seen[key] += 1
            yield hashlib.sha256(f"{key} {seen[key]}".encode()).hexdigest(), change

    def switched(self, changes):
        """The header with every change of {number: change} behind a switch, each in a line of its own: tlm_planted(number)."""
        def put(begin, end, those):
            """The text between two places. The changes there begin with the first and longest."""
            if not those:
                return self.text[begin:end]
            low, high = those[0][1][3:]
            same = [item for item in those if item[1][3:] == (low, high)]
            within = [item for item in those[len(same):] if item[1].outer_begin < high]
            for _, change in within:
                if change.outer_end > high:
                    raise ValueError(f"two changes overlap: »{self.text[low:high]}« and "
                                     f"»{self.text[change.outer_begin:change.outer_end]}«")
            old, switches, statement = put(low, high, within), "", self.text[low:high].endswith(";")
            for number, change in same:
                new = in_one_line(f"{self.text[low:change.begin]} {change.new} {self.text[change.end:high]}")
                switches += (f"\nif (::tlm_planted({number})) {{ {new} }} else\n" if statement else
                             f"\n::tlm_planted({number}) ? ({new}) :\n")
            both = f"{{{switches}{{ {old} }} }}" if statement else f"({switches}({old}))"
            return self.text[begin:low] + both + put(high, end, those[len(same) + len(within):])
        order = sorted(changes.items(), key=lambda item: (item[1].outer_begin, -item[1].outer_end))
        return put(0, len(self.text), order)

    def changed(self, change):
        """The header with a change made for real."""
        return self.text[:change.begin] + change.new + self.text[change.end:]
