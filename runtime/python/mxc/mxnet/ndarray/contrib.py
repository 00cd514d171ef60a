# SPDX-License-Identifier: Apache-2.0
"""mx.nd.contrib: operators of the table, and loops and branches that Python runs."""

import math

from . import _register
from ._invoke import _invoke
from .ndarray import NDArray
from .sparse import _neighbors

globals().update(_register.MODULES["contrib"])
globals().update(_neighbors.FUNCTIONS)


def isnan(data):
    """1 where an element is not a number."""
    return data != data


def isinf(data):
    """1 where an element is infinite."""
    return data.abs() == math.inf


def isfinite(data):
    """1 where an element is a finite number."""
    return (data == data) * (data.abs() != math.inf)


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=True):
    """1 (uint8, of shape ()) where all elements are as near as NumPy's allclose asks."""
    found = _invoke("_contrib_allclose", [a, b], {"rtol": rtol, "atol": atol,
                                                  "equal_nan": equal_nan})
    return found._new(found.astype("uint8")._array.reshape([]))


def boolean_mask(data, index, axis=0):
    """The rows (or those of another axis) where `index` is not 0."""
    import numpy as np

    from .creation import array
    rows = np.flatnonzero(index.asnumpy())
    return _invoke("take", [data, array(rows, dtype="int64")], {"axis": axis})


def rand_zipfian(true_classes, num_sampled, range_max):
    """Classes drawn with log-uniform probabilities, and how often the true classes
    and those drawn are expected: three arrays."""
    from . import random
    log_range = math.log(range_max + 1)
    drawn = random.uniform(0, log_range, shape=(num_sampled,), dtype="float64")
    sampled = (drawn.exp() - 1).astype("int64") % range_max

    def expected(classes):
        values = classes.astype("float64")
        return ((values + 2.0) / (values + 1.0)).log() / log_range * num_sampled
    return (sampled, expected(true_classes), expected(sampled))


def _flat(values):
    """NDArrays of nested lists, and how to nest others so."""
    if isinstance(values, NDArray):
        return [values], lambda flat: flat.pop(0)
    if values is None:
        return [], lambda flat: None
    if not isinstance(values, (list, tuple)):
        raise ValueError(f"arrays in lists are expected, and a {type(values)} is "
                         "given")
    parts = [_flat(value) for value in values]
    return ([array for part, _ in parts for array in part],
            lambda flat: [nest(flat) for _, nest in parts])


def foreach(body, data, init_states):
    """Calls `body(slice, states) -> (outputs, states)` for each row of the data (an
    array or a nested list of them); the outputs are stacked."""
    from . import stack
    arrays, nest = _flat(data)
    if not arrays:
        raise AssertionError("foreach has no data")
    _flat(init_states)
    states, outputs, regroup = init_states, [], None
    for row in range(arrays[0].shape[0]):
        out, states = body(nest([array[row] for array in arrays]), states)
        flat, regroup = _flat(out)
        outputs.append(flat)
    stacked = [stack(*steps) for steps in zip(*outputs)]
    return regroup(stacked), states


def _number(value, what):
    if isinstance(value, NDArray):
        return value.asscalar()
    if isinstance(value, (bool, int, float)):
        return value
    raise ValueError(f"{what} gives {type(value)}, not a number")


def while_loop(cond, func, loop_vars, max_iterations=None):
    """Calls `func(*loop_vars) -> (outputs, loop_vars)` while `cond(*loop_vars)`
    holds, at most `max_iterations` times. Outputs are stacked; rows behind the last
    turn are zeros."""
    from . import concat, stack, zeros
    if max_iterations is None:
        raise ValueError("max_iterations should be specified")
    is_single = isinstance(loop_vars, NDArray)
    variables = [loop_vars] if is_single else list(loop_vars)
    if not variables:
        raise ValueError("while_loop has no variables")
    outputs, regroup = [], None
    while len(outputs) < max_iterations and _number(cond(*variables), "cond"):
        out, changed = func(*variables)
        flat, regroup = _flat(out if out is not None else [])
        outputs.append(flat)
        changed = [] if changed is None else changed
        changed = [changed] if isinstance(changed, NDArray) else list(changed)
        if len(changed) != len(variables):
            raise ValueError(f"func gives {len(changed)} variables for the "
                             f"{len(variables)} of the loop")
        variables = changed
    left = variables[0] if is_single else variables
    if regroup is None:
        return [], left
    stacked = []
    for steps in zip(*outputs):
        whole = stack(*steps)
        missing = max_iterations - len(outputs)
        if missing:
            rest = zeros((missing, *steps[0].shape), dtype=steps[0].dtype)
            whole = concat(whole, rest, dim=0)
        stacked.append(whole)
    return regroup(stacked), left


def cond(pred, then_func, else_func):
    """What one of two functions gives, by a number."""
    return then_func() if _number(pred, "pred") else else_func()


def _rescaled(name, count):
    """An update whose `rescale_grad`, a number or an array, is its last input."""
    def update(*args, rescale_grad=None, **kwargs):
        inputs = list(args)
        names = ("weight", "grad", "mean", "var", "weight32")
        inputs += [kwargs.pop(n) for n in names if n in kwargs]
        if rescale_grad is None:
            rescale_grad = inputs.pop() if len(inputs) > count else 1.0
        rescale_grad = _rate_array(rescale_grad)
        out = kwargs.pop("out", None)
        kwargs.pop("name", None)
        return _invoke(name, [*inputs, rescale_grad], kwargs, out)
    update.__doc__ = f"{name}; rescale_grad is a number or an array."
    return update


adamw_update = _rescaled("_adamw_update", 4)
mp_adamw_update = _rescaled("_mp_adamw_update", 5)


def _rate_array(rescale_grad):
    from .creation import full
    return (rescale_grad if isinstance(rescale_grad, NDArray) else
            full((1,), rescale_grad))


def _of_lists(name, lists, rates):
    """An update of several weights; each of `lists` is a list of arrays."""
    def update(*args, out=None, **kwargs):
        kwargs.pop("name", None)
        kwargs.pop("size", None)
        names = [*lists, "rescale_grad", *rates]
        given = dict(zip(names, args))
        given.update({key: kwargs.pop(key) for key in names if key in kwargs})
        count = len(given[lists[0]])
        inputs = [given[key][i] for i in range(count) for key in lists]
        attrs = {key: tuple(given[key]) for key in rates}
        attrs["num_weights"] = count
        inputs.append(_rate_array(given["rescale_grad"]))
        return _invoke(name, inputs, {**kwargs, **attrs}, out)
    update.__doc__ = f"{name}; takes lists: {', '.join(lists)}."
    return update


_STATES = ["weights", "grads", "mean", "var"]
multi_adamw_update = _of_lists("_multi_adamw_update", _STATES, ["lrs", "wds", "etas"])
multi_mp_adamw_update = _of_lists("_multi_mp_adamw_update", [*_STATES, "weights32"],
                                  ["lrs", "wds", "etas"])


def multi_lamb_update(weights, grads, mean, var, step_count, lrs, wds, out=None,
                      num_tensors=0, **kwargs):
    """_multi_lamb_update; the first seven are lists."""
    inputs = [array for row in zip(weights, grads, mean, var) for array in row]
    return _lamb("_multi_lamb_update", inputs, len(weights), step_count, lrs, wds, out,
                 kwargs)


def multi_mp_lamb_update(weights, grads, mean, var, weights32, step_count, lrs, wds,
                         out=None, num_tensors=0, **kwargs):
    """_multi_mp_lamb_update; the first eight are lists."""
    inputs = [array for row in zip(weights, grads, mean, var, weights32)
              for array in row]
    return _lamb("_multi_mp_lamb_update", inputs, len(weights), step_count, lrs, wds,
                 out, kwargs)


def _lamb(name, inputs, count, step_count, lrs, wds, out, kwargs):
    kwargs.pop("name", None)
    return _invoke(name, inputs, {
        **kwargs, "step_count": tuple(step_count), "learning_rates": tuple(lrs),
        "wds": tuple(wds), "num_tensors": count}, out)
