# SPDX-License-Identifier: MIT
"""Draws the inputs of the NumPy notebook's layers at full precision: NumPy's seed 42, in the notebook's order.

usage: make_inputs.py > inputs.json
Needs NumPy; the tests only read what it has written.
"""

import json
import sys

import numpy

numpy.random.seed(42)
T, D, M, h = 2, 4, 3, 3
shapes = [("x", (T, D)), ("K", (D, M)), ("Q", (D, M)), ("V", (D, M)), ("W", (h * M, D)), ("y", (T, D)), ("x_dec", (4, D))]
json.dump({name: numpy.random.randn(*shape).tolist() for name, shape in shapes}, sys.stdout, indent=1)
