# SPDX-License-Identifier: MIT
"""What a step of training takes on 1, 2 and 3 ranks of this machine, beside what is expected of it on paper:

  step(P) = C·⌈S/P⌉/S·max(1, P/cores) + U + 2(P − 1)/P·4N/B

with N weights, S sequences, C for the gradient of the whole batch, U for what every rank does for itself, both measured on
one rank, and B bytes a second out of a rank, measured on two (from the sum of the gradients alone, of each model). More ranks
on more cores pay where C > 8N/B.

usage: ranks.py FILE.tsv MPIRUN PROGRAM
"""

import math
import os
import subprocess
import sys

from table import Table

RANKS = (1, 2, 3)


def measured(mpirun, program, count):
    """For each model: weights, sequences, and the milliseconds of a step, of the sum, and of what is not shared."""
    # Ranks that share a core leave it to each other while they wait; others wait faster without.
    shared = {"OMPI_MCA_mpi_yield_when_idle": str(int(count > os.cpu_count()))}
    said = subprocess.run([mpirun, "-n", str(count), program], check=True, capture_output=True, text=True,
                          env=os.environ | shared).stdout
    rows = [line.split("\t") for line in said.splitlines()]
    return {name: (int(weights), int(sequences), *map(float, times)) for name, weights, sequences, *times in rows}


def main():
    path, mpirun, program = sys.argv[1:]
    os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    of = {count: measured(mpirun, program, count) for count in RANKS}
    cores = os.cpu_count()
    results = Table(path, ["model", "weights", "ranks", "step ms", "one rank ÷", "sum ms", "GB/s out of a rank", "own ms",
                           "expected ms", "step ÷ expected", "pays above GB/s"])
    for name, (weights, sequences, alone, _, own) in of[1].items():
        sent = {count: 2 * (count - 1) / count * 4 * weights for count in RANKS}
        a_second = sent[2] / of[2][name][3]  # bytes a millisecond
        for count in RANKS:
            step, total = of[count][name][2:4]
            expected = ((alone - own) * math.ceil(sequences / count) / sequences * max(1, count / cores) + own
                        + sent[count] / a_second)
            results.row(name, weights, count, f"{step:.2f}", f"{alone / step:.2f}", f"{total:.2f}" if count > 1 else "0",
                        f"{sent[count] / total / 1e6:.2f}" if count > 1 else "–", f"{of[count][name][4]:.2f}",
                        f"{expected:.2f}", f"{step / expected:.2f}", f"{8 * weights / (alone - own) / 1e6:.2f}")
    results.write()


if __name__ == "__main__":
    main()
