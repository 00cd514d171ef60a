# SPDX-License-Identifier: Apache-2.0
"""One operator, drawn and computed by MXNet: a line of JSON for each seed."""
import builtins
import ctypes
import json
import os
import sys
import tempfile

import numpy as np

for _name in ("bool", "object", "int", "float"):  # which MXNet 1.9.1 asks numpy for
    if _name not in np.__dict__:
        setattr(np, _name, getattr(builtins, _name))
import mxnet as mx
from mxnet._ctypes.symbol import _symbol_creator
from mxnet.base import _LIB, c_str, check_call, py_str

from draw import Draw
from rules_updates import SEVERAL

# Whose gradient MXNet computes by another mask or order than the output, or not
# at all; ours is what calculus says.
WRONG_GRADIENT = {
    "_np_atleast_1d", "_np_atleast_2d", "_np_atleast_3d", "_npi_std", "_npi_var",
    "_image_flip_left_right", "_image_flip_top_bottom",
    "_npi_rot90", "_npi_rarctan2_scalar", "_npi_where_lscalar", "_npi_where_rscalar"}


# What can write over its first input alone, which therefore is a result.
IN_PLACE = {"_npi_boolean_mask_assign_scalar", "_npi_boolean_mask_assign_tensor"}




def handle_of(name):
    handle = ctypes.c_void_p()
    check_call(_LIB.NNGetOpHandle(c_str(name), ctypes.byref(handle)))
    return handle


def parameters_of(name):
    """[(name, type)] of inputs and attributes, as MXNet documents them."""
    texts = [ctypes.c_char_p() for _ in range(2)]
    count = ctypes.c_uint()
    lists = [ctypes.POINTER(ctypes.c_char_p)() for _ in range(3)]
    key, returned = ctypes.c_char_p(), ctypes.c_char_p()
    check_call(_LIB.MXSymbolGetAtomicSymbolInfo(
        handle_of(name), ctypes.byref(texts[0]), ctypes.byref(texts[1]),
        ctypes.byref(count), *[ctypes.byref(each) for each in lists],
        ctypes.byref(key), ctypes.byref(returned)))
    return [(py_str(lists[0][i]), py_str(lists[1][i])) for i in range(count.value)]


def symbol_of(name, attributes, inputs):
    """Of variables that MXNet names, or of `inputs` where it cannot."""
    def of(variables):
        return _symbol_creator(handle_of(name).value, variables, None, list(attributes),
                               [str(each) for each in attributes.values()], "op", False)
    if name in SEVERAL:
        # MXNet knows the outputs by what reads them alone: each one is added to the
        # weight that it follows.
        variables = [mx.sym.Variable("op_" + each) for each in inputs]
        updated = of(variables)
        weights = [each for each in variables if each.name.startswith("op_weight_")]
        return mx.sym.Group([updated[k] + weight for k, weight in enumerate(weights)])
    if name in IN_PLACE:
        first, *others = (mx.sym.Variable("op_" + each) for each in inputs)
        return of([first + 0, *others])
    try:
        return of([])
    except mx.MXNetError:
        return of([mx.sym.Variable("op_" + each) for each in inputs])


def compute(symbol, values, auxiliary, heads, training, gradable):
    """Outputs, gradients and states after, as numpy arrays by the case's names."""
    bound = {name: mx.nd.array(value, dtype=value.dtype) for name, value in values.items()}
    states = {name: mx.nd.array(value, dtype=value.dtype) for name, value in auxiliary.items()}
    gradients = {name: mx.nd.full(bound[name].shape, 7, dtype=bound[name].dtype)
                 for name in gradable} if training else {}
    executor = symbol.bind(
        mx.cpu(), args=bound, args_grad=gradients or None, aux_states=states,
        grad_req={name: "write" if name in gradients else "null" for name in bound})
    outputs = executor.forward(is_train=training)
    mx.nd.waitall()
    found = {f"out:{k}": output.asnumpy() for k, output in enumerate(outputs)}
    found.update({"aux_after:" + k: v.asnumpy() for k, v in states.items()})
    for k in [k for k, v in found.items() if v.size == 0]:
        raise ValueError(k + " is empty")
    if gradients:
        given = []
        for k, output in enumerate(outputs):
            found[f"ograd:{k}"] = heads.normal(size=output.shape).round(2).astype(output.dtype)
            given.append(mx.nd.array(found[f"ograd:{k}"], dtype=output.dtype))
        executor.backward(given)
        mx.nd.waitall()
        found.update({"grad:" + k: v.asnumpy() for k, v in gradients.items()
                      if not (v.asnumpy() == 7).all()})  # a buffer left as it was
        found.update({"aux_after_backward:" + k: v.asnumpy() for k, v in states.items()})
    return found


def twice(*given):
    """What was computed, if it was alike twice."""
    seed = given[-1]
    first, second = (compute(*given[:3], np.random.RandomState(seed), *given[3:5])
                     for _ in range(2))
    for name, value in first.items():
        if name not in second:
            raise ValueError(f"{name} is written in one run alone")
        if not np.array_equal(value, second[name],
                              equal_nan=value.dtype.kind == "f"):
            raise ValueError(f"{name} differs from run to run")
    return first


def case(operator, seed, parameters):
    with mx.util.np_shape(operator.startswith(("_np", "_contrib_allclose"))):  # scalars have shape ()
        return drawn_case(operator, seed, parameters)


def drawn_case(operator, seed, parameters):
    draw = Draw(operator, seed, parameters)
    symbol = symbol_of(operator, draw.attributes, draw.inputs)
    names, states = symbol.list_arguments(), symbol.list_auxiliary_states()
    known = draw.shapes(names, states, symbol)
    shapes, _, state_shapes = symbol.infer_shape(**known)
    if shapes is None or not all(shapes) or any(0 in each for each in shapes):
        raise ValueError("shapes cannot be inferred")
    if sum(int(np.prod(each)) for each in shapes) > 20000:
        raise ValueError("large")
    values = {name: draw.value(name, shape) for name, shape in zip(names, shapes)}
    types = symbol.infer_type(**{name: value.dtype for name, value in values.items()})[2]
    auxiliary = {name: draw.state(name, shape).astype(dtype or "float32")
                 for name, shape, dtype in zip(states, state_shapes, types or [None] * len(states))}
    gradable = [name for name in names if values[name].dtype.kind == "f"
                and operator not in WRONG_GRADIENT and name[3:] not in draw.fixed]
    computed, training, reason = None, False, None
    for training in (True, False) if gradable else (False,):
        try:
            computed = twice(symbol, values, auxiliary, training, gradable, seed)
            break
        except mx.MXNetError as error:
            reason = error
    if computed is None:
        raise reason
    if sum(value.size for value in computed.values()) > 60000:
        raise ValueError("large")
    arrays = {"arg:" + k: v for k, v in values.items()}
    arrays.update({"aux:" + k: v for k, v in auxiliary.items()})
    arrays.update(computed)
    largest = max([1.0] + [float(np.abs(v[np.isfinite(v)]).max())
                           for k, v in computed.items()
                           if v.dtype.kind == "f" and np.isfinite(v).any()])
    quantized = "quantize" in operator
    half = any(v.dtype == np.float16 for v in arrays.values())
    row = {
        "name": f"{operator}-{seed}", "op": operator, "is_train": training,
        "grad_req": "write" if training else "null",
        "grads": sorted(gradable) if training else [], "head_grads": training,
        "inputs": {k: list(v.shape) for k, v in values.items()},
        "rtol": 4e-3 if half else 1e-4,
        "atol": 1 if quantized else (4e-3 if half else 1e-5) * min(largest, 1e4),
        "note": " ".join(f"{k}={v}" for k, v in draw.attributes.items())}
    with tempfile.NamedTemporaryFile(suffix=".params") as file:
        mx.nd.save(file.name, {k: mx.nd.array(v, dtype=v.dtype) for k, v in arrays.items()})
        params = file.read().hex()
    return {"seed": seed, "row": row, "symbol": symbol.tojson(remove_amp_cast=False),
            "params": params}


def run(operator, first, end):
    lines = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # MXNet prints where it likes
    try:
        parameters = parameters_of(operator)
    except mx.MXNetError:  # an operator of mxc alone
        return
    for seed in range(first, end):
        print(json.dumps({"seed": seed}), file=lines)
        try:
            print(json.dumps(case(operator, seed, parameters)), file=lines)
        except (mx.MXNetError, ValueError, TypeError, AttributeError) as error:
            if os.environ.get("MXC_WHY"):
                text = [each for each in str(error).splitlines() if each.strip()]
                print(seed, text[-1][:200] if text else repr(error), file=sys.stderr)
