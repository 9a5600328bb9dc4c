# SPDX-License-Identifier: MIT
"""Breaks the library in ten ways, one at a time, and sees which claims fall.

Each mutation changes one place of a copy of tlm/, compiles all proofs against the copy and runs them, each in a process of
its own. What falls must be what the table says: these test cases, and for a pullback these layers; and nothing
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

PROOFS = ["01_rules", "02_masked_softmax", "03_product", "04_leaves", "05_transformer", "06_linear_offset", "07_loss",
          "08_differentiation", "09_decoding", "10_encoder_decoder"]
GRADIENT = ["from both sides the quotients agree", "and so at σ = 0"]
TRANSPOSE = ["exactly, over dual", "in double, within", "pullbacks of both models"]


class Mutation:
    """One change, the test cases that fall (by a part of their names), and the layers for which claim 8's transpose check
    falls (by their names in proofs/layers.hpp)."""

    def __init__(self, name, header, old, new, fall, layers=None):
        self.name, self.header, self.old, self.new = name, header, old, new
        self.fall, self.layers = fall, layers


ALL_BLOCKS = ["DB", "DB, inspirational", "Φ∘N∘DB∘DB∘PE", "Φ∘N∘DB∘DB∘PE, inspirational", "T_LM", "T_LM, inspirational",
              "formulated encoder layer", "formulated decoder layer", "NumPy encoder block", "NumPy decoder block",
              "the formulated model", "the NumPy notebook's model"]
ATTENTIONS = ["H, in blocks of 4", "CA of one head, without W_O and B", "CA", "MultiHead, causal", "MultiHead, unmasked"]

MUTATIONS = [
    Mutation("visibility j ≤ min(i+1, n)", "attention/mask.hpp",
             "visible(std::size_t i, std::size_t /*n_keys*/) { return i + 1; }",
             "visible(std::size_t i, std::size_t n_keys) { return i + 2 < n_keys ? i + 2 : n_keys; }",
             ["compositions of autoregressive", "X + F(X) is", "concatenation of autoregressive", "softmax(◺A) is lower",
              "hidden entries: 800", "causal kernel: for X|i", "A a causal kernel and B", "row i of A(X)×B(X)",
              "what is called autoregressive", "hidden score of 800", "each H_i and H", "CA is autoregressive",
              "DB is autoregressive", "T_LM is autoregressive", "row i of CA, DB and T_LM", "whole blocks of 32",
              "NaN in the later rows", "Y[1] does not depend", "Y[k] depends on no other", "T(X)|n = T(X|n)",
              "anti-causal: X̄_i", "extending by pieces", "extending the models", "sequences of a stack are extended",
              "the decoder is autoregressive", "the models are autoregressive", "row i of the decoder"]),
    Mutation("heads that overlap", "attention/kernel_matrices.hpp",
             "X.sequences().length(s), h * d_head, d_head)", "X.sequences().length(s), h * n_heads, d_head)",
             ["H(X) = Concat", "row i of A(X)×B(X)", "sequences of a batch"]),
    Mutation("positions all alike", "layers/positional_encoding.hpp",
             "PE.row(lengths[s]++)", "PE.row(0 * lengths[s]++)",
             ["is called less than it is", "PE is not rowwise", "controls: T(X|i)", "E∘PE is not equivariant"] + GRADIENT
             + TRANSPOSE),
    Mutation("the cosine at another angle", "layers/positional_encoding.hpp",
             "PE(pos - 1, 2 * i + 1) = Real(cos(pos * angle(i)));",
             "PE(pos - 1, 2 * i + 1) = Real(cos((pos + 1) * angle(i)));",
             ["T_k PE_pos", "positions count from 1"]),
    Mutation("a loss divided by the number of tokens", "training/loss.hpp",
             "return sum_of(omega.rows(), [&](std::size_t k) { return omega(k, 0); });", "return Real(omega.rows());",
             ["generalises that of a single", "not the mean over rows"]),
    Mutation("a tied output that adds the last row to all", "layers/tied_embedding.hpp",
             "const reads& entry) const { return X * transposed(entry.W); }",
             "const reads& entry) const {\n"
             "    codomain Z = X * transposed(entry.W);\n"
             "    for (std::size_t i = 0; i + 1 < Z.rows(); ++i) Z.add_to_row(i, Z.row(Z.rows() - 1));\n"
             "    return Z;\n  }",
             ["rowwise operations are autoregressive", "what is called", "sequences of a batch", "extending by pieces",
              "extending the models", "the models are autoregressive"] + TRANSPOSE),
    Mutation("a flipped sign in the pullback of attention", "attention/softmax_kernel.hpp",
             "s_bar[j] = s_bar[j] * one_over_c();", "s_bar[j] = -s_bar[j] * one_over_c();",
             ["from both sides the quotients agree", "not anti-causal, though", "mask upside down"] + TRANSPOSE,
             ATTENTIONS + ALL_BLOCKS),
    Mutation("a flipped sign in the pullback of N", "layers/normalization.hpp",
             "(z_bar - mean) / s - z * slope", "(z_bar - mean) / s + z * slope",
             GRADIENT + ["mask upside down"] + TRANSPOSE, ["N", "LayerNorm", "FF", "FF∘FF"] + ALL_BLOCKS),
    Mutation("a residual that forgets Ȳ", "algebra/residual.hpp",
             "return Y_bar + F_pullback(Y_bar, gradient.f, entry_gradients...);",
             "return F_pullback(Y_bar, gradient.f, entry_gradients...);",
             GRADIENT + ["mask upside down"] + TRANSPOSE, ["Res(ReLU)"] + ALL_BLOCKS),
    Mutation("a memory of keys that forgets", "attention/softmax_kernel.hpp",
             "state.K_X = continued(state.K_X, tlm::extend(k, state.k, X, entries...));",
             "state.K_X = tlm::extend(k, state.k, X, entries...);",
             ["extending by pieces", "extending the models", "sequences of a stack are extended"]),
]


def fallen(output):
    """The names of the test cases that failed, and for each the layers that it printed."""
    cases = {}
    for block in output.split("=" * 79)[1:]:
        case = re.search(r"^TEST CASE:\s+(.*?)\n\n", block, re.M | re.S)
        if case and "ERROR:" in block:
            layers = cases.setdefault(" ".join(case[1].split()), set())
            layers |= set(re.findall(r"⟨Jv, w⟩ = ⟨v, Jᵀw⟩ — falls for (.*)$", block, re.M))
    return cases


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
        cases = {}
        for proof in PROOFS:
            program = copy / proof
            built = subprocess.run([COMPILER[0], f"-I{copy}", *COMPILER[1:], "-std=c++20", "-O0", "-w", "-o", program,
                                    copy / "proofs" / f"{proof}.cpp", MAIN, *LIBRARIES], capture_output=True, text=True)
            if built.returncode != 0:
                return [f"{proof} does not compile: {built.stderr[:500]}"]
            ran = subprocess.run([program], capture_output=True, text=True, timeout=300)
            if ran.returncode not in (0, 1):
                return [f"{proof} ended with {ran.returncode}: {ran.stdout[-500:]}"]
            cases |= fallen(ran.stdout)
        problems = [f"did not fall: {part}" for part in mutation.fall if not any(part in case for case in cases)]
        problems += [f"fell, too: {case}" for case in cases if not any(part in case for part in mutation.fall)]
        if mutation.layers is not None:
            # Exactly and in double alike: each layer in the one check or the other.
            checks = [layers for case, layers in cases.items() if any(part in case for part in TRANSPOSE[:2])]
            models = {layer for case, layers in cases.items() if TRANSPOSE[2] in case for layer in layers}
            for layers in checks:
                problems += [f"did not fall for: {layer}" for layer in set(mutation.layers) - layers - models]
                problems += [f"fell for, too: {layer}" for layer in layers - set(mutation.layers)]
            problems += [f"fell for, too: {layer}" for layer in models - set(mutation.layers)]
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
