#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles networks and prints README's table of compile times.

  compile_table.py FOLDER_OF_MXC [NETWORK …] [--target T] [--entry E] [-- OPTION …]

NETWORK: a file of models/ without .json, all of them if none is named; options
after -- go to `mxc compile`. Load: the fastest of five times that an artifact
is opened. Weights are made up, and what is written goes when it was measured.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

MODELS = Path(__file__).resolve().parent.parent.parent / "models"
LOADS = 5
SHAPES = {"char_lm": ["--input-shape", "data:32x64"]}


def compile_network(args, name, artifact, options):
    command = [args.tools / "mxc", "compile", MODELS / f"{name}.json",
               "--init", "xavier", "--target", args.target, "--entry",
               args.entry, "--json", "--object-cache", "off", "-o", artifact]
    run = subprocess.run(command + SHAPES.get(name, []) + options, check=True,
                         stdout=subprocess.PIPE)
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
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tools", type=Path, help="the folder of mxc and mxc-run")
    parser.add_argument("networks", nargs="*", metavar="NETWORK")
    parser.add_argument("--target", default="native")
    parser.add_argument("--entry", default="infer")
    args = parser.parse_args(words[:at])
    names = args.networks or sorted(path.stem for path in MODELS.glob("*.json"))
    print("| network | seconds | steps | kernels | code | weights "
          "| peak memory | of the lower bound | load |")
    print("|---" * 9 + "|", flush=True)
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
