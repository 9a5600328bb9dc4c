# SPDX-License-Identifier: MIT
"""The programs that train, shared among ranks by mpirun. The losses are those of one process. If something is wrong there is one
sentence. The file is whole whatever happens.

usage: programs.py DIRECTORY [unittest's options]
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from machines import Machines, NotAllowed

DIRECTORY = pathlib.Path(sys.argv.pop(1)).resolve()
TRAIN = ("text", "train", "--threads", "1")


def command(ranks, program, *options):
    """One process without mpirun, so many ranks, or one rank on each of two machines."""
    if isinstance(ranks, Machines):
        return ranks.command(DIRECTORY / program, *options)
    started = ["mpirun", "-n", str(ranks)] if ranks else []
    return [*started, DIRECTORY / program, *options]


def losses(output):
    return [float(number) for number in re.findall(r"(?:loss|held out) (\d+\.\d+)", output)]


def said_by(program, result):
    """The lines of a program on standard error; mpirun's own are others."""
    return [line for line in result.stderr.splitlines() if line.startswith(f"{program}: ")]


class Shared(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = pathlib.Path(directory.name)

    def ran(self, ranks, program, *options):
        return subprocess.run(command(ranks, program, *options), capture_output=True, text=True, errors="replace", timeout=300,
                              cwd=self.place)

    def done(self, ranks, program, *options):
        """The output of a program, which must succeed."""
        result = self.ran(ranks, program, *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def assert_near(self, output, alone):
        """The printed losses differ by 1e-3 at most: sums of floats in another order, and what becomes of them."""
        self.assertGreater(len(losses(alone)), 0)
        self.assertEqual(len(losses(output)), len(losses(alone)))
        for here, there in zip(losses(output), losses(alone)):
            self.assertAlmostEqual(here, there, delta=1e-3)

    def lines_until(self, process, text):
        output = ""
        while text not in output:
            line = process.stdout.readline()
            self.assertTrue(line, output)
            output += line
        return output

    def start(self, ranks, program, *options):
        return subprocess.Popen(command(ranks, program, *options), cwd=self.place, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def assert_ends_and_leaves_the_file_whole(self, running, model):
        """It fails within half a minute, and its file can be read. Returns what it says on standard error."""
        begun = time.monotonic()
        error = running.communicate(timeout=60)[1]
        self.assertLess(time.monotonic() - begun, 30)
        self.assertNotEqual(running.returncode, 0)
        self.done(0, "text", "sample", "--model", model)
        return error


class OneMachine(Shared):
    def test_the_losses_are_those_of_one_process(self):
        for program, options in (("reverse", ["--steps", "500"]), ("seq2seq", ["--steps", "60"])):
            alone = self.done(0, program, "--threads", "1", *options)
            for ranks, threads in ((1, "1"), (2, "1"), (2, "2"), (3, "1")):
                with self.subTest(program=program, ranks=ranks, threads=threads):
                    output = self.done(ranks, program, "--threads", threads, *options)
                    self.assert_near(output, alone)
                    self.assertEqual(output.count("success rate"), 1)  # of the first rank alone

    def test_the_same_bits_every_time(self):
        for name in ("a", "b"):
            self.done(2, "translate", "train", "--blocks", "2", "--steps", "20", "--batch-size", "8", "--model", name)
        self.assertEqual((self.place / "a").read_bytes(), (self.place / "b").read_bytes())

    def test_what_is_resumed_by_another_number_of_ranks(self):
        # After the line that is waited for there is eleven times as much to do as before it.
        settings = ["--steps", "300", "--batch-size", "8", "--threads", "1"]
        alone = self.done(0, "text", "train", *settings, "--model", "alone")
        running = self.start(3, "text", "train", *settings, "--model", "shared")
        first = self.lines_until(running, "step 25 ")
        running.send_signal(signal.SIGINT)
        first += running.communicate(timeout=60)[0]
        self.assertNotEqual(running.returncode, 0)
        self.assertIn("--resume goes on from here", first)
        rest = self.done(2, "text", "train", "--resume", "--threads", "1", "--model", "shared")
        self.assertAlmostEqual(losses(rest)[-1], losses(alone)[-1], delta=1e-2)  # held out, at the end
        self.done(0, "text", "sample", "--model", "shared")

    def test_a_rank_that_dies_ends_the_run_and_leaves_the_file_whole(self):
        running = self.start(2, "text", "train", "--batch-size", "8", "--model", "shared")
        self.lines_until(running, "step ")
        ranks = subprocess.check_output(["ps", "-o", "pid=", "--ppid", str(running.pid)], text=True).split()
        self.assertEqual(len(ranks), 2)
        os.kill(int(ranks[1]), signal.SIGKILL)
        self.assertIn("exited on signal 9", self.assert_ends_and_leaves_the_file_whole(running, "shared"))

    def test_what_is_wrong_is_said_once(self):
        for ranks, options, named in ((3, ["--steps", "none"], "none"), (3, ["--ask", "77"], "77"),
                                      (2, ["--steps", "5", "--record", "/nowhere/to/be"], "/nowhere/to/be")):  # the first rank opens it
            with self.subTest(options=options):
                result = self.ran(ranks, "reverse", *options)
                self.assertNotEqual(result.returncode, 0)
                self.assertEqual(len(said_by("reverse", result)), 1, result.stderr)
                self.assertIn(named, said_by("reverse", result)[0])

    def test_another_text_or_seed_of_the_second_is_told(self):
        other = self.place / "other"
        other.write_text(pathlib.Path("/usr/share/common-licenses/GPL-3").read_text().replace("the", "teh"))  # not the default
        for what, options, must in (("batch", [other], "draw it from the same data"),
                                    ("weights", ["--seed", "2"], "start from the same file, or seed")):
            train = [*TRAIN, "--model", what]
            result = self.ran(1, *train, ":", "-n", "1", DIRECTORY / train[0], *train[1:], *options)
            self.assertNotEqual(result.returncode, 0)
            self.assertEqual(said_by("text", result), [f"text: the ranks do not have the same {what}: all of them must {must}"])

    def test_control_other_numbers_are_seen(self):
        other, alone = self.done(2, "reverse", "--steps", "500", "--seed", "2"), self.done(0, "reverse", "--steps", "500")
        with self.assertRaises(AssertionError):
            self.assert_near(other, alone)


class TwoMachines(Shared):
    """One rank on each of two that know each other by a network alone."""

    def machines(self, **options):
        try:
            return self.enterContext(Machines(**options))
        except NotAllowed as reason:
            self.skipTest(str(reason))

    def test_the_bits_are_those_of_two_ranks_of_one_machine(self):
        def trained(ranks, name):
            return self.done(ranks, *TRAIN, "--batch-size", "8", "--steps", "20", "--model", name)

        there = trained(self.machines(rate=1), "there")
        self.assert_near(there, trained(0, "alone"))
        trained(2, "here")
        self.assertEqual((self.place / "here").read_bytes(), (self.place / "there").read_bytes())

    def test_a_machine_that_is_lost_ends_the_run_and_leaves_the_file_whole(self):
        machines = self.machines()
        running = self.start(machines, *TRAIN, "--model", "model")
        self.lines_until(running, "step ")
        machines.kill_second()
        self.assert_ends_and_leaves_the_file_whole(running, "model")


if __name__ == "__main__":
    unittest.main()
