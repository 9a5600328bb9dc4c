# SPDX-License-Identifier: MIT
"""What it costs to compile: seconds and memory, which depend on the machine, and the specializations of templates, which do not.
GCC counts these (-fstats): of functions and variables, and of types.

usage: compile.py ROOT COMPILER [ARGUMENT] …
"""

import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 3
FAST = ["-O3", "-march=native"]
PROGRAM = """#include <tlm/tlm.hpp>
template <std::size_t n_layers>
void learn() {{
  tlm::Generator generator{{1}};
  constexpr tlm::Config config{{.vocab_size = 11, .d_model = 8, .d_ff = 16, .n_layers = n_layers, .n_heads = 2, .max_len = 7}};
  tlm::TransformerLM<config> model;
  tlm::initialize_uniform(model, generator);
  tlm::SGD sgd;
  const tlm::Reversal task{{10, 2, 2}};
  const auto next_batch = [&] {{ return task.batch(4, generator); }};
  tlm::train(model, sgd, next_batch, 10, [](tlm::Progress) {{ return tlm::Continue::yes; }});
  tlm::decode(model, {{3, 7, 0}}, {{.start = 0, .end = 0, .max_len = 7}});
}}
int main() {{
{}
}}
"""


def configurations(count):
    """A program with so many configurations of T_LM, of different depths."""
    return PROGRAM.format("\n".join(f"  learn<{layers}>();" for layers in range(1, count + 1)))


def compiled(command):
    """Seconds, megabytes, and the numbers of specializations, of a compiler's run."""
    with tempfile.TemporaryFile("w+") as said:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=said, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read()
    if process.returncode:
        sys.exit(text[:2000])
    counts = [re.search(rf"^{kind}_specializations: size \d+, (\d+) elements", text, re.M) for kind in ("decl", "type")]
    return seconds, usage.ru_maxrss / 1000, [count[1] if count else "" for count in counts]


def main():
    root, compiler = pathlib.Path(sys.argv[1]), sys.argv[2:]
    (readme,) = re.findall(r"```cpp\n([^`]*int main\(\).*?)```", (root / "README.md").read_text(encoding="utf-8"), re.S)
    counted = [] if "clang" in subprocess.check_output([compiler[0], "--version"], text=True) else ["-fstats"]
    print("program", "options", "s", "MB", "functions and variables", "types", sep="\t", flush=True)
    with tempfile.TemporaryDirectory() as directory:
        for name, source, options in [
            ("nothing but tlm.hpp", "#include <tlm/tlm.hpp>\nint main() {}\n", FAST),
            *(("the program of the README", readme, options)
              for options in (["-fsyntax-only"], ["-O0"], ["-O1"], ["-O2", "-march=native"], FAST)),
            ("T_LM, 1 configuration", configurations(1), FAST),
            ("T_LM, 10 configurations", configurations(10), FAST),
            ("proofs/04_leaves.cpp", f'#include "{root}/proofs/04_leaves.cpp"\n', ["-O0"]),
        ]:
            file = pathlib.Path(directory, "program.cpp")
            file.write_text(source, encoding="utf-8")
            command = [*compiler, "-std=c++20", *options, "-c", str(file), "-o", str(file.with_suffix(".o"))]
            runs = [compiled(command) for _ in range(ROUNDS)]
            seconds, megabytes = (statistics.median(run[k] for run in runs) for k in (0, 1))
            counts = compiled([*command, *counted])[2]  # for which the compiler takes half as long again, or twice
            print(name, " ".join(options), f"{seconds:.1f}", f"{megabytes:.0f}", *counts, sep="\t", flush=True)


if __name__ == "__main__":
    main()
