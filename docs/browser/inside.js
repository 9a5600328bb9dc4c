// SPDX-License-Identifier: MIT
"use strict";

// Look inside the model that the reader trains: train.js shows it below. `drawing` is the book's, of the whole model. Its boxes
// become buttons. Each opens the boxes of the model that it stands for.
live.inside = (call, question, drawing) => {
  const { make, written } = live;
  const at = { box: 0, matrix: "", i: 999, j: 0 };  // the last row, which depends on all
  let boxes = "", opened = "", named = "", matrix = null;
  let parts = [], block = 1;  // what is drawn, in its order: that of a block once for each block

  const blocks = make("div", { class: "live-boxes", role: "group", "aria-label": "The decoder blocks" });
  const about = make("p", { class: "live-status" });
  const inner = make("div", { class: "live-boxes", role: "group", "aria-label": "The boxes in this one, in the order in which they compute" });
  const title = make("p", { class: "live-title" });
  const choices = make("div", { class: "live-boxes", role: "group", "aria-label": "The matrices of this box" });
  const canvas = make("canvas", {
    tabindex: 0, role: "application", "aria-roledescription": "matrix", "aria-label": "No matrix yet", onclick: event => point(event), onpointermove: event => { if (event.buttons) point(event); },
    onkeydown(event) {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!step || !matrix) return;
      event.preventDefault();
      move(Math.min(at.i, matrix.rows - 1) + step[0], Math.min(at.j, matrix.cols - 1) + step[1]);
    },
  });
  const columns = make("div", { class: "live-columns" }), rows = make("div", { class: "live-rows" });
  const entry = make("p", { class: "live-entry", "aria-live": "polite" });  // train.js silences it while the model learns
  const terms = make("div", {});
  const scroller = make("div", { class: "live-matrix" }, columns, rows, canvas);
  const panel = make("div", { class: "live-panel" }, about, inner, title, choices, scroller, entry, terms);

  const sheet = make("div", { class: "live-drawing" }, blocks, drawing);
  drawing.setAttribute("role", "group");
  const keys = [...drawing.querySelectorAll("a")].filter(link => link.querySelector("rect, circle")).map((link, k) => {
    let says = `${link.textContent}:`;
    for (let next = link.nextElementSibling; next?.matches(".says"); next = next.nextElementSibling) says += ` ${next.textContent}`;
    const circle = link.querySelector("circle"), centre = name => circle.getAttribute(name);
    const key = make("g", {
      role: "button", tabindex: 0, class: "live-key", "aria-label": says, onclick: () => open(k),
      onkeydown(event) {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        open(k);
      },
    }, circle ? make("circle", { class: "live-touch", cx: centre("cx"), cy: centre("cy"), r: 18 }) : "", ...link.childNodes);
    link.replaceWith(key);
    return key;
  });
  const drawn = () => parts.filter(part => !part.block || part.block === block);
  const open = k => {
    at.box = drawn()[k].boxes[0];
    at.matrix = "";
    refresh();
    if (panel.offsetTop >= sheet.offsetTop + sheet.offsetHeight) panel.scrollIntoView(live.calm.matches ? { behavior: "instant" } : {});  // it is below
  };

  // A number in so many digits; what is small as a multiple of a power of ten.
  const number = (x, digits = 3) => {
    if (x === 0 || Math.abs(x) >= 1e-3) return live.shown(x, digits);
    const [mantissa, power] = x.toExponential(2).split("e-");
    return `${mantissa.replace("-", "−")}·10⁻${[...power].map(digit => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")}`;
  };
  const colours = () => {
    const style = getComputedStyle(panel);
    return { plus: style.getPropertyValue("--color-brand-content"), minus: style.getPropertyValue("--false"), empty: style.getPropertyValue("--color-background-primary"), text: style.color };
  };
  // Cells in a canvas, with numbers where these have room, coloured by their share of the largest. Of rows that row i does not
  // depend on, after it (fade 1) or before it (fade −1), little is left.
  function paint(target, values, rows, cols, { fade = 0, i = -1, j = -1 } = {}) {
    const cell = Math.max(2, Math.min(46, Math.floor(room() / cols))), height = Math.max(2, Math.min(22, Math.floor(360 / rows))), ratio = devicePixelRatio;
    target.cell = cell;
    target.line = height;
    target.height = height * rows * ratio;
    target.width = cell * cols * ratio;
    target.style.width = `${cell * cols}px`;
    target.style.height = `${height * rows}px`;
    const pen = target.getContext("2d"), { plus, minus, empty, text } = colours();
    const largest = values.reduce((most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most), 1e-30);
    pen.scale(ratio, ratio);
    pen.font = "11px sans-serif";
    pen.textAlign = "center";
    for (let r = 0; r < rows; ++r) {
      const seen = fade * (r - i) > 0 ? 0.12 : 1;
      for (let c = 0; c < cols; ++c) {
        const value = values[r * cols + c], wide = cell >= 24 && height >= 16, digits = cell >= 34 ? 2 : 1, gap = height > 4 ? 1 : 0;
        if (!Number.isFinite(value)) continue;
        pen.globalAlpha = 1;
        pen.fillStyle = empty;
        pen.fillRect(c * cell, r * height, cell, height);
        pen.globalAlpha = Math.abs(value) / largest * seen * (wide ? 0.55 : 1);
        pen.fillStyle = value > 0 ? plus : minus;
        pen.fillRect(c * cell, r * height, wide ? cell - 1 : cell, height - gap);
        if (!wide) continue;
        pen.globalAlpha = seen < 1 ? 0.3 : 1;
        pen.fillStyle = text;
        pen.fillText(value === 0 ? "0" : Math.abs(value) < 0.5 / 10 ** digits ? "≈ 0" : live.shown(value, digits), c * cell + cell / 2, r * height + height / 2 + 4);
      }
    }
    pen.globalAlpha = 1;
    if (i >= 0) {
      pen.strokeStyle = text;
      pen.lineWidth = 2;
      pen.strokeRect(j * cell + 1, i * height + 1, Math.max(cell, 4) - 2, Math.max(height, 4) - 2);
    }
  }
  const strip = (label, values) => {
    const cells = make("canvas", { role: "img", "aria-label": `${label}: ${values.length} numbers from ${number(Math.min(...values), 2)} to ${number(Math.max(...values), 2)}` });
    paint(cells, values, 1, values.length);
    return make("div", { class: "live-strip" }, make("span", {}, label), cells);
  };
  const room = () => Math.max(200, panel.clientWidth - rows.clientWidth - 8);
  const label = (axis, labels, size) => axis.replaceChildren(...labels.map(text => make("span", { style: size }, text)));

  // An entry in words: its value, and the sum of products that it is.
  function explain(formula, pairs) {
    const products = pairs.map(([a, b]) => a * b), sum = products.reduce((total, x) => total + x, 0);
    const value = matrix.entries[matrix.i * matrix.cols + matrix.j], hidden = !Number.isFinite(value);
    const largest = pairs.map((pair, k) => [Math.abs(products[k]), pair]).sort((a, b) => b[0] - a[0]).slice(0, 4).map(([, pair]) => pair);
    const spelled = (pairs.length <= 4 ? pairs : largest).map(([a, b]) => (b === 1 ? number(a) : `${number(a)}·${b < 0 ? `(${number(b)})` : number(b)}`)).join(" + ");
    const made = pairs.length === 0 ? `${Number.isInteger(value) ? value : number(value, 4)}: ${formula}.`
      : `${number(value, 4)} = ${formula}: ${spelled}${pairs.length > 4 ? ` + … (${pairs.length} terms, the largest first)` : ""} = ${number(sum, 4)}.`;
    const token = (labels, number) => (labels.length ? ` (token ${labels[number]})` : "");
    const place = `Row ${matrix.i + 1}${token(matrix.rowLabels, matrix.i)}, column ${matrix.j + 1}${token(matrix.colLabels, matrix.j)}: `;
    entry.replaceChildren(make("strong", {}, place), hidden
      ? `row ${matrix.i + 1} does not see this key. There is nothing here, not even a 0.` : written(made));
    entry.dataset.value = value;
    entry.dataset.sum = pairs.length ? sum : "";
    terms.replaceChildren(...(hidden || pairs.length <= 4 ? [] : [
      strip("left factors", pairs.map(([a]) => a)), strip("right factors", pairs.map(([, b]) => b)), strip("products", products)]));
  }

  const button = (label, act) => make("button", { type: "button", "aria-pressed": false, onclick: act }, written(label));
  const press = (group, pressed) => group.querySelectorAll("button").forEach((one, k) => one.setAttribute("aria-pressed", k === pressed));

  // The boxes of another model: what is drawn, of which boxes it consists, and in which block it is.
  function compose(list) {
    parts = [];
    list.forEach(([path], number) => {
      const name = path.split(".").slice(0, 2).join("."), count = Number(name.match(/^DB_(\d+)/)?.[1]);
      if (parts.at(-1)?.name !== name) parts.push({ name, block: count, boxes: [] });
      parts.at(-1).boxes.push(number);
    });
    block = 1;
    const all = [...new Set(parts.map(part => part.block).filter(Boolean))];
    blocks.replaceChildren(...all.length < 2 ? [] : all.map(number => button(`DB_${number}`, () => {
      const now = drawn(), k = now.findIndex(part => part.boxes.includes(at.box)), step = now[k].boxes.indexOf(at.box);
      block = number;
      at.box = drawn()[k].boxes[step];
      refresh();
    })));
  }

  async function show() {
    const { text, numbers } = await call("look", `${question()}\n${at.matrix}`, at.box, at.i, at.j);
    const [names, matrices, made] = text.split("\n\n");
    const list = names.split("\n").map(line => line.split("\t"));
    if (names !== boxes) {
      boxes = names;
      compose(list);
      if (at.box > 0) {  // another box there
        at.box = 0;
        return show();
      }
    }
    const [name, formula, ...axes] = made.split("\n");
    const k = drawn().findIndex(part => part.boxes.includes(at.box)), inside = drawn()[k].boxes;
    keys.forEach((key, other) => key.setAttribute("aria-pressed", other === k));
    press(blocks, block - 1);
    about.replaceChildren(written(keys[k].getAttribute("aria-label")));
    if (opened !== `${inside}`) {
      opened = `${inside}`;
      inner.replaceChildren(...inside.length < 2 ? [] : inside.map(number => button(list[number][1], () => {
        at.box = number;
        at.matrix = "";
        refresh();
      })));
    }
    press(inner, inside.indexOf(at.box));
    if (matrices !== named) {
      named = matrices;
      choices.replaceChildren(...matrices.split("\n").map(one => button(one, () => {
        at.matrix = one;
        refresh();
      })));
    }
    press(choices, matrices.split("\n").indexOf(name));
    const [height, width, fade] = numbers, count = height * width, entries = [...numbers.slice(3, 3 + count)], rest = numbers.slice(3 + count);
    const [[down, rowLabels], [across, colLabels]] = axes.map(axis => axis.split("\t")).map(([of, labels]) => [of, labels.split(" ").filter(Boolean)]);
    matrix = { rows: height, cols: width, entries, rowLabels, colLabels, i: Math.min(at.i, height - 1), j: Math.min(at.j, width - 1) };  // `at` stays for larger ones
    const isGradient = name.includes("\u0304"), what = `${down && ` Rows: ${down}.`}${across && ` Columns: ${across}.`}`;
    title.replaceChildren(written(`${list[at.box].join(", ")}: ${name}${isGradient ? `, the gradient of the loss with respect to ${name.replace("\u0304", "")}` : ""}. ${height} × ${width}.${what}`));
    canvas.setAttribute("aria-label", `${name}, a matrix of ${height} rows and ${width} columns.${what} Arrow keys choose an entry.`);
    label(rows, rowLabels, "");  // so wide that the cells have the rest
    paint(canvas, entries, height, width, { fade, i: matrix.i, j: matrix.j });
    label(rows, rowLabels, `height: ${canvas.line}px; line-height: ${canvas.line}px`);
    label(columns, colLabels, `width: ${canvas.cell}px`);
    const from = matrix.j * canvas.cell, seen = scroller.clientWidth - rows.clientWidth;  // the entry is to be seen
    scroller.scrollLeft = Math.min(Math.max(scroller.scrollLeft, from + canvas.cell - seen), from);
    explain(formula, Array.from({ length: rest.length / 2 }, (_, k) => [rest[2 * k], rest[2 * k + 1]]));
    element.dataset.shown = `${at.box} ${name} ${matrix.i} ${matrix.j}`;
  }
  const move = (i, j) => {
    if (!matrix) return;
    at.i = Math.min(Math.max(i, 0), matrix.rows - 1);
    at.j = Math.min(Math.max(j, 0), matrix.cols - 1);
    refresh();
  };
  const point = event => move(Math.floor(event.offsetY / canvas.line), Math.floor(event.offsetX / canvas.cell));

  const refresh = live.latest(async () => {
    try {
      if (element.open) await show();
    } catch (error) {  // the question is of the model before, or there is no model
      title.textContent = `There is nothing to see inside: ${error.message}`;
    }
  });
  const element = make("details", { class: "live-inside", ontoggle: () => refresh() }, make("summary", {}, "Look inside"),
    make("p", {}, make("strong", {}, "Try: "), "press a box of the drawing, and choose one of its matrices: what goes in, its weights, what comes out. Then click "
      + "an entry, or use the arrow keys, and see what it was made of. The rows after it fade: nothing of them reaches it. The model reads "
      + "the sequence that you asked for, with the right answer, as in one training step. Letters with a bar are the gradient in that "
      + "step: how much the loss grows with each entry. They come back from later rows, so the rows before fade. Blue is positive, "
      + "orange negative; the largest entry has the full colour."),
    make("div", { class: "live-look" }, sheet, panel));
  // Canvases keep their colours when the page takes others.
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", refresh);
  new MutationObserver(refresh).observe(document.body, { attributes: true, attributeFilter: ["data-theme"] });
  return { element, entry, refresh };
};
