# SPDX-License-Identifier: MIT
"""The example programs from outside: what they print and on what, their exit codes, and Ctrl-C.

usage: programs.py DIRECTORY [unittest's options]
"""

import fcntl
import json
import lzma
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
import zlib

DIRECTORY = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
LADDER = ("rowwise", "layer", "block", "model", "loss", "training", "decoding")  # each shows one thing
QUIET = (*LADDER, "tutorial", "own_layer")  # which have no options, and no manners: they are to be typed or copied
PROGRAMS = (*QUIET, "reverse", "seq2seq", "text", "translate", "break_the_mask", "proof_tree", "errata", "attention", "averages",
            "positional_encoding", "by_hand", "pictures")
FOR_THE_SITE = ("by_hand", "pictures")  # and built by who builds that
FROM_TEXT = ("translate", "text")  # which have commands


def run(program, *options, **how):
    """What becomes of a program of DIRECTORY, or of another one that is given by its whole path."""
    return subprocess.run([DIRECTORY / program, *options], capture_output=True, text=True, errors="replace", timeout=300, **how)


def bash(script, *arguments, **how):
    return run("/bin/bash", "-c", script, *arguments, **how)


class Programs(unittest.TestCase):
    BEFORE = ""  # what those that are refused may have printed, a regular expression

    def refused(self, sentence, program, *options, directory=DIRECTORY, **how):
        """It ends with 2 and one sentence."""
        result = run(directory / program, *options, **how)
        self.assertEqual((result.returncode, result.stderr), (2, f"{program}: {sentence}\n"), options)
        self.assertRegex(result.stdout, rf"\A(?s:{self.BEFORE})\Z", options)

    def printed(self, program, *options):
        """What it prints, if all is well."""
        result = run(program, *options)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout


def success_rate(output):
    """The last line's right answers and their total, or None if it has another form."""
    match = re.fullmatch(r"success rate: (\d+\.\d) % \((\d+) of (\d+)\)", output.splitlines()[-1])
    if not match:
        return None
    right, total = int(match[2]), int(match[3])
    return (right, total) if f"{100 * right / total:.1f}" == match[1] else None


class Reverse(Programs):
    def test_example_0_is_learned(self):
        result = run("reverse", "--ask", "3 7")
        self.assertEqual(result.returncode, 0)
        self.assertIn("\nasked: 3 7 0  →  3 7 0 7 3 0\n", result.stdout)
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

    def test_what_is_asked_is_answered_before_the_last_line(self):
        lines = run("reverse", "--steps", "0", "--quiet", "--ask", "3 7", "--ask", " 10  10 ").stdout.splitlines()
        self.assertEqual(len(lines), 3)
        self.assertRegex(lines[0], "^asked: 3 7 0  →  3 7 0 .*   should be: 3 7 0 7 3 0$")
        self.assertRegex(lines[1], "^asked: 10 10 0  →  10 10 0 .*   should be: 10 10 0 10 10 0$")

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
            (["--steps", ""], "--steps: it must be an integer from 0 to 1000000000, not ''"),
            (["--batch-size", "0"], "--batch-size: it must be an integer from 1 to 10000, not 0"),
            (["--seed", "-1"], "--seed: it must be an integer from 0 to 18446744073709551615, not -1"),
            (["--seed", "1e3"], "--seed: it must be an integer from 0 to 18446744073709551615, not 1e3"),
            (["--seed", "18446744073709551616"],
             "--seed: it must be an integer from 0 to 18446744073709551615, not 18446744073709551616"),
            (["--frobnicate"], "--frobnicate: there is no such option; --help lists what there is"),
            (["3", "7"], "3: nothing is expected here; what has spaces is quoted, and --help lists what there is"),
            (["--ask", "3 7", "1 2"], "1 2: nothing is expected here; an option takes one argument, and stands again before the "
                                      "next"),
            (["--", ""], "'': nothing is expected here; what has spaces is quoted, and --help lists what there is"),
            (["--steps", "1", "--steps", "2"], "--steps: it is given 2 times, but has one value"),
            (["--seed"], "--seed: its value is missing: 0 to 18446744073709551615"),
            (["--quiet=no"], "--quiet: it takes no value"),
            (["--ask", "3 11"], "--ask: a token must be an integer from 1 to 10, not 11"),
            (["--ask", "3 7", "--ask", "0 7"], "--ask: a token must be an integer from 1 to 10, not 0"),
            (["--ask", "[3 7]"], "--ask: a token must be an integer from 1 to 10, not [3"),
            (["--ask", "3 7 1"], "--ask: a sequence must have 2 tokens, not 3"),
            (["--ask", ""], "--ask: a sequence must have 2 tokens, not 0"),
            (["--ask", "1 2 3 4 1", "--example", "2"], "--ask: a sequence must have 2 to 4 tokens, not 5"),
            (["--ask"], '--ask: its value is missing: "TOKEN ..."'),
        ):
            self.refused(sentence, "reverse", *options)

    def test_a_learning_rate_that_is_0_for_the_model_is_refused(self):
        self.refused("the learning rate of Adam must be finite and greater than 0 when rounded to the model's numbers, not 1e-60",
                     "reverse", "--learning-rate", "1e-60", "--quiet")

    def test_training_that_diverges_ends_with_a_sentence(self):
        result = run("reverse", "--learning-rate", "1e9", "--quiet")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, r"^reverse: the loss of step \d+ is (not a number|infinite): the weights have "
                                        r"grown too large, as they do with too large a learning rate\n$")


class Seq2seq(Programs):
    def test_both_models_learn(self):
        for model, task in (("numpy", "reverse"), ("formulated", "copy")):
            right, total = success_rate(run("seq2seq", "--model", model, "--task", task, "--steps", "1200").stdout)
            self.assertEqual(total, 861)
            self.assertGreaterEqual(right / total, 0.99)

    def test_bad_options_are_refused_in_one_sentence(self):
        for options, sentence in (
            (["--model", "recurrent"], "--model: it must be formulated or numpy, not recurrent"),
            (["--task", ""], "--task: it must be copy or reverse, not ''"),
            (["--ask", "3 2"], "--ask: a token must be an integer from 3 to 12, not 2"),
            (["--ask", "3 4 5 6 7 8 9 10 11"], "--ask: a sequence must have 1 to 8 tokens, not 9"),
            (["--ask", " "], "--ask: a sequence must have 1 to 8 tokens, not 0"),
        ):
            self.refused(sentence, "seq2seq", *options)

    def test_what_is_asked_is_answered(self):
        for task, answer in (("copy", "3 12 4 2"), ("reverse", "4 12 3 2")):
            lines = run("seq2seq", "--task", task, "--steps", "0", "--quiet", "--ask", "3 12 4").stdout.splitlines()
            self.assertEqual(len(lines), 2)
            self.assertTrue(lines[0].startswith("asked: 3 12 4  →  "))
            self.assertTrue(lines[0].endswith(f"   should be: {answer}"))


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


def published_tables():
    """The numbers that the notebook prints for its layers, table by table."""
    tables = json.loads((ROOT / "examples/attention/published.json").read_text())
    del tables["gradient errors"]
    return tables


def tables_that_differ(output, tables):
    """The tables of which what `attention` prints on the left, ours, is not what was published, to three decimals; a table that
    it prints twice, alone and of a batch, is right if both are."""
    right, wrong = set(), set()
    for name, printed in re.findall(r"^(.+): ours \| published\n((?:.*\|.*\n)+)", output, re.MULTILINE):
        if name in tables:
            ours = [[float(number) for number in line.partition("|")[0].split()] for line in printed.splitlines()]
            (right if ours == tables[name] else wrong).add(name)
    return (set(tables) - right) | wrong


class Attention(unittest.TestCase):
    def test_every_number_is_the_published_one_to_three_decimals_and_the_gradients_are_right(self):
        output, tables = run("attention").stdout, published_tables()
        self.assertEqual(tables_that_differ(output, tables), set())
        tables["self-attention"][1][2] += 0.001
        self.assertEqual(tables_that_differ(output, tables), {"self-attention"})  # the control
        errors = [float(error) for error in re.findall(r"^ +[xyKQVW] +(\S+) +\|", output, re.MULTILINE)]
        self.assertEqual(len(errors), 33)
        self.assertLess(max(errors), 1e-6)


class Errata(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.entries = {entry["number"]: entry for entry in json.loads(run("errata", "--json").stdout)}

    def number(self, erratum, pattern):
        """The number that a pattern finds in what was computed for an erratum."""
        return float(re.search(pattern, "\n".join(self.entries[erratum]["computed"]))[1])

    def test_every_entry_of_the_list_is_there_and_has_a_counter_example(self):
        numbers = [str(number) for number in range(1, 30)]
        numbers.insert(13, "13a")
        self.assertEqual(list(self.entries), numbers)
        for entry in self.entries.values():
            self.assertTrue(all(entry[key] for key in ("title", "source", "says", "computed", "here", "chapter")), entry)

    def test_the_counter_examples_refute(self):
        self.assertLess(self.number("4", r"by (\S+) for columns from 0"), 1e-12)
        self.assertGreater(self.number("4", r"by (\S+) for columns from 1"), 0.9)
        self.assertGreater(self.number("4", r"best T_3 misses by (\S+)"), 1e-3)
        self.assertGreater(self.number("5", r"uniform numbers by (\S+)"), 0.1)
        self.assertEqual(self.number("7", r"differ by (\S+)"), 0)
        self.assertIn("fails at n = 2, i = 1", self.entries["15"]["computed"][0])
        self.assertIn("is the transpose", self.entries["15"]["computed"][1])
        self.assertEqual(self.number("20", r"three places: (\S+)"), 63045632)
        self.assertGreater(self.number("27", r"misses by (\S+)"), 0.1)

    def test_finite_masks_leak_and_a_hole_does_not(self):
        # How far depends on the kernels of OpenBLAS: the losses were 0 to 0.7 with −10, 0.8 to 1.15 with −1000.
        for mask, leaks in (("not there", False), ("−10 added", True), ("−1000 added", True)):
            loss, change = (self.number("29", mask + r".*?" + what) for what in (r"mean loss ([^;\s]+)", r"change a score of row 1 by up to (\S+)"))
            self.assertEqual(loss < 1.3, leaks, mask)
            self.assertEqual(change > 1, leaks, mask)

    def test_the_text_says_the_same(self):
        text = run("errata").stdout
        for entry in self.entries.values():
            self.assertIn(f"{entry['number']}. {entry['title']}", text)


class Tutorial(unittest.TestCase):
    def test_the_layer_is_what_it_says_and_the_model_learns_and_is_kept(self):
        with tempfile.TemporaryDirectory() as directory:
            result = run("tutorial", cwd=directory)
            self.assertEqual(result.returncode, 0)
            self.assertTrue((pathlib.Path(directory) / "mine.safetensors").is_file())
        self.assertNotIn("FAILS", result.stdout)
        self.assertEqual(result.stdout.splitlines()[-1].strip(), "3 7 0  →  3 7 0 7 3 0")

    def test_the_page_shows_the_whole_program_piece_by_piece(self):
        page = (ROOT / "docs/tutorial.rst").read_text(encoding="utf-8")
        program = (ROOT / "examples/tutorial.cpp").read_text(encoding="utf-8")
        shown = []
        for begin, end in re.findall(r":start-after: (.*)\n +:end-before: (.*)\n", page):
            self.assertEqual(program.count(begin.strip()), 1)
            shown.append(program[program.index(begin.strip()) + len(begin.strip()):program.index(end.strip())])
        whole = program[program.index("// [includes]"):]

        def lines(text):
            return [line.strip() for line in text.splitlines() if line.strip() and "// [" not in line and line.strip() != "//"]

        self.assertEqual(lines("".join(shown)), lines(whole))

    def test_what_is_typed_is_compiled_by_the_command_of_the_page(self):
        page = (ROOT / "docs/tutorial.rst").read_text(encoding="utf-8")
        self.assertEqual(page.count("   g++ -std=c++20 -O1 -fopenmp-simd -fno-math-errno -I. mine.cpp -o mine -lopenblas\n"), 1)


class BreakTheMask(unittest.TestCase):
    def test_what_should_fail_fails_and_the_pullback_does_not(self):
        output = run("break_the_mask").stdout
        for line in ("FAILS: attention is autoregressive: double", "FAILS: attention is autoregressive: sets of positions",
                     "FAILS: the pullback is anti-causal", "holds: the pullback is the transpose of the derivative: dual numbers "
                     "of the prime field, exactly"):
            self.assertIn("\n" + line, output)
        structural, finite = (float(loss) for loss in re.findall(r"last 100 steps (\S+),", output))
        self.assertGreater(structural, 1.3)
        self.assertLess(finite, 1.3)


class Pictures(unittest.TestCase):
    """`pictures` and `by_hand`, which the book builds, and the default run of the tests does not."""

    @classmethod
    def setUpClass(cls):
        cls.numbers = json.loads(run("pictures").stdout)

    def test_dependencies_are_a_diagonal_triangles_and_a_square(self):
        def matrix(sees):
            return [[int(sees(i, j)) for j in range(8)] for i in range(8)]

        triangle = matrix(lambda i, j: j <= i)
        self.assertEqual([item["matrix"] for item in self.numbers["dependencies"]],
                         [matrix(lambda i, j: i == j), triangle, triangle, matrix(lambda i, j: True)])

    def test_every_leaf_holds_and_every_control_fails(self):
        for leaf in self.numbers["verdicts"]:
            self.assertEqual(set(leaf["verdict"].values()), {"holds"}, leaf)
        for control in self.numbers["controls"]:
            self.assertNotEqual(set(control["verdict"].values()), {"holds"}, control)

    def test_by_hand_every_row_of_weights_sums_to_1_and_the_loss_falls(self):
        steps = json.loads(run("by_hand").stdout)
        for name in ("A_1", "A_2", "softmax", "learned"):
            for row in steps[name]:
                self.assertAlmostEqual(sum(row), 1, places=12)
        losses = [loss for loss, in steps["losses"]]
        self.assertEqual(losses, sorted(losses, reverse=True))

    def test_products_depend_on_the_distance_alone(self):
        products = self.numbers["positional_encoding"]["products"]
        for p in range(1, 64):
            for q in range(1, 64):
                self.assertAlmostEqual(products[p][q], products[p - 1][q - 1], places=10)

    def test_attention_grows_with_the_square_and_a_rowwise_layer_with_n(self):
        first, *_, last = self.numbers["cost"]["rows"]
        times = last["n"] / first["n"]
        self.assertAlmostEqual(last["FF"] / first["FF"], times, places=1)
        self.assertGreater(last["CA"] / first["CA"], 2 * times)


def record_of(test, file, heads):
    """A record: as many maps of attention as there are heads, rows that are probabilities, and what is masked left out."""
    record = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
    test.assertEqual(len(record["attention"]), heads)
    for item in record["attention"]:
        test.assertEqual(len(item["weights"]), len(item["queries"]))
        for row in item["weights"]:
            test.assertEqual(len(row), len(item["keys"]))
            test.assertAlmostEqual(sum(weight or 0 for weight in row), 1, places=3)
        if "CA" in item["layer"] or re.search("dec.*self", item["layer"]):
            test.assertEqual([row.count(None) for row in item["weights"]], list(range(len(item["keys"])))[::-1])
    return record


class Record(Programs):
    def test_losses_answers_and_attention_are_kept(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "run.json"
            for program, heads in (("reverse", 4), ("seq2seq", 24)):
                result = run(program, "--steps", "30", "--quiet", "--record", file)
                self.assertEqual(result.returncode, 0)
                record = record_of(self, file, heads)
                self.assertEqual(len(record["losses"]) * record["every"], 30)
                self.assertEqual((record["right"], record["total"]), success_rate(result.stdout))

    def test_where_it_cannot_be_written_is_said_before_training(self):
        self.refused("cannot write /nowhere/run.json: making /nowhere/run.json.part: No such file or directory", "reverse",
                     "--record", "/nowhere/run.json", "--steps", "1000000000")


class Small(Programs):
    def test_programs_with_few_options_refuse_others(self):
        for program in ("errata", "break_the_mask", "attention", "averages", "positional_encoding", "proof_tree"):
            self.refused("--frobnicate: there is no such option; --help lists what there is", program, "--frobnicate")

    def test_a_model_of_own_layers_learns(self):
        output = self.printed("own_layer")
        self.assertEqual(len(re.findall(r"^all \d+ statements hold$", output, re.M)), 1)
        right = re.search(r"\n(\d+) of 80 reversed\n$", output)
        self.assertGreaterEqual(int(right[1]), 76, output)


class Ladder(Programs):
    def test_each_rung_is_a_page(self):
        for program in QUIET:
            self.assertLessEqual(len((ROOT / f"examples/{program}.cpp").read_text(encoding="utf-8").splitlines()), 120)

    def test_rows_depend_on_what_the_claims_say(self):
        rows = re.findall(r"^  row (\d) depends on row (.+)$", self.printed("rowwise"), re.M)
        expected = [[i] for i in range(1, 6)] + [list(range(1, i + 1)) for i in range(1, 6)] + [list(range(1, 6))] * 5
        self.assertEqual([[int(j) for j in seen.split() if j != "·"] for _, seen in rows], expected)

    def test_a_derivative_is_a_quotient_of_differences(self):
        output = self.printed("layer")
        derived = float(re.search(r"∂L/∂A =\n.*\n\s*\S+\s+(\S+)", output)[1])
        self.assertAlmostEqual(derived, float(re.search(r"by differences: (\S+)", output)[1]), delta=1e-4)

    def test_a_block_without_weights_changes_nothing(self):
        output = self.printed("block")
        X, at_zero = (re.search(rf"{name} =\n((?:[ \d].*\n)+)", output)[1] for name in ("X", "all weights 0"))
        self.assertEqual(X, at_zero)
        self.assertIn("CA.W_Q, 4 × 4", output)

    def test_what_follows_changes_nothing(self):
        self.assertLess(float(re.search(r"by at most (\S+)", self.printed("model"))[1]), 1e-5)

    def test_the_loss_is_the_one_by_hand_and_a_step_makes_it_smaller(self):
        loss, _, by_hand, after = map(float, re.findall(r" is (\d[\d.]*)(?:;|\n|$)", self.printed("loss")) or [0] * 4)
        self.assertAlmostEqual(loss, by_hand, places=4)
        self.assertLess(after, loss)

    def test_a_small_model_learns_to_reverse(self):
        self.assertGreaterEqual(int(re.search(r"\n(\d+) of 100 reversed\n$", self.printed("training"))[1]), 95)

    def test_a_text_is_continued_in_three_ways(self):
        lines = self.printed("decoding").splitlines()
        self.assertEqual([line.split(":")[0] for line in lines], ["greedy"] + ["sampled"] * 3 + ["beam of 4"])


def interrupted(*command, handler=signal.SIG_DFL):
    """What a command that trains returns and prints if Ctrl-C reaches it, and everything that it runs, after the first line that
    begins with "step"."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, handler))
    output = ""
    for line in process.stdout:
        output += line
        if line.startswith("step"):
            break
    os.killpg(process.pid, signal.SIGINT)
    output += process.communicate(timeout=60)[0]
    return process.returncode, output.splitlines()


class Training:
    """A program that trains and does not end by itself. It begins when the program can be interrupted, which is when its record is
    begun. At the end the program is interrupted."""

    def __init__(self, record, *command, cwd=None):
        self.process = subprocess.Popen([*command, "--record", record], stdout=subprocess.PIPE, text=True, cwd=cwd,
                                        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        while self.process.poll() is None and not os.path.exists(f"{record}.part"):
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.output = self.process.communicate(timeout=60)[0]


class Manners(unittest.TestCase):
    TRAINING = {"reverse": [], "seq2seq": ["--batch-size", "1"]}  # steps that take moments

    def test_ctrl_c_stops_training_still_tests_and_ends_as_a_shell_expects(self):
        for program, options in self.TRAINING.items():
            code, lines = interrupted(DIRECTORY / program, "--steps", "1000000000", *options)
            self.assertEqual(code, -signal.SIGINT)  # by the signal: then a shell's loop stops, too, and its $? is 130
            self.assertIsNotNone(success_rate(lines[-2]))
            self.assertEqual(lines[-1], f"{program}: interrupted")
            before = [line for line in lines if re.match(r"right: |wrong: |success rate: ", line)]
            self.assertRegex(lines[lines.index(before[0]) - 1],
                             r"^interrupted at step \d+ of 1000000000: what follows is of the model as it was then$")

    def test_where_ctrl_c_is_ignored_it_stays_so(self):
        code, lines = interrupted(DIRECTORY / "reverse", "--steps", "700", handler=signal.SIG_IGN)
        self.assertEqual(code, 0)
        self.assertIsNotNone(success_rate(lines[-1]))

    def written_to(self, output, program, *options):
        result = subprocess.run([DIRECTORY / program, *options], stdout=output, stderr=subprocess.PIPE, text=True,
                                timeout=60)
        return result.returncode, result.stderr

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "w") as full:
            for program in set(PROGRAMS) - set(QUIET) - set(FOR_THE_SITE):
                training = ["--steps", "1000000000"] if program in self.TRAINING else []
                alone = [] if program in FROM_TEXT else [training + self.TRAINING.get(program, [])]
                for options in (*alone, ["--help"]):
                    self.assertEqual(self.written_to(full, program, *options),
                                     (1, f"{program}: standard output cannot be written: No space left on device\n"))
            self.assertEqual(self.written_to(full, "own_layer")[0], 1)

    def test_a_closed_pipe_is_an_error(self):
        reader, writer = os.pipe()
        os.close(reader)
        for program in set(PROGRAMS) - set(self.TRAINING) - set(QUIET) - set(FOR_THE_SITE) - set(FROM_TEXT):
            self.assertEqual(self.written_to(writer, program),
                             (1, f"{program}: standard output cannot be written: Broken pipe\n"))
        os.close(writer)
        result = bash('"$0" --steps 1000000000 | head -1; echo ${PIPESTATUS[0]}', DIRECTORY / "reverse")
        self.assertEqual(result.stdout, "Example 0: to reverse 2 of 10 tokens\n1\n")
        self.assertEqual(result.stderr, "reverse: standard output cannot be written: Broken pipe\n")

    def test_a_closed_standard_output_is_an_error(self):
        result = bash('"$0" >&-', DIRECTORY / "averages")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "averages: standard output cannot be written: Bad file descriptor\n")

    def test_too_little_memory_is_a_sentence(self):
        # Enough to begin with, and for what OpenBLAS keeps, which waits for ever if the system refuses it; not for the batch.
        result = bash('ulimit -v 1000000; exec "$0" --example 2 --batch-size 10000 --quiet', DIRECTORY / "reverse",
                      env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        # tcmalloc may write a line of its own before it.
        self.assertEqual(result.stderr.splitlines()[-1], "reverse: there is not enough memory")


def on_terminal(width, variables, steps="1"):
    """What `reverse` writes to a terminal of a width, until its last line or, if it is rewritten, for a moment."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 25, width, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("TERM", "NO_COLOR", "COLUMNS")}
    process = subprocess.Popen([DIRECTORY / "reverse", "--steps", steps], stdout=theirs,
                               env={**environment, **variables})
    os.close(theirs)
    written = b""
    try:
        while b"% (" not in written and written.count(b"\x1b[K") < 2:
            written += os.read(ours, 4096)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return written.decode(errors="ignore").replace("\r\n", "\n")


class Terminal(unittest.TestCase):
    def test_a_line_is_rewritten_in_place_where_that_can_be(self):
        for width, variables in ((80, {}), (0, {}), (40, {"COLUMNS": "100"})):
            self.assertRegex(on_terminal(width, {"TERM": "xterm", **variables}), r"\rstep 1 of 1 .*\x1b\[K")

    def test_elsewhere_lines_are_plain(self):
        for width, variables in ((100, {"TERM": "dumb"}), (100, {}), (100, {"TERM": "xterm", "NO_COLOR": "1"}),
                                 (79, {"TERM": "xterm"}), (100, {"TERM": "xterm", "COLUMNS": "40"})):
            written = on_terminal(width, variables)
            self.assertIn("\nstep 1 of 1 ", written)
            self.assertNotRegex(written, r"[\r\x1b]", variables)

    def test_a_line_that_is_rewritten_fits(self):
        lines = re.findall(r"\r([^\x1b]*)\x1b\[K", on_terminal(80, {"TERM": "xterm"}, "1000000000"))
        self.assertEqual([len(line) for line in lines], [79, 79])  # of more


class Runner(Programs):
    """The scripts of that name, as far as they build nothing."""

    def test_it_lists_all_programs(self):
        listed = dict(line.split(maxsplit=1) for line in run(ROOT / "examples/run", "--list").stdout.splitlines())
        self.assertEqual(tuple(listed), PROGRAMS)
        targets = json.loads((DIRECTORY.parent / "meson-info/intro-targets.json").read_text(encoding="utf-8"))
        built = {target["name"] for target in targets
                 if target["type"] == "executable" and target["defined_in"].endswith("/examples/meson.build")}
        self.assertEqual(set(listed), built)

        for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.rst")]:
            for name in re.findall(r"examples/run ([a-z]\w*)", page.read_text(encoding="utf-8")):
                self.assertIn(name, listed, page)

    def test_what_makes_no_sense_is_refused_before_anything_is_built(self):
        for runner, arguments, variables, sentence in (
                *(("examples/run", [name], {}, f"there is no example '{name}'; --list says what there is")
                  for name in ("", "frobnicate", ".*", "reverse seq2seq")),
                ("examples/run", ["--list", "extra"], {}, "--list takes nothing more: 'extra'"),
                ("examples/run", ["tutorial", "--steps"], {}, "tutorial has no options: '--steps'"),
                ("examples/run", ["own_layer", ""], {}, "own_layer has no options: ''"),
                ("examples/run", ["--help", "extra"], {}, "--help takes nothing more: 'extra'"),
                ("examples/run", [], {"JOBS": "abc"}, "JOBS is 'abc', and should be an integer from 1 on"),
                ("tests/run", [], {"JOBS": "0"}, "JOBS is '0', and should be an integer from 1 on"),
                ("tests/run", [], {"CXX": "nosuch++"}, "CXX is 'nosuch++', and there is no such program"),
                ("tests/run", [], {"SANITIZE": "foo"},
                 "SANITIZE is 'foo', and should be address, undefined, both with a comma between, or thread"),
                ("tests/run", ["--help", "extra"], {}, "--help takes nothing more: 'extra'"),
                ("docs/run", ["--nosuch"], {}, "'--nosuch': there is no such option"),
                (".ci/run", ["unit"], {}, "'unit': there is no such option")):
            self.refused(sentence, runner, *arguments, directory=ROOT, env={**os.environ, **variables})

    def test_help_is_of_the_runner(self):
        for runner, names in (("examples/run", PROGRAMS), ("tests/run", ("proofs/3", "mutations", "--list", "JOBS=1"))):
            output = self.printed(ROOT / runner, "--help")
            self.assertTrue(output.startswith(f"./{runner} ["))
            for name in names:
                self.assertIn(name, output)

    @staticmethod
    def choose(*names):
        return run(sys.executable, ROOT / "tests/choose.py", DIRECTORY.parent, *names)

    def test_suites_are_chosen_by_name_and_by_folder_and_anything_else_is_refused(self):
        self.assertEqual(self.choose("proofs").stdout, self.choose("proofs/").stdout)
        self.assertIn("\n03_product\n", self.choose("proofs/3").stdout)
        listed = self.choose("--list").stdout
        self.assertRegex(listed, r"\nunit +\d+ tests\n")
        self.assertIn("\n  proofs/03_product\n", listed)
        self.assertNotIn("unit/product", listed)
        self.assertRegex(self.choose("--list", "unit").stdout, r"^unit +\d+ tests\n  unit/")
        for names, sentence in ((["proofs/99"], "there is no test 'proofs/99'; those of proofs are: 01_rules, "),
                                (["proof"], "there is no test 'proof'; the suites are: "),
                                (["--bogus"], "there is no option '--bogus'; --help says what there is\n"),
                                (["/"], "there is no test ''; the suites are: "),
                                (["proofs/3", "unit"], "a single test runs alone: 'proofs/3' stands beside others\n"),
                                (["unit", "--list"], "--list stands first"),
                                (["--list", "unti"], "there is no suite 'unti'; --list alone")):
            result = self.choose(*names)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertTrue(result.stderr.startswith(f"tests/run: {sentence}"), result.stderr)

    def test_ctrl_c_while_it_builds(self):
        # It tells when it runs: a shell that has not yet begun it may miss a signal.
        script = 'source "$0"; quietly bash -c "echo step >&3; exec sleep 60" 3>&1; echo on'
        code, lines = interrupted("bash", "-c", script, ROOT / ".tools/setup.sh")
        self.assertEqual((code, lines), (-signal.SIGINT, ["step", f"{ROOT}/.tools/setup.sh: interrupted"]))


class ProofTree(Programs):
    """What a derivation says tests/unit/derivation.cpp checks, and ./tests/run kernel what is for the proof kernel."""

    MODELS = {  # each has this in its text
        "T_LM": "T_LM = Φ∘N∘DB_6∘…∘DB_1∘PE∘Em; ",
        "inspirational": "DB = Res(FF∘Res(CA∘N_ca)); ",
        "two_heads": "CA(X) = Concat(H_1(X), H_2(X))×W_O + B; ",
        "formulated": "Transformer = Softmax∘((x, X) ↦ (Decoder_6∘…∘Decoder_1)(",
        "numpy": "Transformer = (x, X) ↦ tgt(X) with M = src(x); ",
        "wolfram": "Transformer = Softmax∘((x, X) ↦ tgt(X) with M = src(x)); ",
    }

    def steps(self, model):
        return json.loads(self.printed("proof_tree", "--json", "--model", model))

    def test_text_data_and_the_theorem_are_of_one_model(self):
        def written_out(steps, place=0):
            step = steps[place]
            self.assertEqual(step["statement"], f"{step['object']} is {step['claim']}")
            self.assertIs(step["follows"], True)
            self.assertNotEqual("rule" in step, "declared" in step, step)  # one of the two
            if "rule" in step:
                self.assertTrue(step["sentence"])
            else:
                self.assertEqual(step["declared"], step["claim"])
            yield step["object"]
            while steps[place].get("rule") == "rowwise_is_autoregressive":  # said on one line
                place = steps[place]["parts"][0]
            for part in steps[place].get("parts", []):
                yield from written_out(steps, part)

        for model, formula in self.MODELS.items():
            text = self.printed("proof_tree", "--model", model)
            self.assertIn(formula, text)
            objects, lines = list(written_out(self.steps(model))), text.splitlines()
            self.assertEqual(len(objects), len(lines))
            for line, item in zip(lines, objects):
                self.assertTrue(line.lstrip().startswith(item + " is "), line)
            exported = self.printed("proof_tree", "--kernel", "--model", model)
            theorems = [f"\n  Theorem {objects[0]}_is_autoregressive : autoregressive {objects[0]}.\n"]
            if objects[0] == "T_LM":
                theorems += ["  Theorem T_LM_is_extended ", "\nTheorem T_LM_pullback_is_transpose "]
            for theorem in theorems:
                self.assertEqual(exported.count(theorem), 1, (model, theorem))
        self.assertEqual(self.printed("proof_tree"), self.printed("proof_tree", "--model", "T_LM"))

    def test_every_leaf_points_to_the_check_that_holds_it(self):
        checks = {step["check"] for model in self.MODELS for step in self.steps(model) if "declared" in step}
        self.assertGreaterEqual(len(checks), 4)  # rowwise, autoregressive, both masks
        for check in checks:
            self.assertTrue(is_a_test_case(check), check)
        self.assertFalse(is_a_test_case("proofs/04_leaves.cpp: each layer of the list that is called rowwise"))  # not all of its name
        self.assertFalse(is_a_test_case("proofs/40_leaves.cpp: attention without a mask is not autoregressive: the first of two rows "
                                        "sees the second"))

    def test_bad_options_are_refused_in_one_sentence(self):
        self.refused("--model: it must be T_LM or formulated or inspirational or numpy or two_heads or wolfram, not recurrent",
                     "proof_tree", "--model", "recurrent")


def is_a_test_case(check):
    """Whether a check "FILE: NAME" is a test case of the proofs."""
    file, _, name = check.partition(": ")
    path = ROOT / file
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    # The pieces of a name that goes over several lines are one.
    names = ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found)) for found in
             re.findall(r'^TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)[)*]', text, re.MULTILINE)]
    return path.parent == ROOT / "proofs" and name in names


class FromText(Programs):
    """`translate` and `text`: what they learn is kept in a file, from which they go on."""

    BEFORE = ".*"  # what they learn from
    TRAINING = {"translate": ["train", "--blocks", "2", "--batch-size", "2"], "text": ["train", "--batch-size", "1"]}

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def path(self, name):
        return str(self.directory / name)

    def trained(self, program, *options, name="model"):
        """Where the model is that it has learned in a step."""
        run(program, *self.TRAINING[program], "--steps", "1", *options, "--model", self.path(name))
        return self.path(name)

    def bytes_of(self, name):
        return (self.directory / name).read_bytes()

    def test_an_interrupted_run_that_is_resumed_ends_as_one_that_was_not(self):
        for program, options in self.TRAINING.items():
            options = [*options, "--threads", "2", "--steps", "120"]
            whole, parts = self.path(f"whole {program}"), self.path(f"parts {program}")
            self.assertEqual(run(program, *options, "--model", whole).returncode, 0)
            code, lines = interrupted(DIRECTORY / program, *options, "--model", parts, "--record", self.path("first"))
            self.assertEqual((code, lines[-1]), (-signal.SIGINT, f"{program}: interrupted"))
            self.assertRegex(lines[-2], rf"^saved in {parts} after \d+ s: --resume goes on from here$")
            self.assertNotEqual(self.bytes_of(parts), self.bytes_of(whole))
            result = run(program, "train", "--model", parts, "--resume", "--threads", "2", "--record", self.path("second"))
            self.assertEqual(result.returncode, 0)
            first, second = (json.loads(self.bytes_of(name)) for name in ("first", "second"))
            self.assertEqual([first["about"]["first_step"], second["about"]["first_step"], second["about"]["last_step"]],
                             [1, first["about"]["last_step"] + 1, 120])
            self.assertEqual([len(part["losses"]) for part in (first, second)],
                             [first["about"]["last_step"], 120 - first["about"]["last_step"]])
            self.assertEqual(self.bytes_of(parts), self.bytes_of(whole))
            self.refused("there is nothing to resume: all 120 steps were done", program, "train", "--model", parts,
                         "--resume")
            self.refused("--steps excludes --resume", program, "train", "--model", parts, "--resume", "--steps", "200")

    def test_what_a_run_was_like_is_kept(self):
        for program, heads in (("translate", 48), ("text", 16)):
            file = self.path(f"{program}.json")
            self.printed(program, *self.TRAINING[program], "--steps", "30", "--model", self.path(program), "--record", file)
            record = record_of(self, file, heads)
            self.assertEqual((len(record["losses"]), record["about"]["steps"]), (30, "30"))
            self.assertEqual(record["attention"][-1]["queries"][0], "⟨start⟩")
            self.assertEqual(sum(sample["answer"] == sample["expected"] for sample in record["samples"][12:]), 0)
        record = json.loads(self.bytes_of("translate.json"))
        self.assertEqual(record["total"], 100)
        cross = record["attention"][-1]
        self.assertEqual(" ".join(cross["keys"]), "⟨start⟩ ninety - four thousand five hundred seventy - five ⟨end⟩")
        self.assertEqual(" ".join(cross["queries"]), "⟨start⟩ quatre - vingt - quatorze mille cinq cent soixante - quinze")
        said = run("translate", "translate", "--model", self.path("translate"), record["samples"][0]["question"]).stdout
        self.assertEqual(record["samples"][0]["answer"] + "\n", said)

    def test_what_was_learned_is_used(self):
        model, of_text = self.trained("translate"), self.trained("text", name="text")
        by_argument = self.translated(model, b"", "two hundred", "three").stdout
        by_line = self.translated(model, b"two hundred\nthree\n").stdout
        self.assertEqual(by_line, by_argument)
        self.assertGreaterEqual(by_argument.count(b"\n"), 2)
        table = run("translate", "evaluate", "--model", model).stdout.splitlines()
        self.assertEqual(table[0], "1000 pairs of numbers that are held out")
        self.assertEqual([line[:24].strip() for line in table[2:]],
                         ["the model", "the nearest sentence", "the source as it is"])
        sample = [run("text", "sample", "--model", of_text, "--tokens", "20", "--seed", seed, "The").stdout
                  for seed in ("1", "1", "2")]
        self.assertTrue(sample[0].startswith("The"))
        self.assertEqual(sample[0], sample[1])
        self.assertNotEqual(sample[0], sample[2])
        bits = run("text", "evaluate", "--model", of_text).stdout
        for name in ("T_LM", "a byte by the byte before it"):
            self.assertRegex(bits, rf"(?m)^  {re.escape(name)} +\d+\.\d\d$")

    def test_pairs_of_ones_own(self):
        pairs = self.directory / "pairs"
        length = {0: 1000}  # of every third sentence, too long for the model
        pairs.write_text("".join(f"word {chr(97 + k % 26)}{k}{' ha' * length.get(k % 3, 1)}\tmot {k}\n" for k in range(150))
                         + "no tab\n")
        result = run("translate", "train", "--pairs", str(pairs), "--steps", "1", "--batch-size", "2", "--model",
                     self.path("model"))
        self.assertEqual(result.returncode, 0)
        self.assertIn("1 left out: line 151", result.stdout)
        self.assertIn("to learn from, ", result.stdout)
        tested = run("translate", "evaluate", "--model", self.path("model"))
        self.assertEqual(tested.returncode, 0, tested.stderr)
        self.assertRegex(tested.stdout, r"\n\d+ of them are too long for the model, which says nothing to them\n$")

    def test_what_is_wrong_is_a_sentence(self):
        empty, few = self.directory / "empty", self.directory / "few"
        empty.write_bytes(b"")
        few.write_text("a\tb\nno tab\n")
        self.refused("there are too few pairs to hold some out: 1 would be left to learn from, 0 to look at and 0 to test; "
                     "1 left out: line 2 has no tab", "translate", "train", "--pairs", str(few))
        self.refused(f"{empty} is empty: there are no pairs in it", "translate", "train", "--pairs", str(empty))
        self.refused("'x/y' is no language: one is named like fr, pt_BR or sr@latin".replace("'", '"'), "translate",
                     "train", "--corpus", "catalogues", "--language", "x/y")
        self.refused("--language: it is of --corpus catalogues", "translate", "train", "--language", "de")
        self.assertIn("no translations into xx are in", run("translate", "train", "--corpus", "catalogues", "--language",
                                                            "xx").stderr)
        self.refused(f"{empty} has 0 bytes: a text to learn from needs at least 1280", "text", "train", str(empty))
        for program in FROM_TEXT:
            commands = "train or " + {"translate": "translate", "text": "sample"}[program] + " or evaluate"
            self.refused(f"a command is missing: it is {commands}; --help says what they do", program)
            self.refused(f"there is no command two: it is {commands}; --help says what they do", program, "two")
            self.refused("--frobnicate: there is no such option; --help lists what there is", program, "train",
                         "--frobnicate")
            self.refused("cannot write /nonexistent/m: making /nonexistent/m.lock: No such file or directory", program,
                         *self.TRAINING[program], "--model", "/nonexistent/m")
            self.refused("cannot write /nonexistent/r: making /nonexistent/r.part: No such file or directory", program,
                         *self.TRAINING[program], "--model", self.path("none"), "--record", "/nonexistent/r")
            self.assertFalse((self.directory / "none").exists())
        of_text = self.trained("text")
        self.refused(f'{of_text} is refused: its "program" is "text", and should be "translate"', "translate", "translate",
                     "--model", of_text, "two")

    def translated(self, model, text, *sentences):
        """What `translate translate` says to a text on its standard input, or to sentences."""
        return subprocess.run([DIRECTORY / "translate", "translate", "--model", model, *sentences], input=text,
                              capture_output=True, timeout=300)

    def test_lines_are_read_by_one_rule_from_wherever_they_come(self):
        model = self.trained("translate")
        plain = self.translated(model, b"two hundred\n\nthree\n").stdout
        for text in (b"two hundred\r\n\r\nthree\r\n", b"\xef\xbb\xbftwo hundred\n\nthree", b"two hundred\n\r\nthree\r"):
            self.assertEqual(self.translated(model, text).stdout, plain)
        self.assertEqual(self.translated(model, b"", b"\xef\xbb\xbftwo hundred\r", "", b"three\r").stdout, plain)
        directory = os.open("/", os.O_RDONLY)
        self.addCleanup(os.close, directory)
        self.refused("standard input cannot be read: Is a directory", "translate", "translate", "--model", model, stdin=directory)
        self.assertNotEqual(self.translated(model, b"two hundred x\n\nthree\n").stdout, plain)  # control: what is read is seen

    def test_a_line_that_is_too_long_is_told_by_its_number_and_the_others_are_translated(self):
        model = self.trained("translate")
        two, three = (self.translated(model, text).stdout for text in (b"two\n", b"three\n"))
        long = b"forty " * 100
        of_lines = self.translated(model, b"two\n" + long + b"\nthree\n")
        self.assertEqual((of_lines.returncode, of_lines.stdout), (1, two + b"\n" + three))
        self.assertRegex(of_lines.stderr.decode(), r"^translate: line 2 is left out: it has \d+ tokens, and the model reads 64 "
                                                   r"at the most\ntranslate: 1 of 3 left out\n$")
        of_sentences = self.translated(model, b"", "two", "three", "0" * 100, "--beam", "2")
        self.assertEqual(of_sentences.returncode, 1)
        self.assertEqual(of_sentences.stderr.decode(), "translate: sentence 3 is left out: it has 102 tokens, and the model "
                                                       "reads 64 at the most\ntranslate: 1 of 3 left out\n")

    def test_gzip_and_xz_are_measured_whatever_the_temporary_directory_is(self):
        model, text = self.trained("text"), pathlib.Path("/usr/share/common-licenses/GPL-3").read_bytes()
        known, held_out = text[:len(text) // 10 * 9], text[len(text) // 10 * 9:]
        gzip = zlib.compressobj(9, wbits=31)
        alone = len(gzip.compress(held_out) + gzip.flush())
        behind = len(lzma.compress(text, preset=9)) - len(lzma.compress(known, preset=9))
        expected = [f"  {name:<40}{8 * count / len(held_out):.2f}" for name, count in (
            ("gzip -9 of these alone", alone), ("xz -9 of these alone", len(lzma.compress(held_out, preset=9))),
            ("xz -9 that has read what comes before", behind))]
        for directory in ("/nonexistent", self.path("it's '; touch " + self.path("ran") + "; echo '")):
            measured = run("text", "evaluate", "--model", model, env={**os.environ, "TMPDIR": directory})
            self.assertEqual((measured.returncode, measured.stderr), (0, ""))
            self.assertEqual(measured.stdout.splitlines()[-3:], expected)
        self.assertFalse((self.directory / "ran").exists())

    def test_the_files_of_a_run_are_different_ones(self):
        text, model = self.directory / "text", self.path("model")
        text.write_bytes(pathlib.Path("/usr/share/common-licenses/GPL-3").read_bytes())
        (self.directory / "link").symlink_to("text")
        before = text.read_bytes()
        steps = ["train", "--steps", "1", "--batch-size", "1"]
        for arguments, sentence in (
                ([text, "--model", model, "--record", text], f"--record writes {text}, which is the text"),
                ([text, "--model", model, "--record", self.path("link")],
                 f"--record writes {self.path('link')}, which is the text"),
                ([self.path("r.part"), "--model", model, "--record", self.path("r")],
                 f"--record writes {self.path('r.part')}, which is the text"),
                (["--model", model, "--record", f"{self.directory}/./model"],
                 f"--model writes {model}, which is --record"),
                ([f"{model}.part", "--model", model], f"--model writes {model}.part, which is the text"),
                ([text, "--model", text], f"--model writes {text}, which is the text")):
            self.refused(sentence, "text", *steps, *arguments)
        self.refused(f"--record writes {text}, which is --pairs", "translate", "train", "--pairs", text, "--model", model,
                     "--record", text)
        self.assertEqual(text.read_bytes(), before)
        self.assertEqual(run("text", *steps, text, "--model", model).returncode, 0)
        self.refused(f"--record writes {text}, which is the text", "text", "train", "--resume", "--model", model, "--record",
                     text)
        self.assertEqual(text.read_bytes(), before)

    def test_of_two_runs_that_train_one_model_the_second_is_refused_before_it_computes_anything(self):
        for program, options in self.TRAINING.items():
            model = self.path(program)
            for more in (options, ["train", "--resume"]):
                steps = [] if "--resume" in more else ["--steps", "1000000000"]
                with Training(self.path("record"), DIRECTORY / program, *more, "--model", model, *steps) as first:
                    self.refused(f"cannot write {model}: another process has locked {model}.lock: Resource temporarily "
                                 "unavailable", program, *more, "--model", model)
                self.assertIn(": --resume goes on from here\n", first.output)
                self.assertFalse(os.path.exists(model + ".lock"))

    def test_data_that_have_changed_are_refused_and_taken_where_that_is_asked_for(self):
        gpl = pathlib.Path("/usr/share/common-licenses/GPL-3").read_bytes()
        there, elsewhere = self.directory / "there", self.directory / "elsewhere"
        for directory, data in ((there, gpl[:8000]), (elsewhere, gpl[10000:18000])):
            directory.mkdir()
            (directory / "input").write_bytes(data)
            (directory / "pairs").write_text("".join(f"word {k}\tmot {k + len(directory.name)}\n" for k in range(150)))

        for program, data, what in (("text", ["input"], "input"), ("translate", ["--pairs", "pairs"], "pairs pairs")):
            model = self.path(program)
            with Training(self.path("record"), DIRECTORY / program, "train", *data, "--batch-size", "1", "--steps",
                          "1000000000", "--model", model, cwd=there):
                pass
            sentence = (rf"^{program}: {re.escape(model)} is refused: it has learned from other data than {what} has now, \d+ bytes "
                        r"with the hash [0-9a-f]{16} and not \d+ bytes with the hash [0-9a-f]{16}; --other-data takes these\n$")
            for command in (["evaluate"], ["train", "--resume"]):
                refused = run(program, *command, "--model", model, cwd=elsewhere)
                self.assertEqual((refused.returncode, refused.stdout.count("\n")), (2, 0))
                self.assertRegex(refused.stderr, sentence)
            self.assertEqual(run(program, "evaluate", "--model", model, "--other-data", cwd=elsewhere).returncode, 0)
            self.assertEqual(run(program, "evaluate", "--model", model, cwd=there).returncode, 0)
            # A file of before, which does not say which data these were: as long, but with other names.
            old = pathlib.Path(model).read_bytes()
            for name in (b'"data_bytes"', b'"data_hash"'):
                self.assertEqual(old.count(name), 1)
                old = old.replace(name, name.replace(b"data", b"was_"))
            pathlib.Path(model + ".old").write_bytes(old)
            self.assertEqual(run(program, "evaluate", "--model", model + ".old", cwd=elsewhere).returncode, 0)

    def test_pairs_whose_sentences_are_numbered_are_read_from_columns_2_and_4(self):
        pairs = self.directory / "pairs"
        pairs.write_text("".join(f"{1000 + k}\tword {k}\t{2000 + k}\tmot {k}\n" for k in range(150)))
        result = run("translate", "train", "--pairs", pairs, "--steps", "1", "--batch-size", "2", "--model", self.path("model"))
        self.assertEqual(result.returncode, 0)
        self.assertIn("150 lines have numbers in columns 1 and 3: their sentences are columns 2 and 4\n", result.stdout)

    def test_what_was_learned_is_not_overwritten(self):
        model = self.trained("text")
        before = self.bytes_of("model")
        self.refused(f"{model} is there already: --resume goes on with it, --model names another file", "text",
                     *self.TRAINING["text"], "--steps", "1", "--model", model)
        self.assertEqual(self.bytes_of("model"), before)

    def test_what_cannot_be_learned_leaves_no_file(self):
        pairs = self.directory / "pairs"
        pairs.write_text("".join(f"{'word ' * 1000}{k}\tmot {k}\n" for k in range(300)))
        result = run("translate", "train", "--pairs", str(pairs), "--steps", "1", "--model", self.path("model"))
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"^translate: no sentence is short enough: .*\n$")
        self.assertFalse((self.directory / "model").exists())

    def test_a_file_of_other_settings_is_refused(self):
        model = self.trained("text", "--learning-rate", "0.0123456789")
        whole = self.bytes_of("model")
        for before, after, sentence in (
                (b'"steps":"1"', b'"steps":"x"', '"steps" is "x", and should be an integer from 1 to 1000000000'),
                (b'"seed":"1"', b'"seed":"-"', f'"seed" is "-", and should be an integer from 0 to {2**64 - 1}'),
                (b'"0.0123456789"', b'"-.0123456789"', '"learning_rate" is "-.0123456789", and should be a finite number '
                                                       "greater than 0")):
            self.assertEqual(whole.count(before), 1)
            (self.directory / "model").write_bytes(whole.replace(before, after))
            self.refused(f"{model} is refused: its {sentence}", "text", "train", "--resume", "--model", model)


class Control(unittest.TestCase):
    def test_a_last_line_of_another_form_is_seen(self):
        self.assertIsNone(success_rate("success rate: 100 % (336 of 336)"))
        self.assertIsNone(success_rate("success rate: 99.0 % (336 of 336)"))
        self.assertEqual(success_rate("success rate: 100.0 % (336 of 336)"), (336, 336))


if __name__ == "__main__":
    unittest.main()
