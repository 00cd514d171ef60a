# SPDX-License-Identifier: Apache-2.0
"""GPT-2 small for ONNX Runtime, a token at a time, for decode_peers.py.

Written as onnxruntime-genai writes decoders: GroupQueryAttention, whose keys and
values stay in one buffer. int8 is the faster of quantize_dynamic's (data in 8 bits,
too) and MatMulNBits of 8 bits; int4 MatMulNBits in groups of 32, as accurate as
products of 8-bit data are (accuracy_level 4), which is its fastest.
"""
import logging

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LAYERS, HEADS, SIZE, TOKENS = 12, 12, 768, 50257
GROUP = 32
FLOAT = TensorProto.FLOAT


class Graph:
    def __init__(self, weights):
        self.nodes, self.initializers = [], []
        self.weights = weights

    def constant(self, name, value):
        self.initializers.append(
            numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def weight(self, name):
        return self.constant(name, self.weights[f"transformer.{name}"])

    def add(self, op, inputs, name, outputs=None, **attributes):
        self.nodes.append(helper.make_node(op, inputs, outputs or [name], name,
                                           **attributes))
        return name

    def norm(self, x, name):
        return self.add("LayerNormalization", [x, self.weight(f"{name}.weight"),
                                               self.weight(f"{name}.bias")],
                        f"{name}.out", epsilon=1e-5)

    def dense(self, x, name):
        product = self.add("MatMul", [x, self.weight(f"{name}.weight")],
                           f"{name}.product")
        return self.add("Add", [product, self.weight(f"{name}.bias")],
                        f"{name}.out")

    def attention(self, x, i):
        return self.add(
            "GroupQueryAttention",
            [self.dense(x, f"h.{i}.attn.c_attn"), "", "", f"key{i}",
             f"value{i}", "before", "all"], f"h.{i}.attn.out",
            [f"h.{i}.attn.out", f"key{i}.new", f"value{i}.new"],
            domain="com.microsoft", num_heads=HEADS, kv_num_heads=HEADS)

    def layer(self, x, i):
        y = self.attention(self.norm(x, f"h.{i}.ln_1"), i)
        x = self.add("Add", [x, self.dense(y, f"h.{i}.attn.c_proj")], f"x{i}")
        y = self.dense(self.norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc")
        y = self.add("Gelu", [y], f"h.{i}.mlp.gelu", approximate="tanh")
        return self.add("Add", [x, self.dense(y, f"h.{i}.mlp.c_proj")],
                        f"y{i}")


def model(weights):
    g = Graph(weights)
    x = g.add("Add", [g.add("Gather", [g.weight("wte.weight"), "token"], "wte"),
                      g.add("Gather", [g.weight("wpe.weight"), "position"],
                            "wpe")], "x")
    for i in range(LAYERS):
        x = g.layer(x, i)
    head = g.constant("head", weights["transformer.wte.weight"].T)
    g.add("MatMul", [g.norm(x, "ln_f"), head], "logits")
    cache = [1, HEADS, "L", SIZE // HEADS]
    caches = [f"{name}{i}" for i in range(LAYERS) for name in ("key", "value")]
    inputs = [("token", TensorProto.INT64, [1, 1]),
              ("position", TensorProto.INT64, [1, 1]),
              ("before", TensorProto.INT32, [1, 1]),
              ("all", TensorProto.INT32, [1]),
              *((name, FLOAT, cache) for name in caches)]
    outputs = [("logits", FLOAT, [1, 1, TOKENS]),
               *((f"{name}.new", FLOAT, cache) for name in caches)]
    graph = helper.make_graph(
        g.nodes, "gpt2", [helper.make_tensor_value_info(*p) for p in inputs],
        [helper.make_tensor_value_info(*p) for p in outputs], g.initializers)
    return helper.make_model(
        graph, ir_version=10, opset_imports=[
            helper.make_opsetid("", 20),
            helper.make_opsetid("com.microsoft", 1)])


def by_n_bits(weights, bits, path):
    from onnxruntime.quantization.matmul_nbits_quantizer import (
        DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer)
    quantizer = MatMulNBitsQuantizer(
        model(weights), algo_config=DefaultWeightOnlyQuantConfig(
            block_size=GROUP, is_symmetric=True, accuracy_level=4, bits=bits))
    quantizer.process()
    onnx.save(quantizer.model.model, path)


def write(weights, kind, path):
    logging.disable(logging.WARNING)  # a line for each layer
    if kind == "f32":
        onnx.save(model(weights), path)
    elif kind == "int4":
        by_n_bits(weights, 4, path)
    else:
        by_n_bits(weights, 8, path + ".nbits")
        from onnxruntime.quantization import QuantType, quantize_dynamic
        quantize_dynamic(path.replace("int8", "f32"), path, per_channel=True,
                         weight_type=QuantType.QInt8,
                         op_types_to_quantize=["MatMul"],
                         extra_options={"DefaultTensorType": FLOAT})


def bound(path, folder, threads):
    """A function that runs the next token, and one that gives its logits."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        path, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()

    def value(array):
        return onnxruntime.OrtValue.ortvalue_from_numpy(
            np.ascontiguousarray(array))

    tokens = np.load(f"{folder}/tokens.npy")
    before = len(tokens) - 1
    feeds = {"token": tokens[None, -1:], "position": np.array([[before]]),
             "before": np.array([[before]], np.int32),
             "all": np.array([before + 1], np.int32)}
    for name, array in feeds.items():
        binding.bind_ortvalue_input(name, value(array))
    for name, array in np.load(f"{folder}/past.npz").items():
        cache = value(np.pad(array, ((0, 0), (0, 0), (0, 8), (0, 0))))
        binding.bind_ortvalue_input(name, cache)
        binding.bind_ortvalue_output(f"{name}.new", cache)
    logits = value(np.zeros((1, 1, TOKENS), np.float32))
    binding.bind_ortvalue_output("logits", logits)
    return (lambda: session.run_with_iobinding(binding),
            lambda: logits.numpy()[0, 0])


def stream(kind, folder, threads):
    import time
    path = f"{folder}/{kind}.onnx"
    if kind != "int8":
        return bound(path, folder, threads)

    def least(pair):
        times = []
        for _ in range(20):
            begin = time.perf_counter()
            pair[0]()
            times.append(time.perf_counter() - begin)
        return min(times)

    return min((bound(name, folder, threads)
                for name in (path, path + ".nbits")), key=least)
