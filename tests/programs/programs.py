# SPDX-License-Identifier: MIT
"""The example programs from outside: what they print and on what, their exit codes, and Ctrl-C.

usage: programs.py DIRECTORY [unittest's options]
"""

import contextlib
import fcntl
import gzip
import json
import lzma
import os
import pathlib
import pty
import re
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

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
    """Each test runs in a directory of its own."""

    BEFORE = ""  # what those that are refused may have printed, a regular expression

    def setUp(self):
        directory = self.enterContext(tempfile.TemporaryDirectory())
        self.enterContext(contextlib.chdir(directory))

    def refused(self, sentence, program, *options, directory=DIRECTORY, **how):
        """It ends with 2 and one sentence."""
        result = run(directory / program, *options, **how)
        self.assertEqual((result.returncode, result.stderr), (2, f"{program}: {sentence}\n"), options)
        self.assertRegex(result.stdout, rf"\A(?s:{self.BEFORE})\Z", options)

    def printed(self, program, *options, **how):
        """What it prints, if all is well."""
        result = run(program, *options, **how)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def number(self, pattern, output):
        """The number that a pattern finds in an output."""
        return float(re.search(pattern, output, re.MULTILINE)[1])


def success_rate(output):
    """The last line's right answers and their total, or None if it has another form."""
    match = re.fullmatch(r"success rate: (\d+\.\d) % \((\d+) of (\d+)\)", output.splitlines()[-1])
    if not match:
        return None
    right, total = int(match[2]), int(match[3])
    return (right, total) if f"{100 * right / total:.1f}" == match[1] else None


class Reverse(Programs):
    def test_example_0_is_learned(self):
        output = self.printed("reverse", "--ask", "3 7", "--record", "run.json")
        self.assertLessEqual(len(json.loads(read("run.json"))["samples"]), 13)  # twelve, and then wrong answers alone
        self.assertIn("\nasked: 3 7 0  →  3 7 0 7 3 0\n", output)
        right, total = success_rate(output)
        self.assertEqual(total, 100)
        self.assertGreaterEqual(right, 99)
        self.assertIn("268171 weights", output)
        self.assertEqual(len(re.findall(r"^step +\d+ of 6000", output, re.M)), 12)  # every 500 steps

    def test_every_sequence_of_a_task_is_tested(self):
        for example, total in (("0", 100), ("1", 36), ("2", 336)):
            output = self.printed("reverse", "--example", example, "--steps", "3", "--quiet")
            self.assertEqual(len(output.splitlines()), 1)
            self.assertEqual(success_rate(output)[1], total)

    def test_wrong_answers_come_first_with_what_they_should_be(self):
        lines = self.printed("reverse", "--steps", "0").splitlines()
        self.assertRegex(lines[-7], "^wrong: 1 1 0  →  1 1 0.*should be: 1 1 0 1 1 0$")

    def test_all_choices_train(self):
        for options in (["--block", "inspirational"], ["--optimizer", "sgd"], ["--init", "sinusoidal"]):
            self.assertIsNotNone(success_rate(self.printed("reverse", "--steps", "5", "--batch-size", "2", *options)))

    def test_the_same_seed_gives_the_same_numbers(self):
        def numbers(seed):
            output = self.printed("reverse", "--steps", "500", "--seed", seed)
            return re.findall(r"average loss (\S+)", output) + output.splitlines()[-7:]

        self.assertEqual(numbers("5"), numbers("5"))
        self.assertNotEqual(numbers("5"), numbers("6"))

    def test_training_that_diverges_ends_with_a_sentence(self):
        result = run("reverse", "--learning-rate", "1e9", "--quiet")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertRegex(result.stderr, r"^reverse: the loss of step \d+ is (not a number|infinite): the weights have "
                                        r"grown too large, as they do with too large a learning rate\n$")


class Seq2seq(Programs):
    def test_both_models_learn(self):
        for model, task in (("numpy", "reverse"), ("formulated", "copy")):
            right, total = success_rate(self.printed("seq2seq", "--model", model, "--task", task, "--steps", "1200"))
            self.assertEqual(total, 861)
            self.assertGreaterEqual(right / total, 0.99)


class Options(Programs):
    """What is given to programs on the command line."""

    def test_what_is_asked_is_answered_before_the_last_line(self):
        for command, *answers in (
                ("reverse --ask '3 7' --ask ' 10  10 '", "3 7 0  →  3 7 0 .*   should be: 3 7 0 7 3 0",
                 "10 10 0  →  10 10 0 .*   should be: 10 10 0 10 10 0"),
                ("seq2seq --task copy --ask '3 12 4'", "3 12 4  →  .*   should be: 3 12 4 2"),
                ("seq2seq --task reverse --ask '3 12 4'", "3 12 4  →  .*   should be: 4 12 3 2")):
            lines = self.printed(*shlex.split(command), "--steps", "0", "--quiet").splitlines()
            self.assertEqual(len(lines), len(answers) + 1)
            for line, answer in zip(lines, answers):
                self.assertRegex(line, f"^asked: {answer}$")

    def test_bad_options_are_refused_in_one_sentence(self):
        for command, sentence in (
            ("reverse --example 3", "--example: it must be an integer from 0 to 2, not 3"),
            ("reverse --block round", "--block: it must be definition or inspirational, not round"),
            ("reverse --optimizer lbfgs", "--optimizer: it must be adam or sgd, not lbfgs"),
            ("reverse --init ones", "--init: it must be sinusoidal or uniform, not ones"),
            ("reverse --learning-rate 0", "--learning-rate: it must be a finite number greater than 0, not 0"),
            ("reverse --learning-rate nan", "--learning-rate: it must be a finite number greater than 0, not nan"),
            ("reverse --learning-rate 1e-60 --quiet",
             "the learning rate of Adam must be finite and greater than 0 when rounded to the model's numbers, not 1e-60"),
            ("reverse --steps -1", "--steps: it must be an integer from 0 to 1000000000, not -1"),
            ("reverse --steps ''", "--steps: it must be an integer from 0 to 1000000000, not ''"),
            ("reverse --batch-size 0", "--batch-size: it must be an integer from 1 to 10000, not 0"),
            ("reverse --seed 1e3", f"--seed: it must be an integer from 0 to {2**64 - 1}, not 1e3"),
            ("reverse -- --", "--: there is no such option; --help lists what there is"),
            ("reverse --record ''", "--record: it must be a file, not ''"),
            ("reverse -- ''", "'': nothing is expected here; what has spaces is quoted, and --help lists what there is"),
            ("reverse --ask '[3 7]'", "--ask: a token must be an integer from 1 to 10, not [3"),
            (f"reverse --seed {2**64}", f"--seed: it must be an integer from 0 to {2**64 - 1}, not {2**64}"),
            ("reverse 3 7", "3: nothing is expected here; what has spaces is quoted, and --help lists what there is"),
            ("reverse --ask '3 7' '1 2'",
             "1 2: nothing is expected here; an option takes one argument, and stands again before the next"),
            ("reverse --steps 1 --steps 2", "--steps: it is given 2 times, but has one value"),
            ("reverse --seed", f"--seed: its value is missing: 0 to {2**64 - 1}"),
            ("text train --steps 1 --steps 2", "--steps: it is given 2 times, but has one value"),
            ("translate train --pairs ''", "--pairs: it must be a file, not ''"),
            ("translate translate '[one, two]'", "[one, two]: a sentence in brackets is only read from standard input"),
            ("text train /proc/self/mem", "cannot read /proc/self/mem: it broke off after 0 bytes"),
            ("text train ''", "cannot read '': No such file or directory"),
            (f"text train --learning-rate 1e-60 {__file__}",
             "--learning-rate is 1e-60: a float cannot hold it and a thousandth of it"),
            ("reverse --quiet=no", "--quiet: it takes no value"), ("text train --help=no", "--help: it takes no value"),
            ("reverse --ask '3 11'", "--ask: a token must be an integer from 1 to 10, not 11"),
            ("reverse --ask '3 7' --ask '0 7'", "--ask: a token must be an integer from 1 to 10, not 0"),
            ("reverse --ask '3 7 1'", "--ask: a sequence must have 2 tokens, not 3"),
            ("reverse --ask '1 2 3 4 1' --example 2", "--ask: a sequence must have 2 to 4 tokens, not 5"),
            ("reverse --ask", '--ask: its value is missing: "TOKEN ..."'),
            # Before training.
            ("reverse --record /nowhere/run.json --steps 1000000000",
             "cannot write /nowhere/run.json: making /nowhere/run.json.part: No such file or directory"),
            ("seq2seq --model recurrent", "--model: it must be formulated or numpy, not recurrent"),
            ("seq2seq --task ''", "--task: it must be copy or reverse, not ''"),
            ("seq2seq --ask '3 4 5 6 7 8 9 10 11'", "--ask: a sequence must have 1 to 8 tokens, not 9"),
            ("proof_tree --model recurrent",
             "--model: it must be T_LM or formulated or inspirational or numpy or two_heads or wolfram, not recurrent"),
            *((f"{program} --frobnicate", "--frobnicate: there is no such option; --help lists what there is")
              for program in ("reverse", "text train", "translate train", "errata", "break_the_mask", "attention",
                              "averages", "positional_encoding", "proof_tree")),
            *((f"{program}{word}", f"{what}: it is {commands}; --help says what they do")
              for program, commands in (("text", "train or sample or evaluate"),
                                        ("translate", "train or translate or evaluate"))
              for word, what in (("", "a command is missing"), (" two", "there is no command two"))),
        ):
            self.refused(sentence, *shlex.split(command))


def tables_that_differ(output, tables):
    """The tables of which what `attention` prints on the left, ours, is not what was published, to three decimals; a table that
    it prints twice, alone and of a batch, is right if both are."""
    right, wrong = set(), set()
    for name, printed in re.findall(r"^(.+): ours \| published\n((?:.*\|.*\n)+)", output, re.MULTILINE):
        if name in tables:
            ours = [[float(number) for number in line.partition("|")[0].split()] for line in printed.splitlines()]
            (right if ours == tables[name] else wrong).add(name)
    return (set(tables) - right) | wrong


class Attention(Programs):
    def test_every_number_is_the_published_one_to_three_decimals_and_the_gradients_are_right(self):
        output = self.printed("attention")
        tables = json.loads((ROOT / "examples/attention/published.json").read_text())  # of the notebook
        del tables["gradient errors"]
        self.assertEqual(tables_that_differ(output, tables), set())
        tables["self-attention"][1][2] += 0.001
        self.assertEqual(tables_that_differ(output, tables), {"self-attention"})  # the control
        errors = [float(error) for error in re.findall(r"^ +[xyKQVW] +(\S+) +\|", output, re.MULTILINE)]
        self.assertEqual(len(errors), 33)
        self.assertTrue(all(error < 1e-6 for error in errors), errors)


class Errata(Programs):
    @classmethod
    def setUpClass(cls):
        cls.entries = {entry["number"]: entry for entry in json.loads(run("errata", "--json").stdout)}
        cls.computed = {number: "\n".join(entry["computed"]) for number, entry in cls.entries.items()}

    def test_every_entry_of_the_list_is_there_and_has_a_counter_example(self):
        self.assertEqual(list(self.entries), [*map(str, range(1, 14)), "13a", *map(str, range(14, 30))])
        for entry in self.entries.values():
            self.assertTrue(all(entry[key] for key in ("title", "source", "says", "computed", "here", "chapter")), entry)

    def test_the_counter_examples_refute(self):
        self.assertLess(self.number(r"by (\S+) for columns from 0", self.computed["4"]), 1e-12)
        self.assertGreater(self.number(r"by (\S+) for columns from 1", self.computed["4"]), 0.9)
        self.assertGreater(self.number(r"best T_3 misses by (\S+)", self.computed["4"]), 1e-3)
        self.assertGreater(self.number(r"uniform numbers by (\S+)", self.computed["5"]), 0.1)
        self.assertEqual(self.number(r"differ by (\S+)", self.computed["7"]), 0)
        self.assertIn("fails at n = 2, i = 1", self.entries["15"]["computed"][0])
        self.assertIn("is the transpose", self.entries["15"]["computed"][1])
        self.assertEqual(self.number(r"three places: (\S+)", self.computed["20"]), 63045632)
        self.assertGreater(self.number(r"misses by (\S+)", self.computed["27"]), 0.1)

    def test_finite_masks_leak_and_a_hole_does_not(self):
        # How far depends on how products round: the losses were 0 to 0.9 with −10, 0.6 to 1.2 with −1000, the changes from 0.6.
        for mask, leaks in (("not there", False), ("−10 added", True), ("−1000 added", True)):
            self.assertEqual(self.number(mask + r".*?mean loss ([^;\s]+)", self.computed["29"]) < 1.3, leaks, mask)
            change = self.number(mask + r".*?change a score of row 1 by up to (\S+)", self.computed["29"])
            self.assertEqual(change > 0.1, leaks, mask)

    def test_the_text_says_the_same(self):
        text = run("errata").stdout
        for entry in self.entries.values():
            self.assertIn(f"{entry['number']}. {entry['title']}", text)


class Tutorial(Programs):
    PAGE = (ROOT / "docs/tutorial.rst").read_text(encoding="utf-8")

    def test_the_layer_is_what_it_says_and_the_model_learns_and_is_kept(self):
        output = self.printed("tutorial")
        self.assertTrue(os.path.isfile("mine.safetensors"))
        self.assertNotIn("FAILS", output)
        self.assertEqual(output.splitlines()[-1].strip(), "3 7 0  →  3 7 0 7 3 0")

    def test_the_page_shows_the_whole_program_piece_by_piece(self):
        program = (ROOT / "examples/tutorial.cpp").read_text(encoding="utf-8")
        shown = ""
        for begin, end in re.findall(r":start-after: (.*)\n +:end-before: (.*)\n", self.PAGE):
            self.assertEqual(program.count(begin), 1)
            shown += program[program.index(begin) + len(begin):program.index(end)]

        def lines(text):
            return [line.strip() for line in text.splitlines() if line.strip() not in ("", "//") and "// [" not in line]

        self.assertEqual(lines(shown), lines(program[program.index("// [includes]"):]))

    def test_what_is_typed_is_compiled_by_the_command_of_the_page(self):
        command = "   g++ -std=c++20 -O1 -I. mine.cpp -o mine -lopenblas\n"
        self.assertEqual(self.PAGE.count(command), 1)


class BreakTheMask(Programs):
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
        self.assertEqual({said for leaf in self.numbers["verdicts"] for said in leaf["verdict"].values()}, {"holds"})
        controls = [set(control["verdict"].values()) for control in self.numbers["controls"]]
        self.assertTrue(controls and {"holds"} not in controls, controls)

    def test_by_hand_every_row_of_weights_sums_to_1_and_the_loss_falls(self):
        steps = json.loads(run("by_hand").stdout)
        for name in ("A_1", "A_2", "softmax", "learned"):
            for row in steps[name]:
                self.assertAlmostEqual(sum(row), 1, places=12)
        losses = [loss for loss, in steps["losses"]]
        self.assertTrue(len(losses) > 1 and all(a > b for a, b in zip(losses, losses[1:])), losses)

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
        for program, heads in (("reverse", 4), ("seq2seq", 24)):
            output = self.printed(program, "--steps", "30", "--quiet", "--record", "run.json")
            record = record_of(self, "run.json", heads)
            self.assertEqual(len(record["losses"]) * record["every"], 30)
            self.assertEqual((record["right"], record["total"]), success_rate(output))


class Small(Programs):
    def test_the_averages_differ_unless_rows_weigh_alike(self):
        unequal, equal = (float(x) for x in re.findall(r"difference +(\S+)", self.printed("averages")))
        self.assertGreater(unequal, 1e-6)
        self.assertLess(equal, 1e-12)

    def test_the_table_of_positions_has_the_articles_formulas_and_their_numbers(self):
        lines = self.printed("positional_encoding").splitlines()
        self.assertEqual(lines[0].split()[:2], ["sin(1/10000^(0/6))", "cos(1/10000^(0/6))"])
        self.assertEqual(lines[4].split()[0], "0.841471")  # sin(1)

    def test_a_model_of_own_layers_learns(self):
        output = self.printed("own_layer")
        self.assertGreater(self.number(r"^all (\d+) statements hold$", output), 0)
        self.assertGreaterEqual(self.number(r"^(\d+) of 80 reversed\n\Z", output), 76, output)


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
        self.assertAlmostEqual(self.number(r"∂ℓ/∂A =\n.*\n \{.*?, +(\S+)", output),
                               self.number(r"by differences: (\S+)", output), delta=1e-4)

    def test_a_block_without_weights_changes_nothing(self):
        output = self.printed("block")
        X, at_zero = (re.search(rf"{name} =\n((?:[ {{].*\n)+)", output)[1] for name in ("X", "all weights 0"))
        self.assertEqual(X, at_zero)
        self.assertIn("CA.W_Q, 4 × 4", output)

    def test_what_follows_changes_nothing(self):
        self.assertLess(self.number(r"by at most (\S+)", self.printed("model")), 1e-5)

    def test_the_loss_is_the_one_by_hand_and_a_step_makes_it_smaller(self):
        loss, _, by_hand, after = map(float, re.findall(r" is (\d[\d.]*)(?:;|\n|$)", self.printed("loss")))
        self.assertAlmostEqual(loss, by_hand, places=4)
        self.assertLess(after, loss)

    def test_a_small_model_learns_to_reverse(self):
        self.assertGreaterEqual(self.number(r"^(\d+) of 100 reversed\n\Z", self.printed("training")), 95)

    def test_a_text_is_continued_in_three_ways(self):
        lines = self.printed("decoding").splitlines()
        self.assertEqual([re.match(r"(.*): 1 2 3 0 \d", line)[1] for line in lines], ["greedy"] + ["sampled"] * 3 + ["beam of 4"])


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


@contextlib.contextmanager
def training(record, *command, cwd=None):
    """A program that trains and does not end by itself, from when it can be interrupted, which is when its record is begun. At the
    end it is interrupted, and has its `output`."""
    process = subprocess.Popen([*command, "--record", record], stdout=subprocess.PIPE, text=True, cwd=cwd,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    while process.poll() is None and not os.path.exists(f"{record}.part"):
        time.sleep(0.05)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.output = process.communicate(timeout=60)[0]


class Manners(Programs):
    ENDLESS = {"reverse": ["--steps", "1000000000"], "seq2seq": ["--steps", "1000000000", "--batch-size", "1"]}

    def test_ctrl_c_stops_training_still_tests_and_ends_as_a_shell_expects(self):
        for program, options in self.ENDLESS.items():
            code, lines = interrupted(DIRECTORY / program, *options)
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

    def test_output_that_cannot_be_written_is_an_error(self):
        programs = set(PROGRAMS) - set(QUIET) - set(FOR_THE_SITE)
        commands = [[program, "--help"] for program in programs]
        commands += [[program, *self.ENDLESS.get(program, [])] for program in programs - set(FROM_TEXT)]
        reader, writer = os.pipe()
        os.close(reader)
        with open("/dev/full", "w") as full, open(writer, "w") as closed:
            for output, why in ((full, "No space left on device"), (closed, "Broken pipe")):
                for program, *options in commands:
                    result = subprocess.run([DIRECTORY / program, *options], stdout=output, stderr=subprocess.PIPE, text=True,
                                            timeout=60)
                    self.assertEqual((result.returncode, result.stderr),
                                     (1, f"{program}: standard output cannot be written: {why}\n"))
            of_own_layer = subprocess.run([DIRECTORY / "own_layer"], stdout=full, stderr=subprocess.DEVNULL, timeout=60)
            self.assertEqual(of_own_layer.returncode, 1)

    def test_a_pipe_that_is_closed_during_training_is_an_error(self):
        result = bash('"$0" --steps 1000000000 | head -1; echo ${PIPESTATUS[0]}', DIRECTORY / "reverse")
        self.assertEqual((result.stdout, result.stderr), ("Example 0: to reverse 2 of 10 tokens\n1\n",
                                                          "reverse: standard output cannot be written: Broken pipe\n"))

    def test_a_closed_standard_output_is_an_error(self):
        for program, options in (("averages", ""), ("reverse", "--steps 1 --record run.json")):  # nor is it printed there
            result = bash(f'"$0" {options} >&-', DIRECTORY / program)
            self.assertEqual((result.returncode, result.stderr, os.path.exists("run.json")),
                             (1, f"{program}: standard output cannot be written: Bad file descriptor\n", False))

    def test_too_little_memory_is_a_sentence(self):
        # Enough to begin with, and for what OpenBLAS keeps for a thread, but not for the batch. (OpenBLAS waits for ever if the
        # system refuses what it keeps, as for a second thread that multiplies for the first time.)
        result = bash('ulimit -v 1000000; exec "$0" --example 2 --batch-size 10000 --threads 1 --quiet', DIRECTORY / "reverse",
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
            steps = self.steps(model)
            self.assertEqual(len({json.dumps(step) for step in steps}), len(steps))  # equal ones are there once
            objects, lines = list(written_out(steps)), text.splitlines()
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


def is_a_test_case(check):
    """Whether a check "FILE: NAME" is a test case of the proofs."""
    file, _, name = check.partition(": ")
    path = ROOT / file
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    # The pieces of a name that goes over several lines are one.
    names = ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found)) for found in
             re.findall(r'^TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)[)*]', text, re.MULTILINE)]
    return path.parent == ROOT / "proofs" and name in names


def read(name):
    return pathlib.Path(name).read_bytes()


GPL = read("/usr/share/common-licenses/GPL-3")


class FromText(Programs):
    """`translate` and `text`: what they learn is kept in a file, from which they go on."""

    BEFORE = ".*"  # what they learn from
    TRAINING = {"translate": ["train", "--blocks", "2", "--batch-size", "2"], "text": ["train", "--batch-size", "1"]}

    def trained(self, program, *options, steps="1", model="model"):
        """The file of what it has learned in these steps."""
        run(program, *self.TRAINING[program], "--steps", steps, *options, "--model", model)
        return model

    def test_an_interrupted_run_that_is_resumed_ends_as_one_that_was_not(self):
        for program, options in self.TRAINING.items():
            options = [*options, "--threads", "2", "--steps", "120"]
            whole, parts = f"whole {program}", f"parts {program}"
            self.assertEqual(run(program, *options, "--model", whole).returncode, 0)
            code, lines = interrupted(DIRECTORY / program, *options, "--model", parts, "--record", "first")
            self.assertEqual((code, lines[-1]), (-signal.SIGINT, f"{program}: interrupted"))
            self.assertRegex(lines[-2], rf"^saved in {parts} after \d+ s: --resume goes on from here$")
            self.assertNotEqual(read(parts), read(whole))
            resume = [program, "train", "--model", parts, "--resume"]
            self.assertEqual(run(*resume, "--threads", "2", "--record", f"second {program}").returncode, 0)
            first, second = (json.loads(read(name)) for name in ("first", f"second {program}"))
            last = first["about"]["last_step"]
            self.assertEqual([first["about"]["first_step"], second["about"]["first_step"], second["about"]["last_step"]],
                             [1, last + 1, 120])
            self.assertEqual([len(part["losses"]) for part in (first, second)], [last, 120 - last])
            self.assertEqual(read(parts), read(whole))
            self.refused("there is nothing to resume: all 120 steps were done", *resume)
            self.refused("--steps excludes --resume", *resume, "--steps", "200")

    def test_what_a_run_was_like_is_kept(self):
        for program, heads in (("translate", 48), ("text", 16)):
            file = f"{program}.json"
            self.printed(program, *self.TRAINING[program], "--steps", "30", "--model", program, "--record", file)
            record = record_of(self, file, heads)
            self.assertEqual((len(record["losses"]), record["about"]["steps"]), (30, "30"))
            self.assertEqual(record["attention"][-1]["queries"][0], "⟨start⟩")
        record = json.loads(read("translate.json"))
        self.assertEqual(record["total"], 100)
        cross = record["attention"][-1]
        self.assertEqual(" ".join(cross["keys"]), "⟨start⟩ ninety - four thousand five hundred seventy - five ⟨end⟩")
        self.assertEqual(" ".join(cross["queries"]), "⟨start⟩ quatre - vingt - quatorze mille cinq cent soixante - quinze")
        said = run("translate", "translate", "--model", "translate", record["samples"][0]["question"]).stdout
        self.assertEqual(record["samples"][0]["answer"] + "\n", said)

    def test_what_was_learned_is_used(self):
        model, of_text = self.trained("translate", steps="30"), self.trained("text", model="text")  # which stops, too
        by_argument = self.translated(model, b"", "two hundred", "three").stdout
        self.assertEqual(self.translated(model, b"two hundred\nthree\n").stdout, by_argument)
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

    def learned_pairs(self, lines):
        """What is said of a step with these pairs."""
        pathlib.Path("pairs").write_text("".join(lines))
        return run("translate", "train", "--pairs", "pairs", "--steps", "1", "--batch-size", "2", "--model", "model")

    def test_pairs_of_ones_own(self):
        too_long = " ha" * 1000  # for the model, in every third sentence
        lines = [f"word {chr(97 + k % 26)}{k}{' ha' if k % 3 else too_long}\tmot {k}\n" for k in range(150)]
        result = self.learned_pairs([*lines, "no tab\n"])
        self.assertEqual(result.returncode, 0)
        self.assertIn("1 left out: line 151", result.stdout)
        self.assertIn("to learn from, ", result.stdout)
        tested = run("translate", "evaluate", "--model", "model")
        self.assertEqual(tested.returncode, 0, tested.stderr)
        self.assertRegex(tested.stdout, r"\n\d+ of them are too long for the model, which says nothing to them\n$")

    def test_pairs_whose_sentences_are_numbered_are_read_from_columns_2_and_4(self):
        result = self.learned_pairs(f"{1000 + k}\tword {k}\t{2000 + k}\tmot {k}\n" for k in range(150))
        self.assertEqual(result.returncode, 0)
        self.assertIn("150 lines have numbers in columns 1 and 3: their sentences are columns 2 and 4\n", result.stdout)

    def test_what_cannot_be_learned_leaves_no_file(self):
        result = self.learned_pairs(f"{'word ' * 1000}{k}\tmot {k}\n" for k in range(300))
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, r"^translate: no sentence is short enough: .*\n$")
        self.assertFalse(os.path.exists("model"))

    def test_what_is_wrong_is_a_sentence(self):
        pathlib.Path("empty").write_text("")
        pathlib.Path("few").write_text("a\tb\nno tab\n")
        self.trained("text", model="of_text")
        for command, sentence in (
                ("translate train --pairs few",
                 "there are too few pairs to hold some out: 1 would be left to learn from, 0 to look at and 0 to test; "
                 "1 left out: line 2 has no tab"),
                ("translate train --pairs empty", "empty is empty: there are no pairs in it"),
                ("translate train --corpus catalogues --language x/y",
                 '"x/y" is no language: one is named like fr, pt_BR or sr@latin'),
                ("translate train --language de", "--language: it is of --corpus catalogues"),
                ("text train empty", "empty has 0 bytes: a text to learn from needs at least 1280"),
                ("translate translate --model of_text two",
                 'of_text is refused: its "program" is "text", and should be "translate"')):
            self.refused(sentence, *command.split())
        self.assertIn("no translations into xx are in",
                      run("translate", "train", "--corpus", "catalogues", "--language", "xx").stderr)
        for program, options in self.TRAINING.items():
            self.refused("cannot write /nonexistent/m: making /nonexistent/m.lock: No such file or directory", program,
                         *options, "--model", "/nonexistent/m")
            self.refused("cannot write /nonexistent/r: making /nonexistent/r.part: No such file or directory", program,
                         *options, "--model", "none", "--record", "/nonexistent/r")
            self.assertFalse(os.path.exists("none"))

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
        self.assertEqual((of_sentences.returncode, of_sentences.stderr.decode()),
                         (1, "translate: sentence 3 is left out: it has 102 tokens, and the model reads 64 at the most\n"
                             "translate: 1 of 3 left out\n"))

    def test_gzip_and_xz_are_measured_whatever_the_temporary_directory_is(self):
        model = self.trained("text")
        known, held_out = GPL[:len(GPL) // 10 * 9], GPL[len(GPL) // 10 * 9:]
        xz = [len(lzma.compress(text, preset=9)) for text in (held_out, known, GPL)]
        expected = [f"  {name:<40}{8 * count / len(held_out):.2f}" for name, count in (
            ("gzip -9 of these alone", len(gzip.compress(held_out, 9))), ("xz -9 of these alone", xz[0]),
            ("xz -9 that has read what comes before", xz[2] - xz[1]))]
        for directory in ("/nonexistent", "it's '; touch ran; echo '"):
            output = self.printed("text", "evaluate", "--model", model, env={**os.environ, "TMPDIR": directory})
            self.assertEqual(output.splitlines()[-3:], expected)
        self.assertFalse(os.path.exists("ran"))

    def test_the_files_of_a_run_are_different_ones(self):
        pathlib.Path("text").write_bytes(GPL)
        pathlib.Path("link").symlink_to("text")
        for command, sentence in (
                ("text train text --model model --record text", "--record writes text, which is the text"),
                ("text train text --model model --record link", "--record writes link, which is the text"),
                ("text train r.part --model model --record r", "--record writes r.part, which is the text"),
                ("text train --model model --record ./model", "--model writes model, which is --record"),
                ("text train model.part --model model", "--model writes model.part, which is the text"),
                ("text train text --model text", "--model writes text, which is the text"),
                ("translate train --pairs text --model model --record text", "--record writes text, which is --pairs")):
            self.refused(sentence, *command.split(), "--steps", "1", "--batch-size", "1")
        self.assertEqual(read("text"), GPL)
        self.trained("text", "text")
        self.refused("--record writes text, which is the text", *"text train --resume --model model --record text".split())
        self.assertEqual(read("text"), GPL)

    def test_of_two_runs_that_train_one_model_the_second_is_refused_before_it_computes_anything(self):
        for program, options in self.TRAINING.items():
            model = os.path.abspath(program)
            for more in (options, ["train", "--resume"]):
                steps = [] if "--resume" in more else ["--steps", "1000000000"]
                with training(f"{program} {len(more)}", DIRECTORY / program, *more, "--model", model, *steps) as first:
                    self.refused(f"cannot write {model}: another writer has locked {model}.lock: "
                                 "Resource temporarily unavailable", program, *more, "--model", model)
                self.assertIn(": --resume goes on from here\n", first.output)
                self.assertFalse(os.path.exists(f"{model}.lock"))

    def test_data_that_have_changed_are_refused_and_taken_where_that_is_asked_for(self):
        for directory, data in (("there", GPL[:8000]), ("elsewhere", GPL[10000:18000])):
            os.mkdir(directory)
            pathlib.Path(directory, "input").write_bytes(data)
            pairs = "".join(f"word {k}\tmot {k + len(directory)}\n" for k in range(150))
            pathlib.Path(directory, "pairs").write_text(pairs)

        for program, data, what in (("text", ["input"], "input"), ("translate", ["--pairs", "pairs"], "pairs pairs")):
            model = os.path.abspath(program)
            with training(os.path.abspath("record"), DIRECTORY / program, "train", *data, "--batch-size", "1",
                          "--steps", "1000000000", "--model", model, cwd="there"):
                pass
            sentence = (rf"^{program}: {re.escape(model)} is refused: it has learned from other data than {what} has now, \d+ bytes "
                        r"with the hash [0-9a-f]{16} and not \d+ bytes with the hash [0-9a-f]{16}; --other-data takes these\n$")
            for command in (["evaluate"], ["train", "--resume"]):
                refused = run(program, *command, "--model", model, cwd="elsewhere")
                self.assertEqual((refused.returncode, refused.stdout.count("\n")), (2, 0))
                self.assertRegex(refused.stderr, sentence)
            # A file of before, which does not say which data these were: as long, but with other names.
            old = read(model)
            for name in (b'"data_bytes"', b'"data_hash"'):
                self.assertEqual(old.count(name), 1)
                old = old.replace(name, name.replace(b"data", b"was_"))
            pathlib.Path(model + ".old").write_bytes(old)
            for directory, *taken in (("there", model), ("elsewhere", model, "--other-data"), ("elsewhere", model + ".old")):
                self.assertEqual(run(program, "evaluate", "--model", *taken, cwd=directory).returncode, 0)

    def test_what_was_learned_is_not_overwritten(self):
        before = read(self.trained("text"))
        self.refused("model is there already: --resume goes on with it, --model names another file", "text",
                     *self.TRAINING["text"], "--steps", "1", "--model", "model")
        self.assertEqual(read("model"), before)

    def test_a_file_of_other_settings_is_refused(self):
        whole = read(self.trained("text", "--learning-rate", "0.0123456789"))
        for before, after, sentence in (
                (b'"steps":"1"', b'"steps":"x"', '"steps" is "x", and should be an integer from 1 to 1000000000'),
                (b'"seed":"1"', b'"seed":"-"', f'"seed" is "-", and should be an integer from 0 to {2**64 - 1}'),
                (b'"0.0123456789"', b'"-.0123456789"',
                 '"learning_rate" is "-.0123456789", and should be a finite number greater than 0')):
            self.assertEqual(whole.count(before), 1)
            pathlib.Path("model").write_bytes(whole.replace(before, after))
            self.refused(f"model is refused: its {sentence}", "text", "train", "--resume", "--model", "model")


class Control(unittest.TestCase):
    def test_a_last_line_of_another_form_is_seen(self):
        self.assertIsNone(success_rate("success rate: 100 % (336 of 336)"))
        self.assertIsNone(success_rate("success rate: 99.0 % (336 of 336)"))
        self.assertEqual(success_rate("success rate: 100.0 % (336 of 336)"), (336, 336))


if __name__ == "__main__":
    unittest.main()
