# SPDX-License-Identifier: MIT
"""Two simulated machines. Each has its own name and network (a namespace of Linux), and the line between them is the only
connection. They share processors, and files, as machines do with a network's file system.
"""

import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile

ADDRESSES = ("10.77.0.1", "10.77.0.2")

# What is larger Open MPI asks for before it is sent, and what it asks waits behind what is on its way (docs/threads.rst).
SENT_UNASKED = ("--mca", "btl_tcp_eager_limit", "4194304")


class NotAllowed(Exception):
    """Who is not root, or has no kernel for it, cannot have them."""


class Machines:
    """Used with `with`. On the line no more than so many Gbit/s go each way, if a number is given."""

    def __init__(self, rate=None):
        self.names = [f"tlm-{os.getpid()}-{k}" for k in (1, 2)]
        self.rate = rate
        self.directory = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)

    def __enter__(self):
        self.require_namespaces()
        try:
            for name in self.names:
                done("ip", "netns", "add", name)
            first, second = self.names
            done("ip", "-n", first, "link", "add", "name", "line", "type", "veth", "peer", "name", "line", "netns", second)
            for name, address in zip(self.names, ADDRESSES):
                done("ip", "-n", name, "address", "add", f"{address}/24", "dev", "line")
                for device in ("lo", "line"):
                    done("ip", "-n", name, "link", "set", device, "up")
                if self.rate:  # and a thousandth of a second's at once
                    done("ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", "line", "root", "tbf",
                         "rate", f"{self.rate}gbit", "burst", f"{self.rate * 125}kb", "latency", "100ms")
        except BaseException:
            self.__exit__()
            raise
        # What mpirun starts on the second machine it starts by a program like ssh: HOST COMMAND.
        self.shell = pathlib.Path(self.directory.name, "shell")
        on_second = " ".join(f"'{word}'" for word in self.on(1))
        self.shell.write_text(f'#!/bin/sh\nshift\nexec {on_second} sh -c "$*"\n')
        self.shell.chmod(0o700)
        return self

    def __exit__(self, *_):
        for name in self.names:
            kill(name)
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)
        self.directory.cleanup()

    def command(self, *command, mpirun="mpirun"):
        """A rank on each, started from the first. (Bound to processors, both would share the first one.)"""
        return [*self.on(0), mpirun, "--mca", "plm_rsh_agent", str(self.shell),
                "--mca", "orte_tmpdir_base", self.directory.name, *SENT_UNASKED, "--bind-to", "none", "--host",
                ",".join(ADDRESSES), "-n", str(len(ADDRESSES)), *command]

    def kill_second(self):
        """No process of it is left."""
        kill(self.names[1])

    def on(self, machine):
        """How a command on a machine begins, which has its name there."""
        name = self.names[machine]
        return ["ip", "netns", "exec", name, "unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', name]

    @staticmethod
    def require_namespaces():
        """Throws NotAllowed where there are none to be had. What fails later is wrong."""
        try:
            result = subprocess.run(["unshare", "--net", "--mount", "--uts", "ip", "link"], capture_output=True, text=True)
        except FileNotFoundError as error:
            raise NotAllowed(str(error)) from None
        if result.returncode != 0:
            raise NotAllowed(result.stderr.strip())


def done(*command):
    subprocess.run(command, check=True)


def kill(name):
    """All processes of a namespace, if there is one."""
    for process in subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True).stdout.split():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(process), signal.SIGKILL)
