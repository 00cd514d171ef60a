#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# version: ml_dtypes 0.6.0, onnxruntime 1.32.0, onnx 1.23.2 and NumPy 2.4.6,
#   from PyPI
# expected: a float64 that becomes a bfloat16, a float8 or a float16 is rounded
#   once, to the nearest; NumPy's own float16 is
# seen: ml_dtypes and ONNX Runtime's Cast round to float32 first. What lies just
#   above the middle of two numbers becomes the middle, which goes to the even
#   one, below: 1 + 2^-8 + 2^-40 is 1 in bfloat16, not 1.0078125.
. "$(dirname "${BASH_SOURCE[0]}")/prepare.bash"

install_python ml_dtypes==0.6.0 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
seen=$(run_python <<'END'
import ml_dtypes
import numpy
import onnxruntime
from onnx import TensorProto, checker, helper


def above_middle(digits):  # of 1 and the next number
    return numpy.array([1 + 2.0 ** -(digits + 1) + 2.0 ** -40])


def by_onnxruntime(numbers):
    half = TensorProto.FLOAT16
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node("Cast", ["x"], ["y"], to=half)], "cast",
            [helper.make_tensor_value_info("x", TensorProto.DOUBLE, [1])],
            [helper.make_tensor_value_info("y", half, [1])]),
        opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    checker.check_model(model, full_check=True)
    return onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]).run(
            None, {"x": numbers})[0]


def show(name, narrow):
    print(name, float(narrow[0]))


show("bfloat16", above_middle(7).astype(ml_dtypes.bfloat16))
show("float8", above_middle(3).astype(ml_dtypes.float8_e4m3fn))
show("float16", above_middle(10).astype(numpy.float16))
show("ONNX Runtime's float16", by_onnxruntime(above_middle(10)))
END
)
same "$seen" "bfloat16 1.0
float8 1.0
float16 1.0009765625
ONNX Runtime's float16 1.0"
