#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles networks that grow and prints nodes against seconds.

  scaling_table.py FOLDER_OF_MXC [KIND …] [--nodes 1000,10000,100000]
                   [--entry infer]

KIND: chain, ladder, lstm, resnet; all of them if none is named. Seconds are the
processor's, of `mxc compile` as a whole, without an object cache. The slope is
that of a line through the logarithms: 1 where time grows with the network.
"""
import json
import math
import os
import subprocess
import tempfile
from pathlib import Path

import compiling

HIDDEN = 8


def document(inputs, nodes, **more):
    return {"mxc": 1, "inputs": inputs, "nodes": nodes, **more}


def node(op, name, *inputs, **attributes):
    more = {"inputs": list(inputs)} if inputs else {}
    return {"op": op, "name": name, **more, **attributes}


def loss():
    return [node("FullyConnected", "scores", num_hidden=10),
            node("SoftmaxOutput", "softmax")]


def chain(nodes):
    return document({"data": [1, 64]}, [
        node("Activation", f"relu{i}", act_type="relu")
        for i in range(nodes)])


def ladder(nodes):
    elements, last = [], "data"
    for i in range(nodes // 2):
        elements += [node("Activation", f"tanh{i}", last, act_type="tanh"),
                     node("elemwise_add", f"sum{i}", last, f"tanh{i}")]
        last = f"sum{i}"
    return document({"data": [1, 64]}, elements)


def cell(t, h, c):
    """One step in time of an LSTM, as mx.rnn unrolls it."""
    def gate(name, number, kind):
        part = f"gates{t}" if number == 0 else f"gates{t}:{number}"
        return node("Activation", f"{name}{t}", part, act_type=kind)
    data = "data" if t == 0 else f"data:{t}"
    return [
        node("FullyConnected", f"i2h{t}", data.replace("data", "parts"),
             "i2h_weight", "i2h_bias", num_hidden=4 * HIDDEN),
        node("FullyConnected", f"h2h{t}", h, "h2h_weight", "h2h_bias",
             num_hidden=4 * HIDDEN),
        node("elemwise_add", f"both{t}", f"i2h{t}", f"h2h{t}"),
        node("SliceChannel", f"gates{t}", f"both{t}", num_outputs=4),
        gate("in", 0, "sigmoid"), gate("forget", 1, "sigmoid"),
        gate("change", 2, "tanh"), gate("out", 3, "sigmoid"),
        node("elemwise_mul", f"kept{t}", f"forget{t}", c),
        node("elemwise_mul", f"added{t}", f"in{t}", f"change{t}"),
        node("elemwise_add", f"c{t + 1}", f"kept{t}", f"added{t}"),
        node("Activation", f"squashed{t}", f"c{t + 1}", act_type="tanh"),
        node("elemwise_mul", f"h{t + 1}", f"out{t}", f"squashed{t}")]


def lstm(nodes):
    steps = max(2, nodes // 13)
    elements = [node("SliceChannel", "parts", "data", num_outputs=steps,
                     axis=1, squeeze_axis=1)]
    for t in range(steps):
        elements += cell(t, f"h{t}", f"c{t}")
    return document(
        {"data": [1, steps, HIDDEN], "h0": [1, HIDDEN], "c0": [1, HIDDEN]},
        elements + loss(),
        parameters={"i2h_weight": [4 * HIDDEN, HIDDEN],
                    "i2h_bias": [4 * HIDDEN],
                    "h2h_weight": [4 * HIDDEN, HIDDEN],
                    "h2h_bias": [4 * HIDDEN]})


def resnet(nodes):
    def convolution(name):
        return node("Convolution", name, kernel=[3, 3], pad=[1, 1],
                    num_filter=HIDDEN)
    elements, last = [convolution("first")], "first"
    for i in range(nodes // 19):  # of these 12 are parameters
        elements += [
            node("BatchNorm", f"norm{i}a", last),
            node("Activation", f"relu{i}a", act_type="relu"),
            convolution(f"conv{i}a"), node("BatchNorm", f"norm{i}b"),
            node("Activation", f"relu{i}b", act_type="relu"),
            convolution(f"conv{i}b"),
            node("elemwise_add", f"sum{i}", last, f"conv{i}b")]
        last = f"sum{i}"
    return document({"data": [1, 3, 8, 8]}, elements + loss())


KINDS = {"chain": chain, "ladder": ladder, "lstm": lstm, "resnet": resnet}


def seconds(args, network, folder):
    path = Path(folder) / "network.json"
    path.write_text(json.dumps(network))
    before = os.times()
    subprocess.run(compiling.command(args, path, Path(folder) / "network.mxa",
                                     "--quiet"), check=True)
    after = os.times()
    return (after.children_user - before.children_user +
            after.children_system - before.children_system)


def slope(nodes, times):
    x, y = [math.log(n) for n in nodes], [math.log(t) for t in times]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return (sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) /
            sum((a - mean_x) ** 2 for a in x))


def main():
    parser = compiling.parser(__doc__, "KIND")
    parser.add_argument("--nodes", default="1000,4000,16000,100000")
    args = parser.parse_args()
    sizes = [int(n) for n in args.nodes.split(",")]
    compiling.print_header("network", *(f"{n:,}" for n in sizes), "slope")
    with tempfile.TemporaryDirectory() as folder:
        for kind in args.names or KINDS:
            times = []
            print(f"| {kind} |", end="", flush=True)
            for nodes in sizes:
                times.append(seconds(args, KINDS[kind](nodes), folder))
                print(f" {times[-1]:.2f} s |", end="", flush=True)
            print(f" {slope(sizes, times):.2f} |", flush=True)


if __name__ == "__main__":
    main()
