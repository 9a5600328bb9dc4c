# SPDX-License-Identifier: MIT
"""Figures that run in the reader's browser: docs/browser."""

import pathlib

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from . import sources
from .directives import DOCS, drawing


class FigureLive(SphinxDirective):
    """A figure that runs. Its content is what stays where it cannot: without scripts, without WebAssembly, or where the build
    had no compiler for it. A drawing of docs/ that the figure uses is in a <template>.

    .. figure-live:: train
       :drawing: model

       .. picture:: losses
    """

    required_arguments = 1
    option_spec = {"drawing": directives.unchanged_required}
    has_content = True

    def run(self):
        name = self.arguments[0]
        if not (sources.ROOT / "docs/browser" / f"{name}.js").is_file():
            raise self.error(f"there is no docs/browser/{name}.js")
        still = nodes.container(classes=["live-picture"])
        self.state.nested_parse(self.content, self.content_offset, still)
        text = "This is a still picture. The figure runs in a browser with WebAssembly, if Clang for wasm32 was there to build it."
        still += nodes.paragraph("", text, classes=["caption"])
        template = ""
        if drawn := self.options.get("drawing"):
            file = DOCS / f"{drawn}.svg"
            if not file.is_file():
                raise self.error(f"there is no docs/{drawn}.svg")
            self.env.note_dependency(str(file))
            template = f"<template>{drawing(file.read_text(encoding='utf-8'), f'live-{drawn}')}</template>"
        return [nodes.raw("", f'<div class="live" data-figure="{name}">', format="html"), still,
                nodes.raw("", f"{template}</div>", format="html")]


def load(app, page, template, context, doctree):
    """Only pages with such a figure load its files, and only where the modules were built."""
    built = (pathlib.Path(app.config.modules) / "train.wasm.js").is_file()
    if built and doctree is not None and 'class="live"' in context.get("body", ""):
        app.add_js_file("browser/live.js")
        app.add_css_file("browser/live.css")


def setup(app):
    app.add_config_value("modules", "", "env")
    app.add_directive("figure-live", FigureLive)
    app.connect("html-page-context", load)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
