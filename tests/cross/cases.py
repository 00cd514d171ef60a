# SPDX-License-Identifier: Apache-2.0
"""Real networks of MXNet by another processor's mxc-run, under its emulator.

    cases.py MXC MXC_RUN TARGET EMULATOR... -- FOLDER...

Each FOLDER has NAME-symbol.json with its parameters, and expected/ (meta.json,
input_*.npy, output_K.npy) of an independent executor. Outputs must differ from those by
at most 1.2e-5 of the largest, as for this processor (tests/cases/model_cases.cc). Ends
with 1 where they differ by more.
"""
import json
import pathlib
import sys
import tempfile

import numpy

from support import run

TOLERANCE = 1.2e-5


def input_of(expected, meta, name):
    plain = expected / f"input_{name}.npy"
    if plain.exists():
        return numpy.load(plain)
    scale, offset = meta["u8_scale_offset"][name]
    return (numpy.load(expected / f"input_{name}.u8.npy").astype("float32")
            * numpy.float32(scale) + numpy.float32(offset))


def worst_difference(folder, mxc, target, emulated, into):
    expected = folder / "expected"
    meta = json.loads((expected / "meta.json").read_text())
    symbol, = folder.glob("*-symbol.json")
    compiled, outputs = into / "net.mxa", into / "outputs"
    shapes, given = [], []
    for name, shape in meta["inputs"].items():
        shapes += ["--input-shape", f"{name}:{'x'.join(map(str, shape))}"]
        file = into / f"{name}.npy"
        numpy.save(file, input_of(expected, meta, name))
        given += ["--input", f"{name}={file}"]
    run(mxc, "compile", symbol, "--target", target, "--golden", "off", "-o", compiled, *shapes)
    outputs.mkdir()
    run(*emulated, "run", compiled, *given, "--output-dir", outputs, "--threads", "1")
    files = sorted(outputs.iterdir())  # output_0.npy, …, in order
    assert len(files) == len(meta["outputs"]) <= 10
    worst = 0.0
    for k, file in enumerate(files):
        theirs = numpy.load(expected / f"output_{k}.npy")
        ours = numpy.load(file).reshape(theirs.shape)
        worst = max(worst, float(numpy.abs(ours - theirs).max() / numpy.abs(theirs).max()))
    return worst


def main():
    at = sys.argv.index("--")
    mxc, mxc_run, target, *emulator = sys.argv[1:at]
    wrong = 0
    for name in sys.argv[at + 1:]:
        folder = pathlib.Path(name)
        with tempfile.TemporaryDirectory() as into:
            worst = worst_difference(folder, mxc, target, [*emulator, mxc_run],
                                     pathlib.Path(into))
        wrong += not worst <= TOLERANCE
        print(f"{folder.name:32} {worst:9.2g}", flush=True)
    sys.exit(wrong > 0)


main()
