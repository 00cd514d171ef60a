#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What two stages are worth: stages.py BIN [MODEL BATCH] … trains networks of
224x224 pictures by one process of one thread and by a job of two workers of one
thread each, by turns, and prints samples a second, processor seconds a step and
the most memory of a process; also what two such processes, each with the whole
network, train at once, which shows what the cores of a machine take from each
other. Needs NumPy, two idle cores, and minutes. What is compiled for the first
time counts in no figure."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import numpy

STEPS = 4  # the first one warms up
ROUNDS = 3
MODELS = os.path.join(os.path.dirname(os.path.realpath(__file__)),
                      "../../models")


def children(pid):
    """The process and all that it has started, theirs, too."""
    found = [pid]
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children",
                      encoding="ascii") as file:
                for child in file.read().split():
                    found += children(int(child))
    except OSError:
        pass
    return found


def watch(pid, seen):
    """Notes the peaks of processes that train."""
    for process in children(pid):
        try:
            with open(f"/proc/{process}/comm", encoding="ascii") as file:
                if file.read().strip() != "mxc-run":
                    continue
            with open(f"/proc/{process}/environ", "rb") as file:
                if b"MXC_ROLE=server" in file.read():
                    continue
            with open(f"/proc/{process}/status", encoding="ascii") as file:
                peak = [line for line in file if line.startswith("VmHWM")]
            with open(f"/proc/{process}/stat", encoding="ascii") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        spent = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        if peak:  # what it has spent before, it has compiled for
            before = seen.get(process, (0, 0, spent))[2]
            seen[process] = (int(peak[0].split()[1]) / 1024, spent - before,
                             before)


def run(command, folder):
    """Samples a second in the median step, which a first one that finds nothing
    under way does not tell, and of each process its MiB and processor seconds."""
    seen = {}
    with open(os.path.join(folder, "said"), "w+", encoding="utf-8") as said:
        with subprocess.Popen(command, cwd=folder, stdout=said) as job:
            while job.poll() is None:
                watch(job.pid, seen)
                time.sleep(0.05)
        if job.returncode != 0:
            sys.exit(f"{command} failed")
        said.seek(0)
        rates = [json.loads(line)["samples_per_s"] for line in said
                 if line.startswith('{"step"') and "epoch_end" not in line]
    return statistics.median(rates[1:]), sorted(found[:2] for found in seen.values())


def run_twice(command, folder):
    """Samples a second of two processes at once."""
    rates = []

    def train(name):
        own = os.path.join(folder, name)
        os.makedirs(own, exist_ok=True)
        for file in ("x.npy", "y.npy"):
            if not os.path.exists(os.path.join(own, file)):
                os.symlink(os.path.join(folder, file), os.path.join(own, file))
        rates.append(run(command, own)[0])

    threads = [threading.Thread(target=train, args=(name,))
               for name in ("first", "second")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(rates) != len(threads):
        sys.exit("two processes at once failed")
    return sum(rates)


def measure(binaries, model, batch, folder):
    """Prints a network's figures."""
    path = os.path.join(MODELS, model + ".json")
    train = [os.path.join(binaries, "mxc"), "train", path, "--data",
             "npy:x.npy,y.npy", "--batch-size",
             str(batch), "--steps", str(STEPS), "--epochs", "9", "--threads",
             "1", "--opt", "momentum=0.9", "--lr", "0.001", "--json",
             "--report-every", "1", "--no-shuffle"]
    stages = ["--stages", "2", "--micro-batches", "8"]
    launch = [os.path.join(binaries, "mxc"), "launch", "--workers", "2", "--"]
    alone, job, both = [], [], []
    for _ in range(ROUNDS):
        alone.append(run(train, folder))
        job.append(run(launch + train + stages, folder))
        both.append(run_twice(train, folder))
    one, two = max(alone)[0], max(job)[0]
    most = max(mib for _, found in job for mib, _ in found)
    whole = min(found[-1][0] for _, found in alone)
    spent = alone[0][1][-1][1], [seconds for _, seconds in job[0][1]]
    print(f"{model:12s} processor seconds of {STEPS} steps: one process "
          f"{spent[0]:.0f}, stages", *(f"{s:.0f}" for s in spent[1]))
    print(f"{model:12s} batch {batch}: one process {one:.3f} samples/s, "
          f"{whole:.0f} MiB; two stages {two:.3f}, {most:.0f} MiB: "
          f"{two / one:.2f} times, {most / whole:.2f} of the memory; two whole "
          f"ones at once {max(both) / one:.2f} times", flush=True)


def main():
    binaries = os.path.realpath(sys.argv[1])
    words = sys.argv[2:] or ["resnet-50", "32", "vgg-16", "32"]
    with tempfile.TemporaryDirectory() as folder:
        random = numpy.random.default_rng(7)
        samples = 2 * max(int(batch) for batch in words[1::2])
        numpy.save(os.path.join(folder, "x.npy"),
                   random.standard_normal((samples, 3, 224, 224),
                                          dtype=numpy.float32))
        numpy.save(os.path.join(folder, "y.npy"),
                   random.integers(0, 1000, samples).astype(numpy.float32))
        for model, batch in zip(words[0::2], words[1::2]):
            measure(binaries, model, int(batch), folder)


if __name__ == "__main__":
    main()
