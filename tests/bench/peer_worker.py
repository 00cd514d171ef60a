#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A worker for ../shared/bench: compiles a network for the batch it is given
and becomes `mxc-run bench --worker`.

  peer_worker.py infer|train FOLDER_OF_MXC PREFIX INPUT.npy THREADS

tests/bench/peers.sh calls it.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

RATE, MOMENTUM, DECAY = 0.001, 0.9, 1e-4


def extents(shape):
    return "x".join(str(extent) for extent in shape)


def compile_network(tools, symbol, prefix, options):
    # The benchmark kills its workers: files are overwritten, not removed.
    folder = os.path.join(tempfile.gettempdir(), f"mxc-peer-{os.getuid()}")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    artifact = os.path.join(folder, f"{os.path.basename(prefix)}.mxa")
    subprocess.run(
        [f"{tools}/mxc", "compile", symbol, "--params", f"{prefix}-0000.params",
         "-o", artifact, "--quiet", *options], check=True)
    return artifact


def serve(tools, artifact, threads, options):
    os.execv(f"{tools}/mxc-run", ["mxc-run", "bench", artifact, "--worker",
                                  "--threads", threads, *options])


def infer(tools, prefix, data, threads):
    shape = np.load(data, mmap_mode="r").shape
    artifact = compile_network(tools, f"{prefix}-symbol.json", prefix,
                               ["--input-shape", f"data:{extents(shape)}"])
    serve(tools, artifact, threads, ["--input", f"data={data}"])


def train(tools, prefix, data, threads):
    shape = np.load(data, mmap_mode="r").shape
    with open(f"{prefix}-classes.json") as file:
        classes = json.load(file)
    label_shape = (shape[0], *classes["shape"])
    labels = np.random.default_rng(3).integers(0, classes["count"], label_shape)
    artifact = compile_network(
        tools, f"{prefix}-train-symbol.json", prefix,
        ["--entry", "train", "--init", "xavier",
         "--input-shape", f"data:{extents(shape)}",
         "--input-shape", f"softmax_label:{extents(label_shape)}",
         "--opt", f"momentum={MOMENTUM}", "--opt", f"wd={DECAY}",
         "--opt", f"rescale_grad={1 / labels.size!r}"])
    label_file = os.path.join(os.path.dirname(artifact), "labels.npy")
    np.save(label_file, labels.astype(np.float32))
    serve(tools, artifact, threads,
          ["--entry", "train", "--lr", str(RATE), "--input", f"data={data}",
           "--input", f"softmax_label={label_file}"])


if __name__ == "__main__":
    {"infer": infer, "train": train}[sys.argv[1]](*sys.argv[2:])
