# SPDX-License-Identifier: Apache-2.0
"""Networks as a table, and as a graph in the language of Graphviz's dot."""

import json
import math
import shutil
import subprocess

from .._whole_file import write_whole
from .symbol import Symbol
from .symbol._node import walk

_PARAMETERS = ("_weight", "_bias", "_gamma", "_beta", "_moving_var",
               "_moving_mean", "_running_var", "_running_mean", "_alpha")
# Fills of nodes: variables, products, activations, normalizations, windows,
# rearrangements, losses, others.
_COLORS = ("#e8e8e8", "#f4b6a6", "#fbe8a6", "#d5c8ea", "#a9cce3", "#f8cf9f",
           "#bfe3a5", "#f3d3e6")
_COLOR_OF = {"Convolution": 1, "Deconvolution": 1, "FullyConnected": 1,
             "BatchNorm": 3, "Activation": 2, "LeakyReLU": 2, "Pooling": 4,
             "Concat": 5, "Flatten": 5, "Reshape": 5, "Softmax": 6,
             "SoftmaxOutput": 6}


def _is_parameter(node):
    return node.op is None and node.name.endswith(_PARAMETERS)


def _shapes_of(symbol, shape):
    """Output name -> shape of all internal outputs."""
    if shape is None:
        return {}
    internals = symbol.get_internals()
    _, found, _ = internals.infer_shape(**shape)
    if found is None:
        raise ValueError("Input shape is incomplete")
    return dict(zip(internals.list_outputs(), found))


def print_summary(symbol, shape=None, line_length=120,
                  positions=(.44, .64, .74, 1.)):
    """Prints a row for each layer: type, output's shape without the batch's
    extent, number of parameters, what it reads.

    shape: of the inputs, by name; positions: ends of the columns, parts of
    line_length.
    """
    if not isinstance(symbol, Symbol):
        raise TypeError("symbol must be Symbol")
    shapes = _shapes_of(symbol, shape)
    ends = ([int(line_length * position) for position in positions]
            if positions[-1] <= 1 else list(positions))

    def show(*fields):
        line = ""
        for field, end in zip(fields, ends):
            line = (line + str(field))[:end]
            line += " " * (end - len(line))
        print(line)

    print("_" * line_length)
    show("Layer (type)", "Output Shape", "Param #", "Previous Layer")
    print("=" * line_length)
    total = 0
    heads = {id(node) for node, _ in symbol._heads}
    nodes = [node for node in walk(symbol._heads) if not _is_parameter(node)
             and not _is_label(node)]
    for i, node in enumerate(nodes):
        count = _parameters_of(node, shapes)
        total += count
        before = [of.name for of, _ in node.inputs
                  if not (_is_parameter(of) or _is_label(of))]
        shown = shapes.get(node.output_name(0), (0,))[1:] if shapes else ()
        show(f"{node.name}({node.op or 'null'})", "x".join(map(str, shown)),
             count, before[0] if before else "")
        for name in before[1:]:
            show("", "", "", name)
        print(("=" if i == len(nodes) - 1 or id(node) in heads else "_")
              * line_length)
    print(f"Total params: {total}")
    print("_" * line_length)


def _is_label(node):
    return node.op is None and node.name.endswith("label")


def _parameters_of(node, shapes):
    return sum(math.prod(shapes.get(of.name, (0,))) for of, _ in node.inputs
               if _is_parameter(of) and "moving" not in of.name
               and "running" not in of.name)


class Dot:
    """A directed graph as text. source: the text; render() draws it by Graphviz's
    program dot, where that is installed."""

    def __init__(self, name="plot", format="pdf"):
        self.name = name
        self.format = format
        self.body = []

    @property
    def source(self):
        """The text."""
        return "\n".join([f"digraph {json.dumps(self.name)} {{", *self.body,
                          "}"]) + "\n"

    def node(self, name, label=None, **attrs):
        """A node with attributes of dot."""
        self.body.append(f"\t{json.dumps(name)}"
                         + _attributes({"label": label, **attrs}))

    def edge(self, tail_name, head_name, label=None, **attrs):
        """An edge with attributes of dot."""
        self.body.append(f"\t{json.dumps(tail_name)} -> {json.dumps(head_name)}"
                         + _attributes({"label": label, **attrs}))

    def save(self, filename=None):
        """Writes the text to a file; returns its name."""
        filename = filename or f"{self.name}.gv"
        with write_whole(filename, "w") as file:
            file.write(self.source)
        return filename

    def render(self, filename=None, view=False, cleanup=False):
        """Writes and draws it; returns the drawing's name."""
        filename = self.save(filename or self.name)
        program = shutil.which("dot")
        if program is None:
            raise NotImplementedError(f"{filename} is written; Graphviz's dot, "
                                      "which draws it, is not installed")
        drawing = f"{filename}.{self.format}"
        subprocess.run([program, f"-T{self.format}", filename, "-o", drawing],
                       check=True)
        return drawing

    def view(self):
        """Draws it."""
        return self.render()

    def __str__(self):
        return self.source


def _attributes(attrs):
    texts = [f"{name}={json.dumps(str(value))}" for name, value in attrs.items()
             if value is not None]
    return f" [{' '.join(texts)}]" if texts else ""


def plot_network(symbol, title="plot", save_format="pdf", shape=None, dtype=None,
                 node_attrs=None, hide_weights=True):
    """The network as a Dot, from its outputs up to its inputs. shape: of the
    inputs, for the edges' labels; hide_weights: without parameters."""
    if not isinstance(symbol, Symbol):
        raise TypeError("symbol must be a Symbol")
    shapes = _shapes_of(symbol, shape)
    dot = Dot(title, save_format)
    style = {"shape": "box", "style": "filled", **(node_attrs or {})}
    hidden = set()
    for node in walk(symbol._heads):
        if hide_weights and _is_parameter(node):
            hidden.add(id(node))
            continue
        color = _COLORS[_COLOR_OF.get(node.op, 7 if node.op else 0)]
        kind = {**style, "shape": "oval"} if node.op is None else style
        dot.node(node.name, label=_label(node), fillcolor=color, **kind)
    for node in walk(symbol._heads):
        for of, index in node.inputs:
            if id(of) not in hidden:
                extents = shapes.get(of.output_name(index), ())[1:]
                dot.edge(node.name, of.name, dir="back", arrowtail="open",
                         label="x".join(map(str, extents)) or None)
    return dot


def _label(node):
    attrs = node.attrs
    if node.op in ("Convolution", "Deconvolution"):
        kernel = attrs.get("kernel", "").strip("()[]").replace(", ", "x")
        stride = attrs.get("stride", "(1)").strip("()[]").replace(", ", "x")
        return f"{node.op}\n{kernel}/{stride}, {attrs.get('num_filter')}"
    if node.op == "FullyConnected":
        return f"FullyConnected\n{attrs.get('num_hidden')}"
    if node.op in ("Activation", "LeakyReLU"):
        return f"{node.op}\n{attrs.get('act_type', 'leaky')}"
    if node.op == "Pooling":
        kernel = attrs.get("kernel", "").strip("()[]").replace(", ", "x")
        return f"Pooling\n{attrs.get('pool_type', 'max')}, {kernel}"
    return node.name if node.op is None else f"{node.op}\n{node.name}"
