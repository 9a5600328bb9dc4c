# SPDX-License-Identifier: MIT
"""The example programs from outside: what they print, their exit codes, and Ctrl-C.

usage: programs.py DIRECTORY [unittest's options]
"""

import json
import pathlib
import re
import signal
import subprocess
import sys
import unittest

DIRECTORY = pathlib.Path(sys.argv.pop(1))


def run(program, *options):
    return subprocess.run([DIRECTORY / program, *options], capture_output=True, text=True, timeout=300)


def success_rate(output):
    """The last line's right answers and their total, or None if it has another form."""
    match = re.fullmatch(r"success rate: (\d+\.\d) % \((\d+) of (\d+)\)", output.splitlines()[-1])
    if not match:
        return None
    right, total = int(match[2]), int(match[3])
    return (right, total) if f"{100 * right / total:.1f}" == match[1] else None


class Reverse(unittest.TestCase):
    def test_example_0_is_learned(self):
        result = run("reverse")
        self.assertEqual(result.returncode, 0)
        right, total = success_rate(result.stdout)
        self.assertEqual(total, 100)
        self.assertGreaterEqual(right, 99)
        self.assertIn("268171 weights", result.stdout)
        self.assertEqual(len(re.findall(r"^step +\d+ of 6000", result.stdout, re.M)), 12)  # every 500 steps

    def test_every_sequence_of_a_task_is_tested(self):
        for example, total in (("0", 100), ("1", 36), ("2", 336)):
            output = run("reverse", "--example", example, "--steps", "3", "--quiet").stdout
            self.assertEqual(len(output.splitlines()), 1)
            self.assertEqual(success_rate(output)[1], total)

    def test_wrong_answers_come_first_with_what_they_should_be(self):
        lines = run("reverse", "--steps", "0").stdout.splitlines()
        self.assertTrue(lines[-7].startswith("wrong: 1 1 0  →  1 1 0"))
        self.assertTrue(lines[-7].endswith("should be: 1 1 0 1 1 0"))

    def test_all_choices_train(self):
        for options in (["--block", "inspirational"], ["--optimizer", "sgd"], ["--init", "sinusoidal"]):
            result = run("reverse", "--steps", "5", "--batch-size", "2", *options)
            self.assertEqual(result.returncode, 0)
            self.assertIsNotNone(success_rate(result.stdout))

    def test_the_same_seed_gives_the_same_numbers(self):
        def numbers(seed):
            output = run("reverse", "--steps", "500", "--seed", seed).stdout
            return re.findall(r"average loss (\S+)", output) + output.splitlines()[-7:]

        self.assertEqual(numbers("5"), numbers("5"))
        self.assertNotEqual(numbers("5"), numbers("6"))

    def test_ctrl_c_stops_training_and_still_tests(self):
        process = subprocess.Popen(
            [DIRECTORY / "reverse", "--steps", "1000000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for line in process.stdout:
            if line.startswith("step"):
                break
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(success_rate(output)[1], 100)

    def test_bad_options_are_refused_in_one_sentence(self):
        for options, sentence in (
            (["--example", "3"], "--example: it must be an integer from 0 to 2, not 3"),
            (["--block", "round"], "--block: it must be definition or inspirational, not round"),
            (["--optimizer", "lbfgs"], "--optimizer: it must be adam or sgd, not lbfgs"),
            (["--init", "ones"], "--init: it must be sinusoidal or uniform, not ones"),
            (["--learning-rate", "0"], "--learning-rate: it must be a finite number greater than 0, not 0"),
            (["--learning-rate", "nan"], "--learning-rate: it must be a finite number greater than 0, not nan"),
            (["--learning-rate", "fast"], "--learning-rate: it must be a finite number greater than 0, not fast"),
            (["--steps", "-1"], "--steps: it must be an integer from 0 to 1000000000, not -1"),
            (["--steps", "many"], "--steps: it must be an integer from 0 to 1000000000, not many"),
            (["--batch-size", "0"], "--batch-size: it must be an integer from 1 to 100000, not 0"),
            (["--seed", "-1"], "--seed: it must be an integer from 0 to 18446744073709551615, not -1"),
            (["--seed", "1e3"], "--seed: it must be an integer from 0 to 18446744073709551615, not 1e3"),
            (["--seed", "18446744073709551616"],
             "--seed: it must be an integer from 0 to 18446744073709551615, not 18446744073709551616"),
            (["--frobnicate"], "The following argument was not expected: --frobnicate"),
        ):
            result = run("reverse", *options)
            self.assertEqual(result.returncode, 2, options)
            self.assertEqual(result.stdout, "")
            self.assertEqual(result.stderr, f"reverse: {sentence}\n")


    def test_training_that_diverges_ends_with_a_sentence(self):
        result = run("reverse", "--learning-rate", "1e9", "--quiet")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, r"^reverse: the loss of step \d+ is (not a number|infinite): the weights have "
                                        r"grown too large, as they do by too large a learning rate\n$")


class Seq2seq(unittest.TestCase):
    def test_both_models_learn(self):
        for model, task in (("numpy", "reverse"), ("formulated", "copy")):
            right, total = success_rate(run("seq2seq", "--model", model, "--task", task, "--steps", "1200").stdout)
            self.assertEqual(total, 861)
            self.assertGreaterEqual(right / total, 0.99)

    def test_bad_options_are_refused_in_one_sentence(self):
        result = run("seq2seq", "--model", "recurrent")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr, "seq2seq: --model: it must be formulated or numpy, not recurrent\n")


class Averages(unittest.TestCase):
    def test_the_averages_differ_unless_rows_weigh_alike(self):
        unequal, equal = (float(x) for x in re.findall(r"difference +(\S+)", run("averages").stdout))
        self.assertGreater(unequal, 1e-6)
        self.assertLess(equal, 1e-12)


class PositionalEncoding(unittest.TestCase):
    def test_the_table_has_the_articles_formulas_and_their_numbers(self):
        lines = run("positional_encoding").stdout.splitlines()
        self.assertEqual(lines[0].split()[:2], ["sin(1/10000^(0/6))", "cos(1/10000^(0/6))"])
        self.assertEqual(lines[4].split()[0], "0.841471")  # sin(1)


class Attention(unittest.TestCase):
    def test_every_number_is_the_published_one_to_three_decimals_and_the_gradients_are_right(self):
        tables = errors = 0
        for line in run("attention").stdout.splitlines():
            ours, bar, published = line.partition("|")
            numbers = re.findall(r"-?\d+\.\d{3}\b(?!e)", ours)
            if bar and numbers:
                tables += 1
                for left, right in zip(numbers, re.findall(r"-?\d+\.\d{3}\b", published), strict=True):
                    self.assertLessEqual(abs(float(left) - float(right)), 1.0001e-3, line)
            error = re.fullmatch(r" +[xyKQVW] +(\S+) +", ours)
            if bar and error:
                errors += 1
                self.assertLess(float(error[1]), 1e-6, line)
        self.assertGreater(tables, 50)
        self.assertEqual(errors, 33)


class Small(unittest.TestCase):
    def test_programs_without_options_refuse_them(self):
        for program in ("attention", "averages", "positional_encoding", "proof_tree"):
            result = run(program, "--frobnicate")
            self.assertEqual(result.returncode, 2)
            self.assertEqual(result.stdout, "")
            self.assertEqual(result.stderr, f"{program}: The following argument was not expected: --frobnicate\n")


class ProofTree(unittest.TestCase):
    MODELS = ("T_LM", "inspirational", "two_heads", "formulated", "numpy")

    @staticmethod
    def steps(model):
        return json.loads(run("proof_tree", "--json", "--model", model).stdout)

    def test_it_goes_from_T_LM_down_to_the_leaves(self):
        lines = run("proof_tree").stdout.splitlines()
        self.assertTrue(lines[0].startswith("T_LM is autoregressive: T_LM = Φ∘N∘DB_6∘…∘DB_1∘PE∘Em; "))
        self.assertIn("  Em is rowwise, hence autoregressive: declared", lines)
        self.assertIn("  PE is autoregressive: declared", lines)
        self.assertTrue(any("is a causal kernel: softmax(◺(Q(X)×K(X)ᵀ/c)) is a causal kernel if Q and K are" in line
                            for line in lines))
        self.assertEqual(run("proof_tree", "--model", "T_LM").stdout.splitlines(), lines)

    def test_several_heads_are_concatenated_with_the_root_of_their_width(self):
        self.assertIn("CA(X) = Concat(H_1(X), …, H_8(X))×W_O + B; ", run("proof_tree").stdout)
        two = run("proof_tree", "--model", "two_heads").stdout
        self.assertIn("CA(X) = Concat(H_1(X), H_2(X))×W_O + B; ", two)
        self.assertIn("H_i(X) = softmax(◺((X×W_Q,i)×(X×W_K,i)ᵀ / √256))×(X×W_V,i); ", two)

    def test_every_model_has_its_formula(self):
        for model, beginning in (
            ("inspirational", "T_LM is autoregressive: T_LM = Φ∘N∘DB_6∘…∘DB_1∘PE∘Em; "),
            ("formulated", "Transformer is autoregressive: Transformer = Softmax∘((x, X) ↦ (Decoder_6∘…∘Decoder_1)("),
            ("numpy", "Transformer is autoregressive: Transformer = (x, X) ↦ tgt(X) with M = src(x); "),
        ):
            self.assertTrue(run("proof_tree", "--model", model).stdout.startswith(beginning), model)
        self.assertIn("DB = Res(FF∘Res(CA∘N_ca)); ", run("proof_tree", "--model", "inspirational").stdout)

    def test_as_json_it_is_a_list_of_statements_whose_parts_are_places_in_it(self):
        for model in self.MODELS:
            steps = self.steps(model)
            self.assertGreater(len(steps), 10, model)
            used = {0}
            for place, step in enumerate(steps):
                self.assertEqual(step["statement"], f"{step['object']} is {step['claim']}")
                self.assertIs(step["follows"], True)
                # By a rule from its parts, or declared and held by a check: one of the two.
                self.assertNotEqual("rule" in step, "declared" in step, step)
                if "rule" in step:
                    self.assertTrue(step["sentence"])
                    for part in step["parts"]:
                        self.assertIn(part, range(len(steps)))
                        self.assertNotEqual(part, place)
                    used.update(step["parts"])
                else:
                    self.assertEqual(step["declared"], step["claim"])
                    self.assertNotIn("parts", step)
            self.assertEqual(used, set(range(len(steps))), model)

    def test_as_json_equal_statements_stand_once(self):
        # Six blocks are one step. (Statements about two types may read alike: X ↦ X + B for two widths of B.)
        statements = [step["statement"] for step in self.steps("T_LM")]
        for once in ("DB is autoregressive", "FF is rowwise", "CA is autoregressive", "◺ is lower triangular"):
            self.assertEqual(statements.count(once), 1)

    def test_text_and_json_say_the_same(self):
        def written_out(steps, place=0):
            yield steps[place]["object"]
            while steps[place].get("rule") == "rowwise_is_autoregressive":  # said on one line
                place = steps[place]["parts"][0]
            for part in steps[place].get("parts", []):
                yield from written_out(steps, part)

        for model in self.MODELS:
            lines = run("proof_tree", "--model", model).stdout.splitlines()
            objects = list(written_out(self.steps(model)))
            self.assertEqual(len(objects), len(lines))
            for line, item in zip(lines, objects):
                self.assertTrue(line.lstrip().startswith(item + " is "), line)

    def test_every_leaf_points_to_the_check_that_holds_it(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        checks = {step["check"] for model in self.MODELS for step in self.steps(model) if "declared" in step}
        self.assertGreaterEqual(len(checks), 4)  # rowwise, autoregressive, both masks
        for check in checks:
            self.assertTrue(is_a_test_case(root, check), check)
        self.assertFalse(is_a_test_case(root, "proofs/04_leaves.cpp: what is called rowwise"))  # not all of its name
        self.assertFalse(is_a_test_case(root, "proofs/40_leaves.cpp: what is called rowwise is rowwise"))

    def test_bad_options_are_refused_in_one_sentence(self):
        result = run("proof_tree", "--model", "recurrent")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertEqual(result.stderr, "proof_tree: --model: it must be T_LM or formulated or inspirational or numpy or "
                                        "two_heads, not recurrent\n")


def is_a_test_case(root, check):
    """Whether a check "FILE: NAME" is a test case of the proofs."""
    file, _, name = check.partition(": ")
    path = root / file
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    # The pieces of a name that goes over several lines are one.
    names = ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found)) for found in
             re.findall(r'^TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)', text, re.MULTILINE)]
    return path.parent == root / "proofs" and name in names


class Control(unittest.TestCase):
    def test_a_last_line_of_another_form_is_seen(self):
        self.assertIsNone(success_rate("success rate: 100 % (336 of 336)"))
        self.assertIsNone(success_rate("success rate: 99.0 % (336 of 336)"))
        self.assertEqual(success_rate("success rate: 100.0 % (336 of 336)"), (336, 336))


if __name__ == "__main__":
    unittest.main()
