# SPDX-License-Identifier: MIT
"""The reference: every public name that Doxygen finds in a header, with its declaration and its comment as they stand there.

Breathe would be the usual way; Sphinx 5 has no names for the specializations that C++20 tells apart by their constraints
(Matrix<n, …>), and warns of them.
"""

import dataclasses
import functools
import html
import pathlib
import re
import xml.etree.ElementTree as ElementTree

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import CppLexer
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from . import directives, sources

LOGGER = logging.getLogger(__name__)
KINDS = ("struct", "class", "union", "concept")


@dataclasses.dataclass
class Name:
    """A public name: what it is, where it stands, whether Doxygen found a comment; and what is in it."""

    name: str
    kind: str
    path: str
    line: int
    documented: bool
    members: list = dataclasses.field(default_factory=list)


def has_text(element, *tags):
    return any("".join(found.itertext()).strip() for tag in tags if (found := element.find(tag)) is not None)


def name_of(element, name, kind):
    location = element.find("location")
    documented = has_text(element, "briefdescription", "detaileddescription")
    return Name(name, kind, location.get("file"), int(location.get("line")), documented)


@functools.cache
def names(folder):
    """The public names of all headers, by header, in the order of their lines; members are within their structs."""
    found, structs = {}, {}
    for file in sorted(pathlib.Path(folder).glob("*.xml")):
        for compound in ElementTree.parse(file).getroot().findall("compounddef"):
            kind = compound.get("kind")
            if kind not in (*KINDS, "namespace") or compound.get("prot", "public") != "public":
                continue
            members = [name_of(member, member.findtext("name"), member.get("kind"))
                       for member in compound.iter("memberdef") if member.get("prot") == "public"]
            if kind == "namespace":
                for member in members:
                    found.setdefault(member.path, {})[member.line, member.name] = member
            else:
                struct = name_of(compound, compound.findtext("compoundname"), kind)
                struct.members = members
                structs[struct.name, struct.line] = struct
                found.setdefault(struct.path, {})[struct.line, struct.name] = struct
    if not found:
        raise sources.NotFound(f"Doxygen has found nothing: there are no names in {folder}")
    documented = {bare(name.name) for header in found.values() for name in header.values() if name.documented}
    for header in found.values():
        for name in header.values():
            # A specialization has the comment of what it specializes.
            name.documented = name.documented or bare(name.name) in documented
    return {path: [header[key] for key in sorted(header)] for path, header in found.items()}


def bare(name):
    """A name without its namespaces and template arguments."""
    return re.sub(r"<.*", "", name).strip().split("::")[-1]


def comment_as_html(lines):
    """Paragraphs as they are, indented lines as they are set."""
    parts, block = [], []
    for line in [*lines, ""]:
        indented = line.startswith("  ")
        if block and (not line.strip() or indented != block[0].startswith("  ")):
            text = html.escape("\n".join(block))
            if block[0].startswith("  "):
                parts.append(f"<pre>{text}</pre>")
            else:
                parts.append("<p>" + re.sub(r"`([^`]*)`", r"<code>\1</code>", text) + "</p>")
            block = []
        if line.strip():
            block.append(line)
    return "".join(parts)


def entry(name, depth):
    """A name as HTML."""
    excerpt = sources.declaration_at(name.path, name.line)
    head = sources.head_of(excerpt.text)
    comment = comment_as_html(sources.comment_above(name.path, excerpt.first))
    if not comment:
        comment = comment_as_html(sources.comment_above(name.path, name.line))
    code = highlight(directives.broken_for_the_page(head), CppLexer(), HtmlFormatter(cssclass="highlight"))
    place = f"../source/{name.path}.html#L{excerpt.first}"
    anchor = f"{pathlib.PurePath(name.path).stem}-{name.line}-{re.sub(r'[^A-Za-z0-9]+', '-', name.name)}"
    parts = [f'<section class="name depth-{depth}" id="{anchor}">'
             f'<p class="where"><a href="{place}">{name.path}:{excerpt.first}</a></p>{code}{comment}']
    described = [m for m in name.members if m.documented and m.path == name.path]
    for member in sorted({(m.line, m.name): m for m in described}.values(), key=lambda m: m.line):
        parts.append(entry(member, depth + 1))
    others = sorted({(m.line, m.name) for m in name.members if not m.documented})
    if others:
        links = (f'<a href="../source/{name.path}.html#L{line}"><code>{html.escape(other)}</code></a>' for line, other in others)
        parts.append('<p class="others">also: ' + ", ".join(links) + "</p>")
    parts.append("</section>")
    return "".join(parts)


class Room(SphinxDirective):
    """The headers of a folder: each with its names."""

    required_arguments = 1

    def run(self):
        folder = self.arguments[0]
        headers = sorted(str(file.relative_to(sources.ROOT)) for file in (sources.ROOT / folder).glob("*.hpp"))
        found = names(self.config.doxygen)
        result = []
        for header in headers:
            self.env.note_dependency(str(sources.ROOT / header))
            section = nodes.section(ids=[nodes.make_id(header)])
            section += nodes.title("", header)
            parts = []
            for name in found.get(header, []):
                if "::" in name.name and any(name.name.startswith(other.name + "::") for other in found[header]):
                    continue  # It stands within.
                if not name.documented:
                    self.env.note_reread()
                    LOGGER.warning("%s:%d: %s has no comment", header, name.line, name.name)
                parts.append(entry(name, 0))
            section += nodes.raw("", "".join(parts), format="html")
            result.append(section)
        if not headers:
            LOGGER.warning("%s has no headers", folder, location=self.get_location())
        return result


def setup(app):
    app.add_config_value("doxygen", "", "env")
    app.add_directive("room", Room)
    return {"version": "1", "env_version": 2, "parallel_read_safe": True}
