// SPDX-License-Identifier: MIT
"use strict";

// Figures that run. A page that has one loads this file; a figure's own file, and the module that it calls, are loaded when it is
// scrolled to. Until it is ready, and where anything is missing that it needs, its picture stays.
const live = (() => {
  const folder = new URL(".", document.currentScript.src).href;
  const figures = {}, packed = {}, modules = {}, loaded = {};

  const load = file => loaded[file] ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.onload = done;
    script.onerror = () => {
      delete loaded[file];  // it may be there the next time
      failed(new Error(`${file} is not there`));
    };
    script.src = folder + file;
    document.head.append(script);
  });

  // What a module's worker does.
  function work() {
    let module;
    onmessage = async ({ data: { id, wasm, given } }) => {
      try {
        if (wasm) {
          module = await openModule(wasm);
          module.instance.exports._initialize();
        }
        postMessage({ id, answer: given && module.call(...given) });
      } catch (error) {
        postMessage({ id, thrown: error.message });
      }
    };
  }

  const unpacked = name => new Response(
    new Blob([Uint8Array.from(atob(packed[name]), character => character.charCodeAt(0))]).stream()
      .pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();

  // A module in its worker, as a function: await call("name", …) is {text, numbers}.
  const open = name => modules[name] ??= (async () => {
    await Promise.all([load("module.js"), load(`${name}.wasm.js`)]);
    const wasm = await unpacked(name);
    const source = URL.createObjectURL(new Blob([`${openModule}\n(${work})()`], { type: "text/javascript" }));
    const worker = new Worker(source), waiting = new Map();
    let last = 0;
    const send = (message, transferred = []) => new Promise((done, failed) => {
      waiting.set(++last, { done, failed });
      worker.postMessage({ id: last, ...message }, transferred);
    });
    worker.onmessage = ({ data: { id, answer, thrown } }) => {
      const { done, failed } = waiting.get(id);
      waiting.delete(id);
      if (thrown === undefined) done(answer);
      else failed(new Error(thrown));
    };
    await new Promise((done, failed) => {
      worker.onerror = event => { event.preventDefault(); failed(new Error("the worker did not start")); };
      send({ wasm }, [wasm]).then(done, failed);
    });
    return (...given) => send({ given });
  })().catch(error => {
    delete modules[name];
    throw error;
  });

  // An element: its name, attributes (functions are listeners, or what begins with `on`), and children.
  const make = (name, attributes = {}, ...children) => {
    const drawn = ["svg", "g", "path", "rect", "circle", "line", "text"].includes(name);
    const element = drawn ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
    }
    element.append(...children);
    return element;
  };

  // A text in which _k and _{pos+k} are below the line.
  const written = text => {
    const whole = document.createDocumentFragment();
    for (const part of text.split(/(_\{[^}]*\}|_[a-z0-9]+)/i))
      whole.append(part.startsWith("_") ? make("sub", {}, part.replace(/[_{}]/g, "")) : part);
    return whole;
  };

  let controls = 0;
  // A control with its label before it.
  const labelled = (label, control) => {
    control.id ||= `live-control-${++controls}`;
    return make("span", { class: "live-field" }, make("label", { for: control.id }, written(label)), control);
  };
  // A slider that shows its number; `set` is called with it.
  const slider = (label, { min, max, step, value }, set, shown = String) => {
    const output = make("output", { "aria-live": "off" }, shown(value));  // the slider says it
    const input = make("input", {
      type: "range", min, max, step, value, "aria-label": label,
      oninput() {
        output.textContent = shown(Number(input.value));
        input.setAttribute("aria-valuetext", shown(Number(input.value)));
        set(Number(input.value));
      },
    });
    const field = labelled(label, input);
    field.append(output);
    field.input = input;
    return field;
  };
  // A button that changes the numbers of several sliders alike, unless one of them would leave its range.
  const toAll = (label, fields, change) => {
    const changed = () => fields.map(({ input }) => change(Number(input.value)));
    const fits = () => changed().every((value, k) => value >= fields[k].input.min && value <= fields[k].input.max);
    const button = make("button", {
      type: "button",
      onclick() {
        if (!fits()) return;
        changed().forEach((value, k) => {
          fields[k].input.value = value;
          fields[k].input.dispatchEvent(new Event("input"));
        });
      },
    }, label);
    for (const { input } of fields) input.addEventListener("input", () => button.setAttribute("aria-disabled", !fits()));
    return button;
  };
  // A choice among texts, of which each may be of a group; `set` is called with its number.
  const choice = (label, texts, set, groups = []) => {
    const select = make("select", { onchange: () => set(select.selectedIndex) });
    texts.forEach((text, k) => {
      if (groups[k] && groups[k] !== groups[k - 1]) select.append(make("optgroup", { label: groups[k] }));
      (groups[k] ? select.lastChild : select).append(make("option", {}, text));
    });
    return labelled(label, select);
  };
  // Of calls that come faster than they are answered only the last one.
  const latest = act => {
    let busy = false, next = null;
    return async (...given) => {
      next = given;
      if (busy) return;
      busy = true;
      try {
        while (next) {
          const now = next;
          next = null;
          await act(...now);
        }
      } finally {
        busy = false;
      }
    };
  };

  // A matrix of cells: `shade(i, j)` from 0 to 1 fills one, null leaves it out. `described` says it in words.
  const matrix = (rows, columns, shade, described) => {
    const size = 20, left = rows.length ? 22 : 0, top = columns.length ? 22 : 0;
    const width = left + size * columns.length, height = top + size * rows.length;
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": described });
    rows.forEach((row, i) => svg.append(make("text", { x: left - 6, y: top + size * i + 14, "text-anchor": "end" }, row)));
    columns.forEach((column, j) => svg.append(make("text", { x: left + size * j + 10, y: top - 6, "text-anchor": "middle" }, column)));
    rows.forEach((_, i) => columns.forEach((_, j) => {
      const filled = shade(i, j), place = { x: left + size * j + 1, y: top + size * i + 1, width: size - 2, height: size - 2 };
      if (filled === null) return svg.append(make("rect", { class: "live-hidden", ...place }));
      svg.append(make("rect", { class: "live-cell", ...place }), make("rect", { class: "live-fill", "fill-opacity": filled.toFixed(3), ...place }));
    }));
    return svg;
  };

  // Bars beside their names, from `low` to `high`.
  const bars = (names, values, low, high, described) => {
    const width = 320, line = 24, zero = Math.max(low, 0), x = value => 42 + (Math.min(Math.max(value, low), high) - low) / (high - low) * (width - 110);
    const svg = make("svg", { viewBox: `0 0 ${width} ${line * names.length}`, width, height: line * names.length, role: "img", "aria-label": described });
    names.forEach((name, k) => {
      const from = Math.min(x(zero), x(values[k])), to = Math.max(x(zero), x(values[k]));
      svg.append(make("text", { x: 34, y: line * k + 16, "text-anchor": "end" }, name),
        Number.isFinite(values[k]) ? make("rect", { class: "live-fill", x: from, y: line * k + 4, width: to - from, height: line - 8 }) : "",
        make("text", { x: width - 62, y: line * k + 16 }, shown(values[k])));
    });
    svg.append(make("line", { class: "live-axis", x1: x(zero), x2: x(zero), y1: 0, y2: line * names.length }));
    return svg;
  };

  // What is kept while the tab is open, on all pages; nothing where the browser refuses to.
  const kept = name => {
    try {
      return JSON.parse(sessionStorage.getItem(name));
    } catch {
      return null;
    }
  };
  const keep = (name, value) => {
    try {
      sessionStorage.setItem(name, JSON.stringify(value));
    } catch {
      // It is not kept.
    }
  };

  // A number as it is read, with a minus that is one.
  const shown = (x, digits = 3) => (Number.isFinite(x) ? x.toFixed(digits).replace("-", "−") : "—");

  const start = async box => {
    try {
      const name = box.dataset.figure;
      await load(`${name}.js`);
      const { module, title, build } = figures[name];
      const call = await open(module);
      const figure = make("div", { class: "live-figure", role: "group", "aria-label": title });
      await build(figure, call, Math.min(560, box.clientWidth - 36), box.querySelector("template")?.content.firstElementChild);
      box.append(figure);
      box.classList.add("live-ready");
    } catch {
      // The picture stays.
    }
  };

  const able = () => typeof WebAssembly === "object" && typeof DecompressionStream === "function"
    && typeof Worker === "function" && typeof IntersectionObserver === "function";

  document.addEventListener("DOMContentLoaded", () => {
    const boxes = document.querySelectorAll(".live");
    if (!able()) return;
    const seen = new IntersectionObserver(entries => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        seen.unobserve(target);
        start(target);
      }
    }, { rootMargin: "200px" });
    for (const box of boxes) seen.observe(box);
  });

  return { figures, packed, load, open, make, labelled, slider, toAll, choice, latest, matrix, bars, shown, written, kept, keep, calm: matchMedia("(prefers-reduced-motion: reduce)") };
})();
