#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles networks and prints MEASURED.md's table of compile times.

  compile_table.py FOLDER_OF_MXC [NETWORK …] [--target T] [--entry E] [-- OPTION …]

NETWORK: a file of models/ without .json, all of them if none is named; options
after -- go to `mxc compile`. Load: the fastest of five times that an artifact
is opened. Weights are made up, and what is written goes when it was measured.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import compiling

MODELS = Path(__file__).resolve().parent.parent.parent / "models"
LOADS = 5
SHAPES = {"char_lm": ["--input-shape", "data:32x64"]}


def compile_network(args, name, artifact, options):
    command = compiling.command(
        args, MODELS / f"{name}.json", artifact, "--target", args.target,
        "--json", *SHAPES.get(name, []), *options)
    run = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return json.loads(run.stdout)


def load_seconds(args, artifact):
    command = [args.tools / "mxc", "bench", artifact, "--worker"]
    times = []
    for _ in range(LOADS):
        run = subprocess.run(command, check=True, stdout=subprocess.PIPE,
                             stdin=subprocess.DEVNULL)
        times.append(json.loads(run.stdout.split(b"ready ", 1)[1])["load_s"])
    return min(times)


def main():
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    parser = compiling.parser(__doc__, "NETWORK")
    parser.add_argument("--target", default="native")
    args = parser.parse_args(words[:at])
    names = args.names or sorted(path.stem for path in MODELS.glob("*.json"))
    compiling.print_header("network", "seconds", "steps", "kernels", "code",
                           "weights", "peak memory", "of the lower bound",
                           "load")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            artifact = Path(folder) / "network.mxa"
            report = compile_network(args, name, artifact, words[at + 1:])
            mib = 1 << 20
            print(f"| {name} | {report['seconds']:.1f} | {report['steps']} "
                  f"| {report['kernels']} "
                  f"| {report['code_bytes'] / mib:.2f} MiB "
                  f"| {report['weight_bytes'] / mib:.1f} MiB "
                  f"| {report['peak_bytes'] / mib:.1f} MiB "
                  f"| {report['peak_bytes'] / report['lower_bound_bytes']:.3f} "
                  f"| {1e3 * load_seconds(args, artifact):.1f} ms |",
                  flush=True)


if __name__ == "__main__":
    main()
