# SPDX-License-Identifier: MIT
"""How long a step of training takes on 1, 2 and 3 ranks of this machine, and on two machines with a line between them. Beside it
is the time that is expected on paper:

  step(P) = C·⌈S/P⌉/S·max(1, P/cores) + U + 2(P − 1)/P·4N/B

N is the number of weights, and S that of sequences. C is the time of the gradient of the whole batch, and U that of what every
rank does by itself; both are measured on one rank. B is the number of bytes a second that leave a rank. Through memory it is
measured with two ranks (from the sum of the gradients alone, for each model). For a line it is the speed that was set. More ranks
on more cores make a step faster if C > 8N/B. The two machines are made of namespaces
(tests/mpi/machines.py) and share this one's cores; without root they are left out.

usage: ranks.py MPIRUN PROGRAM
"""

import math
import os
import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).parents[1] / "mpi"))
from machines import Machines, NotAllowed

RANKS = (1, 2, 3)
LINES = (10, 1)  # in Gbit/s, each way


def measured(count, command):
    """For each model: weights, sequences, and the milliseconds of a step, of the sum, and of what is not shared."""
    # Ranks that share a core leave it to each other while they wait; others wait faster without.
    shared = {"OMPI_MCA_mpi_yield_when_idle": str(int(count > os.cpu_count()))}
    said = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | shared).stdout
    rows = [line.split("\t") for line in said.splitlines()]
    return {name: (int(weights), int(sequences), *map(float, times)) for name, weights, sequences, *times in rows}


def main():
    mpirun, program = sys.argv[1:]
    os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    of = {("memory", count): measured(count, [mpirun, "-n", str(count), program]) for count in RANKS}
    alone, by_memory = of["memory", 1], of["memory", 2]
    sent_by_a_millisecond = {"memory": {name: 4 * weights / total for name, (weights, _, _, total, _) in by_memory.items()}}
    try:
        for rate in LINES:
            line = f"{rate} Gbit/s"
            with Machines(rate) as machines:
                of[line, 2] = measured(2, machines.command(program, mpirun=mpirun))
            sent_by_a_millisecond[line] = dict.fromkeys(alone, rate * 1e6 / 8)
    except NotAllowed as reason:
        print(f"no two machines: {reason}", file=sys.stderr)
    cores = os.cpu_count()
    print("model", "weights", "ranks", "through", "step ms", "one rank ÷", "sum ms", "GB/s out of a rank", "own ms",
          "expected ms", "step ÷ expected", "pays above GB/s", sep="\t")
    for name, (weights, sequences, one, _, own) in alone.items():
        for (line, count), rows in of.items():
            _, _, step, total, its_own = rows[name]
            sent = 2 * (count - 1) / count * 4 * weights
            expected = ((one - own) * math.ceil(sequences / count) / sequences * max(1, count / cores) + own
                        + sent / sent_by_a_millisecond[line][name])
            print(name, weights, count, line if count > 1 else "–", f"{step:.2f}", f"{one / step:.2f}",
                  f"{total:.2f}" if count > 1 else "0", f"{sent / total / 1e6:.2f}" if count > 1 else "–", f"{its_own:.2f}",
                  f"{expected:.2f}", f"{step / expected:.2f}", f"{8 * weights / (one - own) / 1e6:.2f}", sep="\t")


if __name__ == "__main__":
    main()
