# SPDX-License-Identifier: MIT
"""Sphinx's configuration of the book; ./docs/run builds it, and says where what was run is: in BUILD."""

import os
import pathlib
import sys

DOCS = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["BUILD"]).resolve()
sys.path.insert(0, str(DOCS))

project = "tlm"
author = "the authors of tlm"
copyright = "the authors of tlm, under the MIT licence"
html_title = "tlm"

extensions = ["sphinx.ext.mathjax", "tools.directives", "tools.reference", "tools.live"]
exclude_patterns = ["tools", "exercises", "browser"]
source_suffix = ".rst"
nitpicky = False
highlight_language = "cpp"

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": False}

# MathJax is copied beside the pages by docs/run, and draws formulas itself: nothing is fetched.
# They are as large as the text, in whose ex their lines are broken: of smaller letters some fonts round the ex up.
mathjax_path = "mathjax/MathJax.js?config=TeX-AMS_SVG"
mathjax2_config = {
    "messageStyle": "none",
    "showMathMenu": False,
    "tex2jax": {"inlineMath": [["\\(", "\\)"]], "displayMath": [["\\[", "\\]"]]},
    "SVG": {"linebreaks": {"automatic": True, "width": "container"}},
    "TeX": {
        "extensions": ["AMSmath.js", "AMSsymbols.js", "HTML.js", "unicode.js"],
        "Macros": {
            "Em": r"\mathrm{Em}", "PE": r"\mathrm{PE}", "CA": r"\mathrm{CA}", "FF": r"\mathrm{FF}",
            "DB": r"\mathrm{DB}", "Res": r"\mathrm{Res}", "TLM": r"T_{\mathrm{LM}}", "relu": r"\mathrm{ReLU}",
            "softmax": r"\mathrm{softmax}", "LogSoftmax": r"\mathrm{LogSoftmax}", "Concat": r"\mathrm{Concat}",
            "tri": r"\unicode{x25FA}", "dmodel": r"d_{\mathrm{model}}", "dff": r"d_{\mathrm{ff}}",
            "dhead": r"d_{\mathrm{head}}", "vocabsize": r"\mathrm{vocab\_size}", "maxlen": r"\mathrm{max\_len}",
            "nlayers": r"n_{\mathrm{layers}}", "WQ": r"W_Q", "WK": r"W_K", "WV": r"W_V", "WO": r"W_O", "We": r"W_e",
            "Nca": r"N_{\mathrm{ca}}", "Nff": r"N_{\mathrm{ff}}", "R": r"\mathbb{R}", "OneHot": r"\mathrm{OneHot}",
            "LN": r"\mathrm{LayerNorm}", "T": r"\mathsf{T}",
            "scb": r"\bar s",
            **{f"{letter}b": rf"\bar {letter}" for letter in "ABHGKMQSUVWXYZabhguxyz"},
            **{f"d{letter}": rf"\mathrm{{d}}{letter}" for letter in "ABKLQSVWXYabrsuxyz"},
        },
    },
}

doxygen = str(BUILD / "docs/doxygen/xml")

proofs_log = str(BUILD / "meson-logs/docs.json")
pictures = str(BUILD / "docs/pictures")
runs = str(BUILD / "docs/runs")
modules = str(BUILD / "docs/browser")
