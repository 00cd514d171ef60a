# SPDX-License-Identifier: Apache-2.0
"""Networks out as ONNX and back in, beside onnx's checker and ONNX Runtime.

    export_check.py BIN NETWORK.json... [-- further arguments of mxc convert]

Each network gets random parameters with which its values neither vanish nor
explode, statistics of batch norms included, and is written. Then, for batches
of 1 and 3: onnx.checker; the outputs of ONNX Runtime beside those of mxc, of
the network and of the written file, for the same random inputs, within 1e-5 of
the largest; and whether the written file becomes the same contractions, in no
more steps. Needs onnx, onnxruntime and numpy. Ends with 1 where one differs.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime

# What a network's file leaves open, for two runs; inputs that are numbers of
# tokens, and how many there are.
SHAPES = {"char_lm": (["data:1x16"], ["data:3x5"])}
TOKENS = {"char_lm": {"data": 128}}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def stem_of(network):
    return re.sub(r"(-symbol)?\.json$", "", os.path.basename(network))


def drawn(name, shape, gain):
    random = numpy.random.RandomState(sum(name.encode()))
    if name.endswith(("moving_var", "running_var", "gamma")):
        value = random.uniform(0.7, 1.3, shape)
    elif len(shape) > 1:
        gain = gain if len(shape) > 2 else 0.3  # of classes, none is sure
        value = random.normal(0, (gain / numpy.prod(shape[1:])) ** 0.5, shape)
    else:
        value = random.uniform(-0.1, 0.1, shape)
    return value.astype(numpy.float32)


def draw_parameters(mxc, network, shapes, folder):
    """Options that name a file with parameters for the network."""
    path = f"{folder}/parameters.npz"
    run(mxc, "convert", network, "--init", "xavier", *shapes, "-o", path,
        "--overwrite")
    with numpy.load(path) as arrays:
        # He et al. 2015, and less; less still where residuals may add up.
        gain = 1 if any("moving_var" in name for name in arrays) else 1.5
        values = {name: drawn(name, value.shape, gain)
                  for name, value in arrays.items()}
    numpy.savez(path, **values)
    return ["--params", path]


def inputs_of(session, batch, tokens):
    random = numpy.random.RandomState(1)
    values = {}
    for port in session.get_inputs():
        shape = [batch if isinstance(dim, str) else dim for dim in port.shape]
        if port.name in tokens:
            value = random.randint(0, tokens[port.name], shape)
        else:
            value = random.uniform(-1, 1, shape)
        values[port.name] = value.astype(numpy.float32)
    return values


def shapes_of(values):
    options = []
    for name, value in values.items():
        options += ["--input-shape",
                    f"{name}:{'x'.join(map(str, value.shape))}"]
    return options


def outputs_of(mxc, network, values, folder, extra):
    """By mxc, of the network as a file; and the steps of its program."""
    artifact, text = f"{folder}/net.mxa", f"{folder}/net.ir"
    for name, value in values.items():
        numpy.save(f"{folder}/{name}.npy", value)
    options = [*shapes_of(values), *extra, "--quiet"]
    run(mxc, "compile", network, *options, "-o", artifact)
    run(mxc, "compile", network, *options, "--emit", "ir", "-o", text)
    given = []
    for name in values:
        given += ["--input", f"{name}={folder}/{name}.npy"]
    for old in glob.glob(f"{folder}/output_*.npy"):
        os.remove(old)
    run(mxc, "run", artifact, *given, "--output-dir", folder)
    count = len(glob.glob(f"{folder}/output_*.npy"))
    outputs = [numpy.load(f"{folder}/output_{k}.npy") for k in range(count)]
    with open(text) as file:
        lines = file.read().splitlines()
    program = [line for line in lines
               if re.match(r"\s+(contraction|kernel|axes) ", line)]
    steps = sum(bool(re.match(r"\s+step ", line)) for line in lines)
    return outputs, (steps, program)


def difference(got, want):
    if not numpy.isfinite(want).all():
        raise RuntimeError("ONNX Runtime's output is no number")
    scale = max(1e-30, float(numpy.abs(want).max()))
    worst = float(numpy.abs(got - want).max()) / scale
    return worst if numpy.isfinite(worst) else numpy.inf


def check(mxc, network, shapes, batches, folder, extra):
    written = f"{folder}/net.onnx"
    parameters = draw_parameters(mxc, network, shapes, folder)
    run(mxc, "convert", network, *parameters, *shapes, "-o", written,
        "--overwrite", *extra)
    onnx.checker.check_model(written, full_check=True)
    session = onnxruntime.InferenceSession(
        written, providers=["CPUExecutionProvider"])
    worst, same = 0.0, True
    for batch in batches:
        values = inputs_of(session, batch, TOKENS.get(stem_of(network), {}))
        expected = session.run(None, values)
        own, program = outputs_of(mxc, network, values, folder, parameters)
        back, again = outputs_of(mxc, written, values, folder, [])
        for a, b, want in zip(own, back, expected, strict=True):
            worst = max(worst, difference(a, want), difference(b, want))
        same = same and again[0] <= program[0] and again[1] == program[1]
    return worst, same


def main():
    arguments = sys.argv[1:]
    extra = []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, extra = arguments[:at], arguments[at + 1:]
    mxc = f"{arguments[0]}/mxc"
    failed = 0
    for network in arguments[1:]:
        name = stem_of(network)
        worst, same, why = 0.0, True, ""
        try:
            for shapes in SHAPES.get(name, ([],)):
                options = [w for s in shapes for w in ("--input-shape", s)]
                with tempfile.TemporaryDirectory() as folder:
                    one, alike = check(mxc, network, options,
                                       (1,) if shapes else (1, 3), folder,
                                       extra)
                worst, same = max(worst, one), same and alike
        except Exception as error:  # a report, not the end
            why = str(error)[:400]
        good = not why and worst < 1e-5 and same
        failed += not good
        print(f"{'ok' if good else 'FAIL':4}  {name:24} " + (
            why or f"{worst:.1e}{'' if same else ', another program'}"),
              flush=True)
    print(f"{len(arguments) - 1 - failed} of {len(arguments) - 1}")
    sys.exit(1 if failed else 0)


main()
