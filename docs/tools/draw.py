# SPDX-License-Identifier: MIT
"""Draws the book's pictures from what the programs have recorded: SVG, in the colours of the page.

usage: draw.py RUNS PICTURES
"""

import json
import math
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples"))
import report  # noqa: E402
from report import COLOURS, INK, pyplot, svg  # noqa: E402

BLOCKS = ("definition", "inspirational")
OPTIMIZERS = ("adam", "sgd")
# Of the translation that is shown: which words of the sentence a word translates.
TRANSLATES = {"quatre": ["ninety"], "vingt": ["ninety"], "quatorze": ["ninety", "four"], "mille": ["thousand"], "cinq": ["five"],
              "cent": ["hundred"], "soixante": ["seventy"], "quinze": ["seventy", "five"], "⟨end⟩": ["⟨end⟩"]}


def losses(runs):
    """Examples 0 to 2, with both blocks and both optimizers."""
    figure, axes = pyplot.subplots(1, 3, figsize=(9, 3.6), sharey=True)
    for example, place in enumerate(axes):
        for block in BLOCKS:
            for optimizer in OPTIMIZERS:
                record = report.read(runs / f"reverse-{example}-{block}-{optimizer}.json")
                steps = [record["every"] * (i + 1) for i in range(len(record["losses"]))]
                place.plot(steps, [max(loss, 1e-5) for loss in record["losses"]], linewidth=0.9,
                           color=COLOURS[OPTIMIZERS.index(optimizer)], linestyle="-" if block == "definition" else "--",
                           label=f"{record['about']['optimizer']}, {block}: {record['right']} of {record['total']}")
        place.set(yscale="log", xlabel="step", title=f"Example {example}")
        place.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.2))
    axes[0].set_ylabel("mean loss")
    figure.tight_layout()
    return svg(figure)


def reading_backwards(record):
    """Of the heads of a reversing model the one that looks most at the token that it has to say, for the README: on its own, in
    colours that a page may not choose."""
    tokens = record["attention"][0]["keys"]
    middle = len(tokens) // 2  # 0 t_1 … t_k 0 t_k … t_1: what row i ≥ middle has to say stands in column 2·middle − 1 − i

    def aim(item):
        return sum(item["weights"][i][len(tokens) - 1 - i] or 0 for i in range(middle, len(tokens) - 1))

    drawing = report.draw_maps([max(record["attention"], key=aim)], 1, 3.4)
    style = "<style>svg { color: #222; } @media (prefers-color-scheme: dark) { svg { color: #ddd; } }</style>"
    return re.sub(r"(<svg[^>]*>)", rf"\1{style}", drawing, count=1) + "\n"


def between_words(record):
    """The translator's cross-attention, a column for each block: the mean over its heads, and the two heads that look most at
    the words that a row translates. Rows are named by what they say. Ends with a sentence if that is not what the text says."""
    shown = record["samples"][0]
    if shown["answer"] != shown["expected"]:
        sys.exit(f"draw.py: the translator makes {shown['answer']!r} of {shown['question']!r}")
    blocks = {}
    for item in record["attention"]:
        if item["layer"].endswith(".cross"):
            said = item["queries"][1:] + item["keys"][-1:]
            blocks.setdefault(item["layer"], []).append(item | {"queries": said})

    def aim(item):
        return sum(weight for word, row in zip(item["queries"], item["weights"]) for key, weight in zip(item["keys"], row)
                   if key in TRANSLATES.get(word, ()))

    columns = []
    for number, heads in enumerate(blocks.values(), 1):
        mean = [[sum(weights) / len(heads) for weights in zip(*rows)] for rows in zip(*(head["weights"] for head in heads))]
        words, keys = heads[0]["queries"], heads[0]["keys"]
        thousands = [sum(row[:keys.index("thousand") + 1]) for row in mean[:words.index("mille")]]
        tens = [sum(row[keys.index("seventy"):]) for row in mean[words.index("soixante"):]]
        if min(thousands + tens) < 0.5:
            sys.exit(f"draw.py: block {number} of the translator looks elsewhere than the text says: {thousands}, {tens}")
        aimed = sorted(heads, key=aim, reverse=True)[:2]
        columns.append([heads[0] | {"title": f"block {number}, mean of {len(heads)} heads", "weights": mean}]
                       + [head | {"title": f"block {number}, head {head['head']}"} for head in aimed])
    return report.draw_maps([item for row in zip(*columns) for item in row], len(columns), 3.2)


def positions(data):
    """PE as a heat map."""
    figure, axes = pyplot.subplots(figsize=(7, 3.2))
    image = axes.imshow([list(column) for column in zip(*data["rows"])], aspect="auto", cmap="PuOr", vmin=-1, vmax=1,
                        extent=(0.5, len(data["rows"]) + 0.5, len(data["rows"][0]) - 0.5, -0.5))
    axes.set(xlabel="position", ylabel="column, from 0")
    figure.colorbar(image, ax=axes).outline.set_visible(False)
    return svg(figure)


def rotations(data):
    """T_1 as rotations of the pairs of columns, a circle each, with the first positions on it."""
    shown = [0, 2, 4, 6]
    figure, axes = pyplot.subplots(1, len(shown), figsize=(2.2 * len(shown), 2.5))
    for place, i in zip(axes, shown):
        around = [2 * math.pi * k / 200 for k in range(201)]
        place.plot([math.sin(angle) for angle in around], [math.cos(angle) for angle in around], color=INK, linewidth=0.5)
        points = [(row[2 * i], row[2 * i + 1]) for row in data["rows"][:9]]
        place.scatter(*zip(*points), s=14, color=COLOURS[0])
        place.annotate("", points[1], points[0], arrowprops={"arrowstyle": "->", "color": COLOURS[1], "linewidth": 1.5})
        for position, point in enumerate(points, 1):
            if position in (1, 2, 9):
                place.annotate(str(position), (1.18 * point[0] - 0.05, 1.18 * point[1] - 0.05), fontsize=7)
        place.set(aspect="equal", xlim=(-1.35, 1.35), ylim=(-1.35, 1.35), title=f"columns {2 * i}, {2 * i + 1}\nω = {data['angles'][i]:.3g}")
        place.axis("off")
        place.title.set_fontsize(8)
    return svg(figure)


def products(data):
    """⟨PE_p, PE_q⟩ against p − q, of all p and q."""
    figure, axes = pyplot.subplots(figsize=(6, 3))
    rows = data["products"]
    pairs = {(p - q, round(value, 9)) for p, row in enumerate(rows) for q, value in enumerate(row)}  # the same point once
    axes.scatter(*zip(*sorted(pairs)), s=5, color=COLOURS[0])
    axes.set(xlabel="p − q", ylabel="⟨PE_p, PE_q⟩")
    return svg(figure)


def dependencies(matrices):
    """Which rows of X (columns) each row of T(X) (rows) may depend on."""
    figure, axes = pyplot.subplots(1, len(matrices), figsize=(2.2 * len(matrices), 2.5))
    for place, item in zip(axes, matrices):
        count = len(item["matrix"])
        for i, row in enumerate(item["matrix"]):
            for j, seen in enumerate(row):
                place.add_patch(pyplot.Rectangle((j + 0.06, i + 0.06), 0.88, 0.88, linewidth=0.4, edgecolor=INK,
                                                 facecolor=COLOURS[0] if seen else "none"))
        place.set(xlim=(0, count), ylim=(count, 0), aspect="equal", title=item["name"])
        place.title.set_fontsize(8)
        place.axis("off")
    return svg(figure)


def cost(data):
    """Multiplications against n."""
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(8, 3))
    lengths = [row["n"] for row in data["rows"]]
    left.plot(lengths, [row["CA"] for row in data["rows"]], label="CA")
    left.plot(lengths, [row["FF"] for row in data["rows"]], label="FF")
    left.set(xlabel="n", ylabel="multiplications", title="a layer, n rows at once")
    totals = [0] + [row["extended"] for row in data["rows"]]
    step = lengths[1] - lengths[0]
    right.plot(lengths, [(after - before) / step for before, after in zip(totals, totals[1:])], label="extended")
    right.plot(lengths, [row["whole"] for row in data["rows"]], label="all again")
    right.set(xlabel="n", title="T_LM, for the n-th token", yscale="log")
    for axes in (left, right):
        axes.title.set_fontsize(9)
        axes.legend(fontsize=8)
    return svg(figure)


def measured(name, **where):
    """The one row of a published table of EPYC 9005 whose columns have these values, as a dictionary."""
    lines = (pathlib.Path(__file__).resolve().parents[1] / f"performance/amd-26-2/{name}.tsv").read_text(encoding="utf-8").splitlines()
    head, *rows = (line.split("\t") for line in lines)
    found, = (dict(zip(head, row)) for row in rows if where.items() <= dict(zip(head, row)).items())
    return found


def performance():
    """Four bars: a step beside its products and beside PyTorch, two threads, and decoding."""
    model, text = "512/2048/6/8, 4×128 tokens", "128/512/2/2, 1×1024 tokens"
    one, two = (measured("train_step", model=model, threads=threads) for threads in "12")
    bars = {
        "a step's time ÷ its products'": float(one["÷ products"]),
        "PyTorch's time ÷ ours, a step": float(measured("compare", model=model, action="SGD", threads="1")["PyTorch ÷ tlm"]),
        "two threads: times as fast": float(one["ms"]) / float(two["ms"]),
        "PyTorch's time ÷ ours, writing a text": float(measured("compare", model=text, action="a text", threads="1")["PyTorch ÷ tlm"]),
    }
    figure, axes = pyplot.subplots(figsize=(6, 1.8))
    drawn = axes.barh(list(bars), list(bars.values()), color=COLOURS[0], height=0.55)
    axes.bar_label(drawn, [f"{value:.2f}" for value in bars.values()], padding=4, color=INK)
    axes.axvline(1, color=INK, linewidth=0.7, linestyle=":")
    axes.invert_yaxis()
    axes.tick_params(left=False)
    axes.spines["left"].set_visible(False)
    return svg(figure)


def rows_of_bars(panels):
    """Bars, a panel for each title: what stays of the figures that run where they cannot."""
    figure, axes = pyplot.subplots(1, len(panels), figsize=(2.6 * len(panels), 2), sharey=True)
    for place, (title, values) in zip(axes, panels.items()):
        place.bar([str(name) for name in values], list(values.values()))
        place.set(title=title)
        place.title.set_fontsize(9)
    figure.tight_layout()
    return svg(figure)


def softmax(scores=(2, 1, 0.5, 0, -1)):
    """The softmax of five scores at three temperatures."""
    panels = {}
    for temperature in (0.5, 1, 2):
        exponentials = [math.exp(score / temperature) for score in scores]
        panels[f"temperature {temperature}"] = {score: e / sum(exponentials) for score, e in zip(scores, exponentials)}
    return rows_of_bars(panels)


def normalization(x=(1, -0.5, 2, 0, -1)):
    """A row before N, and after it with a = 1 and b = 0."""
    mean = sum(x) / len(x)
    deviation = math.sqrt(sum((entry - mean) ** 2 for entry in x) / len(x))
    after = [(entry - mean) / deviation for entry in x]
    names = range(1, len(x) + 1)
    return rows_of_bars({"x": dict(zip(names, x)), "N(x)": dict(zip(names, after))})


def averages():
    """The losses of two sequences, and their two averages, for weights with equal sums and with others."""
    panels = {}
    for weights in (((1, 1), (1, 1)), ((1, 1), (1, 0))):
        weighted = [sum(w * y for w, y in zip(*row)) for row in zip(weights, ((0.127, 0.313), (1.313, 2.127)))]
        sums = [sum(row) for row in weights]
        each = [total / count for total, count in zip(weighted, sums)]
        panels[f"weights that sum to {sums[0]} and {sums[1]}"] = {
            "1": each[0], "2": each[1], "mean": sum(each) / 2, "batch": sum(weighted) / sum(sums)}
    return rows_of_bars(panels)


def main():
    runs, pictures = map(pathlib.Path, sys.argv[1:])
    data = json.loads((runs / "pictures.json").read_text(encoding="utf-8"))
    reversing = report.read(runs / "reverse-2-definition-adam.json")
    translating = report.read(runs / "translate.json")
    if not translating["attention"] or not reversing["attention"]:
        sys.exit("draw.py: the records have no attention")
    for name, drawing in {
        "losses": losses(runs), "positions": positions(data["positional_encoding"]),
        "rotations": rotations(data["positional_encoding"]), "products": products(data["positional_encoding"]),
        "dependencies": dependencies(data["dependencies"]), "cost": cost(data["cost"]),
        "attention": report.draw_maps(reversing["attention"], 2, 3.2), "cross": between_words(translating),
        "readme": reading_backwards(reversing), "performance": performance(), "softmax": softmax(),
        "normalization": normalization(), "averages": averages(),
    }.items():
        (pictures / f"{name}.svg").write_text(drawing, encoding="utf-8")


if __name__ == "__main__":
    main()
