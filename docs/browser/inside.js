// SPDX-License-Identifier: MIT
"use strict";

// Look inside the model that the reader trains: train.js shows it below.
live.inside = (call, question) => {
  const { make, shown, written } = live;
  const at = { box: 0, i: 0, j: 0 };
  let boxes = [], matrix = null;

  const drawing = make("div", { class: "live-boxes", role: "group", "aria-label": "The matrices of the model, in the order in which they are computed" });
  const title = make("p", { class: "live-status" });
  const canvas = make("canvas", {
    tabindex: 0, role: "img", onclick: event => point(event), onpointermove: event => { if (event.buttons) point(event); },
    onkeydown(event) {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!step) return;
      event.preventDefault();
      move(at.i + step[0], at.j + step[1]);
    },
  });
  const entry = make("p", { "aria-live": "polite" });
  const terms = make("div", {});

  const colours = () => {
    const style = getComputedStyle(drawing);
    return { plus: style.getPropertyValue("--color-brand-content"), minus: style.getPropertyValue("--false"), empty: style.getPropertyValue("--color-background-primary"), text: style.color };
  };
  // Cells in a canvas, scaled to the largest of them; those after the row `until` fade.
  function paint(target, values, rows, cols, { until = rows - 1, i = -1, j = -1 } = {}) {
    const cell = Math.max(2, Math.min(22, Math.floor(target.room / cols))), height = Math.max(14, Math.min(22, cell)), ratio = devicePixelRatio;
    target.cell = cell;
    target.height = height * rows * ratio;
    target.width = cell * cols * ratio;
    target.style.width = `${cell * cols}px`;
    target.style.height = `${height * rows}px`;
    target.line = height;
    const pen = target.getContext("2d"), { plus, minus, empty, text } = colours();
    const largest = values.reduce((most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most), 1e-30);
    pen.scale(ratio, ratio);
    for (let r = 0; r < rows; ++r) {
      for (let c = 0; c < cols; ++c) {
        const value = values[r * cols + c];
        if (!Number.isFinite(value)) continue;
        pen.globalAlpha = 1;
        pen.fillStyle = empty;
        pen.fillRect(c * cell, r * height, cell, height);
        pen.globalAlpha = Math.abs(value) / largest * (r > until ? 0.12 : 1);
        pen.fillStyle = value > 0 ? plus : minus;
        pen.fillRect(c * cell, r * height, cell, height - 1);
      }
    }
    pen.globalAlpha = 1;
    if (i >= 0) {
      pen.strokeStyle = text;
      pen.lineWidth = 2;
      pen.strokeRect(j * cell + 1, i * height + 1, Math.max(cell, 4) - 2, height - 2);
    }
  }

  const strip = (label, values) => {
    const cells = make("canvas", { role: "img", "aria-label": `${label}: ${values.length} numbers from ${shown(Math.min(...values), 2)} to ${shown(Math.max(...values), 2)}` });
    cells.room = room();
    paint(cells, values, 1, values.length);
    return make("div", { class: "live-strip" }, make("span", {}, label), cells);
  };
  const room = () => Math.max(200, drawing.clientWidth - 8);

  function explain(formula, pairs) {
    const products = pairs.map(([a, b]) => a * b), sum = products.reduce((total, x) => total + x, 0);
    const value = matrix.entries[at.i * matrix.cols + at.j];
    const hidden = !Number.isFinite(value);
    const largest = pairs.map((pair, k) => [Math.abs(products[k]), pair]).sort((a, b) => b[0] - a[0]).slice(0, 4).map(([, pair]) => pair);
    const inNumbers = pairs.length <= 4 ? pairs : largest;
    const spelled = inNumbers.map(([a, b]) => (b === 1 ? shown(a) : `${shown(a)}·${b < 0 ? `(${shown(b)})` : shown(b)}`)).join(" + ");
    entry.replaceChildren(make("strong", {}, `Row ${at.i + 1}, column ${at.j + 1}: `), hidden
      ? "row " + (at.i + 1) + " does not see this key. There is nothing here, not even a 0."
      : written(`${shown(value, 4)} = ${formula}: ${spelled}${pairs.length > 4 ? ` + … (${pairs.length} terms, the largest first)` : ""} = ${shown(sum, 4)}.`));
    terms.replaceChildren(...(hidden || pairs.length <= 4 ? [] : [
      strip("left factors", pairs.map(([a]) => a)), strip("right factors", pairs.map(([, b]) => b)), strip("products", products)]));
  }

  async function show() {
    const { text, numbers } = await call("look", question(), at.box, at.i, at.j);
    const [names, formula] = text.split("\n\n");
    const list = names.split("\n").map(line => line.split("\t"));
    if (list.join() !== boxes.join()) {
      boxes = list;
      const groups = [];
      boxes.forEach(([path, name], k) => {
        const block = path.split(".")[0];
        if (groups.at(-1)?.block !== block) groups.push({ block, buttons: [] });
        const inner = path.split(".").slice(1).filter(part => part !== name).join(".");
        groups.at(-1).buttons.push(make("button", { type: "button", "aria-pressed": false, onclick: () => { at.box = k; show(); } },
          written(inner ? `${inner} ${name}` : name)));
      });
      drawing.replaceChildren(...groups.map(({ block, buttons }) => make("div", { class: "live-block" }, make("span", {}, written(block)), ...buttons)));
    }
    drawing.querySelectorAll("button").forEach((button, k) => button.setAttribute("aria-pressed", k === at.box));
    const [rows, cols] = numbers, entries = [...numbers.slice(2, 2 + rows * cols)], rest = numbers.slice(2 + rows * cols);
    matrix = { rows, cols, entries };
    at.i = Math.min(at.i, rows - 1);
    at.j = Math.min(at.j, cols - 1);
    title.replaceChildren(written(`${boxes[at.box].join(", ")}: ${rows} rows, ${cols} columns.`));
    canvas.setAttribute("aria-label", `A matrix of ${rows} rows and ${cols} columns. Arrow keys choose an entry.`);
    canvas.room = room();
    paint(canvas, entries, rows, cols, { until: at.i, i: at.i, j: at.j });
    explain(formula, Array.from({ length: rest.length / 2 }, (_, k) => [rest[2 * k], rest[2 * k + 1]]));
    element.dataset.shown = `${at.box} ${at.i} ${at.j}`;
  }
  const move = (i, j) => {
    at.i = Math.min(Math.max(i, 0), matrix.rows - 1);
    at.j = Math.min(Math.max(j, 0), matrix.cols - 1);
    refresh();
  };
  const point = event => move(Math.floor(event.offsetY / canvas.line), Math.floor(event.offsetX / canvas.cell));

  const refresh = live.latest(async () => { if (element.open) await show(); });
  const element = make("details", { class: "live-inside", ontoggle: () => refresh() }, make("summary", {}, "Look inside"),
    make("p", {}, make("strong", {}, "Try: "), "choose a matrix, then point at one of its entries, or use the arrow keys. The rows "
      + "after the chosen one fade: nothing of them reaches it. Blue is positive, orange negative, and full colour is the largest entry."),
    drawing, title, make("div", { class: "live-scroll" }, canvas), entry, terms);
  return { element, refresh };
};
