# SPDX-License-Identifier: Apache-2.0
"""What the tables of compile times share."""
import argparse
from pathlib import Path


def parser(description, what):
    """Of the arguments TOOLS [WHAT …] [--entry E]."""
    made = argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("tools", type=Path, help="the folder of mxc and mxc-run")
    made.add_argument("names", nargs="*", metavar=what)
    made.add_argument("--entry", default="infer")
    return made


def command(args, network, artifact, *options):
    """Compiles with made-up weights, and every kernel anew."""
    return [args.tools / "mxc", "compile", network, "--init", "xavier",
            "--entry", args.entry, "--object-cache", "off", "-o", artifact,
            *options]


def print_header(*columns):
    print("| " + " | ".join(columns) + " |")
    print("|---" * len(columns) + "|", flush=True)
