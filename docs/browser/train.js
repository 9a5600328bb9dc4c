// SPDX-License-Identifier: MIT
"use strict";

// Examples 0 to 2 of the notebook, or a small model of the reader's choice, trained by the reader.
live.figures.train = {
  module: "train",
  title: "A Transformer Language Model that learns here",
  async build(figure, call, width, drawing) {
    await live.load("inside.js");
    const { make, labelled, choice, matrix, latest, calm, written } = live;
    const notebook = "The notebook's models", own = "Or a small Config of your own";
    // Of each module the lessons in their order.
    const lessons = [
      { group: notebook, module: "train", number: 0, name: "Example 0: 2 of 10 tokens", ask: "3 7" },
      { group: notebook, module: "train", number: 1, name: "Example 1: 2 to 3 of 3 tokens", ask: "3 1 2" },
      { group: notebook, module: "train", number: 2, name: "Example 2: 2 to 4 of 4 tokens", ask: "1 2 3 4" },
      { group: own, module: "own", number: 0, name: "16 wide, 1 block, 1 head", ask: "3 7" },
      { group: own, module: "own", number: 1, name: "32 wide, 1 block, 2 heads", ask: "3 7" },
      { group: own, module: "own", number: 2, name: "32 wide, 2 blocks, 2 heads", ask: "3 7" },
      { group: own, module: "own", number: 3, name: "the same for 20 tokens", ask: "3 17" },
    ];
    // `model` counts the models, `run` the times that one was set to learn.
    let lesson = lessons[0], bySGD = 0, steps = 0, losses = [], model = 0, run = 0, question = "";
    // How the model was made is kept. Made so again it is the same, to the last bit, with what its optimizer remembers; its weights
    // would be thousands of times as long. `learned` is how many steps the last page had taken.
    let made = {}, learned = 0;
    // What the model answers; null if there is another one by then, or if it fails, which is said.
    async function told(...given) {
      const its = model;
      try {
        const answered = await call(...given);
        return its === model ? answered : null;
      } catch (error) {
        if (its === model) status.textContent = `The model does not answer: ${error.message}.`;
        return null;
      }
    }
    const remember = () => live.keep("model", { ...made, steps: Math.max(losses.length, learned), question });

    const type = make("code", { class: "live-type" });
    const seed = make("input", { type: "number", min: 0, max: 999999, value: 1, required: true });
    const status = make("p", { class: "live-status", "aria-live": "polite" });
    const chart = make("svg", { class: "live-chart", viewBox: `0 0 ${width} 220`, width, height: 220, role: "img" });
    const field = make("input", { type: "text", inputmode: "numeric", size: 10, autocomplete: "off", oninput: () => asked() });
    const complaint = make("span", { class: "live-complaint", role: "alert" });
    const answer = make("output", { class: "live-answer" });
    const score = make("output", {});
    const maps = make("div", { class: "live-maps" });
    const ended = () => losses.length >= steps;
    const inside = live.inside((...given) => call(...given), () => question, drawing.cloneNode(true));

    // While it learns, what changes many times a second is not read out.
    const speak = how => [status, answer, inside.entry].forEach(element => element.setAttribute("aria-live", how));
    const grouped = x => x.toLocaleString("en");
    const mean = list => list.reduce((sum, x) => sum + x, 0) / list.length;

    function tell() {
      const last = losses.slice(-50);
      const again = losses.length < learned ? "It learns again what it had learned. " : "";
      status.textContent = losses.length
        ? `${again}Step ${grouped(losses.length)}${losses.length > steps ? "" : ` of ${grouped(steps)}`}. Mean loss of the last ${last.length} steps: ${mean(last).toPrecision(3)}.`
        : "A new model, which has learned nothing.";
      toTheEnd.setAttribute("aria-disabled", ended());
    }
    function draw() {
      tell();
      const count = Math.max(600, losses.length), each = Math.ceil(count / 260);
      const x = step => 44 + step / count * (width - 54), y = loss => 8 + (1 - Math.log10(Math.min(Math.max(loss, 1e-5), 10))) / 6 * 180;
      const lines = [1, 0, -1, -2, -3, -4, -5].flatMap(power => [
        make("line", { class: "live-grid", x1: 44, x2: width - 10, y1: y(10 ** power), y2: y(10 ** power) }),
        make("text", { x: 38, y: y(10 ** power) + 4, "text-anchor": "end" }, power === 0 ? "1" : power === 1 ? "10" : `10${[..."⁻" + -power].map(c => "⁻⁰¹²³⁴⁵"["-012345".indexOf(c)] ?? c).join("")}`),
      ]);
      let path = "";
      for (let k = 0; k < losses.length; k += each) {
        const part = losses.slice(k, k + each);
        path += `${path ? "L" : "M"}${x(k + part.length / 2).toFixed(1)} ${y(mean(part)).toFixed(1)}`;
      }
      chart.setAttribute("aria-label", losses.length
        ? `The loss over ${losses.length} steps, from ${mean(losses.slice(0, 20)).toPrecision(2)} to ${mean(losses.slice(-50)).toPrecision(2)}.` : "No loss yet.");
      chart.replaceChildren(...lines, make("path", { class: "live-line", d: path }),
        make("text", { x: 44, y: 212 }, "0"), make("text", { x: width - 10, y: 212, "text-anchor": "end" }, `${grouped(count)} steps`));
    }

    function show({ text, numbers }) {
      const [right, count] = numbers, tokens = [...numbers.slice(2, 2 + count)];
      answer.textContent = `→ ${tokens.join(" ")}`;
      answer.append(make("strong", { class: right ? "live-right" : "live-wrong" }, right ? " right" : " wrong"));
      const read = [0, ...tokens.slice(0, -1)].map(String);
      maps.replaceChildren(...text.trim().split("\n").map((name, head) => {
        const weight = (i, j) => numbers[2 + count + (head * count + i) * count + j];
        const looks = read.map((token, i) => {
          const row = read.map((_, j) => weight(i, j)), most = row.indexOf(Math.max(...row));
          return `row ${i + 1}, token ${token}, looks most at column ${most + 1}, token ${read[most]}, with ${row[most].toFixed(2)}`;
        });
        return make("figure", {}, make("figcaption", {}, written(name)),
          matrix(read, read, (i, j) => (weight(i, j) < 0 ? null : weight(i, j)), `${name}: ${looks.join("; ")}.`));
      }));
      inside.refresh();
    }

    // Asks what is in the field; what is no question is a sentence beside it, and the last question stays.
    const asked = latest(async () => {
      const its = model, given = field.value.trim();
      try {
        const answered = await call("ask", given);
        if (its !== model) return;
        question = given;
        remember();
        show(answered);
        complaint.textContent = "";
      } catch (error) {
        if (its !== model) return;
        complaint.textContent = error.message;
        answer.replaceChildren();
      }
    });

    // Why there is no new model. The choices are those of the one that there is.
    function refuse(sentence) {
      status.textContent = sentence;
      if (made.seed === undefined) return;
      lesson = lessons[models.querySelector("select").selectedIndex = made.lesson];
      bySGD = optimizers.querySelector("select").selectedIndex = made.bySGD;
    }

    async function begin(asks) {
      const number = Number(seed.value);
      if (!seed.checkValidity() || !Number.isInteger(number))
        return refuse(`A seed is an integer from 0 to 999999, not ${seed.value || "nothing"}.`);
      ++run;
      const mine = ++model, how = { lesson: lessons.indexOf(lesson), bySGD, seed: number };
      try {
        const opened = await live.open(lesson.module);
        if (mine !== model) return;
        call = opened;
        const { text, numbers } = await call("begin", lesson.number, number, bySGD);
        if (mine !== model) return;
        type.textContent = text;
        steps = numbers[0];
      } catch (error) {
        if (mine === model) refuse(`There is no new model: ${error.message}.`);
        return;
      }
      losses = [];
      made = how;
      toTheEnd.textContent = `Train to step ${grouped(steps)}`;
      score.textContent = "";
      field.value = question = asks;
      draw();
      await asked();
      figure.dataset.step = 0;
    }

    const anew = () => {
      learned = 0;
      begin(lesson.ask);
    };

    async function train(until) {
      const mine = ++run;
      let count = 5, spoken = performance.now();
      score.textContent = "";  // of fewer steps
      while (mine === run && losses.length < until) {
        speak("off");
        const began = performance.now(), answered = await told("train", Math.min(count, until - losses.length));
        if (!answered) return speak("polite");
        losses.push(...answered.numbers);
        remember();
        const now = performance.now();
        count = Math.max(1, Math.min(100, Math.round(count * 60 / (now - began))));
        if (!calm.matches) {
          draw();
          const asking = await told("ask", question);
          if (!asking) return speak("polite");
          show(asking);
        } else if (now - spoken > 1000) {  // without motion: the curve and the maps are drawn when it stops
          tell();
          spoken = now;
        }
      }
      speak("polite");
      draw();
      const asking = await told("ask", question);
      if (!asking) return;
      show(asking);
      figure.dataset.step = losses.length;
    }

    const models = choice("Model", lessons.map(({ name }) => name), number => { lesson = lessons[number]; anew(); }, lessons.map(({ group }) => group));
    const optimizers = choice("Optimizer", ["Adam", "SGD"], number => { bySGD = number; anew(); });
    const toTheEnd = make("button", { type: "button", onclick: () => train(steps) });
    figure.append(
      make("p", {}, make("strong", {}, "Try: "), "train 600 steps, and see the loss fall and the answer become right. The model reads "
        + "a sequence and a 0, and has to say the sequence backwards. Ask for a sequence of your own, also while it learns. Stop, go on, "
        + "or begin again with another seed, with a smaller model, or with SGD, which does not always succeed."),
      make("div", { class: "live-controls" },
        models, optimizers, labelled("Seed", seed), make("button", { type: "button", onclick: anew }, "New model"),
        make("button", { type: "button", onclick: () => { seed.value = (Number(seed.value) + 1) % 1000000; anew(); } }, "Another seed")),
      make("p", {}, type),
      make("div", { class: "live-controls" },
        make("button", { type: "button", class: "live-first", onclick: () => train(losses.length + 600) }, "Train 600 steps"),
        toTheEnd, make("button", { type: "button", onclick: () => { ++run; learned = 0; } }, "Stop")),
      status, chart,
      make("div", { class: "live-controls" }, labelled("Ask", field), complaint, answer),
      make("div", { class: "live-controls" },
        make("button", {
          type: "button",
          onclick: async () => {
            const steps = losses.length, tested = await told("test");
            if (tested) score.textContent = `After ${grouped(steps)} steps ${tested.numbers[0]} of ${tested.numbers[1]} answers are right.`;
          },
        }, "Ask all questions"), score),
      make("p", {}, "Attention, head by head. Each row is a token that is read, and looks at the columns that are filled. Cells of "
        + "later tokens are not there. Once the model has learned, some head often looks from a row "
        + "of the answer at the token to be predicted next."),
      maps, inside.element);
    seed.addEventListener("change", anew);
    const last = live.kept("model");
    if (!lessons[last?.lesson]) return begin(lesson.ask);
    lesson = lessons[models.querySelector("select").selectedIndex = last.lesson];
    bySGD = optimizers.querySelector("select").selectedIndex = last.bySGD;
    seed.value = last.seed;
    learned = last.steps;
    await begin(last.question);
    train(learned);
  },
};
