"""Breaks the library in ten ways, one at a time, and sees which claims fall.

Each mutation changes one place of a copy of tlm/, compiles the proofs that it names against the copy and runs them, each in
a process of its own. What falls must be what the table says: these test cases, and for a pullback these layers; and nothing
else. A change that no longer applies, or that does not compile, is an error of the table.

usage: mutations.py SOURCE_ROOT DOCTEST_MAIN COMPILER [ARGUMENT …]
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT, MAIN, COMPILER = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
LIBRARIES = subprocess.check_output(["pkg-config", "--libs", "openblas"], text=True).split()

CAUSAL = ["softmax(◺A) is lower", "causal kernel: for X|i", "A a causal kernel and B", "row i of A(X)×B(X)",
          "H_i and H", "CA is autoregressive", "DB is autoregressive", "T_LM is autoregressive",
          "row i of CA, DB and T_LM"]
ALL_PROOFS = ["1_rules", "2_masked_softmax", "3_product", "4_leaves", "5_transformer", "6_linear_offset", "7_loss",
              "8_differentiation", "9_decoding"]
TRANSPOSE = ["exactly, over dual", "in double, within"]


class Mutation:
    """One change, the proofs to run, the test cases that fall (by a part of their names) and, of claim 8's transpose
    check, the layers (by their names in proofs/layers.hpp)."""

    def __init__(self, name, header, old, new, proofs, fall, layers=None):
        self.name, self.header, self.old, self.new = name, header, old, new
        self.proofs, self.fall, self.layers = proofs, fall, layers


ALL_BLOCKS = ["DB", "DB, inspirational", "Φ∘N∘DB∘DB∘PE", "T_LM", "T_LM, inspirational", "formulated encoder layer",
              "formulated decoder layer", "NumPy encoder block", "NumPy decoder block"]
ATTENTIONS = ["H, in blocks of 2", "CA of one head, without W_O and B", "CA", "MultiHead, unmasked"]

MUTATIONS = [
    Mutation("visibility j ≤ min(i+1, n)", "matrix/visible.hpp",
             "visible(std::size_t i, std::size_t /*n_keys*/) { return i + 1; }",
             "visible(std::size_t i, std::size_t n_keys) { return i + 2 < n_keys ? i + 2 : n_keys; }",
             ["2_masked_softmax", "3_product", "4_leaves", "5_transformer", "6_linear_offset"],
             CAUSAL + ["hidden entries: 800", "hidden score of 800", "what is called autoregressive",
                       "NaN in the later rows"]),
    Mutation("the maximum of the full row", "layers/softmax_kernel.hpp",
             "const Real greatest = maximum(x, visible);", "const Real greatest = maximum(x, visible + 1);",
             ["5_transformer", "6_linear_offset"],
             ["H_i and H", "CA is autoregressive", "DB is autoregressive", "T_LM is autoregressive",
              "NaN in the later rows"]),
    Mutation("positions all alike", "layers/positional_encoding.hpp",
             "PE.row(state.lengths[s]++)", "PE.row(0 * state.lengths[s]++)",
             ["4_leaves"], ["nothing is called less than it is", "PE is not rowwise", "controls: T(X|i)"]),
    Mutation("PE from its last row on", "layers/positional_encoding.hpp",
             "PE.row(state.lengths[s]++)", "PE.row(sequences.end(s) - 1 - i + 0 * state.lengths[s]++)",
             ["5_transformer", "6_linear_offset"], ["T_LM is autoregressive", "NaN in the later rows"]),
    Mutation("the second sine at another angle", "layers/positional_encoding.hpp",
             "PE(pos - 1, 2 * i + 1) = Real(cos(pos * angle(i)));",
             "PE(pos - 1, 2 * i + 1) = Real(cos((pos + 1) * angle(i)));",
             ["5_transformer", "6_linear_offset"], ["exactly, over the prime field", "in double T_k"]),
    Mutation("a flipped sign in the pullback of softmax", "layers/softmax_kernel.hpp",
             "(da[j] - mean) * one_over_c()", "(mean - da[j]) * one_over_c()",
             ALL_PROOFS, TRANSPOSE + ["is not anti-causal, though"],
             ATTENTIONS + ALL_BLOCKS),
    Mutation("a flipped sign in the pullback of N", "layers/normalization.hpp",
             "(dz - mean) / s - z * slope", "(dz - mean) / s + z * slope",
             ["5_transformer", "8_differentiation"], TRANSPOSE,
             ["N", "LayerNorm", "FF"] + ALL_BLOCKS),
    Mutation("the mean forgotten in the pullback of N", "layers/normalization.hpp",
             "(dz - mean) / s - z * slope", "dz / s - z * slope + mean * Real(0)",
             ["8_differentiation"], TRANSPOSE, ["N", "LayerNorm", "FF"] + ALL_BLOCKS),
    Mutation("a residual that forgets dY", "algebra/residual.hpp",
             "return dY + F_pullback(dY, gradient.f, entry_gradients...);",
             "return F_pullback(dY, gradient.f, entry_gradients...);",
             ["5_transformer", "8_differentiation"], TRANSPOSE, ALL_BLOCKS),
    Mutation("a memory of keys that forgets", "layers/softmax_kernel.hpp",
             "state.K_X = continued(state.K_X, tlm::extend(k, state.k, X, entries...));",
             "state.K_X = tlm::extend(k, state.k, X, entries...);",
             ["5_transformer", "9_decoding"], ["extending by one row", "sequences of a stack are extended"]),
]


def fallen(output):
    """The names of the test cases that failed, and the layers named in what they print."""
    cases, layers = set(), set()
    for block in output.split("=" * 79)[1:]:
        case = re.search(r"^TEST CASE:\s+(.*?)\n\n", block, re.M | re.S)
        if case and "ERROR:" in block:
            cases.add(" ".join(case[1].split()))
            layers |= set(re.findall(r"— falls for (.*)$", block, re.M))
    return cases, layers


def run(mutation):
    """What is wrong with the outcome; nothing if it is as expected."""
    with tempfile.TemporaryDirectory() as directory:
        copy = pathlib.Path(directory)
        for part in ("tlm", "proofs"):
            shutil.copytree(ROOT / part, copy / part)
        header = copy / "tlm" / mutation.header
        text = header.read_text()
        if text.count(mutation.old) != 1:
            return [f"{mutation.header} does not contain exactly once: {mutation.old}"]
        header.write_text(text.replace(mutation.old, mutation.new))
        cases, layers = set(), set()
        for proof in mutation.proofs:
            program = copy / proof
            built = subprocess.run([COMPILER[0], f"-I{copy}", *COMPILER[1:], "-std=c++20", "-O0", "-w", "-o", program,
                                    copy / "proofs" / f"{proof}.cpp", MAIN, *LIBRARIES], capture_output=True, text=True)
            if built.returncode != 0:
                return [f"{proof} does not compile: {built.stderr[:500]}"]
            ran = subprocess.run([program], capture_output=True, text=True, timeout=300)
            if ran.returncode not in (0, 1):
                return [f"{proof} ended with {ran.returncode}: {ran.stdout[-500:]}"]
            more_cases, more_layers = fallen(ran.stdout)
            cases |= more_cases
            layers |= more_layers
        problems = [f"did not fall: {part}" for part in mutation.fall if not any(part in case for case in cases)]
        problems += [f"fell, too: {case}" for case in cases if not any(part in case for part in mutation.fall)]
        if mutation.layers is not None:
            problems += [f"did not fall for: {layer}" for layer in set(mutation.layers) - layers]
            problems += [f"fell for, too: {layer}" for layer in layers - set(mutation.layers)]
        return problems


def main():
    wrong = 0
    with ThreadPoolExecutor(2) as pool:
        for mutation, problems in zip(MUTATIONS, pool.map(run, MUTATIONS)):
            print(("as expected: " if not problems else "NOT as expected: ") + mutation.name, flush=True)
            for problem in problems:
                print("    " + problem)
            wrong += bool(problems)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
