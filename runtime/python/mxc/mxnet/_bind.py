# SPDX-License-Identifier: Apache-2.0
"""Arrays for executors: given ones checked, new ones made."""

import numpy as np

from . import _run_sparse, ndarray as nd
from .base import MXNetError, dtype_name
from .executor import Executor

_REQS = ("write", "add", "null", "inplace")


def _requests(grad_req, names):
    """A request of each argument."""
    if isinstance(grad_req, str):
        found = [grad_req] * len(names)
    elif isinstance(grad_req, (list, tuple)):
        if len(grad_req) != len(names):
            raise ValueError(f"{len(grad_req)} grad_req for {len(names)} "
                             "arguments")
        found = list(grad_req)
    elif isinstance(grad_req, dict):
        found = [grad_req.get(name, "null") for name in names]
    else:
        raise ValueError("grad_req is a string, a list or a dict, not "
                         f"{type(grad_req).__name__}")
    for req in found:
        if req not in _REQS:
            raise ValueError(f"grad_req must be in {set(_REQS)}, found {req!r}")
    return ["write" if req == "inplace" else req for req in found]


def _arrays(what, given, names, allow_missing=False):
    """A list of the arrays, of a list or a dict by name."""
    if isinstance(given, dict):
        missing = [name for name in names if name not in given]
        if missing and not allow_missing:
            raise ValueError(f"key `{missing[0]}` is missing in `{what}`")
        found = [given.get(name) for name in names]
    elif isinstance(given, (list, tuple)):
        if len(given) != len(names):
            raise ValueError(f"{what} has {len(given)} arrays, expected "
                             f"{len(names)}")
        found = list(given)
    else:
        raise TypeError(f"{what} is {type(given).__name__}, expected arrays "
                        "in a list, or by name in a dict")
    for name, array in zip(names, found):
        if array is None and allow_missing:
            continue
        if not isinstance(array, nd.NDArray):
            raise TypeError(f"{what}: {name} is {type(array).__name__}, expected "
                            "an NDArray")
    return found


def bind(symbol, ctx, args, args_grad, grad_req, aux_states, group2ctx):
    """See Symbol.bind."""
    names = symbol.list_arguments()
    states = symbol.list_auxiliary_states()
    if aux_states is None and isinstance(args, dict):
        aux_states = {name: args[name] for name in states if name in args}
    arrays = _arrays("args", args, names)
    grads = (_arrays("args_grad", args_grad, names, True)
             if args_grad is not None else [None] * len(names))
    reqs = _requests(grad_req, names)
    return Executor(symbol, ctx, arrays, grads, reqs,
                    _arrays("aux_states", aux_states or [], states), group2ctx)


def _context_of(attrs, ctx, group2ctx):
    """Where a variable of these attributes lies."""
    return (group2ctx or {}).get(attrs.get("ctx_group"), ctx)


class _Shared:
    """Arrays that another executor has already."""

    def __init__(self, names, executor):
        self._names = set(names or ())
        self._arguments = executor.arg_dict if executor else {}
        self._grads = executor.grad_dict if executor else {}
        self._states = executor.aux_dict if executor else {}

    def argument(self, name, shape, dtype):
        """(array, gradient), or (None, None)."""
        if name not in self._names:
            return None, None
        array = self._arguments.get(name)
        if not _fits(array, shape, dtype):
            return None, None
        return array, self._grads.get(name)

    def state(self, name, shape, dtype):
        """An array or None."""
        array = self._states.get(name)
        return array if _fits(array, shape, dtype) else None


def _fits(array, shape, dtype):
    return (array is not None and array.shape == shape
            and dtype_name(array.dtype) == dtype)


def _inferred(symbol, shapes, types):
    """Shapes and types of arguments and states, or what is wrong with them."""
    given = "".join(f"  {name}: {shape}\n" for name, shape in shapes.items())
    try:
        arguments, _, states = symbol.infer_shape(**shapes)
        if arguments is None:
            found, _, _ = symbol.infer_shape_partial(**shapes)
            unknown = [name for name, shape in zip(symbol.list_arguments(), found)
                       if not shape or 0 in shape or -1 in shape]
            raise MXNetError("the shapes of these arguments do not follow: "
                             + ", ".join(unknown or ["(none)"]))
        kinds, _, state_kinds = symbol.infer_type_partial(**types)
    except MXNetError as error:
        raise RuntimeError(f"simple_bind error. Arguments:\n{given}{error}"
                           ) from error
    return arguments, states, kinds, state_kinds


def _input_of(buffer, name, shape, place, dtype, shared_arg_names):
    """An array for an argument: of the buffer's memory, where that suffices; a new
    one is there for others, unless it is a parameter."""
    if buffer is None or name in (shared_arg_names or ()):
        return nd.zeros(shape, place, dtype)
    held = buffer.get(name)
    size = int(np.prod(shape))
    if held is None or held.size < size or dtype_name(held.dtype) != dtype:
        held = buffer[name] = nd.zeros(shape, place, dtype)
    if held.shape == shape:
        return held
    return held.reshape((-1,))[:size].reshape(shape)


def simple_bind(symbol, ctx, grad_req, type_dict, stype_dict, shared_arg_names,
                shared_exec, shared_buffer, group2ctx, shapes):
    """See Symbol.simple_bind."""
    names = symbol.list_arguments()
    shapes = {name: shape for name, shape in shapes.items() if name in names
              or name in symbol.list_auxiliary_states()}
    types = {name: kind for name, kind in (type_dict or {}).items()
             if name in names}
    found, states, kinds, state_kinds = _inferred(symbol, shapes, types)
    reqs = _requests(grad_req, names)
    shared = _Shared(shared_arg_names, shared_exec)
    attrs = symbol.attr_dict()
    stypes = _run_sparse.argument_stypes(symbol, stype_dict)
    grad_stypes = _run_sparse.gradient_stypes(symbol, stypes)
    arrays, grads = [], []
    for name, shape, kind, req in zip(names, found, kinds, reqs):
        dtype = dtype_name(kind)
        place = _context_of(attrs.get(name, {}), ctx, group2ctx)
        array, grad = shared.argument(name, shape, dtype)
        if array is None:
            array = (_input_of(shared_buffer, name, shape, place, dtype,
                               shared_arg_names) if stypes[name] == "default" else
                     nd.zeros(shape, place, dtype, stypes[name]))
        if req == "null":
            grad = None
        elif grad is None:
            grad = nd.zeros(shape, place, dtype, grad_stypes[name])
        arrays.append(array)
        grads.append(grad)
    aux = [shared.state(name, shape, dtype_name(kind))
           or nd.zeros(shape, _context_of(attrs.get(name, {}), ctx, group2ctx),
                       dtype_name(kind))
           for name, shape, kind in zip(symbol.list_auxiliary_states(), states,
                                        state_kinds)]
    return Executor(symbol, ctx, arrays, grads, reqs, aux, group2ctx)
