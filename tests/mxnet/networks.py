#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks of GluonCV's model zoo with random weights: saved as their users save
them, computed by the real MXNet 1.9.1, compiled and run by mxc, and compared.

usage: networks.py BIN_DIR FOLDER NAME:1x3x64x64…
prints a line for each: what failed, or the greatest difference of each output,
relative to its greatest number. What chooses among equal scores may choose
others.

usage: networks.py --training FOLDER NAME:2x3x64x64…
writes a folder for `mxc-cases ops --engine compiled` with a training pass of
each, in double: outputs, next states, and the gradients of all parameters for
random ones of the outputs. A network with Dropout draws other numbers.

The Python needs mxnet 1.9.1, gluoncv 0.10.5 and numpy 1.23.5 from PyPI. Weights
are uniform, states of BatchNorm positive, so that a mistake shows.
"""
import builtins
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time

for _name, _value in (("MXNET_SUBGRAPH_BACKEND", "NONE"), ("MXNET_MKLDNN_ENABLED", "0"),
                      ("MXNET_USE_MKLDNN_RNN", "0"),
                      ("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0")):
    os.environ.setdefault(_name, _value)

import numpy as np

for _name in ("bool", "object", "int", "float"):  # which MXNet 1.9.1 asks numpy for
    if _name not in np.__dict__:
        setattr(np, _name, getattr(builtins, _name))
import mxnet as mx
from gluoncv.model_zoo import get_model

from child import compute
from operators import add


def network(name):
    try:
        net = get_model(name, pretrained=False, pretrained_base=False)
    except TypeError:
        net = get_model(name, pretrained=False)
    for weights in (mx.init.Xavier(magnitude=2), mx.init.Uniform(0.05)):
        try:
            net.initialize(weights, force_reinit=True)
            return net
        except ValueError:  # a vector, for which Xavier has no number
            pass
    return net


def stir(net, random):
    """Numbers that are neither 0 nor 1 in scales, shifts and states."""
    for parameter in net.collect_params().values():
        if parameter.shape is None or 0 in parameter.shape:
            continue
        for suffix, low, high in (("gamma", 0.5, 1.5), ("beta", -0.3, 0.3), ("bias", -0.3, 0.3),
                                  ("running_mean", -0.3, 0.3), ("running_var", 0.5, 1.5)):
            if parameter.name.endswith(suffix):
                parameter.set_data(mx.nd.array(
                    random.uniform(low, high, size=parameter.shape)))


def exported(net, data, prefix):
    net.hybridize()
    with mx.autograd.predict_mode():
        net(mx.nd.array(data))
        net.export(prefix, epoch=0)
    symbol, arguments, states = mx.model.load_checkpoint(prefix, 0)
    executor = symbol.bind(mx.cpu(), {**arguments, "data": mx.nd.array(data)}, aux_states=states,
                           grad_req="null")
    return [each.asnumpy() for each in executor.forward(is_train=False)]


def compiled(binaries, prefix, data):
    def run(*command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=400)
        if done.returncode:
            raise RuntimeError((done.stderr or done.stdout).strip()[-300:])

    np.save(prefix + ".npy", data)
    shape = "x".join(map(str, data.shape))
    run(binaries + "/mxc", "compile", prefix + "-symbol.json", "--input-shape", "data:" + shape,
        "-o", prefix + ".mxa", "--quiet")
    os.makedirs(prefix + ".out", exist_ok=True)
    run(binaries + "/mxc-run", "run", prefix + ".mxa", "--input", f"data={prefix}.npy",
        "--output-dir", prefix + ".out")
    return sorted((os.path.getmtime(f.path), f.path) for f in os.scandir(prefix + ".out"))


def difference(want, found):
    if want.shape != found.shape:
        return f"shape {found.shape}, expected {want.shape}"
    scale = max(1e-30, float(np.abs(want).max()))
    return float(np.abs(want - found).max()) / scale


def saved(folder, name, shape):
    """The network and data for it, and where it was saved."""
    random = np.random.RandomState(1)
    data = random.uniform(-1, 1, size=shape).astype("float32")
    prefix = os.path.join(folder, name)
    net = network(name)
    net(mx.nd.array(data))  # shapes that wait for data
    stir(net, random)
    return net, data, prefix


def compare(binaries, folder, name, shape):
    net, data, prefix = saved(folder, name, shape)
    expected = exported(net, data, prefix)
    begun = time.time()
    files = [path for _, path in compiled(binaries, prefix, data)]
    if len(files) != len(expected):
        raise RuntimeError(f"{len(files)} outputs, expected {len(expected)}")
    found = [np.load(path) for path in files]
    worst = [min((difference(want, each) for each in found if each.shape == want.shape),
                 default=f"no output of shape {want.shape}") for want in expected]
    return worst, time.time() - begun


def training_case(archive, index, folder, name, shape):
    net, data, prefix = saved(folder, name, shape)
    exported(net, data, prefix)
    symbol, arguments, states = mx.model.load_checkpoint(prefix, 0)
    wide = {k: v.asnumpy().astype("float64") for k, v in {**arguments, **states}.items()}
    wide["data"] = data.astype("float64")
    values = {k: wide[k] for k in symbol.list_arguments()}
    auxiliary = {k: wide[k] for k in symbol.list_auxiliary_states()}
    found = compute(symbol, values, auxiliary, np.random.RandomState(2), True, list(values))
    greatest = max(float(np.abs(v).max()) for k, v in found.items() if k.startswith("grad:"))
    arrays = {**{"arg:" + k: v for k, v in values.items()},
              **{"aux:" + k: v for k, v in auxiliary.items()}, **found}
    with tempfile.NamedTemporaryFile(suffix=".params") as file:
        mx.nd.save(file.name, {k: mx.nd.array(v, dtype=v.dtype) for k, v in arrays.items()})
        add(archive, name + ".params", file.read())
    add(archive, name + "-symbol.json", symbol.tojson(remove_amp_cast=False).encode())
    index.write(json.dumps({
        "name": name, "op": "Graph", "is_train": True, "grad_req": "write",
        "grads": sorted(values), "head_grads": True,
        "inputs": {k: list(v.shape) for k, v in values.items()},
        "rtol": 1e-5, "atol": 1e-7 * greatest, "note": ""}) + "\n")
    return f"{len(values)} gradients, at most {greatest:.3g}"


def compared(binaries, folder, name, shape):
    worst, seconds = compare(binaries, folder, name, shape)
    text = " ".join(w if isinstance(w, str) else f"{w:.1e}" for w in worst[:8])
    return f"{text}  {seconds:.0f} s"


def for_each(networks, what):
    for each in networks:
        name, shape = each.split(":")
        try:
            text = what(name, tuple(map(int, shape.split("x"))))
        except Exception as error:
            lines = [line for line in str(error).splitlines() if line.strip()] or [repr(error)]
            text = f"FAILED {type(error).__name__}: {' / '.join(lines[:3])[:300]}"
        print(f"{name:44} {text}", flush=True)


def main():
    first, folder, networks = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(folder, exist_ok=True)
    if first != "--training":
        return for_each(networks, lambda name, shape: compared(first, folder, name, shape))
    with tarfile.open(os.path.join(folder, "cases.tar.gz"), "w:gz", compresslevel=1) as archive, \
            open(os.path.join(folder, "index.jsonl"), "w") as index:
        for_each(networks,
                 lambda name, shape: training_case(archive, index, folder, name, shape))


if __name__ == "__main__":
    main()
