# SPDX-License-Identifier: MIT
"""The graph of claims, for Graphviz: the statements that the compiler derives and the premises that it derives them from; what
each arithmetic said of the layers; what a source says and is false; and the planted errors with the claims that failed.

usage: graph.py RUNS PROOFS_LOG
"""

import html
import json
import pathlib
import re
import sys
import textwrap
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from tools import results, sources  # noqa: E402

INK, TRUE, FALSE = "#010203", "#3c9a5f", "#d9722e"
ARITHMETICS = ("double", "bits", "field", "sets")
# Of what listed layer the object of a statement is an instance, where its name is another: by how it is written.
INSTANCES = ((r"X ↦ X×\w+", "X×A"), (r"X ↦ X \+ \w+", "X+K"), (r"N_\w+", "N"), (r"H_i", "CA of one head, without W_O and B"),
             (r"T_LM", "T_LM"))
# Of what the planted errors are errors: of positions, of the kernel in a product, or of attention.
ABOUT = (("positions", "PE"), ("A(X)", "H_i"), ("", "CA"))


def marks(verdict, theorem):
    """The arithmetics as cells of a table: what holds is filled, what fails is orange, what cannot tell is empty. Then the seal
    of the proof kernel."""
    cells = []
    for name in ARITHMETICS if verdict else ():
        said = verdict.get(name)
        colour = "" if said is None else f' BGCOLOR="{TRUE if said == "holds" else FALSE}"'
        cells.append(f'<TD WIDTH="9" HEIGHT="9" FIXEDSIZE="TRUE" BORDER="1"{colour}></TD>')
    if theorem:
        path, line = results.place_of_theorem(theorem)
        cells.append(f'<TD BORDER="1" STYLE="ROUNDED" COLOR="{TRUE}" WIDTH="30" HEIGHT="18" FIXEDSIZE="TRUE" '
                     f'HREF="source/{path}.html#L{line}" '
                     f'TITLE="{theorem}"><FONT POINT-SIZE="8" COLOR="{TRUE}">Coq</FONT></TD>')
    return '<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="2"><TR>' + "".join(cells) + "</TR></TABLE>"


def label(lines, verdict=None, theorem=None):
    """A node's text, with what was found of it below."""
    text = "<BR/>".join(html.escape(line) for line in lines)
    below = f"<TR><TD>{marks(verdict, theorem)}</TD></TR>" if verdict or theorem else ""
    return f'<<TABLE BORDER="0" CELLSPACING="0"><TR><TD>{text}</TD></TR>{below}</TABLE>>'


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def verdict_of(step, verdicts):
    """What the arithmetics said of the object of a statement, if it was run."""
    name = step["object"]
    for pattern, listed in INSTANCES:
        if re.fullmatch(pattern, name):
            name = listed
    return verdicts.get((name, step["claim"]))


def line_of(rule):
    """The line in which a rule has its name."""
    return sources.line_of(f'"{rule}"', "tlm/algebra/rules.hpp")


def statements(steps, verdicts, log):
    """A node for each statement, an edge for each premise. What is autoregressive because it is rowwise has one node for both."""
    one = {place: step["parts"][0] for place, step in enumerate(steps) if step.get("rule") == "rowwise_is_autoregressive"}
    for place, step in enumerate(steps):
        if place in one:
            continue
        verdict = verdict_of(step, verdicts)
        if "rule" in step:
            link, style = f"source/tlm/algebra/rules.hpp.html#L{line_of(step['rule'])}", "solid"
            tip = step["sentence"]
        else:
            case = sources.test_case(step["check"].removeprefix("proofs/").replace(".cpp: ", ": ", 1))
            if not results.holds(log, case):
                raise sources.NotFound(f"the check of '{step['statement']}' fails: {case.name}")
            link, style = f"source/proofs/{case.file}.cpp.html#L{case.line}", "invis"
            tip = f"declared; checked: {case.name}"
        shape = "box" if style == "solid" else "plaintext"
        theorem = step.get("rule", step.get("theorem"))
        if not results.place_of_theorem(theorem):
            raise sources.NotFound(f"proofs/kernel has no theorem {theorem}, for '{step['statement']}'")
        lines = [*wrapped(step["object"]), "is " + step["claim"] + (", so" if place in one.values() else "")]
        if place in one.values():
            lines.append("autoregressive")
        yield f"s{place} [shape={shape}, label={label(lines, verdict, theorem)}, URL={quoted(link)}, tooltip={quoted(tip)}]"
        for part in step.get("parts", []):
            yield f"s{one.get(part, part)} -> s{place}"


def wrapped(text, most=18):
    """A long formula in lines, broken before a sign."""
    lines = [""]
    for piece in re.split(r"(?=×| /|∘)", text):
        if lines[-1] and len(lines[-1] + piece) > most:
            lines.append("")
        lines[-1] += piece
    return [line.strip() for line in lines]


def false_statements():
    """What a source says and is false, each with its erratum."""
    table = tomllib.loads((sources.ROOT / "docs/coverage.toml").read_text(encoding="utf-8"))
    above = None
    for source, entries in table.items():
        for entry in entries:
            if "false" in entry:
                number = entry["erratum"]
                if above:
                    yield f"f{number} -> f{above} [style=invis]"  # one under the other
                above = number
                yield (f"f{number} [shape=box, color=\"{FALSE}\", fontcolor=\"{FALSE}\", label={label(textwrap.wrap(entry['false'], 24))}, "
                       f"URL=\"errata.html#erratum-{number}\", tooltip={quoted(f'{source} says so: erratum {number}')}]")


def planted(controls, steps):
    """The planted errors, dashed, and the claims that failed."""
    for name in ARITHMETICS:
        if all(control["verdict"].get(name) != "holds" for control in controls):
            raise sources.NotFound(f"the page says that no arithmetic sees all planted errors, and {name} does")
    case = sources.test_case("04_leaves: controls: T(X|i) = T(X)|i fails for each of eight planted errors")
    for number, control in enumerate(controls):
        about = next(name for beginning, name in ABOUT if control["name"].startswith(beginning))
        target = next(place for place, step in enumerate(steps)
                      if (step["object"], step["claim"]) == (about, "autoregressive"))
        failed = [f"{name}: {said}" for name, said in control["verdict"].items() if said != "holds"]
        if not failed:
            raise sources.NotFound(f"nothing failed for {control['name']}")
        yield (f"c{number} [shape=box, style=dashed, label={label(textwrap.wrap(control['name'], 14), control['verdict'])}, "
               f"URL=\"source/proofs/04_leaves.cpp.html#L{case.line}\", tooltip={quoted('fails, ' + '; '.join(failed))}]")
        yield f"c{number} -> s{target} [style=dashed, color=\"{FALSE}\"]"


def main():
    runs, log = pathlib.Path(sys.argv[1]), sys.argv[2]
    steps = json.loads((runs / "claims.json").read_text(encoding="utf-8"))
    data = json.loads((runs / "pictures.json").read_text(encoding="utf-8"))
    verdicts = {(item["name"], item["claim"]): item["verdict"] for item in data["verdicts"]}
    lines = [*statements(steps, verdicts, log), *false_statements(), *planted(data["controls"], steps)]
    print("digraph claims {\n" 'rankdir=BT; bgcolor="transparent"; ranksep=0.3; nodesep=0.06;\n'
          f'node [fontname="sans-serif", fontsize=11, color="{INK}", fontcolor="{INK}", margin="0.06,0.03"];\n'
          f'edge [color="{INK}", arrowsize=0.6];\n' + ";\n".join(lines) + "\n}")


if __name__ == "__main__":
    try:
        main()
    except sources.NotFound as error:
        sys.exit(f"graph.py: {error}")
