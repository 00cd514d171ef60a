#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a network of models/ one that tests/bench/peers.sh can time: with
random weights, in the form of every peer.

  make_network.py FOLDER_OF_MXC models/googlenet.json 3x224x224
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BENCH = Path(os.environ.get("MXC_SHARED", HERE / "../../../shared")) / "bench"
sys.path.insert(0, str(BENCH))

import make_models  # noqa: E402  (found through the line above)


def without_loss(symbol):
    """The scores that a network for training gives to its loss."""
    if not symbol.name.startswith("softmax"):
        return symbol
    return symbol.get_children()[0]


def main():
    tools, model, shape = sys.argv[1:]
    name = Path(model).stem
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/{name}-symbol.json"
        subprocess.run([f"{tools}/mxc", "convert", model, "-o", path],
                       check=True)
        extents = tuple(int(extent) for extent in shape.split("x"))
        make_models.NETS[name] = make_models.Net(
            lambda mx: without_loss(mx.sym.load(path)), extents)
        output = make_models.make(name, make_models.BENCH / "models")
    print(f"{name}: output {output.shape}, std {output.std():.3g}")


if __name__ == "__main__":
    main()
