# SPDX-License-Identifier: Apache-2.0
"""A training loop over arrays beside the same network's compiled step, in turns, in
one process: milliseconds of a step, the best and the median of rounds, the median of
their ratios in a round, the processor time of Python's thread and of the others, and
whether the parameters are the same bytes after the steps. Then, each in a process of
its own, the most memory that is resident while they train.

    PYTHONPATH=build/runtime/python python3 tests/bench/imperative_loop.py \
        [--threads N] [--rounds N] [--networks mlp:8,mlp:64,…] [--arithmetic] \
        [--mxnet PYTHON] [--torch PYTHON]

With --arithmetic the loop is a compiled forward and backward and `w -= rate * gradient`.
With interpreters that have MXNet 1.9.1 and PyTorch, their loops beside it
(imperative_peer.py).
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np

sys.path[:0] = [str(pathlib.Path(__file__).parent),
                str(pathlib.Path(__file__).parents[1] / "python")]
from imperative_networks import NETWORKS, batches  # noqa: E402

# Steps of a round, about a tenth of a second.
STEPS = {("mlp", 8): 400, ("mlp", 64): 200, ("lenet", 64): 6, ("resnet20", 32): 2,
         ("lstm", 32): 1}


def block_of(name, batch):
    """The block with drawn values, and batches."""
    import mxc.mxnet as mx
    from mxc.mxnet import gluon
    mx.random.seed(1)
    net = NETWORKS[name][0](gluon)
    given = batches(name, batch, 4, np.random.RandomState(0))
    net.initialize(mx.init.Xavier())
    net(mx.nd.array(given[0][0]))
    return net, given


def compiled_of(net, given, options):
    """The step that is compiled whole."""
    from loop_and_step import MOMENTUM, CompiledBlock
    return CompiledBlock(net, *given[0], threads=options.threads,
                         momentum=0 if options.arithmetic else MOMENTUM)


def loop_of(net, given, options):
    """The loop, and its batches."""
    import mxc.mxnet as mx
    from loop_and_step import Arithmetic, Loop
    loop = (Arithmetic(net, *given[0]) if options.arithmetic
            else Loop(net, None, given[0][0].shape))
    return loop, [tuple(mx.nd.array(each) for each in pair) for pair in given]


def times(loop, data, steps):
    """Milliseconds of a step: by the clock, Python's thread, all threads."""
    from mxc import mxnet
    wall, own, process = time.perf_counter(), time.thread_time(), time.process_time()
    for step in range(steps):
        loop.step(*data[step % len(data)])
    mxnet.nd.waitall()
    spent = [time.perf_counter() - wall, time.thread_time() - own,
             time.process_time() - process]
    return [1e3 * each / steps for each in spent]


def warm_up(trained, data):
    """Compiles what steps need, and what the last one before somebody waits does."""
    for _ in range(2):
        times(trained, data, 6)


def peers(options, *row):
    """The same loop of MXNet and PyTorch, as text."""
    script = pathlib.Path(__file__).with_name("imperative_peer.py")
    alone = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    text = ""
    for framework in ("mxnet", "torch"):
        python = getattr(options, framework)
        if python is None:
            continue
        found = subprocess.run([python, script, framework, *map(str, row)], text=True,
                               capture_output=True, check=False,
                               env={**alone, "OMP_NUM_THREADS": str(options.threads)})
        text += f"  {framework} {found.stdout.strip() or 'failed'}"
    return text


def compare(name, batch, options):
    """Prints a row."""
    net, given = block_of(name, batch)
    steps = STEPS.get((name, batch), 1)
    compiled = compiled_of(net, given, options)
    loop, arrays = loop_of(net, given, options)
    warm_up(compiled, given)
    warm_up(loop, arrays)
    rows = [[], []]
    for _ in range(options.rounds):
        for row, (which, data) in zip(rows, [(compiled, given), (loop, arrays)]):
            row.append(times(which, data, steps))
    same = all(np.array_equal(a, b) for a, b in zip(compiled.values(), loop.values()))
    text = ""
    for what, row in zip(("compiled", "loop"), rows):
        wall, own, process = ([each[i] for each in row] for i in range(3))
        text += (f"  {what} {min(wall):.3f} (median {statistics.median(wall):.3f}; "
                 f"cpu {min(own):.3f} + {min(p - o for p, o in zip(process, own)):.3f})")
    wall, cpu = (statistics.median(b[i] / a[i] for a, b in zip(*rows)) for i in (0, 2))
    print(f"{name} {batch}:{text}  ratio {wall:.3f}, of cpu {cpu:.2f}  "
          f"{'same bytes' if same else 'OTHER BYTES'}", end="", flush=True)
    print(f"{peers(options, name, batch, steps)}{peaks(name, batch, options)}", flush=True)


# ---- Memory ------------------------------------------------------------------


def peaks(name, batch, options):
    """The most memory of the compiled step and of the loop, as text."""
    found = []
    for which in ("compiled", "loop"):
        done = subprocess.run(
            [sys.executable, __file__, "--peak", which, "--networks", f"{name}:{batch}",
             "--threads", str(options.threads), *["--arithmetic"] * options.arithmetic],
            text=True, capture_output=True, check=True)
        found.append(float(done.stdout))
    return (f"  resident {found[0]:.1f} MiB, loop {found[1]:.1f} "
            f"({found[1] / found[0]:.3f})")


def print_peak(name, batch, options):
    """Prints the most MiB that are resident in steps, once all is compiled."""
    net, given = block_of(name, batch)
    if options.peak == "compiled":
        trained, data = compiled_of(net, given, options), given
    else:
        trained, data = loop_of(net, given, options)
    del net
    warm_up(trained, data)
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    times(trained, data, 12)
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            print(int(line.split()[1]) / 1024)


def main():
    """Prints the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--networks", default=",".join(f"{n}:{b}" for n, b in STEPS))
    parser.add_argument("--arithmetic", action="store_true")
    parser.add_argument("--mxnet")
    parser.add_argument("--torch")
    parser.add_argument("--peak", choices=["compiled", "loop"])
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    for network in options.networks.split(","):
        name, batch = network.split(":")
        if options.peak:
            print_peak(name, int(batch), options)
        else:
            compare(name, int(batch), options)


if __name__ == "__main__":
    main()
