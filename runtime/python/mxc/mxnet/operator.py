# SPDX-License-Identifier: Apache-2.0
"""Operators that users write in Python: CustomOp, described by CustomOpProp."""

import collections
import itertools

import numpy as np

from .. import _ndarray
from . import ndarray as nd
from .base import MXNetError, _Null, attribute_text, dtype_name
from .context import current_context
from .ndarray._invoke import TABLE
from .profiler import run_custom
from .symbol._operators import Signature

_registered = {}


class CustomOp:
    """What computes an operator and its gradient."""

    def forward(self, is_train, req, in_data, out_data, aux):
        """Writes out_data, by assign(); all are lists of NDArrays."""

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        """Writes in_grad, by assign()."""

    def assign(self, dst, req, src):
        """dst becomes src ("write", "inplace"), or more by it ("add")."""
        if req in ("write", "inplace"):
            dst[:] = src
        elif req == "add":
            dst[:] += src


class CustomOpProp:
    """What there is to know of an operator before it runs. The attributes of a
    node are the constructor's arguments, as strings.

    need_top_grad: whether the gradient depends on that of the outputs; a loss
    layer's does not.
    """

    def __init__(self, need_top_grad=True):
        self.need_top_grad_ = need_top_grad

    def infer_shape(self, in_shape):
        """(inputs' shapes, outputs', states'): all like the first input's."""
        return (in_shape, (in_shape[0],) * len(self.list_outputs()),
                (in_shape[0],) * len(self.list_auxiliary_states()))

    def infer_type(self, in_type):
        """(inputs' types, outputs', states'): all like the first input's."""
        return (in_type, [in_type[0]] * len(self.list_outputs()),
                [in_type[0]] * len(self.list_auxiliary_states()))

    def list_outputs(self):
        """The outputs' names."""
        return ["output"]

    def list_arguments(self):
        """The inputs' names."""
        return ["data"]

    def list_auxiliary_states(self):
        """The names of what the operator keeps from run to run."""
        return []

    def need_top_grad(self):
        """Whether backward reads out_grad."""
        return self.need_top_grad_

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        """Which arrays, by number, backward reads: all of them."""
        return [*(out_grad if self.need_top_grad_ else []), *in_data, *out_data]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        """The CustomOp for inputs of these shapes and types."""
        return CustomOp()


def register(reg_name):
    """A decorator: registers a CustomOpProp as op_type=reg_name."""

    def decorate(prop_class):
        if not (isinstance(prop_class, type)
                and issubclass(prop_class, CustomOpProp)):
            raise TypeError("only subclasses of CustomOpProp are operators, found "
                            f"{prop_class!r}")
        _registered[reg_name] = prop_class
        return prop_class

    return decorate


def get_all_registered_operators():
    """The names of all operators, those of the user's own, too."""
    return [*TABLE, *_registered]


OperatorArguments = collections.namedtuple("OperatorArguments", "narg names types")
_TYPES = {"bool": "boolean", "shape": "Shape(tuple)", "axes": "Shape(tuple)"}


def get_operator_arguments(op_name):
    """(how many, names, types in words) of an operator's inputs and attributes."""
    if op_name not in TABLE:
        raise MXNetError(f"there is no operator {op_name!r}")
    row = TABLE[op_name]
    names, types = list(row["inputs"]), ["NDArray-or-Symbol"] * len(row["inputs"])
    for attribute in row["attributes"]:
        names.append(attribute["name"])
        types.append(_words_of(attribute))
    return OperatorArguments(len(names), names, types)


def _words_of(attribute):
    kind = attribute["type"]
    if "|" in kind:
        kind = "{" + ", ".join(repr(each) for each in sorted(kind.split("|"))) + "}"
    kind = _TYPES.get(kind, kind)
    if attribute.get("required"):
        return f"{kind}, required"
    return f"{kind}, optional, default={attribute.get('default')}"


def prop_of(attrs):
    """The CustomOpProp of a node with these attributes (texts)."""
    arguments = {name: value for name, value in attrs.items()
                 if name != "op_type" and not name.startswith("__")}
    name = attrs.get("op_type")
    if name not in _registered:
        raise MXNetError(f"op_type {name!r} is not registered; "
                         "@mx.operator.register(name) does that")
    return _registered[name](**arguments)


def signature_of(attrs):
    """The signature of such a node."""
    prop = prop_of(attrs)
    arguments = prop.list_arguments()
    states = prop.list_auxiliary_states()
    outputs = tuple(prop.list_outputs())
    return Signature((*arguments, *states),
                     tuple(range(len(arguments), len(arguments) + len(states))),
                     outputs, len(outputs))


class CustomCall:
    """A node's operator, made for the first shapes that it meets, and again for
    others."""

    def __init__(self, attrs, ctx):
        self._prop = prop_of(attrs)
        self._name = attrs["op_type"]
        self._ctx = ctx
        self._made_for = None
        self._arguments = len(self._prop.list_arguments())

    def __call__(self, arrays, training):
        """Arrays of the outputs, of those of the inputs and states."""
        inputs = [nd.NDArray(array, self._ctx)
                  for array in arrays[:self._arguments]]
        states = [nd.NDArray(array, self._ctx)
                  for array in arrays[self._arguments:]]
        operator, outputs = self._prepared(inputs)
        recording = _ndarray.set_recording(False)
        try:
            run_custom(self._name, lambda: operator.forward(
                training, ["write"] * len(outputs), inputs, outputs, states))
        finally:
            _ndarray.set_recording(recording)
        made = [output._array for output in outputs]
        if recording:
            _ndarray.record_function(
                arrays, made,
                lambda grads: self._backward(operator, grads, inputs, outputs,
                                             states))
        return made

    def _prepared(self, inputs):
        shapes = [array.shape for array in inputs]
        types = [array.dtype for array in inputs]
        told = self._prop.infer_shape([list(shape) for shape in shapes])
        kinds = self._prop.infer_type(list(types))
        names = self._prop.list_outputs()
        if len(told[1]) != len(names) or len(kinds[1]) != len(names):
            raise MXNetError(f"{type(self._prop).__name__} has {len(names)} "
                             f"outputs, but infers {len(told[1])} shapes and "
                             f"{len(kinds[1])} types")
        if self._made_for != (shapes, types):
            self._made_for = (shapes, types)
            self._operator = self._prop.create_operator(
                str(self._ctx), shapes, [np.dtype(kind).type for kind in types])
        outputs = [nd.zeros(tuple(shape), self._ctx, dtype_name(kind))
                   for shape, kind in zip(told[1], kinds[1])]
        return self._operator, outputs

    def _backward(self, operator, grads, inputs, outputs, states):
        out_grads = [nd.NDArray(grad, self._ctx) for grad in grads]
        in_grads = [nd.zeros(array.shape, self._ctx, array.dtype)
                    for array in inputs]
        recording = _ndarray.set_recording(False)
        try:
            run_custom(f"_backward_{self._name}", lambda: operator.backward(
                ["write"] * len(in_grads), out_grads, inputs, outputs, in_grads,
                states))
        finally:
            _ndarray.set_recording(recording)
        return [grad._array for grad in
                in_grads + [nd.zeros(state.shape, self._ctx, state.dtype)
                            for state in states]]


def custom(*inputs, op_type=None, name=None, out=None, **kwargs):
    """mx.nd.Custom: calls a registered operator of arrays; kwargs: inputs by
    name, and the constructor's arguments."""
    if op_type is None:
        raise MXNetError("Custom needs op_type, the name of a registered operator")
    named = {key: value for key, value in kwargs.items()
             if isinstance(value, nd.NDArray)}
    attrs = {key: attribute_text(value) for key, value in kwargs.items()
             if key not in named and value is not _Null}
    attrs["op_type"] = op_type
    arrays = list(inputs)
    if named:
        wanted = signature_of(attrs).inputs
        arrays += [named[key] for key in wanted[len(arrays):] if key in named]
    ctx = arrays[0].context if arrays else current_context()
    call = CustomCall(attrs, ctx)
    made = [nd.NDArray(array, ctx) for array in
            call([array._array for array in arrays], _ndarray.is_training())]
    if out is not None:
        for target, value in zip(out if isinstance(out, list) else [out], made):
            target[:] = value
        return out
    return made[0] if len(made) == 1 else made


class PythonOp:
    """The base of the earlier interface, in which an instance is the operator:
    MyOp()(data, name="out") is a symbol."""

    _numbers = itertools.count()

    def __init__(self, need_top_grad=True):
        self.need_top_grad_ = need_top_grad
        self._type = f"_python_op_{next(self._numbers)}"
        _registered[self._type] = lambda **_: _LegacyProp(self)

    def __call__(self, *args, **kwargs):
        return self.get_symbol(*args, **kwargs)

    def get_symbol(self, *args, **kwargs):
        """The symbol of a call."""
        from . import symbol
        return symbol.Custom(*args, op_type=self._type, **kwargs)

    def forward(self, in_data, out_data):
        """Writes out_data[0][:]; here: the input."""
        out_data[0][:] = in_data[0]

    def backward(self, out_grad, in_data, out_data, in_grad):
        """Writes in_grad[0][:]; here: 1."""
        in_grad[0][:] = 1.0

    def infer_shape(self, in_shape):
        """(inputs' shapes, outputs' shapes)"""
        return in_shape, [in_shape[0]]

    def list_outputs(self):
        """The outputs' names."""
        return ["output"]

    def list_arguments(self):
        """The inputs' names."""
        return ["data"]

    def need_top_grad(self):
        """Whether backward reads out_grad."""
        return self.need_top_grad_


class NDArrayOp(PythonOp):
    """Over NDArrays."""


class NumpyOp(PythonOp):
    """Over NumPy arrays, which are written in place."""


class _LegacyProp(CustomOpProp):
    def __init__(self, instance):
        super().__init__(instance.need_top_grad())
        self._instance = instance
        self.infer_shape = instance.infer_shape
        self.list_outputs = instance.list_outputs
        self.list_arguments = instance.list_arguments

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return _LegacyCall(self._instance)


class _LegacyCall(CustomOp):
    def __init__(self, instance):
        self._instance = instance
        self._numpy = isinstance(instance, NumpyOp)

    def _run(self, function, read, written):
        if not self._numpy:
            function(*read, written)
            return
        values = [array.asnumpy() for array in written]
        function(*([array.asnumpy() for array in arrays] for arrays in read),
                 values)
        for array, value in zip(written, values):
            array[:] = value

    def forward(self, is_train, req, in_data, out_data, aux):
        self._run(self._instance.forward, [in_data], out_data)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self._run(self._instance.backward, [out_grad, in_data, out_data], in_grad)
