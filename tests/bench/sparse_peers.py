#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times training steps of sparse networks in mxc and in MXNet 1.9.1.

  sparse_peers.py FOLDER_OF_MXC [--mxnet PYTHON] [--threads 1,2] [--steps N]
                  [--features F] [--batch B] [--nonzeros K] [--json FILE]

A factorization machine, MXNet's example/sparse/factorization_machine with its
Adam, on drawn samples: both begin with the same parameters and take the same
batches, made before the clock runs; MXNet's step is prepare (the rows that a
batch names are pulled), forward_backward and update. What each batch's loss is
in both, and the largest difference. Then mxc alone: a step over an Embedding of
10^5 rows beside one of 10^7, of equally many named rows. Times are medians in
milliseconds. Needs numpy; PYTHON, which has mxnet 1.9.1, too.
"""
import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

FACTORS = 16
RATES = {"w": 0.001, "v": 0.0001, "w0": 0.1}
DECAYS = {"w": 0.001, "v": 0.00001, "w0": 0.01}


# --- data ---------------------------------------------------------------------


def drawn(features, batch, nonzeros, batches):
    """Columns, each once in a sample, the frequent ones more often; values;
    labels. And the first parameters."""
    rng = np.random.default_rng(7)
    skew = rng.random((batches, batch, 4 * nonzeros)) ** 3
    indices = np.empty((batches, batch, nonzeros), np.int32)
    for b in range(batches):
        for n in range(batch):
            columns = np.unique((skew[b, n] * features).astype(np.int64))
            indices[b, n] = np.sort(rng.permutation(columns)[:nonzeros])
    values = rng.random(indices.shape, np.float32) + np.float32(0.5)
    labels = (rng.random((batches, batch)) < 0.3).astype(np.float32)
    first = {"w": rng.normal(0, 0.01, (features, 1)).astype(np.float32),
             "v": rng.normal(0, 0.001, (features, FACTORS)).astype(np.float32),
             "w0": np.array([0.01], np.float32)}
    return {"indices": indices, "values": values, "labels": labels, **first}


def log_loss(probabilities, labels):
    p = probabilities.reshape(-1).astype(np.float64)
    return float(-np.mean(np.log(np.where(labels > 0, p, 1 - p) + 1e-12)))


# --- mxc ----------------------------------------------------------------------


class BindOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("entry", ctypes.c_char_p),
                ("batch", ctypes.c_int64), ("threads", ctypes.c_int),
                ("profile", ctypes.c_int), ("share", ctypes.c_void_p),
                ("device", ctypes.c_char_p), ("team", ctypes.c_void_p),
                ("stream", ctypes.c_void_p)]


class Mxc:
    """An entry of an artifact, by the C interface."""

    def __init__(self, folder, path, threads, entry="train"):
        self.lib = ctypes.CDLL(str(Path(folder).parent / "runtime" /
                                   "libmxc_runtime.so"))
        self.lib.mxc_status_message.restype = ctypes.c_char_p
        self.lib.mxc_status_message.argtypes = [ctypes.c_void_p]
        model, self.executor = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("model_open", os.fsencode(path), None, ctypes.byref(model))
        options = BindOptions(ctypes.sizeof(BindOptions), entry.encode())
        options.threads = threads
        self.call("bind", model, ctypes.byref(options),
                  ctypes.byref(self.executor))

    def call(self, name, *arguments):
        function = getattr(self.lib, "mxc_" + name)
        function.restype = ctypes.c_void_p
        status = function(*arguments)
        if status:
            sys.exit(self.lib.mxc_status_message(status).decode())

    def give(self, what, name, array):
        array = np.ascontiguousarray(array)
        self.call(what, self.executor, name.encode(),
                  array.ctypes.data_as(ctypes.c_void_p),
                  ctypes.c_size_t(array.nbytes))

    def run(self):
        self.call("run", self.executor)

    def output(self, index, array):
        self.call("read_output", self.executor, ctypes.c_size_t(index),
                  array.ctypes.data_as(ctypes.c_void_p),
                  ctypes.c_size_t(array.nbytes))
        return array


def compiled(folder, network, folder_of_artifact, *options):
    source = Path(folder_of_artifact) / (network["name"] + ".json")
    source.write_text(json.dumps(network))
    artifact = source.with_suffix(".mxa")
    subprocess.run([Path(folder) / "mxc", "compile", source, "-o", artifact,
                    "--entry", "train", *options], check=True,
                   stdout=subprocess.DEVNULL)
    return artifact


def machine(models, features, nonzeros):
    """models/factorization-machine.json of so many features."""
    text = (models / "factorization-machine.json").read_text()
    text = text.replace("1000000", str(features))
    network = json.loads(text)
    network["inputs"]["data"]["nonzeros"] = nonzeros
    return network


def machine_by_mxc(args, data, threads):
    models = Path(__file__).resolve().parents[2] / "models"
    options = ["--batch", str(args.batch), "--init", "xavier",
               "--optimizer", "adam",
               "--opt", "wd=1"]
    for name in RATES:
        options += ["--lr-mult", f"{name}={RATES[name]}",
                    "--wd-mult", f"{name}={DECAYS[name]}"]
    with tempfile.TemporaryDirectory() as folder:
        path = compiled(args.mxc, machine(models, args.features, args.nonzeros),
                        folder, *options)
        step = Mxc(args.mxc, path, threads)
    for name in RATES:
        step.give("write_state", name, data[name])
    step.give("set_input", "learning_rate", np.array([1.0]))
    times, losses = [], []
    probabilities = np.empty((args.batch, 1), np.float32)
    for b in range(args.steps):
        begin = time.perf_counter()
        step.give("set_input", "data_indices", data["indices"][b])
        step.give("set_input", "data_values", data["values"][b])
        step.give("set_input", "softmax_label", data["labels"][b])
        step.run()
        times.append(time.perf_counter() - begin)
        losses.append(log_loss(step.output(0, probabilities),
                               data["labels"][b]))
    return times, losses


def table_by_mxc(args, rows, threads):
    network = {"mxc": 1, "name": f"table{rows}",
               "inputs": {"data": ["N", 32], "label": ["N", 512]},
               "nodes": [
                   {"op": "Embedding", "name": "embed", "input_dim": rows,
                    "output_dim": 16, "sparse_grad": True,
                    "inputs": ["data"]},
                   {"op": "Flatten"},
                   {"op": "LinearRegressionOutput", "name": "out",
                    "inputs": [[], "label"]}]}
    rng = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        path = compiled(args.mxc, network, folder, "--batch", "256",
                        "--init", "xavier", "--optimizer", "adam",
                        "--input-type", "data:int32")
        step = Mxc(args.mxc, path, threads)
    step.give("set_input", "learning_rate", np.array([0.01]))
    step.give("set_input", "label", np.zeros((256, 512), np.float32))
    times = []
    for b in range(args.steps):
        numbers = rng.permutation(100000)[:256 * 32].reshape(256, 32)
        numbers = (numbers * (rows // 100000)).astype(np.int32)
        begin = time.perf_counter()
        step.give("set_input", "data", numbers)
        step.run()
        times.append(time.perf_counter() - begin)
    return times


# --- MXNet --------------------------------------------------------------------


def machine_by_mxnet(path, steps):
    """Runs where mxnet is; writes times and losses as JSON."""
    import mxnet as mx
    data = dict(np.load(path))
    features = data["w"].shape[0]
    batch, nonzeros = data["indices"].shape[1:]
    x = mx.symbol.Variable("data", stype="csr")

    def parameter(name):
        shape = data[name].shape
        stype = "row_sparse" if name != "w0" else None
        return mx.symbol.Variable(name, shape=shape, stype=stype,
                                  lr_mult=RATES[name], wd_mult=DECAYS[name])

    v, w, w0 = parameter("v"), parameter("w"), parameter("w0")
    linear = mx.symbol.broadcast_add(mx.symbol.dot(x, w), w0)
    squares = mx.symbol._internal._square_sum(data=v, axis=1, keepdims=True)
    selves = mx.sym.dot(x.square(), squares)
    pairs = 0.5 * mx.symbol.square(data=mx.symbol.dot(x, v))
    total = mx.symbol.Concat(linear, pairs, dim=1).sum(axis=1, keepdims=True)
    network = mx.symbol.LogisticRegressionOutput(
        data=total + -0.5 * selves, label=mx.symbol.Variable("softmax_label"))
    module = mx.mod.Module(symbol=network)
    module.bind(data_shapes=[("data", (batch, features))],
                label_shapes=[("softmax_label", (batch,))])
    module.init_params(arg_params={n: mx.nd.array(data[n]) for n in RATES})
    module.init_optimizer(optimizer="adam", kvstore=mx.kv.create("local"),
                          optimizer_params={"learning_rate": 1, "wd": 1})
    indptr = np.arange(batch + 1, dtype=np.int64) * nonzeros
    batches = []
    for b in range(steps):
        matrix = mx.nd.sparse.csr_matrix(
            (data["values"][b].ravel(), data["indices"][b].ravel(), indptr),
            shape=(batch, features))
        batches.append(mx.io.DataBatch([matrix],
                                       [mx.nd.array(data["labels"][b])]))
    mx.nd.waitall()

    def named(one):
        return {"w": one.data[0].indices, "v": one.data[0].indices}

    times, losses = [], []
    for b, one in enumerate(batches):
        begin = time.perf_counter()
        module.prepare(one, sparse_row_id_fn=named)
        module.forward_backward(one)
        module.update()
        mx.nd.waitall()
        times.append(time.perf_counter() - begin)
        losses.append(log_loss(module.get_outputs()[0].asnumpy(),
                               data["labels"][b]))
    print(json.dumps({"times": times, "losses": losses,
                      "version": mx.__version__}))


def ask_mxnet(args, path, threads):
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads),
                   "MXNET_CPU_WORKER_NTHREADS": str(threads),
                   "MXNET_STORAGE_FALLBACK_LOG_VERBOSE": "0"}
    run = subprocess.run(
        ["taskset", "-c", f"0-{threads - 1}", args.mxnet, __file__, "--inside",
         path, "--steps", str(args.steps)], check=True, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(run.stdout.splitlines()[-1])


# --- all ------------------------------------------------------------------------


def median(times):
    """Without the first steps, which touch memory for the first time."""
    return 1e3 * statistics.median(times[len(times) // 4:])


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("mxc", nargs="?")
    parser.add_argument("--mxnet")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--features", type=int, default=1000000)
    parser.add_argument("--batch", type=int, default=1000)
    parser.add_argument("--nonzeros", type=int, default=39)
    parser.add_argument("--json")
    parser.add_argument("--inside")
    args = parser.parse_args()
    if args.inside:
        return machine_by_mxnet(args.inside, args.steps)
    data = drawn(args.features, args.batch, args.nonzeros, args.steps)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, **data)
        for threads in map(int, args.threads.split(",")):
            row = {"threads": threads}
            times, losses = machine_by_mxc(args, data, threads)
            row["fm_mxc_ms"] = median(times)
            if args.mxnet:
                theirs = ask_mxnet(args, path, threads)
                row["mxnet"] = theirs["version"]
                row["fm_mxnet_ms"] = median(theirs["times"])
                row["fm_ratio"] = row["fm_mxnet_ms"] / row["fm_mxc_ms"]
                row["loss_difference"] = max(
                    abs(a - b) for a, b in zip(losses, theirs["losses"]))
            small, large = (median(table_by_mxc(args, rows, threads))
                            for rows in (10**5, 10**7))
            row.update(rows_1e5_ms=small, rows_1e7_ms=large,
                       rows_ratio=large / small)
            found.append(row)
            print("  ".join(f"{k} {v:.4g}" if isinstance(v, float)
                            else f"{k} {v}" for k, v in row.items()),
                  flush=True)
    if args.json:
        Path(args.json).write_text(json.dumps(found, indent=1))
    return None


if __name__ == "__main__":
    main()
