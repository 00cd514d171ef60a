#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: python_calls.py ARTIFACT [PAIRS]

What a call from Python costs over the C API's `mxc_run`: both run in this
process, on one thread, in turns of one call each, so that both meet the same
machine. Medians of the thread's own time, which other processes take no part
of, and of the clock's."""
import ctypes
import pathlib
import statistics
import sys
import time

import numpy as np

import mxc

path, pairs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300


class BindOptions(ctypes.Structure):
    """mxc_bind_options of runtime/mxc.h."""

    _fields_ = [("struct_size", ctypes.c_size_t), ("entry", ctypes.c_char_p),
                ("batch", ctypes.c_int64), ("threads", ctypes.c_int),
                ("profile", ctypes.c_int), ("share", ctypes.c_void_p),
                ("device", ctypes.c_char_p)]


def call_from_c(arrays):
    """A function that runs an executor of the C API on the arrays by name."""
    library = ctypes.CDLL(
        str(pathlib.Path(mxc.__file__).parent / "libmxc_runtime.so.0"))

    def require(function, *arguments):
        function.restype = ctypes.c_void_p
        if function(*arguments) is not None:
            sys.exit(f"{function.__name__} failed")

    model, executor = ctypes.c_void_p(), ctypes.c_void_p()
    require(library.mxc_model_open, path.encode(), None, ctypes.byref(model))
    options = BindOptions(ctypes.sizeof(BindOptions), threads=1)
    require(library.mxc_bind, model, ctypes.byref(options),
            ctypes.byref(executor))
    for name, array in arrays.items():
        require(library.mxc_set_input, executor, name.encode(),
                ctypes.c_void_p(array.ctypes.data),
                ctypes.c_size_t(array.nbytes))
    return lambda: require(library.mxc_run, executor)


def timed(call):
    clock, own = time.perf_counter_ns(), time.thread_time_ns()
    call()
    return time.thread_time_ns() - own, time.perf_counter_ns() - clock


loaded = mxc.load(path, threads=1)
draws = np.random.default_rng(7)
given = {i.name: draws.random(i.shape).astype(i.dtype)
         for i in loaded.entries[0].inputs if i.use != "label"}
from_c = call_from_c(given)


def from_python():
    loaded(**given)


for _ in range(3):
    timed(from_c), timed(from_python)
turns = [(timed(from_c), timed(from_python)) if k % 2 else
         (timed(from_python), timed(from_c))[::-1] for k in range(pairs)]
for place, what in enumerate(("the thread's time", "the clock's")):
    c, python = (statistics.median(turn[side][place] for turn in turns)
                 for side in (0, 1))
    print(f"{what:17}  C {c / 1e3:.2f} us, Python {python / 1e3:.2f} us: "
          f"{(python - c) / 1e3:+.2f} us, {python / c:.4f} times")
