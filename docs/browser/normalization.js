// SPDX-License-Identifier: MIT
"use strict";

// N of a row of five numbers.
live.figures.normalization = {
  module: "numbers",
  title: "Normalization of one row",
  async build(figure, call) {
    const { make, slider, toAll, bars, latest, shown } = live;
    const x = [1, -0.5, 2, 0, -1], names = [..."₁₂₃₄₅"].map(index => `x${index}`);
    let a = 1, b = 0;
    const status = make("p", { class: "live-status", "aria-live": "polite" });
    const drawing = make("div", {});

    const draw = latest(async () => {
      const numbers = [...(await call("normalize", ...x, a, b)).numbers], values = numbers.slice(0, 5), [mean, sigma] = numbers.slice(5);
      status.textContent = `The mean of x is ${shown(mean, 2)}, and σ is ${shown(sigma, 2)}. `
        + (sigma < 1e-9 ? "A constant row becomes b." : `The mean of N(x) is b = ${shown(b, 1)}, and its deviation is a = ${shown(a, 1)}.`);
      drawing.replaceChildren(bars(names.map(name => name.replace("x", "y")), values, -6, 6, values.map((y, j) => `N(x) ${j + 1}: ${shown(y)}`).join("; ")));
      figure.dataset.shown = [...x, a, b].join(" ");
    });

    const sliders = x.map((value, j) => slider(names[j], { min: -10, max: 10, step: 0.1, value }, moved => { x[j] = moved; draw(); },
      moved => shown(moved, 1)));
    figure.append(
      make("p", {}, make("strong", {}, "Try: "), "move one entry of x, and all entries of y = N(x) move. Add 1 to all, or double all: N(x) "
        + "stays. Make all equal: nothing is left but b."),
      make("div", { class: "live-beside" }, make("div", {}, ...sliders), drawing),
      make("div", { class: "live-controls" },
        slider("a, in each place", { min: 0, max: 2, step: 0.1, value: a }, value => { a = value; draw(); }, value => shown(value, 1)),
        slider("b, in each place", { min: -2, max: 2, step: 0.1, value: b }, value => { b = value; draw(); }, value => shown(value, 1))),
      make("div", { class: "live-controls" }, toAll("Add 1 to all", sliders, value => value + 1),
        toAll("Double all", sliders, value => 2 * value), toAll("Make all equal", sliders, () => 1)),
      status);
    await draw();
  },
};
