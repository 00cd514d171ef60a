# SPDX-License-Identifier: Apache-2.0
"""Random attributes, shapes and values for an operator, by what MXNet says of them."""
import ast
import random

import numpy as np

import rules_indexing
import rules_layers
import rules_numpy
import rules_products
import rules_random
import rules_shapes
import rules_updates
import rules_vision
from rules import RULES

TYPES = ["float64", "float16", "int32", "int64", "uint8", "int8"]

# Inputs that hold whole numbers: positions, classes or lengths, below this.
WHOLE = {"indices", "index", "label", "sequence_length", "length", "data_lengths",
         "label_lengths", "index_vector"}
WHOLE_DATA = {"Embedding", "one_hot", "_ravel_multi_index", "_unravel_index"}


class Draw:
    def __init__(self, operator, seed, parameters):
        self.random = random.Random(f"{operator} {seed}")
        self.numpy = np.random.RandomState(self.random.randrange(2 ** 31))
        self.operator = operator
        self.rank = self.random.choice([1, 2, 2, 3, 3, 3, 4, 4, 4, 5])
        self.base = self.shape(self.rank)
        self.inputs = [name for name, kind in parameters
                       if kind.startswith(("NDArray", "Symbol"))]
        self.type = "float32" if self.random.random() < 0.8 else self.random.choice(TYPES)
        self.values = self.random.choice(["real", "real", "real", "whole", "positive", "large"])
        self.given = {}
        self.fixed = set()  # inputs of floats whose gradient MXNet does not give
        self.attributes = {}
        for name, kind in parameters:
            if name in self.inputs or name == "ctx":
                continue
            required = "required" in kind
            if required or self.random.random() < 0.5:
                self.attributes[name] = self.attribute(name, kind)
        if operator in RULES:
            RULES[operator](self)

    # ---- attributes

    def attribute(self, name, kind):
        r = self.random
        if kind.startswith("{"):
            choices = ast.literal_eval("[" + kind[1:kind.index("}")] + "]")
            return r.choice([each for each in choices if each != "bfloat16"])
        if "boolean" in kind:
            return r.choice([True, False])
        if "or None" in kind and r.random() < 0.2:
            return None
        if kind.startswith("Shape"):
            low = r.choice([0, 1, 1, -1, -self.rank])
            high = r.choice([self.rank - 1, 3, 4])
            length = r.choice([1, 2, self.rank, max(1, self.rank - 2)])
            if "axes" in name or name == "axis":
                length = r.randint(1, self.rank)
                chosen = r.sample(range(self.rank), length)
                return tuple(each - self.rank * (r.random() < 0.3) for each in chosen)
            return tuple(r.randint(min(low, high), high) for _ in range(length))
        if kind.startswith("tuple of"):
            return tuple(round(r.uniform(0.1, 2), 2) for _ in range(r.randint(1, 4)))
        if "non-negative" in kind:
            return r.randint(0, 5)
        if kind.startswith(("int", "long")):
            return r.choice([r.randint(-self.rank, self.rank - 1), r.randint(-3, 5), 1])
        if kind.startswith(("float", "double")):
            return r.choice([0, 1, -1, 0.5, 2, round(r.uniform(-2, 2), 3)])
        return r.choice(["", "x"])

    # ---- shapes

    def shape(self, rank, low=1, high=6):
        return tuple(self.random.randint(low, high) for _ in range(rank))

    def shapes(self, names, states, symbol):
        """The shapes that are given; MXNet infers the others from them."""
        known = {name: self.given[name[3:]] for name in states if name[3:] in self.given}
        for k, name in enumerate(names):
            short = name.split("_", 1)[1]
            if short in self.given and self.given[short] is not None:
                known[name] = self.given[short]
            elif k == 0:
                known[name] = self.base
        for k, name in enumerate(names):
            found = dict(zip(names, symbol.infer_shape_partial(**known)[0]))
            if name not in known and (not found[name] or 0 in found[name]):
                known[name] = self.alike(self.base)
        return known

    def alike(self, shape):
        choice = self.random.random()
        if choice < 0.5:
            return shape
        if choice < 0.85:
            return tuple(1 if self.random.random() < 0.4 else each for each in shape)
        return self.shape(self.random.randint(1, 4))

    # ---- values

    def value(self, name, shape):
        short = name.split("_", 1)[1] if "_" in name else name
        if short in self.given.get("=", {}):
            return np.asarray(self.given["="][short](shape))
        whole = short in WHOLE or (short == "data" and self.operator in WHOLE_DATA)
        if whole:
            top = max(2, max(self.base))
            kind = self.random.choice(["float32", "float32", "int32", "int64"])
            return self.numpy.randint(-1 if self.random.random() < 0.1 else 0, top,
                                      size=shape).astype(kind)
        return self.real(shape).astype(self.type)

    def real(self, shape):
        if self.values == "whole" or self.type.startswith(("int", "uint")):
            low = 0 if self.type.startswith("uint") else -3
            return self.numpy.randint(low, 5, size=shape)
        if self.values == "positive":
            return self.numpy.uniform(0.05, 3, size=shape).round(3)
        if self.values == "large":
            return self.numpy.uniform(-30, 30, size=shape).round(2)
        return self.numpy.uniform(-2, 2, size=shape).round(3)

    def state(self, name, shape):
        if name[3:] in self.given.get("=", {}):
            return np.asarray(self.given["="][name[3:]](shape))
        positive = "var" in name or "moving_avg" in name
        low, high = (0.05, 2) if positive else (-1, 1)
        return self.numpy.uniform(low, high, size=shape).round(3).astype("float32")

    # ---- what rules use

    def set(self, **attributes):
        self.attributes.update(attributes)

    def forget(self, *names):
        for name in names:
            self.attributes.pop(name, None)

    def chance(self, share):
        return self.random.random() < share

    def pick(self, *choices):
        return self.random.choice(choices)
