// SPDX-License-Identifier: MIT
"use strict";

// Attention that the reader breaks, and which claims fail.
live.figures.break_the_mask = {
  module: "break_the_mask",
  title: "Break the mask, and see which claims fail",
  async build(figure, call) {
    const { make, choice, matrix, latest } = live;
    const futures = [0, 1, 2, 31];
    let future = 0, minus = 0, divisor = 0, positions = 0;

    const verdict = make("p", { class: "live-status", "aria-live": "polite" });
    const remark = make("p", {});
    const seen = make("figure", {});
    const claims = make("ul", { class: "live-claims" });
    const printed = make("pre", { class: "live-printed", tabindex: 0 });

    // What is to be seen where one thing was changed.
    const remarks = {
      "1 0 0 0": "Row 1 now depends on row 2. All four arithmetics see that, at the smallest place there is. The pullback is still the "
        + "transpose of the derivative: a gradient check accepts a wrong mask.",
      "2 0 0 0": "Row 1 now depends on rows 2 and 3. The smallest counter-example is where it was, at n = 2.",
      "3 0 0 0": "Each row depends on all rows. The smallest counter-example is where it was, at n = 2.",
      "0 1 0 0": "−10 hides little: all four arithmetics see that the rows depend on the future. A model can learn scores that outweigh it.",
      "0 2 0 0": "After exp, −10⁹ rounds to nothing, so double agrees within its bound. A NaN in the future still reaches the past: 0 times "
        + "NaN is NaN. The prime field, where nothing rounds, sees it too, and so do the sets.",
      "0 0 1 0": "At one n the future stays hidden: bits and sets hold. But each row knows n, and changes when rows are appended. Comparing "
        + "T(X|i) with T(X)|i shows it.",
      "0 0 2 0": "Without 1/√d_head no claim of causality fails. The divisor keeps the scores small while a model learns. It hides nothing.",
      "0 0 0 1": "From the left, row i knows i and nothing of what follows.",
      "0 0 0 2": "From the right, the position of row 1 is n. At one n nothing leaks: bits and sets hold. But appended rows change all the "
        + "others.",
    };

    // The report of tlm::check, as statements with their counter-examples, each claim once.
    function show(report) {
      const groups = new Map();
      let last = null, failed = 0, all = 0;
      for (const line of report.trimEnd().split("\n")) {
        const found = /^(holds|FAILS):\s+(.*)$/.exec(line);
        if (found) {
          const holds = found[1] === "holds", at = found[2].lastIndexOf(": ");
          const claim = at < 0 ? found[2] : found[2].slice(0, at), over = at < 0 ? "" : found[2].slice(at + 2);
          last = { holds, over, lines: [] };
          groups.set(claim, [...(groups.get(claim) ?? []), last]);
          ++all;
          failed += !holds;
        } else if (line.startsWith(" ")) {
          last?.lines.push(line.slice(2));
        } else {
          last = null;
        }
      }
      verdict.textContent = failed === 0 ? `All ${all} statements hold.` : `${failed} of ${all} statements fail.`;
      verdict.className = `live-status ${failed === 0 ? "live-right" : "live-wrong"}`;
      let first = true;
      const fails = ([, statements]) => statements.some(({ holds }) => !holds);
      claims.replaceChildren(...[...groups].sort((a, b) => fails(b) - fails(a)).map(([claim, statements]) => make("li", {}, claim, make("ul", {}, ...statements.map(
        ({ holds, over, lines }) => {
          if (holds) return make("li", { class: "live-right" }, `✓ holds${over && `: ${over}`}`);
          const details = make("details", { open: first }, make("summary", {}, `✗ fails${over && `: ${over}`}`), make("pre", {}, lines.join("\n")));
          first = false;
          return make("li", { class: "live-wrong" }, details);
        })))));
      printed.textContent = report;
    }

    const check = latest(async () => {
      figure.setAttribute("aria-busy", "true");
      const { text, numbers } = await call("check", futures[future], [0, 10, 1_000_000_000][minus], divisor, positions);
      const rows = [1, 2, 3, 4, 5, 6], depends = (i, j) => numbers[6 * i + j] === 1;
      const words = rows.map((row, i) => `row ${row} depends on ${rows.filter((_, j) => depends(i, j)).join(", ")}`);
      seen.replaceChildren(make("figcaption", {}, "Which rows of X (columns) a row of the result may depend on"),
        matrix(rows.map(String), rows.map(String), (i, j) => (depends(i, j) ? 1 : 0), `${words.join("; ")}.`));
      remark.textContent = remarks[[minus > 0 ? 0 : future, minus, divisor, positions].join(" ")] ?? "";
      show(text);
      figure.removeAttribute("aria-busy");
      figure.dataset.checked = [future, minus, divisor, positions].join(" ");
    });

    const sees = number => Object.assign(fields[0].querySelector("select"), { selectedIndex: number, disabled: minus > 0 });
    const fields = [
      choice("Row i sees", ["the keys j ≤ i: ◺", "one key too many", "two keys too many", "all keys"], number => { future = number; check(); }),
      choice("The future is", ["left out", "there, with −10 added to its score", "there, with −10⁹ added to its score"],
        number => {
          minus = number;
          sees(minus > 0 ? 3 : future);  // with a number in their place, all keys are there
          check();
        }),
      choice("Scores are divided by", ["√d_head", "√n", "nothing"], number => { divisor = number; check(); }),
      choice("Positions in X", ["are not counted", "count from the left", "count from the right"], number => { positions = number; check(); }),
    ];
    figure.append(
      make("p", {}, make("strong", {}, "Try: "), "let row i see one key too many, and read which claims fail, over which numbers, and "
        + "the smallest counter-example. Then divide by √n, or make the mask a number: other arithmetics see these."),
      make("div", { class: "live-controls" }, ...fields,
        make("button", {
          type: "button",
          onclick() {
            future = minus = divisor = positions = 0;
            sees(0);
            for (const field of fields) field.querySelector("select").selectedIndex = 0;
            check();
          },
        }, "Heal it")),
      verdict, remark,
      make("div", { class: "live-beside" }, seen, claims),
      make("details", {}, make("summary", {}, "The report, as tlm::check prints it"), printed));
    await check();
  },
};
