# SPDX-License-Identifier: Apache-2.0
"""Networks of another processor, under its emulator, beside this machine's.

    values.py MXC MXC_RUN TARGET EMULATOR... -- NETWORK.json...

Each network gets random parameters and is compiled for x86-64-v2 and for TARGET;
MXC_RUN is TARGET's, and EMULATOR what starts it. For the same random inputs outputs
must differ by at most 1e-5 of how far their elements lie apart. Those that have a
loss for drawn digits are trained for three steps as well, after which the same holds
for their parameters. Ends with 1 where they differ.
"""
import os
import re
import sys
import tempfile

import numpy

from support import arrays_of, difference, run

TOLERANCE = 1e-5
TRAINED = {"mlp.json", "lenet.json"}  # on drawn digits


class Comparison:
    def __init__(self, mxc, emulated, target, folder):
        self.mxc, self.emulated, self.target, self.folder = mxc, emulated, target, folder

    def inputs(self, artifact):
        """Of entry infer, drawn: whole numbers where the type has no others."""
        draw = numpy.random.default_rng(1)
        described = run(self.mxc, "inspect", artifact)
        for name, dtype, shape in re.findall(
                r"^  input +(\S+)  (\S+)\[(.*?)\]$", described, re.MULTILINE):
            extents = [int(extent) for extent in shape.split(",")]
            yield name, (draw.standard_normal(extents).astype("float32") if dtype == "f32"
                         else draw.integers(0, 50, extents).astype(
                             {"i32": "int32", "i64": "int64", "u8": "uint8"}[dtype]))

    def outputs(self, network, target, runner):
        name = os.path.join(self.folder, f"{target}.mxa")
        run(self.mxc, "compile", network, "--init", "msra", "--seed", "3", "--target", target,
            "--golden", "off", "-o", name)
        into = os.path.join(self.folder, target)
        given = []
        for tensor, value in self.inputs(name):
            file = os.path.join(self.folder, f"{tensor}.npy")
            numpy.save(file, value)
            given += ["--input", f"{tensor}={file}"]
        os.makedirs(into, exist_ok=True)
        run(*runner, "run", name, *given, "--output-dir", into, "--threads", "1")
        return [numpy.load(os.path.join(into, file)) for file in sorted(os.listdir(into))]

    def trained(self, network, target, runner):
        """The file of parameters after three steps; None: it does not train on digits."""
        name = os.path.join(self.folder, f"{target}-train.mxa")
        run(self.mxc, "compile", network, "--init", "xavier", "--seed", "3", "--target", target,
            "--golden", "off", "--entry", "train", "--batch", "16", "-o", name)
        prefix = os.path.join(self.folder, f"{target}-after")
        run(*runner, "train", name, "--data", "digits", "--steps", "3", "--lr", "0.1", "--seed",
            "7", "--save", prefix)
        return arrays_of(f"{prefix}-0001.params")


def main():
    at = sys.argv.index("--")
    mxc, mxc_run, target, *emulator = sys.argv[1:at]
    wrong = 0
    for network in sys.argv[at + 1:]:
        with tempfile.TemporaryDirectory() as folder:
            both = Comparison(mxc, [*emulator, mxc_run], target, folder)
            here = both.outputs(network, "x86-64-v2", [mxc])
            there = both.outputs(network, target, both.emulated)
            worst = max(map(difference, here, there))
            trains = os.path.basename(network) in TRAINED
            if trains:
                worst = max(worst, *map(
                    difference, both.trained(network, "x86-64-v2", [f"{mxc}-run"]),
                    both.trained(network, target, both.emulated)))
        same = all(a.tobytes() == b.tobytes() for a, b in zip(here, there))
        wrong += not worst <= TOLERANCE
        print(f"{os.path.basename(network):32} {worst:9.2g}"
              f"{'  same bytes' if same else ''}{'  trained' if trains else ''}")
    sys.exit(wrong > 0)


main()
