// SPDX-License-Identifier: MIT
// Runs a program of WebAssembly in node's WASI: run.mjs MODULE_JS PROGRAM. Exits as it does.
import { readFileSync } from "node:fs";
import vm from "node:vm";
import { WASI } from "node:wasi";

const [moduleSource, program] = process.argv.slice(2);
const openModule = vm.runInThisContext(`${readFileSync(moduleSource, "utf8")}\nopenModule`);
const wasi = new WASI({ version: "preview1", args: [program], returnOnExit: true });
const { instance } = await openModule(readFileSync(program), wasi.wasiImport);
process.exitCode = wasi.start(instance);
