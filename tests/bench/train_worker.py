#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A worker for ../shared/bench/train_peers.py: compiles the network's training
step and becomes `mxc-run bench --worker`.

  train_peers.py lenet --worker "python3 tests/bench/train_worker.py \\
      build/bin {prefix} {input} {threads}"
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

RATE, MOMENTUM, DECAY = 0.001, 0.9, 1e-4


def main():
    tools, prefix, data, threads = sys.argv[1:5]
    shape = np.load(data, mmap_mode="r").shape
    with open(f"{prefix}-classes.json") as file:
        classes = json.load(file)
    label_shape = (shape[0], *classes["shape"])
    labels = np.random.default_rng(3).integers(0, classes["count"], label_shape)
    folder = tempfile.mkdtemp(prefix="mxc-train-worker-")
    label_file = os.path.join(folder, "labels.npy")
    artifact = os.path.join(folder, "net.mxa")
    np.save(label_file, labels.astype(np.float32))
    extents = "x".join(str(extent) for extent in shape)
    subprocess.run(
        [f"{tools}/mxc", "compile", f"{prefix}-train-symbol.json",
         "--params", f"{prefix}-0000.params", "--init", "xavier",
         "--input-shape", f"data:{extents}", "--entry", "train",
         "--input-shape", "softmax_label:"
         + "x".join(str(extent) for extent in label_shape),
         "--opt", f"momentum={MOMENTUM}", "--opt", f"wd={DECAY}",
         "--opt", f"rescale_grad={1 / labels.size!r}",
         "-o", artifact, "--quiet"], check=True)
    os.execv(f"{tools}/mxc-run",
             ["mxc-run", "bench", artifact, "--worker", "--entry", "train",
              "--threads", threads, "--lr", str(RATE),
              "--input", f"data={data}",
              "--input", f"softmax_label={label_file}"])


if __name__ == "__main__":
    main()
