// SPDX-License-Identifier: MIT
"use strict";

// T_k turns each pair of columns of PE.
live.figures.positions = {
  module: "numbers",
  title: "T_k turns each pair of columns of the positional encoding",
  async build(figure, call, width) {
    const { make, slider, latest, shown, written } = live;
    const columns = 16, pairs = columns / 2, longest = 64;
    let pos = 5, k = 3;
    const status = make("p", { class: "live-status", "aria-live": "polite" });
    const dials = make("div", { class: "live-maps" });
    const products = make("svg", { class: "live-chart", viewBox: `0 0 ${width} 170`, width, height: 170, role: "img" });
    const curve = make("div", {},
      make("p", {}, written("⟨PE_pos, PE_q⟩ for each q. The curve moves with pos and keeps its shape: it depends on pos − q alone.")), products);
    const counted = make("input", { type: "checkbox", id: "live-counted", onchange: () => draw() });

    function dial(i, before, turned, after) {
      const r = 36, c = 46, alone = counted.checked && i === 0;
      const at = ([s, t]) => ({ x: alone ? c : c + r * s, y: c - r * t });
      const from = at(before), to = at(turned), aim = at(after);
      return make("figure", {}, make("svg", {
        viewBox: "0 0 92 92", width: 92, height: 92, role: "img",
        "aria-label": alone ? `Column 1, a cosine alone: ${shown(before[1], 2)} at pos, ${shown(after[1], 2)} at pos + k`
          : `Columns ${2 * i}, ${2 * i + 1}: (${before.map(x => shown(x, 2)).join(", ")}) becomes (${turned.map(x => shown(x, 2)).join(", ")})`,
      },
      alone ? make("line", { class: "live-grid", x1: c, x2: c, y1: c - r, y2: c + r }) : make("circle", { class: "live-ring", cx: c, cy: c, r }),
      make("line", { class: "live-before", x1: c, y1: c, x2: from.x, y2: from.y }),
      alone ? "" : make("line", { class: "live-line", x1: c, y1: c, x2: to.x, y2: to.y }),
      make("circle", { class: "live-aim", cx: aim.x, cy: aim.y, r: 5 })),
      make("figcaption", {}, alone ? "column 1: a cosine alone" : `columns ${2 * i}, ${2 * i + 1}`));
    }

    const draw = latest(async () => {
      const { numbers } = await call("rotate", pos, k);
      const row = (which, i) => [...numbers.slice(which * columns + 2 * i, which * columns + 2 * i + 2)];
      let gap = 0;
      for (let j = 0; j < columns; ++j) gap = Math.max(gap, Math.abs(numbers[columns + j] - numbers[2 * columns + j]));
      status.replaceChildren(written(counted.checked
        ? "Counted from 1, the first cosine has lost its sine, and the last sine, which is not drawn, its cosine. A dot on a line does "
          + "not say which way it moves: no linear map leads from PE_pos to PE_{pos+k}."
        : `PE_pos×T_k and PE_{pos+k} differ by at most ${gap === 0 ? 0 : gap.toExponential(0).replace("-", "−")}: `
          + `each pair of columns turns by k·ω, and T_${k} is the same for every pos.`));
      dials.replaceChildren(...Array.from({ length: pairs }, (_, i) => dial(i, row(0, i), row(1, i), row(2, i))));
      curve.hidden = counted.checked;  // it is of columns that are counted from 0
      const inner = [...numbers.slice(3 * columns)], x = q => 34 + (q - 1) / (longest - 1) * (width - 44);
      const y = value => 12 + (1 - value / pairs) * 120;
      const path = inner.map((value, q) => `${q ? "L" : "M"}${x(q + 1).toFixed(1)} ${y(value).toFixed(1)}`).join("");
      products.setAttribute("aria-label", `The inner products of row ${pos} with each row: the largest is ${shown(inner[pos - 1], 1)}, with itself.`);
      products.replaceChildren(
        make("line", { class: "live-grid", x1: 34, x2: width - 10, y1: y(0), y2: y(0) }), make("path", { class: "live-line", d: path }),
        make("circle", { class: "live-aim", cx: x(pos), cy: y(inner[pos - 1]), r: 5 }),
        make("text", { x: 28, y: y(0) + 4, "text-anchor": "end" }, "0"), make("text", { x: 28, y: y(pairs) + 4, "text-anchor": "end" }, pairs),
        make("text", { x: 34, y: 162 }, "q = 1"), make("text", { x: width - 10, y: 162, "text-anchor": "end" }, `q = ${longest}`));
      figure.dataset.shown = `${pos} ${k} ${counted.checked}`;
    });

    figure.append(
      make("p", {}, make("strong", {}, "Try: "), written("move pos, then k. Grey is PE_pos, the coloured hand is "
        + "PE_pos×T_k, and the ring is PE_{pos+k}: the hand always meets the ring. Fast pairs turn far, slow ones hardly.")),
      make("div", { class: "live-controls" },
        slider("pos", { min: 1, max: 32, step: 1, value: pos }, value => { pos = value; draw(); }),
        slider("k", { min: 1, max: 32, step: 1, value: k }, value => { k = value; draw(); }),
        make("span", { class: "live-field" }, counted, make("label", { for: "live-counted" }, "count the columns from 1"))),
      status, dials,
      curve);
    await draw();
  },
};
