#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: python_calls.py ARTIFACT [ROUNDS]

What a call from Python costs over the C API's: rounds of `mxc-run bench` and of
calls take turns, one thread each; the least median of either counts."""
import json
import statistics
import subprocess
import sys
import time

import numpy as np

import mxc
from mxc import _programs

path, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
model = mxc.load(path, threads=1)
arrays = [np.zeros(i.shape, i.dtype) for i in model.entries[0].inputs
          if i.use != "label"]


def from_c() -> float:
    report = json.loads(subprocess.run(
        [_programs.path("mxc-run"), "bench", path, "--threads", "1",
         "--duration", "1", "--json"], capture_output=True, check=True).stdout)
    return report["latency_ns"]["median"]


def from_python() -> float:
    times, end = [], time.perf_counter() + 1
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter_ns()
        model(*arrays)
        times.append(time.perf_counter_ns() - start)
    return statistics.median(times)


from_python()
turns = [(from_c(), from_python()) for _ in range(rounds)]
c, python = (min(column) for column in zip(*turns))
print(f"C {c / 1e3:.2f} us, Python {python / 1e3:.2f} us: "
      f"{(python - c) / 1e3:.2f} us more, {python / c:.4f} times")
