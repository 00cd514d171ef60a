#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks of GluonCV's model zoo with random weights, quantized by the real MXNet
1.9.1 as its users do (oneDNN), computed by it, compiled and run by mxc, and
compared.

usage: quantized.py BIN_DIR FOLDER [--type auto|int8|uint8]
           [--calibration naive|entropy|none] [--weights tensor-wise|channel-wise]
           [--mode smart|full] NAME:1x3x64x64…
prints a line for each: what failed, or of each output the greatest difference
between both, and those that quantizing made in MXNet and in mxc, relative to
its greatest number. A number that one of the two rounds up and the other down
is a level of 127 or 255.

The Python needs what networks.py needs. Where a processor has no VNNI, oneDNN
adds pairs of products in 16 bits, which may overflow: there MXNet itself is off.
"""
import argparse
import os
import sys

os.environ["MXNET_MKLDNN_ENABLED"] = "1"

import numpy as np

import networks
import mxnet as mx
from mxnet.contrib.quantization import quantize_model_mkldnn


def quantized(prefix, data, options):
    """Quantizes the saved network in its place; what it computed before and computes now."""
    def outputs(symbol, arguments, states):
        executor = symbol.bind(mx.cpu(), {**arguments, "data": mx.nd.array(data)},
                               aux_states=states, grad_req="null")
        return [each.asnumpy() for each in executor.forward(is_train=False)]

    floats = mx.model.load_checkpoint(prefix, 0)
    samples = mx.io.NDArrayIter(np.concatenate([data] * 4), batch_size=data.shape[0])
    symbol, arguments, states = quantize_model_mkldnn(
        *floats, label_names=(), calib_data=None if options.calibration == "none" else samples,
        calib_mode=options.calibration, num_calib_examples=4 * data.shape[0],
        quantized_dtype=options.type, quantize_granularity=options.weights,
        quantize_mode=options.mode)
    mx.model.save_checkpoint(prefix, 0, symbol, arguments, states)
    return outputs(*floats), outputs(symbol, arguments, states)


def compared(options, name, shape):
    net, data, prefix = networks.saved(options.folder, name, shape)
    data = abs(data)
    networks.exported(net, data, prefix)
    floats, integers = quantized(prefix, data, options)
    files = [path for _, path in networks.compiled(options.binaries, prefix, data)]
    found = [np.load(path) for path in files]
    lines = []
    for wide, want in list(zip(floats, integers))[:8]:
        ours = min((each for each in found if each.shape == want.shape),
                   key=lambda each: networks.difference(want, each))
        lines.append("{:.1e} ({:.1e}, {:.1e})".format(
            networks.difference(want, ours), networks.difference(wide, want),
            networks.difference(wide, ours)))
    return " ".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binaries")
    parser.add_argument("folder")
    parser.add_argument("--type", default="auto")
    parser.add_argument("--calibration", default="naive")
    parser.add_argument("--weights", default="tensor-wise")
    parser.add_argument("--mode", default="smart")
    parser.add_argument("networks", nargs="+")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    networks.for_each(options.networks, lambda name, shape: compared(options, name, shape))


main()
