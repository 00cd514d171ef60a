# SPDX-License-Identifier: Apache-2.0
"""A training loop over arrays beside the same network's compiled step, in turns, in
one process: milliseconds of a step, the best and the median of rounds, their ratio,
the processor time of Python's thread and of the others, and whether the parameters
are the same bytes after the steps.

    PYTHONPATH=build/runtime/python python3 tests/bench/imperative_loop.py [threads \
        [MXNET_PYTHON TORCH_PYTHON]]

With interpreters that have MXNet 1.9.1 and PyTorch, their loops beside it
(imperative_peer.py).
"""
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np

import mxc.mxnet as mx
from mxc.mxnet import gluon

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))
from loop_and_step import Compiled, Loop, batches, dense  # noqa: E402

ROUNDS = 15


def mlp():
    """models/mlp.json."""
    return dense([128, 64, 10])


def lenet():
    """models/lenet.json."""
    nodes, net = [], gluon.nn.HybridSequential()
    for name, filters in [("conv1", 20), ("conv2", 50)]:
        nodes += [{"op": "Convolution", "name": name, "kernel": [5, 5],
                   "num_filter": filters},
                  {"op": "Activation", "act_type": "tanh"},
                  {"op": "Pooling", "pool_type": "max", "kernel": [2, 2],
                   "stride": [2, 2]}]
        net.add(gluon.nn.Conv2D(filters, 5, activation="tanh"),
                gluon.nn.MaxPool2D(2, 2))
    nodes += [{"op": "Flatten"},
              {"op": "FullyConnected", "name": "fc1", "num_hidden": 500},
              {"op": "Activation", "act_type": "tanh"},
              {"op": "FullyConnected", "name": "fc2", "num_hidden": 10}]
    net.add(gluon.nn.Dense(500, activation="tanh"), gluon.nn.Dense(10))
    return nodes, net, ["conv1", "conv2", "fc1", "fc2"]


def times(loop, data, steps):
    """Milliseconds of a step: by the clock, Python's thread, all threads."""
    wall, own, process = time.perf_counter(), time.thread_time(), time.process_time()
    for step in range(steps):
        loop.step(*data[step % len(data)])
    mx.nd.waitall()
    spent = [time.perf_counter() - wall, time.thread_time() - own,
             time.process_time() - process]
    return [1e3 * each / steps for each in spent]


def peers(pythons, *row):
    """The same loop of MXNet and PyTorch, as text."""
    script = pathlib.Path(__file__).with_name("imperative_peer.py")
    alone = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    text = ""
    for framework, python in zip(("mxnet", "torch"), pythons):
        found = subprocess.run([python, script, framework, *map(str, row)], text=True,
                               capture_output=True, check=False,
                               env={**alone, "OMP_NUM_THREADS": "1"})
        text += f"  {framework} {found.stdout.strip() or 'failed'}"
    return text


def compare(name, make, batch, steps, threads, pythons):
    """Prints a row."""
    nodes, net, layers = make()
    shape = (batch, 1, 28, 28)
    given = batches(shape, 4)
    arrays = [tuple(mx.nd.array(each) for each in pair) for pair in given]
    compiled = Compiled(nodes, layers, shape, threads=threads)
    loop = Loop(net, compiled.values(), shape)
    rows = [[], []]
    for _ in range(ROUNDS):
        for row, (which, data) in zip(rows, [(compiled, given), (loop, arrays)]):
            row.append(times(which, data, steps))
    same = all(np.array_equal(a, b) for a, b in zip(compiled.values(), loop.values()))
    text = ""
    for what, row in zip(("compiled", "loop"), rows):
        wall, own, process = ([each[i] for each in row] for i in range(3))
        text += (f"  {what} {min(wall):.3f} (median {statistics.median(wall):.3f}; "
                 f"cpu {min(own):.3f} + {min(p - o for p, o in zip(process, own)):.3f})")
    ratio = statistics.median(b[2] / a[2] for a, b in zip(*rows))
    print(f"{name} {batch}:{text}  cpu ratio {ratio:.2f}  "
          f"{'same bytes' if same else 'OTHER BYTES'}"
          f"{peers(pythons, name, batch, steps)}", flush=True)


def main():
    """Prints the table."""
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    pythons = sys.argv[2:4]
    compare("mlp", mlp, 8, 100, threads, pythons)
    compare("mlp", mlp, 64, 50, threads, pythons)
    compare("lenet", lenet, 64, 3, threads, pythons)


if __name__ == "__main__":
    main()
