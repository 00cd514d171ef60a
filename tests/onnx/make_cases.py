# SPDX-License-Identifier: Apache-2.0
"""Writes the node tests of the package `onnx` as folders for `mxc-cases onnx`.

    make_cases.py FOLDER

FOLDER/NAME/{model.onnx, test_data_set_0/{input,output}_K.pb}; a sequence's
elements are input_K.E.pb, an optional without a value has no file.
"""
import os
import sys

import numpy
import onnx
from onnx.backend.test.case.node import collect_testcases


def write(folder, stem, value):
    if value is None:
        return
    if isinstance(value, list):
        for index, element in enumerate(value):
            write(folder, f"{stem}.{index}", element)
        return
    if isinstance(value, onnx.TensorProto):
        tensor = value
    else:
        tensor = onnx.numpy_helper.from_array(numpy.asarray(value))
    with open(f"{folder}/{stem}.pb", "wb") as file:
        file.write(tensor.SerializeToString())


def main():
    root = sys.argv[1]
    numpy.random.seed(0)
    written = 0
    for case in collect_testcases(None):
        data = f"{root}/{case.name}/test_data_set_0"
        os.makedirs(data, exist_ok=True)
        with open(f"{root}/{case.name}/model.onnx", "wb") as file:
            file.write(case.model.SerializeToString())
        inputs, outputs = case.data_sets[0]
        for index, value in enumerate(inputs):
            write(data, f"input_{index}", value)
        for index, value in enumerate(outputs):
            write(data, f"output_{index}", value)
        written += 1
    print(f"{written} cases in {root}")


main()
