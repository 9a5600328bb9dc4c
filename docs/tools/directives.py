# SPDX-License-Identifier: MIT
"""What the book is set with, beside reStructuredText: formula and code with their evidence in the margin; code by its
declaration; claims with their results; words that explain themselves; and the symbols of formulas as links into the notation."""

import functools
import html
import json
import pathlib
import re
import subprocess
import sys
import textwrap
import tomllib

from docutils import nodes
from docutils.parsers.rst import directives
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from . import results, sources

sys.path[:0] = [str(sources.ROOT / "docs"), str(sources.ROOT / "examples")]
import evidence  # noqa: E402
from report import COLOURS  # noqa: E402

LOGGER = logging.getLogger(__name__)
DOCS = sources.ROOT / "docs"
COLUMNS = 88  # of code on a page
STYLE = ("{BasedOnStyle: Google, AllowShortFunctionsOnASingleLine: All, AllowShortLoopsOnASingleLine: true, "
         f"DerivePointerAlignment: false, ColumnLimit: {COLUMNS}}}")


def data(name):
    """A table of docs/, as TOML."""
    return tomllib.loads((DOCS / name).read_text(encoding="utf-8"))


def link_to(path, line):
    """Where a line of a file stands in the site, from a page of its top folder."""
    return f"source/{path}.html#L{line}"


def paragraph(*children, classes=()):
    """A paragraph of texts and nodes."""
    node = nodes.paragraph(classes=list(classes))
    for child in children:
        node += nodes.Text(child) if isinstance(child, str) else child
    return node


def reference(text, uri, classes=()):
    """A link."""
    return nodes.reference("", text, refuri=uri, internal=True, classes=list(classes))


# What C++ types are for Coq: the page of each, and the file of what was run that has it.
EXPORTED = {"exported/T_LM.v": "kernel.txt", "exported/Transformer.v": "transformer.txt"}


def exported(config, page):
    """The text that is exported from a C++ type."""
    return (pathlib.Path(config.runs) / EXPORTED[page]).read_text(encoding="utf-8")


def link_to_theorem(config, name):
    """Where a theorem is stated: in proofs/kernel, or in what is exported from a type; None if in neither."""
    if place := results.place_of_theorem(name):
        return link_to(*place)
    for page in EXPORTED:
        for number, line in enumerate(exported(config, page).split("\n"), 1):
            if re.match(rf"\s*Theorem {re.escape(name)}\b", line):
                return link_to(page, number)
    return None


FEW = 4  # theorems that are shown unfolded


def html_of_theorems(config, claim, names):
    """Theorems with links to their statements, those over one kind of numbers together; more than a few are folded."""
    def link(name):
        place, shown = link_to_theorem(config, name), html.escape(name).replace("_", "_<wbr>")
        return f'<a href="{place}">{shown}</a>' if place else f"{shown} (exported from its type)"

    proved = "proved in part" if claim.in_part else "proved"
    parts = [f"{proved} over {numbers}: {', '.join(map(link, found))}" for numbers in ("any numbers", "ℝ")
             if (found := [name for name in names if results.numbers_of(name) == numbers])]
    text = "; ".join(parts)
    if len(names) > FEW:
        text = f"<details><summary>{proved}, over {results.numbers_of_all(names)}: {len(names)} theorems</summary>{text}</details>"
    return text


def folded(summary, children, *classes):
    """What opens when its one line is clicked."""
    return [nodes.raw("", f'<details class="{" ".join(classes)}"><summary>{html.escape(summary)}</summary>', format="html"),
            *children, nodes.raw("", "</details>", format="html")]


class Directive(SphinxDirective):
    """A directive that says where it stands if what it names is not there."""

    def run(self):
        try:
            return self.make()
        except sources.NotFound as error:
            self.env.note_reread()
            LOGGER.warning("%s", error, location=self.get_location())
            return []

    def lines(self):
        """Its content, a line each without those that are empty."""
        return [line.strip() for line in self.content if line.strip()]


class Header(Directive):
    """Lines of a file, found by the beginnings of their declarations, so that they cannot drift.

    .. header:: tlm/layers/feed_forward.hpp
       :of: struct FeedForward :
    """

    required_arguments = 1
    option_spec = {"of": directives.unchanged_required, "comment": directives.flag}

    def make(self):
        path = self.arguments[0]
        box = nodes.container(classes=["header-code"])
        for text in self.options["of"].split("\n"):
            excerpt = sources.declaration(path, text.strip(), "comment" in self.options)
            link = reference(f"{path}:{excerpt.first}", link_to(path, excerpt.first))
            box += paragraph(link, classes=["where"])
            box += nodes.literal_block(excerpt.text, excerpt.text, language="cpp")
        self.env.note_dependency(str(sources.ROOT / path))
        return [box]


class Holds(Directive):
    """Claims with the checks that verify them, and what these reported in the build's own run.

    .. holds::

       05_transformer: FF, Φ and N are rowwise
       04_leaves: the pullback of each layer of the list is the transpose; proved: Times_transposes
    """

    has_content = True

    def make(self):
        items = nodes.bullet_list(classes=["holds"])
        log = self.config.proofs_log
        items["proved"] = []
        for line in self.lines():
            claim = sources.claim(line)
            case, names = claim.case, results.theorems(log, claim)
            held = results.holds(log, case)
            if not held:
                self.env.note_reread()
                LOGGER.warning("this fails: %s", line, location=self.get_location())
            item = nodes.list_item(classes=["held" if held else "failed"])
            where = nodes.inline("", "checked: " if held else "FAILS: ", classes=["where"])
            where += reference(f"proofs/{case.file}.cpp:{case.line}", link_to(f"proofs/{case.file}.cpp", case.line))
            if not names and not case.name.startswith("control"):
                where += nodes.Text("; no theorem")
            item += paragraph(case.name + " ", where)
            for name in names:
                if place := results.place_of_theorem(name):
                    self.env.note_dependency(str(sources.ROOT / place[0]))
            if names:
                items["proved"].append("in part" if claim.in_part else f"over {results.numbers_of_all(names)}")
                item += nodes.raw("", f'<div class="where">{html_of_theorems(self.config, claim, names)}</div>', format="html")
            items += item
        self.env.note_dependency(log)
        return [items]


class Derived(Directive):
    """Statements that the compiler derives, each with its rule and its premises: from the derivation of this build.

    .. derived::

       CA is autoregressive
    """

    has_content = True

    def make(self):
        file = pathlib.Path(self.config.runs) / "claims.json"
        self.env.note_dependency(str(file))
        steps = json.loads(file.read_text(encoding="utf-8"))
        items = nodes.bullet_list(classes=["holds", "derived"])
        for line in self.lines():
            step = next((step for step in steps if step["statement"] == line and "rule" in step), None)
            if step is None:
                raise sources.NotFound(f"the derivation does not derive '{line}'")
            number = sources.line_of('"' + step["rule"] + '"', "tlm/algebra/rules.hpp")
            because = ", ".join(steps[part]["statement"] for part in step["parts"])
            rule = reference(step["rule"], link_to("tlm/algebra/rules.hpp", number))
            item = nodes.list_item(classes=["held"])
            where = nodes.inline("", "", nodes.Text("derived by the rule "), rule, classes=["where"])
            if place := results.place_of_theorem(step["rule"]):
                where += nodes.Text(", which is proved over any numbers: ")
                where += reference("its theorem", link_to(*place))
            item += paragraph(f"{line}, because {step['sentence']}. Its premises: {because}. ", where)
            items += item
        return [items]


class Tested(Directive):
    """Tests, which this build did not run: what ./tests/run does with all others.

    .. tested::

       unit/training: SGD: w ← w − ηg
    """

    has_content = True

    def make(self):
        items = nodes.bullet_list(classes=["holds", "tested"])
        for line in self.lines():
            case = sources.test_case(line)
            path = sources.path_of(case.file)
            item = nodes.list_item()
            link = reference(f"{path}:{case.line}", link_to(path, case.line))
            item += paragraph(case.name + " ", nodes.inline("", "", nodes.Text("tested: "), link, classes=["where"]))
            items += item
        return [items]


class Argued(Directive):
    """What the text of the block argues for, and no theorem says.

    .. argued::

       a ReLU is at 0 only on a null set of weights
    """

    has_content = True

    def make(self):
        items = nodes.bullet_list(classes=["holds", "argued"])
        for line in self.lines():
            item = nodes.list_item()
            item += paragraph(line + " ", nodes.inline("", "argued on this page; no theorem says it", classes=["where"]))
            items += item
        return [items]


class Beside(Directive):
    """A formula and its code, one under the other, with the evidence for both folded to one line in the margin."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def make(self):
        content = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, content)
        kinds = {"formula": [], "code": [], "evidence": []}
        for node in content.children:
            classes = node.get("classes", []) if isinstance(node, nodes.Element) else []
            kinds["code" if "header-code" in classes else "evidence" if "holds" in classes else "formula"].append(node)
        box = nodes.container(classes=["beside"])
        box["ids"].append(sources.anchor_of(self.arguments[0]))
        box += paragraph(self.arguments[0], classes=["column-name"])
        if kinds["evidence"]:
            margin = nodes.container(classes=["margin"])
            argued = ["argued"] if any("argued" in found["classes"] for found in kinds["evidence"]) else []
            margin += folded(self.line(kinds["evidence"]), kinds["evidence"], "evidence", *argued)
            box += margin
        column = nodes.container(classes=["column"])
        column += kinds["formula"] + kinds["code"]
        box += column
        return [box]

    @staticmethod
    def line(lists):
        """What there is, counted, in one line: "proved 2 over any numbers, 1 over ℝ · derived 1 · checked 4"."""
        counts = dict.fromkeys(("argued", "proved", "derived", "checked", "tested"), 0)
        for found in lists:
            counts[next((kind for kind in ("argued", "derived", "tested") if kind in found["classes"]), "checked")] += len(found.children)
        proved = [said for found in lists for said in found.get("proved", [])]
        numbers = [f"{proved.count(said)} {said}" for said in ("over any numbers", "over ℝ", "in part") if said in proved]
        failed = [item for found in lists for item in found.children if "failed" in item["classes"]]
        said = ["FAILS"] if failed else []
        said += [f"{kind} {', '.join(numbers) if kind == 'proved' else count}" for kind, count in counts.items()
                 if count or (kind == "proved" and proved)]
        return " · ".join(", ".join(part.replace(" ", "\u00a0") for part in kind.split(", ")) for kind in said)


def coloured(svg):
    """A drawing whose colours are those of the stylesheet: the n-th of report.py's is --picture-n there."""
    for number, colour in enumerate(COLOURS, 1):
        svg = svg.replace(colour, f"var(--picture-{number})")
    return svg


def drawing(text, prefix):
    """The <svg> of a file, in the colours of the page, with names of its own."""
    return coloured(re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{prefix}-", text[text.index("<svg"):]))


class Picture(Directive):
    """A picture of docs/, or one that the build has drawn, in the page itself, so that it has the colours of the page. Its content is its
    caption. A large one can be enlarged."""

    required_arguments = 1
    option_spec = {"large": directives.flag}
    has_content = True

    def make(self):
        name = f"{self.arguments[0]}.svg"
        file = next((file for file in (DOCS / name, pathlib.Path(self.config.pictures) / name) if file.is_file()), DOCS / name)
        if not file.is_file():
            raise sources.NotFound(f"there is no picture {file}")
        self.env.note_dependency(str(file))
        svg = drawing(file.read_text(encoding="utf-8"), self.arguments[0])
        caption = nodes.container(classes=["caption"])
        self.state.nested_parse(self.content, self.content_offset, caption)
        figure = nodes.container(classes=["picture"])
        name = nodes.make_id(self.arguments[0])
        figure["ids"].append(f"picture-{name}")
        buttons = (f'<p class="enlarge"><a class="open" href="#enlarged-{name}">Enlarge</a>'
                   f'<a class="close" href="#picture-{name}">Close</a></p>')
        figure += nodes.raw("", f'<div class="drawing" id="enlarged-{name}">{buttons if "large" in self.options else ""}'
                                f"{svg}</div>", format="html")
        figure += caption
        return [figure]


class Output(Directive):
    """What a program printed in this build: its output, kept by docs/run; or the lines of it from one text to another."""

    required_arguments = 1
    option_spec = {"from": directives.unchanged, "to": directives.unchanged}

    def make(self):
        file = pathlib.Path(self.config.runs) / f"{self.arguments[0]}.txt"
        if not file.is_file():
            raise sources.NotFound(f"there is no output {file}")
        self.env.note_dependency(str(file))
        text = file.read_text(encoding="utf-8")
        for option, side in (("from", 0), ("to", 1)):
            if mark := self.options.get(option):
                if mark not in text:
                    raise sources.NotFound(f"'{mark}' is not in {file}")
                at = text.index(mark)
                text = text[at:] if side == 0 else text[: text.index("\n", at) + 1]
        text = "\n".join(map(self.broken, text.rstrip().split("\n")))
        return [nodes.literal_block(text, text, language="text", classes=["output"])]

    @staticmethod
    def broken(line):
        """In lines that fit a page. What follows the first is indented: more than it, or as its second column is."""
        columns = re.match(r"\S+ {2,}", line)
        indent = columns.end() if columns else len(line) - len(line.lstrip()) + 4
        return textwrap.fill(line, COLUMNS, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False,
                             drop_whitespace=True) if len(line) > COLUMNS else line


class Numbers(Directive):
    """Matrices of the book's example, as the program by_hand computed them in this build, each with its formula.

    .. numbers::

       A_1: A_1 = \\softmax(S_1)
    """

    has_content = True

    def make(self):
        file = pathlib.Path(self.config.runs) / "by_hand.json"
        self.env.note_dependency(str(file))
        steps = json.loads(file.read_text(encoding="utf-8"))
        box = nodes.container(classes=["numbers"])
        box += paragraph("The example: ", nodes.raw("", '<a href="start.html#by-hand">three tokens, by hand</a>', format="html"),
                         classes=["where"])
        matrices = nodes.container(classes=["matrices"])
        for line in self.lines():
            name, _, tex = line.partition(": ")
            if name not in steps:
                raise sources.NotFound(f"{file} has no '{name}'")
            matrix = nodes.container(classes=["matrix"])
            formula = paragraph()
            formula += nodes.math(tex, tex)
            matrix += formula
            width = max(map(len, steps[name]))
            rows = "".join("<tr>" + "".join(f"<td>{self.number(row[j]) if j < len(row) else ''}</td>" for j in range(width)) + "</tr>"
                           for row in steps[name])
            matrix += nodes.raw("", f"<table>{rows}</table>", format="html")
            matrices += matrix
        box += matrices
        return [box]

    @staticmethod
    def number(value):
        """With two decimal places, and a minus sign as in a formula."""
        text = f"{value:.2f}"
        return (text if float(text) else "0.00").replace("-", "−")


class Exercise(Directive):
    """What is to be changed in an exercise, the command that marks it, its hint, folded: the content; and its answer, folded, which
    the test of the exercise verifies."""

    required_arguments = 1
    has_content = True

    def make(self):
        file = next((DOCS / "exercises").glob(f"{self.arguments[0]}.[cv]*"), None)
        if file is None:
            raise sources.NotFound(f"there is no exercise {self.arguments[0]}")
        self.env.note_dependency(str(file))
        path = str(file.relative_to(sources.ROOT))
        lines = sources.lines_of(path)
        first, last = (next(i for i, line in enumerate(lines) if mark in line) for mark in ("-- change this --", "-- to here --"))
        excerpt = sources.Excerpt(path, first + 2, last)
        hint = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, hint)
        command = f"./docs/exercises/mark {self.arguments[0]}"
        # The pages have the text of the programs that they show; Coq's file is shown whole.
        text = excerpt.text if file.suffix == ".cpp" else "\n".join(lines[2:]).rstrip()
        where = reference(f"{path}:{excerpt.first}", link_to(path, excerpt.first)) if file.suffix == ".cpp" else nodes.Text(path)
        language = "cpp" if file.suffix == ".cpp" else "coq"
        solution = f"tests/docs/solutions/{self.arguments[0]}.txt"
        self.env.note_dependency(str(sources.ROOT / solution))
        answer = textwrap.dedent("\n".join(sources.lines_of(solution))).rstrip()
        return [paragraph(where, classes=["where"]), nodes.literal_block(text, text, language=language),
                paragraph(nodes.literal("", command)), *folded("Hint", [hint], "hint"),
                *folded("Answer", [nodes.literal_block(answer, answer, language=language)], "hint")]


class Notation(Directive):
    """The notation table, from notation.toml."""

    def make(self):
        table = data("notation.toml")
        columns = table["columns"]
        rows = []
        for symbol in table["symbol"]:
            if unknown := set(symbol) - set(columns) - {"id", "tex", "match", "pages", "header"}:
                raise sources.NotFound(f"notation.toml: {symbol['id']} has {unknown}")
            cells = [f'<a class="headerlink self" href="#sym-{symbol["id"]}">\\({html.escape(symbol["tex"])}\\)</a>']
            for column in columns:
                text = html.escape(symbol.get(column, ""))
                text = re.sub(r"`([^`]*)`", r"<code>\1</code>", text)
                if column == "C++" and "header" in symbol:
                    path, line = sources.place(symbol["header"])
                    text = f'<a href="{link_to(path, line)}">{text}</a>'
                cells.append(text)
            rows.append(f'<tr id="sym-{symbol["id"]}">' + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        head = "".join(f"<th>{html.escape(name)}</th>" for name in ["symbol", *columns])
        text = (f'<div class="wide"><table class="docutils notation"><thead><tr>{head}</tr></thead>'
                f'<tbody>{"".join(rows)}</tbody></table></div>')
        self.env.note_dependency(str(DOCS / "notation.toml"))
        return [nodes.raw("", text, format="html")]


class Coverage(Directive):
    """A source's statements in their order, each with its header's line and its proof, from coverage.toml."""

    required_arguments = 1

    def make(self):
        table = data("coverage.toml")
        self.env.note_reread()  # it leads to lines of many files
        rows, section = [], None
        for entry in table[self.arguments[0]]:
            what = html.escape(entry["says"])
            where = []
            for header in entry.get("code", []):
                path, line = sources.place(header)
                name = header.partition(": ")[2].split("(")[0].strip(" :{;=") or path
                where.append(f'<a href="{link_to(path, line)}"><code>{html.escape(name)}</code><br>'
                             f"<small>{path}:{line}</small></a>")
            proved, proofs = [], []
            for proof in entry.get("proof", []):
                claim = sources.claim(proof)
                case, names = claim.case, results.theorems(self.config.proofs_log, claim)
                held = results.holds(self.config.proofs_log, case)
                if not held:
                    LOGGER.warning("this fails: %s", proof, location=self.get_location())
                link = link_to(f"proofs/{case.file}.cpp", case.line)
                if names:
                    proved.append(html_of_theorems(self.config, claim, names).replace("proved", "<b>proved</b>", 1))
                proofs.append(f'<a href="{link}"><b>{"checked" if held else "FAILS"}</b>: {html.escape(case.name)}</a>')
            for test in entry.get("tests", []):
                case = sources.test_case(test)
                path = sources.path_of(case.file)
                proofs.append(f'<a href="{link_to(path, case.line)}">tested: {html.escape(case.name)}</a>')
            if "unproved" in entry:
                proofs.append(f"not proved: {html.escape(entry['unproved'])}")
            if "note" in entry:
                proofs.append(html.escape(entry["note"]))
            if "erratum" in entry:
                number = str(entry["erratum"])
                proofs.append(f'<a href="errata.html#erratum-{number}">erratum {number}</a>')
            if not where and not proofs:
                raise sources.NotFound(f"coverage.toml: '{entry['says']}' leads nowhere")
            chapter = entry.get("chapter")
            if chapter:
                place = f"#{sources.anchor_of(entry['block'])}" if "block" in entry else ""
                what = f'<a href="{chapter}.html{place}">{what}</a>'
            false = ' class="false"' if "false" in entry else ""
            if entry["section"] != section:
                section = entry["section"]
                rows.append(f'<tr><th colspan="4">{html.escape(section)}</th></tr>')
            rows.append(f'<tr{false}><td class="kind">{entry["kind"]}</td>'
                        f"<td>{what}</td><td>{'<br>'.join(where)}</td>"
                        f"<td>{''.join(f'<div>{said}</div>' for said in [*dict.fromkeys(proved), *proofs])}</td></tr>")
        head = "".join(f"<th>{name}</th>" for name in ("", "it says", "code", "evidence"))
        text = (f'<div class="wide"><table class="docutils coverage"><thead><tr>{head}</tr></thead>'
                f'<tbody>{"".join(rows)}</tbody></table></div>')
        return [nodes.raw("", text, format="html")]


class Counts(Directive):
    """How many statements of each source are proved and how many only checked, counted by docs/evidence.py."""

    def make(self):
        self.env.note_dependency(str(DOCS / "coverage.toml"))
        rows = "".join(f"<tr><td>{html.escape(evidence.NAMES[source])}</td>"
                       + "".join(f"<td>{count}</td>" for count in counts.values()) + "</tr>"
                       for source, counts in evidence.counted(data("coverage.toml")).items())
        head = "".join(f"<th>{html.escape(name)}</th>" for name in ("claims and remarks of", *evidence.KINDS))
        return [nodes.raw("", f'<div class="wide"><table class="docutils"><thead><tr>{head}</tr></thead>'
                              f"<tbody>{rows}</tbody></table></div>", format="html")]


class Errata(Directive):
    """What the program `errata` says, each entry under an anchor, with links to its chapter and to the theorems that it names."""

    def make(self):
        file = pathlib.Path(self.config.runs) / "errata.json"
        if not file.is_file():
            raise sources.NotFound(f"there is no {file}")
        self.env.note_dependency(str(file))
        parts = []
        for entry in json.loads(file.read_text(encoding="utf-8")):
            computed = "\n".join(entry["computed"])
            chapter = entry["chapter"]
            if not (DOCS / f"{chapter}.rst").is_file():
                raise sources.NotFound(f"erratum {entry['number']}: there is no chapter {chapter}")
            theorems = ", ".join(map(self.theorem, filter(None, entry["theorems"].split(", "))))
            parts.append(
                f'<section class="erratum" id="erratum-{entry["number"]}"><h3>{entry["number"]}. '
                f'{html.escape(entry["title"])}<a class="headerlink" href="#erratum-{entry["number"]}">#</a></h3>'
                f'<p class="where">{html.escape(entry["source"])}</p>'
                f'<dl><dt>it says</dt><dd>{html.escape(entry["says"])}</dd>'
                f"<dt>computed</dt><dd><pre>{html.escape(computed)}</pre></dd>"
                f'<dt>here</dt><dd>{html.escape(entry["here"])}</dd>'
                f'{"<dt>proved</dt><dd>" + theorems + "</dd>" if theorems else ""}'
                f'<dt>chapter</dt><dd><a href="{chapter}.html">{html.escape(chapter.replace("_", " "))}</a></dd></dl></section>')
        return [nodes.raw("", "".join(parts), format="html")]

    @staticmethod
    def theorem(name):
        """A link to where a theorem is stated."""
        if not (place := results.place_of_theorem(name)):
            raise sources.NotFound(f"proofs/kernel has no theorem {name}")
        return f'<a href="{link_to(*place)}">{html.escape(name)}</a>'


class Glossary(Directive):
    """All terms of terms.toml, beside the field's words."""

    def make(self):
        rows = []
        for word, term in sorted(data("terms.toml").items(), key=lambda item: item[0].lower()):
            meaning = re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(term["text"]))
            chapter = term["page"].removesuffix(".html")
            rows.append(f'<tr id="term-{nodes.make_id(word)}"><td><b>{html.escape(word)}</b></td><td>{html.escape(term.get("field", "–"))}'
                        f'</td><td>{meaning}</td><td><a href="{term["page"]}">{html.escape(chapter.replace("_", " "))}</a></td></tr>')
        head = "".join(f"<th>{name}</th>" for name in ("our word", "the field's word", "what it is", "defined in"))
        self.env.note_dependency(str(DOCS / "terms.toml"))
        return [nodes.raw("", f'<div class="wide"><table class="docutils"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}'
                              f"</tbody></table></div>", format="html")]


class Def(SphinxRole):
    """A word that explains itself when one points at it or taps it: :def:`rowwise`, or :def:`rowwise operations <rowwise>`."""

    def run(self):
        match = re.fullmatch(r"(.*?)\s*<(.*)>", self.text)
        shown, term = (match[1], match[2]) if match else (self.text, self.text)
        found = data("terms.toml").get(term)
        if found is None:
            self.env.note_reread()
            LOGGER.warning("terms.toml does not define '%s'", term, location=self.get_location())
            return [nodes.Text(shown)], []
        # The word itself is no link: who taps it is to see what it means, and not to leave the page.
        text = (f'<span class="def" tabindex="0">{html.escape(shown)}<span class="tip" role="tooltip">'
                f'{html.escape(found["text"].replace("`", ""))} <a href="{found["page"]}">More</a></span></span>')
        return [nodes.raw("", text, format="html")], []


class Source(SphinxRole):
    """A link to a file, or to a declaration in it: :src:`tlm/algebra/rules.hpp`, :src:`tlm/a.hpp: struct A`."""

    def run(self):
        try:
            path, line = sources.place(self.text)
        except sources.NotFound as error:
            self.env.note_reread()
            LOGGER.warning("%s", error, location=self.get_location())
            return [nodes.Text(self.text)], []
        name = self.text.partition(": ")[2] or path
        link = nodes.reference("", "", nodes.literal("", name), refuri=link_to(path, line), internal=True)
        return [link], []


class Exported(SphinxRole):
    """A link to a theorem that is exported from a type: :exported:`T_LM_is_autoregressive`, or :exported:`it <T_LM_is_autoregressive>`."""

    def run(self):
        match = re.fullmatch(r"(.*?)\s*<(.*)>", self.text)
        shown, name = (match[1], match[2]) if match else (self.text, self.text)
        if place := link_to_theorem(self.env.config, name):
            return [reference(shown, place)], []
        self.env.note_reread()
        LOGGER.warning("no theorem %s is exported", name, location=self.get_location())
        return [nodes.Text(shown)], []


class Symbols:
    """Turns the symbols of formulas into links into the notation table."""

    # What TeX reads as one: a command with its name as an argument, a command, or a character.
    TOKEN = re.compile(r"\\href\{[^{}]*\}\{[^{}]*\}"
                       r"|\\(?:begin|end|text|mathrm|operatorname|unicode|class|label|mathbf|mathcal|tag)\s*\{[^{}]*\}"
                       r"|\\[A-Za-z]+|\\.|.", re.DOTALL)

    def __init__(self, page):
        self.links = {}
        for symbol in data("notation.toml")["symbol"]:
            for token in symbol.get("match", []) if page in symbol.get("pages", [page]) else ():
                self.links[token] = symbol["id"]

    @staticmethod
    def argument(tex, at):
        """The argument in braces that begins at a place, and the place behind it."""
        depth = 0
        for i in range(at, len(tex)):
            depth += {"{": 1, "}": -1}.get(tex[i], 0)
            if depth == 0:
                return tex[at + 1 : i], i + 1
        raise sources.NotFound(f"a brace is not closed in {tex}")

    def expanded(self, tex):
        r"""With \cut{X}{i} as X|i and \inner{A}{B} as ⟨A, B⟩, whose signs are links, too."""
        signs = {r"\cut": ("", "cut", "|", ""), r"\inner": (r"\langle ", "inner", r",\,", r"\rangle ")}
        while match := re.search(r"\\(cut|inner)(?=\{)", tex):
            before, place, between, behind = signs[match[0]]
            first, end = self.argument(tex, match.end())
            second, end = self.argument(tex, end)
            link = rf"\href{{notation.html#sym-{place}}}"
            tex = (tex[: match.start()] + "{" + (f"{link}{{{before}}}" if before else "") + first
                   + (f"{link}{{{between}}}" if not before else between) + second + (f"{link}{{{behind}}}" if behind else "")
                   + "}" + tex[end:])
        return tex

    def linked(self, tex):
        def link(match):
            token = match[0]
            if token not in self.links:
                return token
            return rf"{{\href{{notation.html#sym-{self.links[token]}}}{{{token}}}}}"

        return self.TOKEN.sub(link, self.expanded(tex))


@functools.cache
def broken_for_the_page(code):
    """C++ whose lines fit a page, as clang-format breaks them; what fits stays as it is."""
    if max(map(len, code.split("\n"))) <= COLUMNS:
        return code
    bare = "".join(map(sources.code_of, code.split("\n")))
    within = max(0, bare.count("}") - bare.count("{"))  # what closes more than it opens begins within a struct
    done = subprocess.run(["clang-format", "--style", STYLE], input="struct S {\n" * within + code, capture_output=True,
                          text=True, check=True)
    return "\n".join(done.stdout.rstrip("\n").split("\n")[within:])


def without_marks(code):
    """C++ without the empty comments at the ends of lines, which tell clang-format where to break."""
    return re.sub(r"(?m) +//$", "", code)


def break_code(app, doctree):
    """Of every listing of C++ of a page."""
    for node in doctree.findall(nodes.literal_block):
        if node.get("language", "cpp") in ("cpp", "c++", "default"):
            text = without_marks(broken_for_the_page(node.astext()))
            if text != node.astext():
                node.children = [nodes.Text(text)]
                node.rawsource = text


def link_symbols(app, doctree):
    """Of every formula of a page."""
    symbols = Symbols(app.env.docname)
    for node in list(doctree.findall(nodes.math)) + list(doctree.findall(nodes.math_block)):
        tex = symbols.linked(node.astext())
        node.children = [nodes.Text(tex)]
        node.rawsource = tex


def source_page(formatter, path, text):
    """The page of one file."""
    lexer = get_lexer_by_name("coq") if path.endswith(".v") else get_lexer_for_filename(path.replace(".hpp", ".cpp"))
    body = highlight(text, lexer, formatter)
    body = re.sub(r'(id|name)="L-(\d+)"', r'\1="L\2"', body).replace('href="#L-', 'href="#L')
    return f"source/{path}", {"title": path, "body": f"<h1>{path}</h1>{body}", "current_page_name": path}, "page.html"


def source_pages(app):
    """A page for each file that the book links to, with an anchor for every line."""
    formatter = HtmlFormatter(linenos="inline", lineanchors="L", anchorlinenos=True, cssclass="highlight source")
    for folder, pattern in (("tlm", "**/*.hpp"), ("proofs", "*.[ch]pp"), ("proofs/kernel", "*.v"),
                            ("examples", "**/*.[ch]pp"), ("examples", "*.py"), ("tests/static", "*.cpp"),
                            ("tests/unit", "*.cpp"), ("tests/storage", "*.cpp"), ("tests/encoder_decoder", "*.cpp"),
                            ("docs/exercises", "*.cpp")):
        for file in sorted((sources.ROOT / folder).glob(pattern)):
            yield source_page(formatter, str(file.relative_to(sources.ROOT)), file.read_text(encoding="utf-8"))
    for page in EXPORTED:
        yield source_page(formatter, page, exported(app.config, page))


class Measured(Directive):
    """The tables of one name that a benchmark has written, of each kind of processor that it was run on, from docs/performance,
    where tests/benchmarks/publish keeps them.

    .. measured:: train_step
    """

    required_arguments = 1
    PRODUCTS = {"family 26, model 2": "9005 (Zen 5)", "family 6, model 207": "of the fifth generation (Emerald Rapids)"}

    def make(self):
        performance = DOCS / "performance"
        self.env.note_dependency(str(performance))
        paths = sorted(performance.glob(f"*/{self.arguments[0]}.tsv"))
        return [self.table(path) for path in paths] or [paragraph("Nothing was measured yet.")]

    def table(self, path):
        """What stands in a file, and on which machine that was measured."""
        of_machine = path.with_name("machine.tsv")
        for read in path, of_machine:
            self.env.note_dependency(str(read))
        machine = dict(self.cells(of_machine))
        first, *others = self.cells(path)
        group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in first), cols=len(first))
        group += nodes.thead("", self.row(first))
        group += nodes.tbody("", *map(self.row, others))
        of = self.named(f"{machine['processor']}, {machine['vector instructions']}")
        return nodes.table("", nodes.title("", of), group, classes=["measured"])

    @classmethod
    def named(cls, text):
        """With the product in the place of a processor's family and model."""
        for numbers, product in cls.PRODUCTS.items():
            text = text.replace(f" ({numbers})", f" {product}")
        return text

    @classmethod
    def cells(cls, path):
        return [cls.named(line).split("\t") for line in path.read_text(encoding="utf-8").splitlines()]

    @staticmethod
    def row(cells):
        return nodes.row("", *(nodes.entry("", paragraph(cell.replace("/", "/\u200b"))) for cell in cells))


def setup(app):
    app.add_config_value("proofs_log", "", "env")
    app.add_config_value("pictures", "", "env")
    app.add_config_value("runs", "", "env")
    for name, directive in (("header", Header), ("holds", Holds), ("derived", Derived), ("counts", Counts), ("tested", Tested), ("argued", Argued), ("beside", Beside), ("picture", Picture),
                            ("output", Output), ("notation", Notation), ("coverage", Coverage), ("errata", Errata),
                            ("measured", Measured), ("numbers", Numbers), ("exercise", Exercise), ("glossary-of-terms", Glossary)):
        app.add_directive(name, directive)
    app.add_role("def", Def())
    app.add_role("src", Source())
    app.add_role("exported", Exported())
    app.connect("doctree-read", link_symbols)
    app.connect("doctree-read", break_code)
    app.connect("html-collect-pages", source_pages)
    return {"version": "1", "env_version": 10, "parallel_read_safe": True, "parallel_write_safe": True}
