#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What --shard-states and --shard-parameters are worth: shards.py BIN [MODEL BATCH]
trains a network of 224x224 pictures by Adam in jobs of two workers of one thread
each, that keep all states, that share them, and that share parameters, too, by
turns, and prints samples a second and the most memory of a worker. Needs NumPy, two
idle cores, and minutes."""
import os
import sys
import tempfile

import numpy

import stages

STEPS = 7  # the first one warms up
ROUNDS = 3


def main():
    binaries = os.path.realpath(sys.argv[1])
    model, batch = (sys.argv[2:] + ["vgg-16", "8"])[:2]
    mxc = os.path.join(binaries, "mxc")
    train = [mxc, "launch", "--workers", "2", "--", mxc, "train",
             os.path.join(stages.MODELS, model + ".json"), "--data",
             "npy:x.npy,y.npy", "--batch-size", batch, "--steps", str(STEPS),
             "--epochs", "9", "--threads", "1", "--optimizer", "adam", "--lr",
             "0.00001", "--json", "--report-every", "1", "--no-shuffle",
             "--kvstore", "allreduce"]
    with tempfile.TemporaryDirectory() as folder:
        random = numpy.random.default_rng(7)
        samples = 4 * int(batch)
        numpy.save(os.path.join(folder, "x.npy"),
                   random.standard_normal((samples, 3, 224, 224),
                                          dtype=numpy.float32))
        numpy.save(os.path.join(folder, "y.npy"),
                   random.integers(0, 1000, samples).astype(numpy.float32))
        kinds = {"all": [], "--shard-states": [], "--shard-parameters": []}
        for _ in range(ROUNDS):
            for option, runs in kinds.items():
                options = [] if option == "all" else [option]
                runs.append(stages.run(train + options, folder))
    rates = {name: max(rate for rate, _ in runs)
             for name, runs in kinds.items()}
    for name, runs in kinds.items():
        most = max(mib for _, found in runs for mib, _ in found)
        print(f"{model} batch {batch}, {name:18s}: {rates[name]:.3f} "
              f"samples/s, {most:.0f} MiB of a worker at most, "
              f"{rates['all'] / rates[name]:.3f} of the time")


if __name__ == "__main__":
    main()
