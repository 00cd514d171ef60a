# SPDX-License-Identifier: Apache-2.0
"""Which operators there are, and what a node of one reads and gives: from the
compiler's schemas."""

from __future__ import annotations

import functools
import json
from typing import NamedTuple

from ... import _ndarray
from ..base import MXNetError


class Signature(NamedTuple):
    """Of a node: its inputs' names, which of them are states that the operator
    updates (positions), its outputs' names, and how many of these can be read."""

    inputs: tuple
    states: tuple
    outputs: tuple
    visible: int


class Operator(NamedTuple):
    """A row of the table. inputs: all that any attributes ask for; variadic: the
    attribute that counts them, or None."""

    name: str
    inputs: tuple
    params: dict  # name -> row of the table
    variadic: str | None
    doc: str


# Inputs that the default attributes do not ask for, which MXNet's functions take
# by position, too.
_OPTIONAL_INPUTS = {
    "Deconvolution": ("bias",), "LeakyReLU": ("gamma",), "softmax": ("length",),
    "softmin": ("length",), "log_softmax": ("length",),
    "SequenceMask": ("sequence_length",), "SequenceLast": ("sequence_length",),
    "SequenceReverse": ("sequence_length",),
    "CTCLoss": ("data_lengths", "label_lengths"),
    "RNN": ("state_cell", "sequence_length"),
    "_contrib_BilinearResize2D": ("like",),
}

# MXNet's names of outputs, where the compiler has others.
_OUTPUT_NAMES = {
    "_contrib_box_nms": ("output0", "output1"),
    "CTCLoss": ("output0", "output1"),
    "_contrib_quantize": ("output0", "output1", "output2"),
    "_contrib_hawkesll": ("output", "out_state"),
    "_sample_multinomial": ("output0", "output1"),
}

# The attributes that count inputs.
_COUNTED_BY = ("num_args", "num_weights", "num_arrays", "num_tensors")
CONTROL_FLOW = ("_foreach", "_while_loop", "_cond")


def _operator(row):
    name = row["name"]
    params = {param["name"]: param for param in row["attributes"]}
    inputs = [given for given in row["inputs"] if given != "…"]
    inputs += [given for given in _OPTIONAL_INPUTS.get(name, ())
               if given not in inputs]
    variadic = next((key for key in _COUNTED_BY if key in params), None)
    if name == "amp_multicast":
        variadic = "num_outputs"
    return Operator(name, tuple(inputs), params, variadic, row["doc"])


@functools.cache
def table():
    """Operators by name and by each other name."""
    found = {}
    for row in json.loads(_ndarray.operators_json())["operators"]:
        operator = _operator(row)
        for name in (row["name"], *row["aliases"]):
            found[name] = operator
    for name in CONTROL_FLOW:
        found[name] = Operator(name, (), {}, "num_args",
                               "control flow over subgraphs")
    return found


def find(name):
    """The operator of this name; MXNetError where there is none."""
    operator = table().get(name)
    if operator is None:
        raise MXNetError(f"there is no operator {name!r}; `mxc ops` lists those "
                         "that there are")
    return operator


@functools.lru_cache(maxsize=65536)
def _signature(name, attrs, count):
    row = json.loads(_ndarray.signature_json(name, list(attrs), count))
    states = tuple(i for i, given in enumerate(row["inputs"])
                   if given["kind"] == "state")
    # The last outputs are the next values of the states.
    outputs = row["outputs"][:len(row["outputs"]) - len(states)]
    return Signature(tuple(given["name"] for given in row["inputs"]), states,
                     _output_names(name, outputs, dict(attrs)),
                     row["visible_outputs"])


def _output_names(name, outputs, attrs):
    if name == "Pooling" and attrs.get("pool_type", "max") == "max":
        return ("output", "workspace")
    if name == "SliceChannel":
        return tuple(f"output{i}" for i in range(len(outputs)))
    if name == "_sample_multinomial" and len(outputs) == 1:
        return ("output",)
    return tuple(_OUTPUT_NAMES.get(name, outputs))


# Operators of one input that MXNet names; it calls those of others input0.
_NAMED_INPUT = frozenset("""BlockGrad Crop Dropout GridGenerator InstanceNorm
L2Normalization LRN LeakyReLU MakeLoss Pad Pooling SliceChannel SwapAxis _split_v2
log_softmax softmax softmin""".split())


def input_names(node):
    """The names of a node's inputs as MXNet's monitors show them."""
    names = node.signature.inputs
    if names == ("data",) and node.op not in _NAMED_INPUT:
        return ("input0",)
    return names


def signature(name, attrs, count=0):
    """What a node of the operator reads and gives; MXNetError for attributes that
    it does not take. attrs: name -> text; count: how many inputs it has, for
    operators of any number."""
    if name == "Custom":
        from ..operator import signature_of
        return signature_of(attrs)
    if name in CONTROL_FLOW:
        outputs = int(attrs["num_outputs"])
        names = (tuple(f"output{i}" for i in range(outputs)) if outputs > 1
                 else ("output",))
        return Signature(tuple(f"data{i}" for i in range(count)), (), names,
                         outputs)
    params = find(name).params
    return _signature(name, tuple((key, value) for key, value in attrs.items()
                                  if key in params), count)
