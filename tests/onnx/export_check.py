# SPDX-License-Identifier: Apache-2.0
"""Networks out as ONNX and back in, beside onnx's checker and ONNX Runtime.

    export_check.py BIN NETWORK.json... [-- further arguments of mxc convert]

For each network: `mxc convert --init xavier`, onnx.checker, and for batches of 1
and 3 the outputs of ONNX Runtime beside those of mxc, of the network and of the
written file, for the same random inputs: within 1e-5 of the largest.
Needs the packages onnx, onnxruntime and numpy. Ends with 1 where one differs.
"""
import glob
import os
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def inputs_of(session, batch):
    random = numpy.random.RandomState(1)
    values = {}
    for port in session.get_inputs():
        shape = [batch if isinstance(dim, str) else dim for dim in port.shape]
        value = random.uniform(-1, 1, shape)
        values[port.name] = value.astype(numpy.float32)
    return values


def outputs_of(mxc, network, values, folder, extra):
    """By mxc, of the network as a file."""
    artifact = f"{folder}/net.mxa"
    shapes = []
    for name, value in values.items():
        shapes += ["--input-shape", f"{name}:{'x'.join(map(str, value.shape))}"]
        numpy.save(f"{folder}/{name}.npy", value)
    run(mxc, "compile", network, *shapes, *extra, "-o", artifact, "--quiet")
    given = []
    for name in values:
        given += ["--input", f"{name}={folder}/{name}.npy"]
    for old in glob.glob(f"{folder}/output_*.npy"):
        os.remove(old)
    run(mxc, "run", artifact, *given, "--output-dir", folder)
    count = len(glob.glob(f"{folder}/output_*.npy"))
    return [numpy.load(f"{folder}/output_{k}.npy") for k in range(count)]


def check(mxc, network, folder, extra):
    written = f"{folder}/net.onnx"
    run(mxc, "convert", network, "--init", "xavier", "-o", written,
        "--overwrite", *extra)
    onnx.checker.check_model(written, full_check=True)
    session = onnxruntime.InferenceSession(
        written, providers=["CPUExecutionProvider"])
    worst = 0.0
    for batch in (1, 3):
        values = inputs_of(session, batch)
        expected = session.run(None, values)
        for path, more in ((network, ["--init", "xavier"]), (written, [])):
            for got, want in zip(outputs_of(mxc, path, values, folder, more),
                                 expected, strict=True):
                scale = max(1e-30, float(numpy.abs(want).max()))
                worst = max(worst, float(numpy.abs(got - want).max()) / scale)
    return worst


def main():
    arguments = sys.argv[1:]
    extra = []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, extra = arguments[:at], arguments[at + 1:]
    mxc = f"{arguments[0]}/mxc"
    failed = 0
    for network in arguments[1:]:
        name = os.path.basename(network)
        with tempfile.TemporaryDirectory() as folder:
            try:
                worst = check(mxc, network, folder, extra)
            except Exception as error:  # a report, not the end
                print(f"FAIL  {name}: {str(error)[:400]}", flush=True)
                failed += 1
                continue
        good = worst < 1e-5
        failed += not good
        print(f"{'ok' if good else 'FAIL':4}  {name:24} {worst:.1e}",
              flush=True)
    print(f"{len(arguments) - 1 - failed} of {len(arguments) - 1}")
    sys.exit(1 if failed else 0)


main()
