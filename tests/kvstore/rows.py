#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: tests/kvstore/rows.py BIN

Training of a table of which each step uses some rows (an Embedding with
sparse_grad), in one process and in jobs: these alone are updated, by sgd with
momentum and by adam as
MXNet's lazy_update has it (MXNET.md 4.2), here in double precision; the others
stay, and what is kept for them. With lazy_update=0 all rows decay.
"""

import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

ROWS, WIDTH, WORDS, BATCH, SAMPLES = 400, 3, 2, 4, 32
LR, WD, MOMENTUM, BETA1, BETA2, EPSILON = 0.1, 0.1, 0.9, 0.9, 0.999, 1e-8
NETWORK = {
    "mxc": 1, "name": "table", "inputs": {"data": ["N", WORDS]},
    "nodes": [
        {"op": "Embedding", "name": "embed", "input_dim": ROWS,
         "output_dim": WIDTH, "sparse_grad": True},
        {"op": "Flatten"},
        {"op": "LinearRegressionOutput", "name": "out"}]}


def single(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def write_safetensors(path, name, table):
    data = b"".join(struct.pack(f"<{WIDTH}f", *row) for row in table)
    header = json.dumps({name: {"dtype": "F32", "shape": [ROWS, WIDTH],
                                "data_offsets": [0, len(data)]}}).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + data)


def read_params(path):
    """The one dense f32 array of a file of MXNet's (MXNET.md 2)."""
    with open(path, "rb") as file:
        content = file.read()
    start = content.index(struct.pack("<I", 0xF993FAC9))
    _, _, rank = struct.unpack_from("<IiI", content, start)
    assert rank == 2
    at = start + 12 + 8 * rank + 12  # dims, context, type
    return [list(struct.unpack_from(f"<{WIDTH}f", content, at + 4 * WIDTH * i))
            for i in range(ROWS)]


def gradient(table, words, labels):
    """The mean over a worker's batch, by row."""
    rows = {}
    for sample, label in zip(words, labels):
        for place, word in enumerate(sample):
            row = rows.setdefault(word, [0.0] * WIDTH)
            for k in range(WIDTH):
                error = table[word][k] - label[place * WIDTH + k]
                row[k] += error / (WORDS * WIDTH) / len(words)
    return rows


def sgd(w, state, g, _):
    m = state.get("m", 0.0)
    state["m"] = MOMENTUM * m - LR * WD * w - LR * g
    return w + state["m"]


def adam(w, state, g, t):
    g += WD * w
    # MXNet has them as float32 where it adds moments up.
    beta1, beta2 = single(BETA1), single(BETA2)
    m = state["m"] = beta1 * state.get("m", 0.0) + (1 - beta1) * g
    v = state["v"] = beta2 * state.get("v", 0.0) + (1 - beta2) * g * g
    rate = LR * math.sqrt(1 - BETA2**t) / (1 - BETA1**t)
    return w - rate * m / (math.sqrt(v) + EPSILON)


def expected(first, words, labels, workers, rule, lazy):
    table = [list(row) for row in first]
    states = [[{} for _ in range(WIDTH)] for _ in range(ROWS)]
    whole = BATCH * workers
    for step in range(SAMPLES // whole):
        total = {}
        for rank in range(workers):
            own = slice(step * whole + rank, (step + 1) * whole, workers)
            own = gradient(table, words[own], labels[own])
            for row, values in own.items():
                sums = total.setdefault(row, [0.0] * WIDTH)
                for k in range(WIDTH):
                    sums[k] += values[k] / workers
        for row in total if lazy else range(ROWS):
            g = total.get(row, [0.0] * WIDTH)
            table[row] = [rule(table[row][k], states[row][k], g[k], step + 1)
                          for k in range(WIDTH)]
    return table


def cases(mxc):
    """Workers, servers, lazy_update, --kvstore."""
    found = [(1, 0, 1, "local"), (1, 0, 0, "local"), (1, 1, 1, "dist_sync"),
             (2, 2, 1, "dist_sync"), (2, 1, 0, "dist_sync")]
    gloo = os.path.join(os.path.dirname(mxc), "../lib/libmxc_gloo.so")
    if os.path.exists(gloo):
        found += [(2, 1, 1, "allreduce"),
                  (2, 1, 1, "allreduce --shard-states"),
                  (2, 1, 0, "allreduce --shard-states"),
                  (2, 1, 1, "allreduce --shard-parameters")]
    return found


def main():
    mxc = os.path.join(os.path.realpath(sys.argv[1]), "mxc")
    random.seed(5)
    # 399.7 is row 399, and so is 500; -3 is row 0.
    draw = [0, 0, 1, 5, 7, 120, 121, 122, 255, 256, 398, 399]
    words = [[random.choice(draw) for _ in range(WORDS)]
             for _ in range(SAMPLES)]
    labels = [[random.uniform(-1, 1) for _ in range(WORDS * WIDTH)]
              for _ in range(SAMPLES)]
    first = [[single(random.uniform(-1, 1)) for _ in range(WIDTH)]
             for _ in range(ROWS)]
    spelled = {0: ["0", "-3"], 399: ["399", "500", "399.7"]}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("net.json", "w") as file:
            json.dump(NETWORK, file)
        with open("data.csv", "w") as file:
            for row in words:
                texts = [random.choice(spelled.get(w, [str(w)])) for w in row]
                file.write(",".join(texts) + "\n")
        with open("label.csv", "w") as file:
            for row in labels:
                file.write(",".join(map(repr, row)) + "\n")
        write_safetensors("first.safetensors", "embed_weight", first)
        for name, options, rule in (
                ("sgd", ["--opt", f"momentum={MOMENTUM}"], sgd),
                ("adam", [], adam)):
            for workers, servers, lazy, store in cases(mxc):
                train = [
                    mxc, "train", "net.json", "--data",
                    "csv:data.csv", "--data-opt", "label_csv=label.csv",
                    "--data-opt", f"label_shape={WORDS * WIDTH}",
                    "--data-opt", "label_name=out_label", "--batch-size",
                    str(BATCH), "--no-shuffle", "--params",
                    "first.safetensors", "--optimizer", name, *options,
                    "--opt", f"wd={WD}", "--opt", f"lazy_update={lazy}",
                    "--lr", str(LR), "--save", "learned", "--overwrite",
                    "--quiet"]
                if servers > 0:
                    train = [mxc, "launch", "--workers", str(workers),
                             "--servers", str(servers), "--", *train,
                             "--kvstore", *store.split(), "--cut-from", "100"]
                subprocess.run(train, check=True)
                learned = read_params("learned-0001.params")
                wanted = expected(first, words, labels, workers, rule, lazy)
                case = (f"{name}, {store}, {workers} workers, {servers} "
                        f"servers, lazy_update={lazy}")
                worst = max(abs(learned[row][k] - wanted[row][k])
                            for row in range(ROWS) for k in range(WIDTH))
                assert worst < 2e-6, f"{case}: off by {worst}"
                used = {word for sample in words for word in sample}
                kept = sum(learned[row] == first[row] for row in range(ROWS))
                assert kept == (ROWS - len(used) if lazy else 0), (case, kept)
                print(f"{case}: off by at most {worst:.1e}, {kept} rows kept")
    print("passed")


if __name__ == "__main__":
    main()
