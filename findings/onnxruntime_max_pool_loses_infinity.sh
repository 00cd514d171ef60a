#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# version: onnxruntime 1.32.0 with onnx 1.23.2 and NumPy 2.4.6, from PyPI
# expected: the largest of elements is one of them
# seen: MaxPool and GlobalMaxPool of elements that are all minus infinity give
#   -3.4028235e+38, the least finite float, which is none of them, while ReduceMax
#   gives minus infinity; as does onnx.reference for all three. Infinite masks
#   that go through a pooling layer are finite behind it.
. "$(dirname "${BASH_SOURCE[0]}")/prepare.bash"

install_python onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
seen=$(run_python <<'END'
import numpy
import onnxruntime
from onnx import TensorProto, checker, helper
from onnx.reference import ReferenceEvaluator

x = {"x": numpy.full((1, 1, 4), -numpy.inf, numpy.float32)}
for name, options in (("MaxPool", {"kernel_shape": [4]}),
                      ("GlobalMaxPool", {}), ("ReduceMax", {})):
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node(name, ["x"], ["y"], **options)], "greatest",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 4])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT,
                                           [1, 1, 1])]),
        opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"])
    print(name, *(evaluator.run(None, x)[0].item()
                  for evaluator in (session, ReferenceEvaluator(model))))
END
)
same "$seen" "MaxPool -3.4028234663852886e+38 -inf
GlobalMaxPool -3.4028234663852886e+38 -inf
ReduceMax -inf -inf"
