# SPDX-License-Identifier: Apache-2.0
"""Graphs as JSON: written as MXNet 1.9 writes it, byte for byte; read in the
forms of all versions since 0.7."""

import json

from ..base import MXNetError
from ._node import Node, updated_variables, walk
from ._operators import find

VERSION = 10901
HIDDEN_KEYS = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring",
               "mirror_stage")
# Attributes of variables that operators read, where they have none: position of
# the input -> text.
_BATCH_NORM = {3: '["zero", {}]', 4: '["one", {}]'}
VARIABLE_INITS = {
    "BatchNorm": _BATCH_NORM, "BatchNorm_v1": _BATCH_NORM,
    "CuDNNBatchNorm": _BATCH_NORM, "_contrib_SyncBatchNorm": _BATCH_NORM,
    "_contrib_BatchNormWithReLU": _BATCH_NORM,
    "UpSampling": {1: '["bilinear", {}]'},
    "LeakyReLU": {1: '["Constant", {"value": 0.25}]'},
    "IdentityAttachKLSparseReg": {1: '["zero", {}]'},
}


def give_variables_inits(node):
    """Sets `__init__` of the variables that this node's operator has a rule for."""
    for position, text in VARIABLE_INITS.get(node.op, {}).items():
        if position < len(node.inputs):
            variable = node.inputs[position][0]
            if variable.op is None:
                variable.attrs.setdefault("__init__", text)


# ---- Writing ---------------------------------------------------------------


def _text(value, indent):
    """dmlc's layout: short lists of numbers on one line, all else a line each."""
    if isinstance(value, dict):
        parts = [f"{json.dumps(name, ensure_ascii=False)}: "
                 f"{_text(part, indent + 2)}" for name, part in value.items()]
        brackets, on_one_line = "{}", len(parts) <= 1
    elif isinstance(value, list):
        parts = [_text(part, indent + 2) for part in value]
        flat = not any(isinstance(part, dict) for part in value)
        brackets, on_one_line = "[]", flat and len(parts) <= 10
    else:
        return json.dumps(value, ensure_ascii=False)
    if on_one_line:
        return brackets[0] + ", ".join(parts) + brackets[1]
    margin = "\n" + " " * (indent + 2)
    return (brackets[0] + margin + (", " + margin).join(parts)
            + "\n" + " " * indent + brackets[1])


def _graph(heads, attrs):
    """The graph of these entries, as what JSON is made of."""
    order = walk(heads)
    ids = {id(node): i for i, node in enumerate(order)}
    versions = {}
    nodes, row_ptr = [], [0]
    for node in order:
        for position in node.states():
            variable = id(node.inputs[position][0])
            versions[variable] = versions.get(variable, 0) + 1
        row = {"op": node.op or "null", "name": node.name}
        if node.attrs:
            row["attrs"] = dict(sorted(node.attrs.items()))
        row["inputs"] = [[ids[id(of)], index, versions.get(id(of), 0)]
                         for of, index in node.inputs]
        if node.subgraphs:
            row["subgraphs"] = [_graph(subgraph, {}) for subgraph
                                in node.subgraphs]
        nodes.append(row)
        row_ptr.append(row_ptr[-1] + (len(node.signature.outputs)
                                      if node.op else 1))
    graph = {"nodes": nodes,
             "arg_nodes": [i for i, node in enumerate(order) if not node.op],
             "node_row_ptr": row_ptr,
             "heads": [[ids[id(node)], index, 0] for node, index in heads]}
    if attrs:
        graph["attrs"] = attrs
    return graph


def write(heads, np_shape=False):
    """The text of the graph with these heads."""
    attrs = {"mxnet_version": ["int", VERSION]}
    if np_shape:
        attrs = {"is_np_shape": ["int", 1], **attrs}
    return _text(_graph(heads, attrs), 0)


# ---- Reading ---------------------------------------------------------------


def read(text):
    """The entries of a graph that MXNet or this module wrote."""
    try:
        graph = json.loads(text, strict=False)
        version = int(graph.get("attrs", {}).get("mxnet_version",
                                                 ["int", 800])[1])
        return _entries(graph, version)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise MXNetError("the text is no symbol's JSON: "
                         f"{type(error).__name__} {error}") from error


def _entries(graph, version):
    nodes = [Node(None if row["op"] == "null" else find(row["op"]).name,
                  row["name"],
                  {**row.get("param", {}),
                   **(row.get("attrs") or row.get("attr") or {})},
                  subgraphs=[_entries(subgraph, VERSION)
                             for subgraph in row.get("subgraphs", ())])
             for row in graph["nodes"]]
    for node, row in zip(nodes, graph["nodes"]):
        node.inputs = [(nodes[entry[0]], entry[1]) for entry in row["inputs"]]
    heads = [(nodes[entry[0]], entry[1] if len(entry) > 1 else 0)
             for entry in graph["heads"]]
    if version < VERSION:
        for node in walk(heads):
            _upgrade(node, version)
    return heads


def _upgrade(node, version):
    """What the node of an older file is written as in the present form."""
    _hide_keys(node)
    if node.op is None:
        return
    if version < 900:
        wanted = node.signature.inputs
        for name in wanted[len(node.inputs):]:
            variable = Node(None, f"{node.name}_{name}" if node.name else name,
                            node.attrs)
            node.inputs.append((variable, 0))
    if version < 904:
        give_variables_inits(node)
    if version < 905 and node.op in ("argmin", "argmax"):
        if node.attrs.get("axis") == "-1":
            del node.attrs["axis"]


def _hide_keys(node):
    for name in list(node.attrs):
        for key in HIDDEN_KEYS:
            if name == key:
                node.attrs[f"__{key}__"] = node.attrs.pop(name)
            elif name.endswith("_" + key) and node.op:
                _move_to_input(node, name, name[:-len(key) - 1], key)


def _move_to_input(node, name, argument, key):
    for input_name, (variable, _) in zip(node.signature.inputs, node.inputs):
        if input_name == argument and variable.op is None:
            variable.attrs[f"__{key}__"] = node.attrs.pop(name)
            return


def variables(heads):
    """(arguments, auxiliary states): variables in the graph's order."""
    order = walk(heads)
    updated = updated_variables(order)
    found = [node for node in order if node.op is None]
    return ([node for node in found if id(node) not in updated],
            [node for node in found if id(node) in updated])
