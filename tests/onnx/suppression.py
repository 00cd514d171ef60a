#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: suppression.py BIN FOLDER: NonMaxSuppression of random boxes by mxc,
beside ONNX Runtime; by hand, with onnx, onnxruntime and numpy."""
import os
import subprocess
import sys

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

TRIALS = 30


def model(boxes, scores, most, overlap, least, centre):
    known = {"most": numpy.array([most], numpy.int64),
             "overlap": numpy.array([overlap], numpy.float32)}
    if least is not None:
        known["least"] = numpy.array([least], numpy.float32)
    node = helper.make_node("NonMaxSuppression", ["boxes", "scores", *known],
                            ["kept"], center_point_box=int(centre))
    graph = helper.make_graph(
        [node], "suppression",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape)
         for name, array in (("boxes", boxes), ("scores", scores))],
        [helper.make_tensor_value_info("kept", TensorProto.INT64, None)],
        [numpy_helper.from_array(value, name) for name, value in known.items()])
    return helper.make_model(graph, ir_version=8,
                             opset_imports=[helper.make_opsetid("", 13)])


def compiled(folder, network, **inputs):
    path = os.path.join(folder, "net.onnx")
    onnx.save(network, path)
    words = []
    for name, array in inputs.items():
        numpy.save(os.path.join(folder, name + ".npy"), array)
        words += ["--input", f"{name}={folder}/{name}.npy"]
    mxc = os.path.join(sys.argv[1], "mxc")
    subprocess.run([mxc, "compile", path, "-o", folder + "/net.mxa", "--quiet"],
                   check=True)
    subprocess.run([mxc, "run", folder + "/net.mxa", *words, "--output",
                    f"kept={folder}/kept.npy"], check=True,
                   stdout=subprocess.DEVNULL)
    return numpy.load(folder + "/kept.npy")


def main():
    random = numpy.random.default_rng(1)
    for trial in range(TRIALS):
        samples, classes, count = (int(random.integers(1, most))
                                   for most in (3, 4, 40))
        low = random.uniform(0, 1, (samples, count, 2))
        size = random.uniform(0.1, 0.6, (samples, count, 2))
        centre = trial % 3 == 2
        corners = [low, size if centre else low + size]
        if trial % 3 == 1:
            corners.reverse()  # whichever of them comes first
        boxes = numpy.concatenate(corners, 2).astype(numpy.float32)
        scores = random.uniform(0, 1, (samples, classes, count)).astype(
            numpy.float32)
        network = model(boxes, scores, int(random.integers(1, 8)),
                        random.uniform(0.1, 0.8), 0.3 if trial % 2 else None,
                        centre)
        session = onnxruntime.InferenceSession(network.SerializeToString())
        given = {"boxes": boxes, "scores": scores}
        expected = session.run(None, given)[0]
        found = compiled(sys.argv[2], network, **given)
        if not numpy.array_equal(found, expected):
            sys.exit(f"trial {trial}: {found.tolist()}, expected "
                     f"{expected.tolist()}")
    print(f"{TRIALS} equal ONNX Runtime {onnxruntime.__version__}'s")


if __name__ == "__main__":
    main()
