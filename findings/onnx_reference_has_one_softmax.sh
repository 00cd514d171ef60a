#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# version: onnx 1.23.2 and onnxruntime 1.32.0 with NumPy 2.4.6, from PyPI
# expected: onnx.reference computes each operator as the operator set of the
#   model defines it, and so is what to test a reader of old models against
# seen: Softmax of operator set 11 sums all elements behind its axis, so that of
#   four equal numbers in two rows each is 0.25, as in ONNX Runtime. The
#   reference gives 0.5, what operator set 13 made of the name.
. "$(dirname "${BASH_SOURCE[0]}")/prepare.bash"

install_python onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
seen=$(run_python <<'END'
import numpy
import onnxruntime
from onnx import TensorProto, checker, helper
from onnx.reference import ReferenceEvaluator

kind = TensorProto.FLOAT
model = helper.make_model(
    helper.make_graph(
        [helper.make_node("Softmax", ["x"], ["y"])], "softmax",
        [helper.make_tensor_value_info("x", kind, [1, 2, 2])],
        [helper.make_tensor_value_info("y", kind, [1, 2, 2])]),
    opset_imports=[helper.make_opsetid("", 11)], ir_version=7)
checker.check_model(model, full_check=True)
x = {"x": numpy.zeros((1, 2, 2), numpy.float32)}
session = onnxruntime.InferenceSession(
    model.SerializeToString(), providers=["CPUExecutionProvider"])
for evaluator in ReferenceEvaluator(model), session:
    print(*evaluator.run(None, x)[0].ravel())
END
)
same "$seen" "0.5 0.5 0.5 0.5
0.25 0.25 0.25 0.25"
