// SPDX-License-Identifier: MIT
"use strict";

// Two averages of the losses of two sequences.
live.figures.loss = {
  module: "numbers",
  title: "Two averages of a batch of two sequences",
  async build(figure, call) {
    const { make, slider, bars, latest, shown } = live;
    const weights = [1, 1, 1, 0];
    const status = make("p", { class: "live-status", "aria-live": "polite" });
    const drawing = make("div", {});

    const draw = latest(async () => {
      const numbers = [...(await call("loss", ...weights)).numbers];
      const [first, second, mean, whole] = numbers.slice(4), sums = [weights[0] + weights[1], weights[2] + weights[3]];
      const equal = Math.abs(sums[0] - sums[1]) < 1e-9;
      const names = ["sequence 1", "sequence 2", "mean of both", "the batch"], values = [first, second, mean, whole];
      status.textContent = !Number.isFinite(whole) ? "All weights are 0: no token counts, and the library refuses such a batch."
        : !Number.isFinite(mean) ? `The batch has the loss ${shown(whole)}. A sequence without a weight has none, so there is no mean of both.`
          : `The mean of both is ${shown(mean)}, the loss of the batch ${shown(whole)}. The sums of the weights are ${shown(sums[0], 2)} and `
            + `${shown(sums[1], 2)}: ${equal ? "equal, and so are the averages." : "not equal."}`;
      drawing.replaceChildren(bars(["1", "2", "mean", "batch"], values, 0, 2.2,
        names.map((name, k) => `${name}: ${shown(values[k])}`).join("; ")));
      figure.dataset.shown = weights.join(" ");
    });

    const y = ["0.127", "0.313", "1.313", "2.127"];
    figure.append(
      make("p", {}, make("strong", {}, "Try: "), "move the weights ω. Where both sequences have the same sum of weights, the mean of "
        + "their losses is the loss of the batch. Otherwise the sequence with more weight counts more."),
      ...[0, 1].map(j => make("div", { class: "live-controls" }, make("span", {}, `Sequence ${j + 1}`), ...[0, 1].map(i => slider(
        `ω of −y = ${y[2 * j + i]}`, { min: 0, max: 1, step: 0.05, value: weights[2 * j + i] },
        value => { weights[2 * j + i] = value; draw(); }, value => value.toFixed(2))))),
      status, drawing);
    await draw();
  },
};
