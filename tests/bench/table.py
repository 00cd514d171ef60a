#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures mxc beside other libraries and prints MEASURED.md's tables of speed.

  table.py FOLDER_OF_MXC [infer] [batch] [train] [--peers "ort openvino ncnn"]
           [--rounds N] [--networks "vgg16 lenet"]

infer: batch 1 at 1 and 2 threads; batch: batch 32 at 2; train: a step of
batch 32 at 1 and 2. All three if none is named: a quarter of an hour. Models and
peers: $MXC_SHARED/bench/README.md; googlenet comes from make_network.py.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import namedtuple
from pathlib import Path

HERE = Path(__file__).resolve().parent
OURS = "external"  # what compare.py calls the worker that it is given
# Further off, relatively, somebody computes something else.
TOLERANCE = 1e-4       # outputs
LOSS_TOLERANCE = 1e-3  # losses of the first steps

Suite = namedtuple("Suite", "mode networks batch threads peers")
INFERENCE = ("resnet50_v1 resnet18_v1 vgg16 mobilenet1.0 mobilenetv2_1.0 "
             "inceptionv3 googlenet densenet121 squeezenet1.1 alexnet lenet "
             "mlp").split()
SUITES = {
    "infer": Suite("infer", INFERENCE, 1, (1, 2),
                   "ort openvino ncnn torch-jit mxnet"),
    "batch": Suite("infer", "resnet50_v1 vgg16 mobilenet1.0".split(), 32, (2,),
                   "ort openvino torch-jit mxnet"),
    "train": Suite("train", "resnet18_v1 resnet20_cifar lenet mlp "
                   "lstm_lm".split(), 32, (1, 2),
                   "mxnet torch-eager torch-compile"),
}


def measure(suite, args):
    """One row for each network, number of threads and peer."""
    peers = args.peers or suite.peers
    networks = [name for name in suite.networks
                if not args.networks or name in args.networks.split()]
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.jsonl"
        for network in networks:
            subprocess.run(
                [HERE / "peers.sh", args.tools, suite.mode, network, "--",
                 "--batch", str(suite.batch), "--threads",
                 ",".join(map(str, suite.threads)), "--rounds",
                 str(args.rounds), "--peers", peers, "--json", rows],
                check=True, stdout=sys.stderr)
        return [json.loads(line) for line in rows.open()] if networks else []


def milliseconds(value):
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}"


def right(row, losses):
    """Whether it computes what the others do."""
    if "max_rel" in row:
        return row["max_rel"] < TOLERANCE
    wanted = losses[row["net"]]
    return all(abs(loss - other) <= LOSS_TOLERANCE * abs(other)
               for loss, other in zip(row["losses"], wanted, strict=True))


def print_table(rows, peers):
    """5th percentiles; whoever has another result than the first peer is left
    empty."""
    losses = {row["net"]: row["losses"] for row in rows
              if row["peer"] == peers[0] and "losses" in row}
    print("| network | threads | mxc |", " | ".join(peers),
          "| best peer / mxc |")
    print("|---" * (len(peers) + 4) + "|")
    cells = {}
    for row in rows:
        if not right(row, losses):
            print(f"{row['net']}: {row['peer']} computes something else",
                  file=sys.stderr)
        else:
            cells.setdefault((row["net"], row["threads"]),
                             {})[row["peer"]] = row["p5_ms"]
    previous = None
    for (network, threads), times in cells.items():
        ours = times.pop(OURS, None)
        if ours is None or not times:
            continue
        columns = [milliseconds(times[peer]) if peer in times else ""
                   for peer in peers]
        print(f"| {network if network != previous else ''} | {threads} |",
              milliseconds(ours), "|", " | ".join(columns),
              f"| {min(times.values()) / ours:.2f} |")
        previous = network


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tools", help="the folder of mxc and mxc-run")
    parser.add_argument("suites", nargs="*", metavar="SUITE")
    parser.add_argument("--peers", help="names, separated by blanks")
    parser.add_argument("--networks", help="only these of a suite")
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    args.tools = os.path.abspath(args.tools)
    for name in args.suites or SUITES:
        if name not in SUITES:
            parser.error(f"'{name}' is none of {', '.join(SUITES)}")
        suite = SUITES[name]
        rows = measure(suite, args)
        print(f"\n{name}: batch {suite.batch}, milliseconds, "
              "5th percentile\n")
        print_table(rows, (args.peers or suite.peers).split())
        sys.stdout.flush()


if __name__ == "__main__":
    main()
