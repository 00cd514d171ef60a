# SPDX-License-Identifier: Apache-2.0
"""How a graph with sparse arrays is computed: node by node, each result with its
storage type; and which storage types gradients have."""

from . import ndarray as nd
from ._run import NodeByNode
from .ndarray.sparse import _storage
from .ndarray.sparse._dispatch import stored_as
from .symbol import _operators
from .symbol._infer import is_custom
from .symbol._node import walk
from .symbol._types import STORAGE_NUMBERS

_STORAGE_NAMES = {str(number): name for name, number in STORAGE_NUMBERS.items()}


def attributes(node):
    """The texts of a node's attributes that its operator takes."""
    params = _operators.find(node.op).params
    return {name: text for name, text in node.attrs.items() if name in params}


def _is_plain(node):
    return (node.op is None or is_custom(node) or node.op in _operators.CONTROL_FLOW)


def _asks_for_storage(node):
    return (not _is_plain(node) and not _storage.is_plain(node.op)
            and _storage.infer(node.op, ["default"] * len(node.inputs),
                               attributes(node)) != "default")


def runner_of(symbol, ctx, arrays):
    """What computes the symbol where arrays of arguments are sparse, or operators ask
    for sparse results; else None."""
    if any(array.stype != "default" for array in arrays) or any(
            map(_asks_for_storage, walk(symbol._heads))):
        return SparseRunner(symbol, ctx)
    return None


class SparseRunner(NodeByNode):
    """Calls operators over NDArrays of any storage type."""

    def run_arrays(self, inputs, training, watch=None, with_inputs=False):
        """NDArrays of the outputs; inputs: of arguments, then states. watch(name,
        array) is told each output, with_inputs each input, too."""
        values = {(id(node), 0): array
                  for node, array in zip(self._variables, inputs)}
        self._infer_sources(inputs)
        if watch and with_inputs:
            for node, array in zip(self._variables, inputs):
                watch(node.name, array)
        for node in self._order:
            if node.op is None:
                continue
            found = self._invoke(node, [values[id(of), index]
                                        for of, index in node.inputs], training)
            for index in range(node.outputs()):
                values[id(node), index] = found[index]
                if watch:
                    watch(node.output_name(index), found[index])
        return [values[id(node), index] for node, index in self._symbol._heads]

    def _invoke(self, node, arrays, training):
        if _is_plain(node) or id(node) in self._source_shapes:
            found = self._call(node, [array._array for array in arrays], training)
            return [nd.NDArray(array, self._ctx) for array in found]
        found = nd._invoke(node.op, arrays, attributes(node))
        return found if isinstance(found, list) else [found]


def view(array, handle):
    """An array over a view of another, of its storage type."""
    return stored_as(array.stype, handle, array.context)


# ---- Storage types of what simple_bind makes ---------------------------------

def argument_stypes(symbol, given):
    """The storage types of variables by name: as `given` says, or their attribute."""
    found = {}
    for node in walk(symbol._heads):
        if node.op is None:
            said = _STORAGE_NAMES.get(node.attrs.get("__storage_type__"), "default")
            said = (given or {}).get(node.name, said)
            found[node.name] = "default" if said == "undefined" else said
    return found


_LIKE_DATA = {_storage.first_name(op) for op in """square abs relu sign negative _copy
BlockGrad zeros_like _square_sum _mul_scalar _div_scalar""".split()}
_LIKE_BOTH = {"elemwise_add", "elemwise_sub"}


def _gradient(node, position, stypes):
    """The storage type of the gradient of one input."""
    attrs = node.attrs
    if _is_plain(node):
        return "default"
    op = _storage.first_name(node.op)
    if op == "Embedding":
        sparse = position == 1 and _storage.is_true(attrs, "sparse_grad")
        return "row_sparse" if sparse else "default"
    if op == "_contrib_SparseEmbedding":
        return "row_sparse" if position == 1 else "default"
    if op == "dot":
        plain = not (_storage.is_true(attrs, "transpose_a")
                     or _storage.is_true(attrs, "transpose_b"))
        return ("row_sparse" if plain and position == 1 and stypes[0] == "csr"
                else "default")
    if op in _LIKE_DATA or op == "_sparse_retain" and position == 0:
        return stypes[position]
    if op in _LIKE_BOTH and len(set(stypes)) == 1:
        return stypes[position]
    return "default"


def gradient_stypes(symbol, stypes):
    """The storage types of arguments' gradients by name, of the arguments'."""
    found, asked = dict.fromkeys(stypes, "default"), {}
    forward = {}
    for node in walk(symbol._heads):
        if node.op is None:
            forward[id(node)] = stypes.get(node.name, "default")
            continue
        given = [forward[id(of)] for of, _ in node.inputs]
        forward[id(node)] = ("default" if _is_plain(node) else
                             _storage.infer(node.op, given, attributes(node)))
        for position, (of, _) in enumerate(node.inputs):
            if of.op is None:
                asked.setdefault(of.name, set()).add(_gradient(node, position, given))
    for name, kinds in asked.items():
        if len(kinds) == 1:
            (found[name],) = kinds
    return found
