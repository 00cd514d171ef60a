# SPDX-License-Identifier: Apache-2.0
"""A training loop over arrays beside the same network's compiled step, MXNet 1.9.1 and
PyTorch, eager and compiled: in each round each runs some steps, one after the other.

    PYTHONPATH=build/runtime/python python3 tests/bench/imperative_loop.py \
        [--threads N] [--rounds N] [--networks mlp:8,mlp:64,…,add:4,gradient:4] \
        [--mxnet PYTHON] [--torch PYTHON] [--c build/tests/mxc_c_ndarray] \
        [--arithmetic] [--no-memory] [--json FILE]

Prints a table: milliseconds of a step, medians of the rounds; how often the loop takes
the compiled step's time, by the clock and by the processor (Python's thread and the
others together), and how often the others take the loop's, medians of the ratios within
a round; whether the parameters are the same bytes after the steps; and the most memory
that is resident in twelve steps once all is compiled, of processes of their own. --json
has the least times, too, and those of Python's thread alone.

`add` and `gradient` are a + b of so many rows and columns, and the recorded a * b, its
sum and the gradient; beside the loop, from C (--c) instead of compiled. With
--arithmetic the loop is a compiled forward and backward and `w -= rate * gradient`. The
others are processes of interpreters that have them (imperative_peer.py).
"""
import argparse
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np

sys.path[:0] = [str(pathlib.Path(__file__).parent),
                str(pathlib.Path(__file__).parents[1] / "python")]
from imperative_networks import NETWORKS, SMALL, batches  # noqa: E402

# Steps of a round, about a tenth of a second.
STEPS = {("mlp", 8): 400, ("mlp", 64): 200, ("lenet", 64): 6, ("resnet20", 32): 2,
         ("lstm", 32): 1, ("add", 4): 20000, ("gradient", 4): 3000}
# With which interpreter, and what imperative_peer.py calls them.
PEERS = [("mxnet", "mxnet"), ("torch", "torch"), ("torch", "torch-compiled")]


# ---- What runs ---------------------------------------------------------------


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


class Here:
    """What steps in this process."""

    def __init__(self, step, data, values=None):
        self._step, self._data, self.values = step, data, values

    def times(self, steps):
        """Milliseconds of a step: by the clock, Python's thread, all threads."""
        from mxc import mxnet
        step = self._step
        wall, own, process = time.perf_counter(), time.thread_time(), time.process_time()
        for given in itertools.islice(itertools.cycle(self._data), steps):
            step(*given)
        mxnet.nd.waitall()
        spent = [time.perf_counter() - wall, time.thread_time() - own,
                 time.process_time() - process]
        return [1e3 * each / steps for each in spent]

    def warm_up(self):
        """Compiles what steps need, and what the last one before somebody waits does."""
        for _ in range(2):
            self.times(6)
        return self


def compiled_of(net, given, options):
    """The step that is compiled whole."""
    from loop_and_step import MOMENTUM, CompiledBlock
    trained = CompiledBlock(net, *given[0], threads=options.threads,
                            momentum=0 if options.arithmetic else MOMENTUM)
    return Here(trained.step, given, trained.values).warm_up()


def loop_of(net, given, options):
    """The loop."""
    import mxc.mxnet as mx
    from loop_and_step import Arithmetic, Loop
    loop = (Arithmetic(net, *given[0]) if options.arithmetic
            else Loop(net, None, given[0][0].shape))
    data = [tuple(mx.nd.array(each) for each in pair) for pair in given]
    return Here(loop.step, data, loop.values).warm_up()


def small_of(name, size):
    """What is no network."""
    import mxc.mxnet as mx
    return Here(SMALL[name](mx, size), [()]).warm_up()


class Peer:
    """A process of another framework's."""

    def __init__(self, python, which, name, batch, threads):
        script = pathlib.Path(__file__).with_name("imperative_peer.py")
        alone = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        self._process = subprocess.Popen(
            [python, script, which, name, str(batch)], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**alone, "OMP_NUM_THREADS": str(threads)})
        self.is_ready = self._process.stdout.readline() == "ready\n"

    def times(self, steps):
        """Milliseconds of a step, by the clock."""
        print(steps, file=self._process.stdin, flush=True)
        return [float(self._process.stdout.readline())]

    def end(self):
        """Ends the process."""
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def started_peers(name, batch, options):
    """Those that run, by name."""
    found = {}
    for interpreter, which in PEERS:
        python = getattr(options, interpreter)
        # The compiler has nothing to do for one operator.
        if python is None or (which == "torch-compiled" and name in SMALL):
            continue
        peer = Peer(python, which, name, batch, options.threads)
        if peer.is_ready:
            found[which] = peer
        else:
            peer.end()
    return found


# ---- Rows --------------------------------------------------------------------


def measured(name, batch, options):
    """A row: by name, what is known of it."""
    steps = STEPS.get((name, batch), 1)
    if name in SMALL:
        ours = {"loop": small_of(name, batch)}
    else:
        net, given = block_of(name, batch)
        ours = {"compiled": compiled_of(net, given, options),
                "loop": loop_of(net, given, options)}
    others = started_peers(name, batch, options)
    times = {which: [] for which in [*ours, *others]}
    for _ in range(options.rounds):
        for which, one in {**ours, **others}.items():
            times[which].append(one.times(steps))
    for peer in others.values():
        peer.end()
    row = {"network": name, "batch": batch, **summary(times)}
    if name in SMALL:
        row["c"] = from_c(name, options)
    else:
        one, other = (each.values() for each in ours.values())
        row["same_bytes"] = all(map(np.array_equal, one, other))
        if options.memory:
            row["mib"] = {which: peak(which, name, batch, options) for which in ours}
    return row


def summary(times):
    """Of the rounds of each."""
    row = {"load": os.getloadavg()[0]}
    for which, rounds in times.items():
        wall = [each[0] for each in rounds]
        row[which] = {"median": statistics.median(wall), "least": min(wall)}
        if len(rounds[0]) > 1:
            row[which]["python_cpu"] = min(each[1] for each in rounds)
            row[which]["cpu"] = min(each[2] for each in rounds)
    ratio = {which: statistics.median(one[0] / loop[0] for one, loop
                                      in zip(rounds, times["loop"]))
             for which, rounds in times.items() if which != "loop"}
    if "compiled" in ratio:
        pairs = list(zip(times["loop"], times["compiled"]))
        del ratio["compiled"]
        row["loop_to_compiled"] = {
            "wall": statistics.median(a[0] / b[0] for a, b in pairs),
            "cpu": statistics.median(a[2] / b[2] for a, b in pairs)}
    return {**row, "to_loop": ratio}


def from_c(name, options):
    """Milliseconds of a step from C, or None."""
    if options.c is None:
        return None
    text = subprocess.run([options.c, "1000000"], text=True, capture_output=True,
                          check=True).stdout.splitlines()
    line = text[1] if name == "add" else text[2]
    return float(line.split()[0]) * 1e-6


# ---- Memory ------------------------------------------------------------------


def peak(which, name, batch, options):
    """The most MiB that are resident in steps of the one or the other."""
    done = subprocess.run(
        [sys.executable, __file__, "--peak", which, "--networks", f"{name}:{batch}",
         "--threads", str(options.threads), *["--arithmetic"] * options.arithmetic],
        text=True, capture_output=True, check=True)
    return float(done.stdout)


def print_peak(name, batch, options):
    """Prints the most MiB that are resident in steps, once all is compiled."""
    net, given = block_of(name, batch)
    make = compiled_of if options.peak == "compiled" else loop_of
    trained = make(net, given, options)
    del net
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    trained.times(12)
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            print(int(line.split()[1]) / 1024)


# ---- The table ---------------------------------------------------------------

COLUMNS = [("", 12), ("compiled", 9), ("loop", 9), ("times", 6), ("cpu", 6), ("bytes", 6),
           ("MXNet", 9), ("times", 6), ("PyTorch", 9), ("times", 6), ("its compiler", 12),
           ("times", 6), ("MiB", 6), ("loop", 6), ("times", 6)]


def print_row(cells):
    """In columns."""
    print(" ".join(cell.rjust(width) for cell, (_, width) in zip(cells, COLUMNS)),
          flush=True)


def number(value, form=".2f"):
    """As text; nothing of None."""
    return "" if value is None else format(value, form)


def cells_of(row):
    """A row's texts."""
    versus = row.get("loop_to_compiled", {})
    cells = [f"{row['network']} {row['batch']}",
             number(row["compiled"]["median"] if "compiled" in row else row["c"], ".5g"),
             number(row["loop"]["median"], ".5g"), number(versus.get("wall"), ".3f"),
             number(versus.get("cpu"), ".3f"),
             {True: "same", False: "OTHER"}.get(row.get("same_bytes"), "")]
    for _, which in PEERS:
        cells += [number(row[which]["median"] if which in row else None, ".5g"),
                  number(row["to_loop"].get(which))]
    if "mib" in row:
        one, other = row["mib"]["compiled"], row["mib"]["loop"]
        cells += [number(one, ".0f"), number(other, ".0f"), number(other / one, ".3f")]
    return cells


def main():
    """Prints the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--networks", default=",".join(f"{n}:{b}" for n, b in STEPS))
    parser.add_argument("--arithmetic", action="store_true")
    parser.add_argument("--no-memory", dest="memory", action="store_false")
    parser.add_argument("--mxnet")
    parser.add_argument("--torch")
    parser.add_argument("--c")
    parser.add_argument("--json")
    parser.add_argument("--peak", choices=["compiled", "loop"])
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    networks = [(name, int(batch)) for name, batch in
                (network.split(":") for network in options.networks.split(","))]
    if options.peak:
        print_peak(*networks[0], options)
        return
    print_row([title for title, _ in COLUMNS])
    rows = []
    for network in networks:
        rows.append(measured(*network, options))
        print_row(cells_of(rows[-1]))
        if options.json:
            pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
