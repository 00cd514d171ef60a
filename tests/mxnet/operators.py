#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws operators with random attributes, shapes, types and values, has the real
MXNet 1.9.1 compute them, and writes a folder for `mxc-cases ops`.

usage: mxc ops --json >ops.json
       operators.py ops.json FOLDER [--first SEED] [--count N] [--only OPERATOR,...]

N is the number of seeds for each operator; what MXNet refuses gives no case. The
Python needs mxnet 1.9.1 and numpy 1.23.5 from PyPI. MXNet may crash on what it
is asked: each operator runs in a process of its own, and a seed that ends it
gives no case. What MXNet does not compute alike twice gives none either.
"""
import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor

os.environ.update(
    MXNET_SUBGRAPH_BACKEND="NONE", MXNET_MKLDNN_ENABLED="0",
    MXNET_USE_MKLDNN_RNN="0", MXNET_STORAGE_FALLBACK_LOG_VERBOSE="0",
    OMP_NUM_THREADS="1")


# What draws numbers, and what is not there on a CPU.
LEFT_OUT = ("_random", "_sample", "_shuffle", "_contrib_BatchNormWithReLU", "_npi_normal",
            "_npi_uniform", "_npi_exponential", "_npi_gamma", "_npi_gumbel", "_npi_logistic",
            "_npi_pareto", "_npi_rayleigh", "_npi_weibull", "_npi_powerd", "_npi_bernoulli",
            "_npi_choice", "_npi_multinomial", "_image_random_flip",
            "_image_random_color_jitter",
            "_contrib_fft", "_contrib_ifft", "_contrib_count_sketch")


def is_computed(name):
    return name.startswith("_random_pdf") or not name.startswith(LEFT_OUT)


def ask(name, first, count):
    """What MXNet computes for an operator's seeds, and the seeds that ended it."""
    messages, died, seed, end = [], [], first, first + count
    while seed < end:
        child = subprocess.Popen(
            [sys.executable, __file__, "--child", name, str(seed), str(end)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            text = child.communicate(timeout=30 + count)[0]
        except subprocess.TimeoutExpired:
            child.kill()
            text = child.communicate()[0]
        found = [json.loads(line) for line in text.decode().splitlines()]
        messages += [each for each in found if "row" in each]
        if child.returncode == 0 or not found:
            break
        seed = found[-1]["seed"] + 1
        died.append(found[-1]["seed"])
    return name, messages, died


def add(archive, name, data):
    entry = tarfile.TarInfo("cases/" + name)
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))


def write(options):
    operators = json.load(open(options.operators))["operators"]
    names = options.only.split(",") if options.only else [
        each["name"] for each in operators if is_computed(each["name"])]
    os.makedirs(options.folder, exist_ok=True)
    count = 0
    with tarfile.open(os.path.join(options.folder, "cases.tar.gz"), "w:gz") as archive, \
            open(os.path.join(options.folder, "index.jsonl"), "w") as index, \
            ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, messages, died in pool.map(
                lambda each: ask(each, options.first, options.count), names):
            for message in messages:
                row = message["row"]
                index.write(json.dumps(row) + "\n")
                add(archive, row["name"] + "-symbol.json", message["symbol"].encode())
                add(archive, row["name"] + ".params", bytes.fromhex(message["params"]))
            count += len(messages)
            print(f"{name:44} {len(messages):5} of {options.count}"
                  + (f"  MXNet died at {died}" if died else ""), flush=True)
    print(count, "cases")


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("operators")
    parser.add_argument("folder")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--only")
    return parser.parse_args()


if __name__ == "__main__":
    if sys.argv[1] == "--child":
        from child import run
        run(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        write(arguments())
