#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Makes one page of what `--record FILE.json` has kept of a run: its losses, its answers, and its attention, head by head.

usage: report.py FILE.json [PAGE.html]
"""

import html
import io
import json
import pathlib
import re
import sys

try:
    import matplotlib
except ImportError:
    sys.exit(f"report.py needs matplotlib, which {sys.executable} does not find; on Debian: apt-get install python3-matplotlib, "
             "and run it by /usr/bin/python3")
matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402

INK = "#010203"  # what becomes the colour of the text around the picture
COLOURS = ["#3b82c4", "#d9722e", "#3c9a5f", "#a05fb5", "#c0486a", "#8f8a2b"]
matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "tlm", "font.size": 9, "text.color": INK, "axes.edgecolor": INK,
    "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK, "figure.facecolor": "none", "axes.facecolor": "none",
    "savefig.facecolor": "none", "legend.frameon": False, "axes.prop_cycle": matplotlib.cycler(color=COLOURS),
    "axes.spines.top": False, "axes.spines.right": False, "image.cmap": "viridis",
})


def svg(figure):
    """A figure as SVG, in the colours of the page that it stands in."""
    text = io.StringIO()
    figure.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    drawing = text.getvalue()
    drawing = re.sub(r"<metadata>.*?</metadata>", "", drawing[drawing.index("<svg"):], flags=re.DOTALL)
    return re.sub(INK, "currentColor", drawing, flags=re.IGNORECASE)


def draw_losses(curves, title=""):
    """Losses by the step: curves of (label, first step, every, losses), on a logarithmic scale."""
    figure, axes = pyplot.subplots(figsize=(6, 3.2))
    for label, first, every, losses in curves:
        steps = [first - 1 + every * (i + 1) for i in range(len(losses))]
        axes.plot(steps, [max(loss, 1e-5) for loss in losses], label=label, linewidth=1)
    axes.set(yscale="log", xlabel="step", ylabel="mean loss", title=title)
    if len(curves) > 1:
        axes.legend(fontsize=8)
    return svg(figure)


def draw_maps(maps, columns=None, size=None):
    """Attention: a map for each head, a row for each query, brighter where it looks. If they are not given, a map is as large
    as its labels need, and there are as many columns as a page has room for."""
    longest = max(max(len(item["keys"]), len(item["queries"])) for item in maps)
    upright = any(len(key) > 2 for item in maps for key in item["keys"])
    size = size or max(2.2, 0.14 * longest)
    columns = columns or max(1, round(8 / size))
    rows = -(-len(maps) // columns)
    columns = min(columns, len(maps))
    figure, axes = pyplot.subplots(rows, columns, figsize=(size * columns, (size + 0.35) * rows), squeeze=False)
    for place in axes.flat:
        place.set_visible(False)
    for place, item in zip(axes.flat, maps):
        weights = [[float("nan") if weight is None else weight for weight in row] for row in item["weights"]]
        place.set_visible(True)
        place.imshow(weights, vmin=0, vmax=1, aspect="equal")
        place.set_xticks(range(len(item["keys"])), item["keys"], fontsize=7, parse_math=False, rotation=90 if upright else 0)
        place.set_yticks(range(len(item["queries"])), item["queries"], fontsize=7, parse_math=False)
        place.tick_params(length=0)
        place.set_title(item.get("title", f"{item['layer']}, head {item['head']}"), fontsize=8)
        for spine in place.spines.values():
            spine.set_visible(False)
    figure.tight_layout()
    return svg(figure)


def refuse(path):
    """Ends: there is no record at this path."""
    sys.exit(f"report.py: {path} is no record of a run: make one by ./examples/run --record FILE.json")


def read(path):
    """A record. Ends with a sentence if it is none."""
    try:
        record = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        for key in ("about", "every", "losses", "right", "total", "samples", "attention"):
            record[key]
    except OSError as error:
        sys.exit(f"report.py: {path} cannot be read: {error.strerror}")
    except (ValueError, KeyError, TypeError):
        refuse(path)
    return record


def page(record):
    """The whole page."""
    about = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>"
                    for name, value in record["about"].items())
    samples = "".join(
        f"<tr><td>{html.escape(sample['question'])}</td><td>{html.escape(sample['answer'])}</td>"
        f"<td>{'right' if sample['answer'] == sample['expected'] else 'should be ' + html.escape(sample['expected'])}</td></tr>"
        for sample in record["samples"])
    curve = ("loss", record["about"].get("first_step", 1), record["every"], record["losses"])
    means = f"<p>Means of {record['every']} steps each.</p>"
    losses = means + draw_losses([curve]) if record["losses"] else f"<p>There were fewer than {record['every']} steps.</p>"
    maps = draw_maps(record["attention"]) if record["attention"] else "<p>None was kept.</p>"
    total = record["total"]
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<title>A run of {html.escape(str(record['about'].get('program', 'tlm')))}</title><style>
:root {{ color-scheme: light dark; }}
body {{ font: 1rem/1.5 sans-serif; max-width: 60rem; margin: auto; padding: 1rem; }}
svg {{ max-width: 100%; height: auto; }}
table {{ border-collapse: collapse; }} td, th {{ padding: 0.1rem 0.8rem 0.1rem 0; text-align: left; }}
div {{ overflow-x: auto; }}
</style></head><body>
<h1>A run of {html.escape(str(record['about'].get('program', 'tlm')))}</h1><table>{about}</table>
<h2>Losses</h2>{losses}
<h2>Answers</h2><p>{record['right']} of {total} are right{'' if len(record['samples']) == total else f', and {len(record["samples"])} are shown'}.</p>
<div><table>{samples}</table></div>
<h2>Attention</h2><p>Each row is a query: how much it looks at each key, from dark (0) to bright (1). What it does not see is
left out.</p>{maps}</body></html>
"""


def main():
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__.strip())
        return
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__.strip())
    try:
        text = page(read(sys.argv[1]))
    except (AttributeError, KeyError, TypeError, ValueError):
        refuse(sys.argv[1])
    source = pathlib.Path(sys.argv[1])
    target = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else source.with_suffix(".html")
    if target.resolve() == source.resolve():
        sys.exit(f"report.py: the page would replace the record {source}: name another file for it")
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        sys.exit(f"report.py: {target} cannot be written: {error.strerror}")
    print(f"open {target}")


if __name__ == "__main__":
    main()
