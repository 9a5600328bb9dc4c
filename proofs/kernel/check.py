# SPDX-License-Identifier: MIT
"""Has the proof kernel of Coq check the theory, what is exported from the C++ types, and that both compute the same numbers;
then that it rejects what is wrong. Prints the theorems as a list.

usage: check.py THEORY DIRECTORY PROOF_TREE RULES NUMBERS
"""

import concurrent.futures
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys

THEORY, DIRECTORY = map(pathlib.Path, sys.argv[1:3])
PROOF_TREE, RULES_PROGRAM, NUMBERS = sys.argv[3:6]
RULES = THEORY.parent.parent / "tlm" / "algebra" / "rules.hpp"

# In the order of the article; each stands on some of those before it.
FILES = ["Numbers", "Operations", "Attention", "Layers", "Decoding", "Pullbacks", "PrimeField", "Logarithm", "Reals", "Triangle",
         "Equivariance", "Order", "LinearOffset", "Loss", "Calculus", "Derivative", "LeavesDerivative", "Probabilities"]
# The models of proof_tree, as it says itself.
MODELS = re.search(r"it must be (.*), not", subprocess.run([PROOF_TREE, "--model", "none"], capture_output=True, text=True)
                   .stderr)[1].split(" or ")

# What a theorem may rest on beside the kernel itself: Coq's real numbers, and that functions are equal if they are equal at
# every argument.
ALLOWED = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
}

failures = []
NUMBERS_OF = {}  # a layer's file of numbers


def fail(sentence):
    failures.append(sentence)
    print("FAILS:", sentence, flush=True)


def coqc(file, theory=None):
    """What Coq says to a file, and whether it accepts it."""
    # What is no longer needed may wait to be collected: no file takes long.
    run = subprocess.run(["coqc", "-q", "-Q", theory or DIRECTORY / "theory", "tlm", file], capture_output=True, text=True,
                         cwd=DIRECTORY, env={**os.environ, "OCAMLRUNPARAM": "s=8M,o=1000"})
    return run.returncode == 0, run.stdout + run.stderr


def empty(directory):
    """The directory, with nothing in it."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    return directory


def compile_file(directory, name, change=lambda text, name: text):
    """Compiles a file of the theory: None, or the file, which is not accepted, and why."""
    file = directory / f"{name}.v"
    file.write_text(change((THEORY / file.name).read_text(), name))
    accepted, said = coqc(file, directory)
    return None if accepted else (name, said)


def compile_theory(directory, pool):
    """Compiles all of the theory, each file as soon as those that it imports are; None, or the first that is not accepted."""
    missing = {name: set(re.findall(r"\w+", " ".join(re.findall(r"^From tlm Require \w+ (.*)\.$", (THEORY / f"{name}.v").read_text(),
                                                              re.M)))) & set(FILES) for name in FILES}
    running = {}
    while missing or running:
        for name in [name for name, imports in missing.items() if not imports]:
            del missing[name]
            running[pool.submit(compile_file, directory, name)] = name
        for future in concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED).done:
            name = running.pop(future)
            if refused := future.result():
                return refused
            for imports in missing.values():
                imports.discard(name)
    return None


def theorems_of(file):
    """The theorems of a file in their order: name, and the comment above it as one line."""
    found = {}
    text = (THEORY / f"{file}.v").read_text()
    for match in re.finditer(r"^ *(?:Theorem|Corollary) ([\w']+)", text, re.M):
        above = re.search(r"\(\*\*((?:(?!\*\)).)*)\*\)\s*$", text[:match.start()], re.S)
        found[match[1]] = " ".join(above[1].split()) if above else ""
    return found


def numbers_of(file):
    """Over which numbers a file says that its theorems are."""
    return re.search(r"^\(\* Over (any numbers|ℝ)\. \*\)$", (THEORY / f"{file}.v").read_text(), re.M)[1]


def theorems():
    """Those of the theory."""
    return {name: comment for file in FILES for name, comment in theorems_of(file).items()}


def axioms_in(said):
    """The axioms in what `Print Assumptions` says; None if it says nothing."""
    if "Axioms:" in said:
        return set(re.findall(r"^([\w.']+)\s*:", said.split("Axioms:")[1], re.M))
    return set() if "Closed under the global context" in said else None


def check_assumptions(name, said):
    """What a theorem rests on, or a theorem of a file, in words."""
    axioms = axioms_in(said)
    if axioms is None:
        fail(f"nothing is said of what {name} rests on:\n{said}")
    for axiom in sorted((axioms or set()) - ALLOWED):
        fail(f"{name} rests on {axiom}, which is not allowed")
    return "rests on no axiom but those of Coq's real numbers" if axioms else "rests on no axiom"


def rules_without_theorem(rules, known):
    return sorted(set(re.findall(r'Rule<\s*"(\w+)"', rules)) - set(known))


def unknown_theorems(proofs, known):
    """The lines of the C++ proofs name the theorems that say the same: those that are not known."""
    names = [name for listed in re.findall(r'doctest::description\(\s*((?:"[^"]*"\s*)+)\)', proofs)
             for name in "".join(re.findall(r'"([^"]*)"', listed)).split(", ")]
    return [name for name in names if name not in known]


def uncited_theorems(proofs, sentences):
    """The theorems with a sentence that no line of the C++ proofs names, but for those that others rest on."""
    cited = set(re.findall(r"[\w']+", " ".join(re.findall(r'doctest::description\(\s*((?:"[^"]*"\s*)+)\)', proofs))))
    return [name for name, sentence in sentences.items() if sentence and name not in cited]


def check_the_check():
    """What is compared as text is seen to fail, too."""
    file = DIRECTORY / "control_axiom.v"
    file.write_text("From Coq Require Import Classical.\n"
                    "Axiom of_a_type_that_does_not_stand_on_the_line_of_its_name :\n"
                    "  forall P Q R S T U V W : Prop, (P -> Q) -> (Q -> R) -> (R -> S) -> (S -> T) -> (T -> U) -> P -> W.\n"
                    "Definition middle := classic.\n"
                    "Definition long := of_a_type_that_does_not_stand_on_the_line_of_its_name.\n"
                    "Print Assumptions middle.\nPrint Assumptions long.\n")
    middle, long = coqc(file)[1].split("Axioms:")[1:]
    for sentence, seen in (
        ("a theorem that rests on excluded middle", axioms_in("Axioms:" + middle) - ALLOWED),
        ("a theorem that rests on an axiom of a long type", axioms_in("Axioms:" + long) - ALLOWED),
        ("a rule without a theorem", rules_without_theorem('Rule<"of_no_theorem", "…"', theorems())),
        ("a rule that no export cites", uncited('Rule<"cited", "…"> Rule<"not_cited", "…">', "exact (cited F_is_rowwise).")),
        ("a line of the proofs that names no theorem",
         unknown_theorems('doctest::description("product_is_autoregressive, " "no_theorem")', theorems())),
        ("a theorem that no line of the proofs names",
         uncited_theorems('doctest::description("cited")', {"cited": "a sentence", "not_cited": "another", "a_leaf": ""})),
    ):
        if len(seen) == 1:
            print(f"rejected: {sentence}", flush=True)
        else:
            fail(f"control: {sentence} is not seen")


def ask_what_theorems_rest_on():
    """Of all theorems over the same numbers at once: each time Coq goes through all that they rest on."""
    lines = ["From tlm Require Import " + " ".join(FILES) + "."]
    for over, name in (("any numbers", "over_any_numbers"), ("ℝ", "over_R")):
        theorems = [theorem for file in FILES if theorems_of(file) and numbers_of(file) == over for theorem in theorems_of(file)]
        lines += [f'Goal True. idtac "@{over}". Abort.',
                  f"Definition {name} := ({', '.join(f'@{theorem}' for theorem in theorems)}, I).", f"Print Assumptions {name}."]
    file = DIRECTORY / "assumptions.v"
    file.write_text("\n".join(lines) + "\n")
    return coqc(file)


def list_theory(accepted, said):
    rules = dict(re.findall(r'Rule<\s*"(\w+)",\s*"([^"]+)"', RULES.read_text()))
    known = theorems()
    for rule in rules_without_theorem(RULES.read_text(), known):
        fail(f"the rule {rule} of tlm/algebra/rules.hpp has no theorem of its name in {THEORY}")
    if not accepted:
        fail("the theorems cannot be listed: " + said)
        return
    rests = dict(part.split("\n", 1) for part in said.split("@")[1:])
    in_words = {over: check_assumptions(f"a theorem over {over}", what) for over, what in rests.items()}
    if axioms_in(rests["any numbers"]):
        fail(f"a theorem of a file that says it is over any numbers rests on axioms:\n{rests['any numbers']}")
    for file_name in FILES:
        for name in theorems_of(file_name):
            over, declared = numbers_of(file_name), re.fullmatch(r"([A-Z]\w+)_is_(rowwise|autoregressive)", name)
            if sentence := rules.get(name) or known[name] or declared and f"{declared[1]} is {declared[2]}":
                print(f"proved over {over}: {sentence}: {name} ({in_words[over]})", flush=True)


def export(model):
    return subprocess.check_output([PROOF_TREE, "--kernel", "--model", model], text=True)


# What is exported of a model, by the end of its theorem's name: in words, and whether it may rest on an axiom.
EXPORTED = {
    "is_autoregressive": ("over any numbers: {} is autoregressive, for all weights of these shapes", False),
    "is_extended": ("over any numbers: extending the state of {} by pieces is computing at once", False),
    "pullback_is_transpose": ("over ℝ: the pullback of {} is the transpose of its derivative, where no ReLU is at 0, for all "
                              "weights of these shapes", True),
}


def check_export(model):
    text = export(model)
    name = re.findall(r"^ *Theorem (\w+)_is_autoregressive : autoregressive \1\.", text, re.M)[-1]
    theorems_of_model = [f"{name}_{end}" for end in EXPORTED if re.search(rf"^ *Theorem {name}_{end}\b", text, re.M)]
    file = DIRECTORY / f"export_{model}.v"
    file.write_text(text + "".join(f'Goal True. idtac "@{theorem}". Abort.\nPrint Assumptions {theorem}.\n'
                                   for theorem in theorems_of_model))
    return model, name, *coqc(file)


def list_export(model, name, said):
    for part in said.split("@")[1:]:
        theorem, rests = part.split("\n", 1)
        sentence, may_rest_on_axioms = EXPORTED[theorem[len(name) + 1:]]
        if axioms_in(rests) and not may_rest_on_axioms:
            fail(f"{theorem} of the export of {model} rests on more than nothing:\n{rests}")
        print(f"proved {sentence.format(name)}: the export of {model} ({check_assumptions(theorem, rests)})", flush=True)


def uncited(rules, exports):
    """The rules that no export cites."""
    return [rule for rule in sorted(set(re.findall(r'Rule<\s*"(\w+)"', rules))) if not re.search(rf"\b{rule}\b", exports)]


def in_one_file(name, texts):
    """What Coq says to several texts in one file, each in a module of its own: it takes longer to start than to compute."""
    file = DIRECTORY / f"{name}.v"
    file.write_text("".join(f"Module {module}.\n{text}\nEnd {module}.\n" for module, text in texts.items()))
    return coqc(file)


def check_numbers(lines):
    """Of some layers in one file; if Coq refuses it, of each by itself."""
    layers = [line.split(" ", 2) for line in lines]
    accepted, said = in_one_file(f"{layers[0][0]}_and_others",
                                 {file: (DIRECTORY / f"{file}.v").read_text() for file, _, _ in layers})
    checked = [(file, what.replace("-", " "), name, *((True, "") if accepted else coqc(DIRECTORY / f"{file}.v")))
               for file, what, name in layers]
    if not accepted and all(alone for _, _, _, alone, _ in checked):
        fail(f"the numbers of these layers are accepted alone, and not in one file: {said}")
    return checked


def replaced(text, *pairs):
    """On one line; each must be there."""
    text = " ".join(text.split())
    for old, new in pairs:
        if old not in text:
            raise SystemExit(f"check.py: a control plants a change of '{old}', which is not there")
        text = text.replace(old, new)
    return text


def in_export(*pairs, model="T_LM"):
    def check(name):
        file = DIRECTORY / f"{name}.v"
        file.write_text(replaced(export(model), *pairs))
        return coqc(file)
    return check


def in_numbers(layer, *pairs):
    def check(name):
        numbers = (DIRECTORY / f"{NUMBERS_OF[layer]}.v").read_text()
        return in_one_file(name, {"as_it_is": numbers, "changed": replaced(numbers, *pairs)})
    return check


def in_theory(changed, *pairs, too=(), then=(), numbers_of=None):
    """A file of the theory changed, and others alike: what is said to it, to those that are compiled then, or to the numbers of
    a layer."""
    def check(name):
        directory = empty(DIRECTORY / name)
        until_numbers = FILES[FILES.index(changed) + 1:FILES.index("PrimeField") + 1]
        only = [changed, *(until_numbers if numbers_of else then)]
        for file in FILES:
            if file not in only:
                shutil.copy(DIRECTORY / "theory" / f"{file}.vo", directory)
        for file in only:
            if refused := compile_file(directory, file,
                                       lambda text, file: replaced(text, *pairs) if file in (changed, *too) else text):
                return False, f"{refused[0]}: {refused[1]}"
        if not numbers_of:
            return True, ""
        return coqc(shutil.copy(DIRECTORY / f"{NUMBERS_OF[numbers_of]}.v", directory / "numbers.v"), directory)
    return check


FLIPPED = ("a_j * (a_bar_j - mean)", "a_j * (a_bar_j + mean)")
UNEQUAL = r'"eq_refl" has type.*while it is expected to have type'

NAMESAKES = "parts with the names of others"

# What is wrong in one way each, and what Coq must say to it.
CONTROLS = {
    "an export without the mask, by the rule for the masked one":
        (in_export(("SoftmaxKernel 64 Causal", "SoftmaxKernel 64 Unmasked"), model="formulated"),
         r'SoftmaxKernel \S+ Causal.*while it is expected to have type\s+"autoregressive \(H l i\)"'),
    "an export without the mask, which says so":
        (in_export(("SoftmaxKernel 64 Causal", "SoftmaxKernel 64 Unmasked"),
                   ("Causal_is_lower_triangular", "Unmasked_is_full"), model="formulated"),
         r'"full Unmasked"\s+while it is expected to have type\s+"lower_triangular Unmasked"'),
    "an export in which PE is called rowwise":
        (in_export(("PE_is_autoregressive : autoregressive PE", "PE_is_rowwise : rowwise PE"),
                   ("exact PositionalEncoding_is_autoregressive", "exact PositionalEncoding_is_rowwise"),
                   ("composition_is_autoregressive PE_is_autoregressive",
                    "composition_is_autoregressive (rowwise_is_autoregressive PE_is_rowwise)")),
         r"reference PositionalEncoding_is_rowwise was not found"),
    "the same by the theorem that there is":
        (in_export(("PE_is_autoregressive : autoregressive PE", "PE_is_rowwise : rowwise PE")),
         r'"autoregressive \(PositionalEncoding.*while it is expected to have type\s+"rowwise PE"'),
    "positions counted from the right":
        (in_theory("Layers", (":= by_position (fun i x => plus x (row PE i)).",
                              ":= fun M X => rev (by_position (fun i x => plus x (row PE i)) M (rev X)).")),
         r"Layers.*by_position"),
    "a rule cited without one of its premises":
        (in_export(("softmax_kernel_is_causal Causal_is_lower_triangular", "softmax_kernel_is_causal")),
         r'while it is expected to have type\s+"lower_triangular'),
    "the Claim cited for a kernel that is only autoregressive":
        (in_export(("product_with_constant_is_autoregressive", "product_is_autoregressive"), model="numpy"),
         r'has type\s+"autoregressive.*while it is expected to have type\s+"causal_kernel'),
    "N with another ε":
        (in_theory("Layers", ("1 / number 1000000)", "1 / number 100000)"), too=("Pullbacks",), numbers_of="N"), UNEQUAL),
    "CA divided by √d_model":
        (in_numbers("CA", ("SoftmaxKernel 3 ", "SoftmaxKernel 6 ")), UNEQUAL),
    "DB without its first Res":
        (in_numbers("DB", ("Residual (CA", "(CA")), UNEQUAL),
    "a pullback of the softmax with a flipped sign, by its theorem":
        (in_theory("Pullbacks", FLIPPED, then=("Calculus", "Derivative")), r"^Derivative: .*not a valid ring equation"),
    "the same by the numbers":
        (in_theory("Pullbacks", FLIPPED, numbers_of="CA"), UNEQUAL),
    "a pullback of the scores without 1/√d_head":
        (in_theory("Pullbacks", ("let S_bar := map (map (fun s => s / c)) (zip softmax_pullback A_X A_bar) in",
                                 "let S_bar := zip softmax_pullback A_X A_bar in"), numbers_of="CA"), UNEQUAL),
    "the gradient of a weight that heads share overwritten instead of added":
        (in_theory("Pullbacks", ("(X_bar, sum (fst w_bar) (snd w_bar))", "(X_bar, snd w_bar)"), numbers_of="CA"), UNEQUAL),
    "N with the pullback of LayerNorm":
        (in_theory("Pullbacks", ("(standardized_pullback (fun x => Sqrt (variance x)) "
                                 "(fun x => Sqrt (variance x) + 1 / number 1000000))",
                                 "(standardized_pullback (fun x => Sqrt (variance x + 1 / number 1000000)) "
                                 "(fun x => Sqrt (variance x + 1 / number 1000000)))"), numbers_of="N"), UNEQUAL),
    "an export in which Φ has the pullback of N":
        (in_export(("Φ_layer : layer _ Φ := ltac:(layer_by_parts)", "Φ_layer : layer _ Φ := N_layer")),
         r'"N_layer" has type\s+"layer .* N"\s+while it is expected to have type\s+"layer .* Φ"'),
    "a formula taken for another of its symbol":
        (in_numbers(NAMESAKES, ("formal_G ∘", "G ∘")), UNEQUAL),
    "two weights taken for each other, whose paths are the same with _ for the point":
        (in_numbers(NAMESAKES, ("Times U_V_W'", "Times other"), ("Times U_V_W.", "Times U_V_W'."), ("Times other", "Times U_V_W")),
         UNEQUAL),
    "a layer of the theory taken for a formula that has its name":
        (in_numbers(NAMESAKES, ("V ∘ ReLU.", "V ∘ formal_ReLU.")), UNEQUAL),
    "T_LM with one block less":
        (in_numbers("T_LM", ("DB 2 ∘ ", "")), UNEQUAL),
}


def check_rules():
    """The file of rules, what Coq says to it, and whether it accepts it."""
    file = DIRECTORY / "rules.v"
    subprocess.run([RULES_PROGRAM, file], check=True)
    return file.read_text(), *coqc(file)


def check_control(number, sentence):
    check, expected = CONTROLS[sentence]
    accepted, said = check(f"control_{number}")
    return sentence, accepted, said, expected


def main():
    if not shutil.which("coqc"):
        print("skipped: there is no coqc; on Debian: apt-get install coq")
        sys.exit(77)
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS") or os.cpu_count() or 1)) as pool:
        if refused := compile_theory(empty(DIRECTORY / "theory"), pool):
            sys.exit(f"the theory is not accepted: {refused[0]}\n{refused[1]}")
        # All that is left, what takes longest first.
        of_theory, of_rules = pool.submit(ask_what_theorems_rest_on), pool.submit(check_rules)
        of_exports = pool.map(check_export, MODELS)
        lines = subprocess.check_output([NUMBERS, DIRECTORY], text=True).splitlines()
        NUMBERS_OF.update((line.split(" ", 2)[2], line.split(" ", 2)[0]) for line in lines)
        of_numbers = pool.map(check_numbers, [lines[::-1][first:first + 9] for first in range(0, len(lines), 9)])
        of_controls = pool.map(lambda item: check_control(*item), enumerate(CONTROLS))

        list_theory(*of_theory.result())
        for model, name, accepted, said in of_exports:
            if accepted:
                list_export(model, name, said)
            else:
                fail(f"the export of {model} is not accepted:\n{said}")
        rules, accepted, said = of_rules.result()
        exports = rules + "".join((DIRECTORY / f"export_{model}.v").read_text() for model in MODELS)
        if not accepted:
            fail(f"the theorem of a rule does not say what the rule says: {said}")
        elif axioms_in(said) != set():
            fail(f"the theorem of a rule rests on more than the rule's premises: {said}")
        if missing := uncited(RULES.read_text(), exports):
            fail(f"no export cites {', '.join(missing)}: a line in {THEORY / 'rules.cpp'} does")
        print("proved over any numbers: each rule of tlm/algebra/rules.hpp as C++ states it, of any operations that obey its "
              "premises (each rests on no axiom)", flush=True)
        print("proved over any numbers whose sums and maxima do not see an order: the three encoders without positions are "
              "permutation equivariant, in the shapes of rules.cpp (each rests on no axiom)", flush=True)
        for file, what, name, accepted, said in itertools.chain(*of_numbers):
            if accepted:
                print(f"checked: {name}: the {what} of the C++ template and of the exported definition are equal, over the "
                      "prime field, n = 1, …, 4, once for each n", flush=True)
            else:
                fail(f"{name}: the {what} of the C++ template and of the exported definition differ, or {file}.v is wrong:\n"
                     f"{said[:2000]}")
        for sentence, accepted, said, expected in of_controls:
            if accepted:
                fail(f"control: Coq accepts {sentence}")
            elif not re.search(expected, said, re.S):
                fail(f"control: {sentence} is refused, but not as it should be ('{expected}'):\n{said[:2000]}")
            else:
                print(f"rejected: {sentence}", flush=True)
    exported = {name for model in MODELS for name in
                re.findall(r"^ *Theorem ([\w']+)", (DIRECTORY / f"export_{model}.v").read_text(), re.M)}
    definitions = {name for file in FILES for name in
                   re.findall(r"^ *(?:Program )?Definition ([\w']+)", (THEORY / f"{file}.v").read_text(), re.M)}
    exported |= set(re.findall(r"^ *Theorem ([\w']+)", rules, re.M))
    listed = "".join(file.read_text() for file in sorted(THEORY.parent.glob("*.cpp")))
    for name in uncited_theorems(listed, theorems()):
        fail(f"no line of the proofs names the theorem {name}")
    for file in sorted(THEORY.parent.glob("*.cpp")):
        for name in unknown_theorems(file.read_text(), set(theorems()) | exported | definitions):
            fail(f"{file.name} names the theorem {name}, which is neither in the theory nor exported")
    check_the_check()
    if failures:
        sys.exit(f"{len(failures)} failed")


main()
