// SPDX-License-Identifier: MIT
"use strict";

// A module of WebAssembly, and calls of it: the other side of page.hpp and runtime.cpp. Refers to nothing outside of itself, as
// pages hand its text to a worker. `system` has the functions of WASI; without it they do nothing.
async function openModule(bytes, system = {}) { // eslint-disable-line no-unused-vars
  let exports;
  const bytesAt = at => new Uint8Array(exports.memory.buffer, at);
  const read = at => {
    const all = bytesAt(at);
    return new TextDecoder().decode(all.slice(0, all.indexOf(0)));
  };
  // The fewest digits that are read as the same float.
  const asFloat = x => {
    for (let digits = 1; digits < 10; ++digits) {
      const short = Number(x.toPrecision(digits));
      if (Math.fround(short) === x) return short;
    }
    return x;
  };
  const spelled = x => (Number.isFinite(x) ? String(x) : Number.isNaN(x) ? "nan" : x > 0 ? "inf" : "-inf");
  const page = {
    thrown(what) { throw new Error(read(what)); },
    number(to, x, isFloat) { return new TextEncoder().encodeInto(spelled(isFloat ? asFloat(x) : x), bytesAt(to)).written; },
  };
  const module = await WebAssembly.compile(bytes);
  const imports = { page, wasi_snapshot_preview1: { ...system } };
  for (const { module: from, name } of WebAssembly.Module.imports(module))
    imports[from][name] ??= name === "proc_exit" ? () => { throw new Error("the module has ended"); } : () => 0;
  const instance = await WebAssembly.instantiate(module, imports);
  exports = instance.exports;
  return {
    instance,
    // Calls an exported function with numbers, or with one text; returns the text and the numbers of its answer. What the
    // function throws is thrown, and the module can be called again.
    call(name, ...given) {
      const stack = exports.__stack_pointer.value;
      try {
        if (typeof given[0] === "string") {
          const text = new TextEncoder().encode(given.shift());
          bytesAt(exports.room(text.length)).set(text);
        }
        exports[name](...given);
        return {
          text: read(exports.text()),
          numbers: new Float64Array(exports.memory.buffer, exports.numbers(), exports.count()).slice(),
        };
      } catch (error) {
        exports.__stack_pointer.value = stack;
        throw error;
      }
    },
  };
}
