#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# version: openvino 2026.4.1, onnxruntime 1.32.0 and onnx 1.23.2, from PyPI
# expected: ReduceSum of integers is exact where the sum fits the type
# seen: not above the digits of a float. OpenVINO's sum of the int32
#   16777217 and 2 is 16777218: it adds in float32. ONNX Runtime's sum of the
#   int64 9007199254740993 and 2 is 9007199254740994: it adds in float64.
. "$(dirname "${BASH_SOURCE[0]}")/prepare.bash"

install_python onnx==1.23.2 onnxruntime==1.32.0 openvino==2026.4.1 numpy==2.4.6
seen=$(run_python <<'END'
import numpy
import onnxruntime
import openvino
from onnx import checker, helper, numpy_helper


def sum_of(numbers):
    kind = helper.np_dtype_to_tensor_dtype(numbers.dtype)
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node("ReduceSum", ["x", "axes"], ["y"])], "sum",
            [helper.make_tensor_value_info("x", kind, numbers.shape)],
            [helper.make_tensor_value_info("y", kind, [1])],
            [numpy_helper.from_array(numpy.array([0]), "axes")]),
        opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    checker.check_model(model, full_check=True)
    return model.SerializeToString()


def by_openvino(numbers):
    core = openvino.Core()
    model = core.compile_model(core.read_model(sum_of(numbers), b""), "CPU")
    return model({"x": numbers})[0][0]


def by_onnxruntime(numbers):
    return onnxruntime.InferenceSession(
        sum_of(numbers), providers=["CPUExecutionProvider"]).run(
            None, {"x": numbers})[0][0]


narrow = numpy.array([2 ** 24 + 1, 2], numpy.int32)
wide = numpy.array([2 ** 53 + 1, 2], numpy.int64)
print("int32", narrow.sum(), by_openvino(narrow), by_onnxruntime(narrow))
print("int64", wide.sum(), by_onnxruntime(wide))
END
)
same "$seen" "int32 16777219 16777218 16777219
int64 9007199254740995 9007199254740994"
