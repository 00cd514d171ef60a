# SPDX-License-Identifier: Apache-2.0
"""Checks of symbols: their values, their gradients, the same by differences."""

import time

import numpy as np

from .. import ndarray as nd, symbol as sym_module
from ..context import current_context
from ..ndarray import NDArray, array
from ..symbol import Symbol
from ._compare import (assert_almost_equal, default_numeric_eps, get_tolerance)

__all__ = ["Symbol", "check_consistency", "check_numeric_gradient", "check_speed",
           "check_symbolic_backward", "check_symbolic_forward",
           "compare_optimizer", "numeric_grad", "same_symbol_structure",
           "simple_forward"]


def _default_context():
    from . import default_context
    return default_context() or current_context()


def simple_forward(sym, ctx=None, is_train=False, **inputs):
    """The outputs for NumPy's arrays by name, as NumPy's arrays: one, or a
    list."""
    ctx = ctx or _default_context()
    executor = sym.bind(ctx, args={name: array(value, ctx=ctx)
                                   for name, value in inputs.items()})
    executor.forward(is_train=is_train)
    outputs = [output.asnumpy() for output in executor.outputs]
    return outputs[0] if len(outputs) == 1 else outputs


def _typed(value, ctx, dtype):
    if isinstance(value, NDArray):
        return value.as_in_context(ctx)
    own = isinstance(value, np.ndarray) and dtype == "asnumpy"
    return array(value, ctx=ctx, dtype=value.dtype if own else dtype)


def _require_float(dtype):
    if dtype != "asnumpy" and dtype not in (np.float16, np.float32, np.float64):
        raise AssertionError(f"dtype is float16, float32 or float64, not {dtype}")


def _by_name(given, names, ctx, dtype, what):
    _require_float(dtype)
    if isinstance(given, dict):
        if set(given) != set(names):
            raise ValueError(f"Symbol {what} and keys of the given {what} do not "
                             f"match. symbol: {set(names)}, given: {set(given)}")
        pairs = given.items()
    else:
        if len(given) != len(names):
            raise ValueError(f"{len(given)} arrays for the {what} {names}")
        pairs = zip(names, given)
    return {name: _typed(value, ctx, dtype) for name, value in pairs}


def _parse_location(sym, location, ctx, dtype=np.float32):
    """The arguments as NDArrays by name, of a list or a dict."""
    return _by_name(location, sym.list_arguments(), ctx, dtype, "arguments")


def _parse_aux_states(sym, aux_states, ctx, dtype=np.float32):
    """The auxiliary states likewise; None where there are none."""
    if aux_states is None:
        return None
    return _by_name(aux_states, sym.list_auxiliary_states(), ctx, dtype,
                    "auxiliary states")


def numeric_grad(executor, location, aux_states=None, eps=1e-4,
                 use_forward_train=True, dtype=np.float32):
    """Gradients by differences: name -> NumPy's array, of the sum of the first
    output. location: NumPy's arrays by name."""
    _require_float(dtype)

    def output():
        for name, value in (aux_states or {}).items():
            executor.aux_dict[name][:] = value
        executor.forward(is_train=use_forward_train)
        return executor.outputs[0].asnumpy()

    gradients = {}
    arguments = executor.arg_dict
    for name, value in location.items():
        arguments[name][:] = value
    for name, value in location.items():
        gradient = np.zeros(value.shape, dtype=dtype)
        gradients[name] = gradient
        if value.dtype.kind != "f":
            continue
        flat = np.ascontiguousarray(value)
        numbers = flat.reshape(-1)
        for i in range(numbers.size):
            kept = numbers[i]
            numbers[i] = kept + eps / 2.0
            arguments[name][:] = flat
            above = output()
            numbers[i] = kept - eps / 2.0
            arguments[name][:] = flat
            # The sum of differences is more exact than that of sums.
            gradient.reshape(-1)[i] = (above - output()).sum() / eps
            numbers[i] = kept
        arguments[name][:] = flat
    return gradients


def _requests(sym, grad_nodes):
    """(names, name -> request)"""
    if grad_nodes is None:
        grad_nodes = sym.list_arguments()
    if isinstance(grad_nodes, dict):
        return list(grad_nodes), dict(grad_nodes)
    if not isinstance(grad_nodes, (list, tuple)):
        raise ValueError("grad_nodes is a list or a dict")
    return list(grad_nodes), dict.fromkeys(grad_nodes, "write")


def _compared(name, req, found, wanted, before, rtol, atol, labels,
              equal_nan=False):
    """What a request says of a gradient that was `before`."""
    if req == "write":
        pair = wanted, found
    elif req == "add":
        pair = wanted, found - before
    elif req == "null":
        pair = before, found
    else:
        raise ValueError(f"Invalid grad_req {req} for argument {name}")
    assert_almost_equal(*pair, rtol, atol, labels, equal_nan=equal_nan)


def check_numeric_gradient(sym, location, aux_states=None, numeric_eps=None,
                           rtol=None, atol=None, grad_nodes=None,
                           use_forward_train=True, ctx=None,
                           grad_stype_dict=None, dtype=np.float32):
    """Compares the gradients of a random projection of the first output with
    differences. location: the arguments, a list or a dict; grad_nodes: which
    gradients (a list, or a dict with requests)."""
    ctx = ctx or _default_context()
    location = _parse_location(sym, location, ctx, dtype)
    aux = _parse_aux_states(sym, aux_states, ctx, dtype)
    aux_values = {name: state.asnumpy() for name, state in (aux or {}).items()}
    names, reqs = _requests(sym, grad_nodes)
    _, shapes, _ = sym.infer_shape(**{name: value.shape
                                      for name, value in location.items()})
    projection = sym_module.Variable("__random_proj")
    out = sym_module.make_loss((sym[0] if len(sym) > 1 else sym) * projection)
    values = {**location, "__random_proj": array(
        np.random.rand(*shapes[0]) + 0.1, ctx=ctx, dtype=_plain(dtype))}
    before = {name: np.random.normal(0, 0.01, size=location[name].shape)
              for name in names}
    before["__random_proj"] = np.random.normal(0, 0.01, size=shapes[0])
    grads = {name: array(value, ctx=ctx, dtype=_plain(dtype)).tostype(
        (grad_stype_dict or {}).get(name, "default"))
             for name, value in before.items()}
    kept = {name: grads[name].asnumpy() for name in names}
    executor = out.bind(ctx, grad_req={**reqs, "__random_proj": "write"},
                        args=values, args_grad=grads, aux_states=aux)
    executor.forward(is_train=True)
    executor.backward()
    found = {name: executor.grad_dict[name].asnumpy() for name in names}
    eps = get_tolerance(executor.outputs[0], numeric_eps, default_numeric_eps())
    if dtype in (np.float32, np.float16) and eps < 1e-5:
        raise AssertionError("differences of so small steps need float64")
    wanted = numeric_grad(executor, {name: value.asnumpy()
                                     for name, value in location.items()},
                          aux_values, eps=eps,
                          use_forward_train=use_forward_train,
                          dtype=_plain(dtype))
    for name in names:
        _compared(name, reqs[name], found[name], wanted[name], kept[name], rtol,
                  atol, (f"NUMERICAL_{name}", f"BACKWARD_{name}"))


def _plain(dtype):
    return np.float32 if dtype == "asnumpy" else dtype


def check_symbolic_forward(sym, location, expected, rtol=None, atol=None,
                           aux_states=None, ctx=None, equal_nan=False,
                           dtype=np.float32):
    """Compares the outputs for `location` with `expected`, a list or a dict by
    name; returns them."""
    ctx = ctx or _default_context()
    location = _parse_location(sym, location, ctx, dtype)
    if isinstance(expected, dict):
        expected = [expected[name] for name in sym.list_outputs()]
    executor = sym.bind(ctx, args=location, aux_states=_parse_aux_states(
        sym, aux_states, ctx, dtype))
    executor.forward(is_train=False)
    for name, wanted, output in zip(sym.list_outputs(), expected,
                                    executor.outputs):
        assert_almost_equal(wanted, output, rtol, atol,
                            (f"EXPECTED_{name}", f"FORWARD_{name}"),
                            equal_nan=equal_nan)
    return executor.outputs


def check_symbolic_backward(sym, location, out_grads, expected, rtol=None,
                            atol=None, aux_states=None, grad_req="write",
                            ctx=None, grad_stypes=None, equal_nan=False,
                            dtype=np.float32):
    """Compares the gradients for `location` and `out_grads` with `expected`, a
    list or a dict by name; returns them."""
    ctx = ctx or _default_context()
    location = _parse_location(sym, location, ctx, dtype)
    arguments = sym.list_arguments()
    if isinstance(expected, (list, tuple)):
        expected = dict(zip(arguments, expected))
    kinds = {name: np.dtype(value.dtype) for name, value in location.items()}
    before = {name: np.random.normal(size=np.shape(value)).astype(kinds[name])
              if dtype == "asnumpy" else np.random.normal(size=np.shape(value))
              for name, value in expected.items()}
    grads = {name: array(value, ctx=ctx, dtype=kinds[name]
                         if dtype == "asnumpy" else dtype).tostype(
                             (grad_stypes or {}).get(name) or "default")
             for name, value in before.items()}
    kept = {name: grad.asnumpy() for name, grad in grads.items()}
    if isinstance(grad_req, str):
        grad_req = dict.fromkeys(arguments, grad_req)
    elif isinstance(grad_req, (list, tuple)):
        grad_req = dict(zip(arguments, grad_req))
    executor = sym.bind(ctx, args=location, args_grad=grads, grad_req=grad_req,
                        aux_states=_parse_aux_states(sym, aux_states, ctx, dtype))
    executor.forward(is_train=True)
    executor.backward(_head_grads(sym, out_grads, ctx, dtype))
    found = {name: grad.asnumpy() for name, grad in grads.items()}
    for name, wanted in expected.items():
        _compared(name, grad_req[name], found[name], np.asarray(
            wanted.asnumpy() if isinstance(wanted, NDArray) else wanted),
            kept[name], rtol, atol, (f"EXPECTED_{name}", f"BACKWARD_{name}"),
            equal_nan)
    return grads


def _head_grads(sym, out_grads, ctx, dtype):
    if out_grads is None:
        return None
    if isinstance(out_grads, dict):
        out_grads = [out_grads[name] for name in sym.list_outputs()]
    if isinstance(out_grads, (NDArray, np.ndarray)):
        out_grads = [out_grads]
    return [_typed(grad, ctx, dtype) for grad in out_grads]


def check_speed(sym, location=None, ctx=None, N=20, grad_req=None, typ="whole",
                **kwargs):
    """Seconds of a run: "whole": forward and backward, "forward": that alone."""
    ctx = ctx or _default_context()
    grad_req = grad_req or "write"
    if location is None:
        executor = sym.simple_bind(grad_req=grad_req, ctx=ctx, **kwargs)
        location = {name: np.random.normal(size=value.shape, scale=1.0)
                    for name, value in executor.arg_dict.items()}
    else:
        executor = sym.simple_bind(grad_req=grad_req, ctx=ctx, **{
            name: value.shape for name, value in location.items()})
    for name, value in location.items():
        executor.arg_dict[name][:] = value
    if typ not in ("whole", "forward"):
        raise ValueError(f"typ is whole or forward, not {typ!r}")

    def run():
        executor.forward(is_train=typ == "whole")
        if typ == "whole":
            executor.backward(out_grads=executor.outputs)

    run()
    nd.waitall()
    began = time.time()
    for _ in range(N):
        run()
    nd.waitall()
    return (time.time() - began) / N


_CONSISTENT_TO = {np.dtype(np.float16): 1e-1, np.dtype(np.float32): 1e-3,
                  np.dtype(np.float64): 1e-5, np.dtype(np.uint8): 0,
                  np.dtype(np.int32): 0, np.dtype(np.int64): 0}


def _tolerance(tol, kind):
    if isinstance(tol, dict):
        return tol.get(np.dtype(kind), 1e-3)
    return _CONSISTENT_TO.get(np.dtype(kind), 1e-3) if tol is None else tol


def check_consistency(sym, ctx_list, scale=1.0, grad_req="write", arg_params=None,
                      aux_params=None, rtol=None, atol=None, raise_on_err=True,
                      ground_truth=None, equal_nan=False, use_uniform=False,
                      rand_type=np.float64):
    """Compares outputs and gradients of a symbol (or of several) bound in each of
    ctx_list, dicts of simple_bind's arguments; the widest type is the truth.
    Returns that of each array by name."""
    if ground_truth is None and len(ctx_list) < 2:
        raise AssertionError("there is nothing to compare")
    syms = [sym] * len(ctx_list) if isinstance(sym, Symbol) else list(sym)
    if len(syms) != len(ctx_list):
        raise AssertionError("as many symbols as contexts")
    names = syms[0].list_arguments()
    executors = [each.simple_bind(grad_req=grad_req, **dict(given))
                 for each, given in zip(syms, ctx_list)]
    arg_params = dict(arg_params or {})
    aux_params = dict(aux_params or {})
    for name, value in executors[0].arg_dict.items():
        if name not in arg_params:
            draw = (np.random.uniform(-0.92 * scale, 0.92 * scale, value.shape)
                    if use_uniform else
                    np.random.normal(size=value.shape, scale=scale))
            arg_params[name] = draw.astype(rand_type)
    for name in executors[0].aux_dict:
        aux_params.setdefault(name, 0)
    for executor in executors:
        for own, params in ((executor.arg_dict, arg_params),
                            (executor.aux_dict, aux_params)):
            for name, value in own.items():
                value[:] = params[name]
        for grad in executor.grad_arrays:
            if grad is not None:
                grad[:] = 0
    kinds = [np.dtype(executor.outputs[0].dtype) for executor in executors]
    truth = int(np.argmax([kind.itemsize for kind in kinds]))

    def compare(results, reference):
        for i, result in enumerate(results):
            if i == truth and ground_truth is None:
                continue
            for name, value in result.items():
                wanted = reference[name]
                if value is None or wanted is None:
                    continue
                try:
                    assert_almost_equal(
                        value, wanted.astype(value.dtype)
                        if value.dtype.kind == "f" else wanted,
                        _tolerance(rtol, kinds[i]), _tolerance(atol, kinds[i]),
                        (f"ctx {i} {name}", f"ctx {truth} {name}"),
                        equal_nan=equal_nan)
                except AssertionError as error:
                    if raise_on_err:
                        raise
                    print(error)

    training = grad_req != "null"
    for executor in executors:
        executor.forward(is_train=False)
    outputs = [_values(executor.output_dict) for executor in executors]
    reference = dict(ground_truth or outputs[truth])
    compare(outputs, reference)
    if training:
        for executor in executors:
            executor.forward(is_train=True)
            executor.backward(executor.outputs)
        results = [{**_values(executor.output_dict),
                    **{f"{name}_grad": grad for name, grad
                       in _values(dict(zip(names, executor.grad_arrays))).items()}}
                   for executor in executors]
        if ground_truth is None:
            reference = results[truth]
            compare(results, reference)
    return reference


def _values(arrays):
    return {name: None if value is None else value.asnumpy()
            for name, value in arrays.items()}


def compare_optimizer(opt1, opt2, shape, dtype, w_stype="default",
                      g_stype="default", rtol=1e-4, atol=1e-5,
                      compare_states=True, ntensors=1):
    """Updates equal weights once by each of two optimizers, and compares weights
    and states. shape: of the weights (with ntensors above 1 a list). The
    storage types are those of the second; half of the rows of a row_sparse
    gradient are there."""
    shapes = shape if isinstance(shape, list) else [shape]
    kinds = dtype if isinstance(dtype, list) else [dtype] * len(shapes)
    sides = []
    drawn = [(np.random.uniform(-1, 1, each), np.random.uniform(-1, 1, each))
             for each in shapes]
    if g_stype == "row_sparse":
        for _, grad in drawn:
            grad[np.random.rand(len(grad)) < 0.5] = 0
    for opt, stypes in ((opt1, ("default", "default")), (opt2, (w_stype, g_stype))):
        weights = [array(weight, dtype=kind).tostype(stypes[0])
                   for (weight, _), kind in zip(drawn, kinds)]
        grads = [array(grad, dtype=kind).tostype(stypes[1])
                 for (_, grad), kind in zip(drawn, kinds)]
        states = [opt.create_state_multi_precision(i, weight)
                  for i, weight in enumerate(weights)]
        if ntensors == 1:
            opt.update_multi_precision(0, weights[0], grads[0], states[0])
        else:
            opt.update_multi_precision(list(range(len(weights))), weights, grads,
                                       states)
        sides.append((weights, states))
    for first, second in zip(sides[0][0], sides[1][0]):
        assert_almost_equal(first, second, rtol, atol)
    if compare_states:
        for first, second in zip(sides[0][1], sides[1][1]):
            _compare_states(first, second, rtol, atol)


def _compare_states(first, second, rtol, atol):
    if first is None:
        if second is not None:
            raise AssertionError("one state is None, the other is not")
    elif isinstance(first, (tuple, list)):
        if len(first) != len(second):
            raise AssertionError(f"{len(first)} states and {len(second)}")
        for one, other in zip(first, second):
            _compare_states(one, other, rtol, atol)
    else:
        assert_almost_equal(first, second, rtol, atol)


def same_symbol_structure(sym1, sym2):
    """Whether two graphs have the same operators, inputs and names of them."""
    first, second = sym1.get_internals(), sym2.get_internals()
    return (first.list_outputs() == second.list_outputs()
            and [node.op for node, _ in first._heads]
            == [node.op for node, _ in second._heads])
