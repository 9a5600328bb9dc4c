// SPDX-License-Identifier: MIT
"use strict";

// The softmax of five scores, at a temperature.
live.figures.softmax = {
  module: "numbers",
  title: "Softmax and temperature",
  async build(figure, call) {
    const { make, slider, toAll, bars, latest, shown } = live;
    const scores = [2, 1, 0.5, 0, -1], names = [..."₁₂₃₄₅"].map(index => `s${index}`);
    let temperature = 1;
    const status = make("p", { class: "live-status", "aria-live": "polite" });
    const drawing = make("div", {});

    const draw = latest(async () => {
      const values = [...(await call("softmax", ...scores, temperature)).numbers];
      const entropy = values.reduce((sum, p) => sum - (p > 0 ? p * Math.log(p) : 0), 0);
      const most = values.indexOf(Math.max(...values));
      status.textContent = `${names[most]} has ${shown(values[most])} of 1. The entropy is ${shown(entropy, 2)} of at most ${shown(Math.log(5), 2)}.`;
      drawing.replaceChildren(bars(names, values, 0, 1, values.map((p, j) => `${names[j]}: ${shown(p)}`).join("; ")));
      figure.dataset.shown = [...scores, temperature].join(" ");
    });

    const sliders = scores.map((score, j) => slider(names[j], { min: -10, max: 10, step: 0.1, value: score },
      value => { scores[j] = value; draw(); }, value => shown(value, 1)));
    figure.append(
      make("p", {}, make("strong", {}, "Try: "), "move one score, and all shares change. Add 1 to all: nothing changes. Lower the "
        + "temperature, and the largest score takes all."),
      make("div", { class: "live-beside" }, make("div", {}, ...sliders), drawing),
      make("div", { class: "live-controls" },
        slider("temperature", { min: 0.1, max: 5, step: 0.1, value: temperature }, value => { temperature = value; draw(); }, value => shown(value, 1)),
        toAll("Add 1 to all", sliders, score => score + 1), toAll("Subtract 1 from all", sliders, score => score - 1)),
      status);
    await draw();
  },
};
