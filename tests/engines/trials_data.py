# SPDX-License-Identifier: Apache-2.0
"""What the searches of trials_optuna.py and trials_ray.py are about, and what
`mxc train` says of a trial's settings."""

import json
import os
import subprocess

import numpy as np

NETWORK = {
    "mxc": 1, "name": "larger", "inputs": {"data": ["N", 3]},
    "nodes": [{"op": "FullyConnected", "name": "fc1", "num_hidden": 8},
              {"op": "Activation", "act_type": "tanh"},
              {"op": "FullyConnected", "name": "fc2", "num_hidden": 2},
              {"op": "SoftmaxOutput", "name": "softmax"}]}
EPOCHS, BATCH = 8, 32


def samples(count, seed):
    points = np.random.default_rng(seed).uniform(-1, 1, (count, 3))
    points = points.astype(np.float32)
    return points, (points[:, 0] * points[:, 1] > 0).astype(np.float32)


LEARNED, HELD = samples(640, 1), samples(160, 2)


def told_by_mxc(rate, epochs=EPOCHS):
    """The validation's accuracy after each epoch."""
    words = []
    for option, (points, labels) in (("--data", LEARNED), ("--val", HELD)):
        np.save(f"x{option}.npy", points)
        np.save(f"y{option}.npy", labels)
        words += [option, f"npy:x{option}.npy,y{option}.npy"]
    with open("net.json", "w") as file:
        json.dump(NETWORK, file)
    done = subprocess.run(
        [os.environ["MXC_PACKAGE"] + "/mxc/bin/mxc", "train", "net.json", *words,
         "--batch-size", str(BATCH), "--epochs", str(epochs), "--lr", repr(rate),
         "--save", "net", "--overwrite", "--json", "--quiet"],
        check=True, capture_output=True, text=True)
    lines = map(json.loads, done.stdout.splitlines())
    return [line["validation"]["metrics"]["accuracy"] for line in lines
            if line.get("epoch_end")]
