# SPDX-License-Identifier: Apache-2.0
"""Initializers over other initializers."""

import logging
import re

from .base import InitDesc, Initializer, create, register


def _read(file):
    from ..ndarray import load
    return load(file)


def _bare(name):
    kind, _, rest = name.partition(":")
    return rest if kind in ("arg", "aux") and rest else name


class Load:
    """Arrays that were saved, by name (with or without "arg:" and "aux:").

    param: a dict, or the name of a file that mx.nd.save wrote. default_init:
    for names that it lacks; without one they are an error.
    """

    def __init__(self, param, default_init=None, verbose=False):
        saved = _read(param) if isinstance(param, str) else param
        if not isinstance(saved, dict):
            raise AssertionError("param is a dict or a file with named arrays")
        self.param = {_bare(name): array for name, array in saved.items()}
        self.default_init = default_init
        self.verbose = verbose

    def __call__(self, name, arr):
        saved = self.param.get(name)
        if saved is None:
            if self.default_init is None:
                raise AssertionError(f"{name} was not saved, and there is no "
                                     "default_init")
            self.default_init(name, arr)
            source = "the default initializer"
        else:
            if arr.shape != saved.shape:
                raise AssertionError(
                    f"{name} was saved with shape {saved.shape}, expected "
                    f"{arr.shape}")
            arr[:] = saved
            source = "what was loaded"
        if self.verbose:
            logging.info("Initialized %s by %s", name, source)


class Mixed:
    """The first of the initializers whose pattern (a regular expression, from
    the beginning of the name) matches."""

    def __init__(self, patterns, initializers):
        if len(patterns) != len(initializers):
            raise AssertionError("as many patterns as initializers")
        self.map = [(re.compile(pattern), initializer) for pattern, initializer
                    in zip(patterns, initializers)]

    def __call__(self, name, arr):
        for pattern, initializer in self.map:
            if pattern.match(name):
                initializer(name, arr)
                return
        raise ValueError(f"no pattern matches {name}; a last one of '.*' matches "
                         "every name")


@register
class FusedRNN(Initializer):
    """The vector of all parameters of an RNN operator: `init` for each matrix
    (None: the initializer of the network), forget_bias for an LSTM's forget
    gates."""

    def __init__(self, init, num_hidden, num_layers, mode, bidirectional=False,
                 forget_bias=1.0):
        if isinstance(init, str):
            init = create(init)
        self._cell = {"num_hidden": num_hidden, "num_layers": num_layers,
                      "mode": mode, "bidirectional": bidirectional,
                      "forget_bias": forget_bias}
        super().__init__(init=None if init is None else init.dumps(),
                         **self._cell)
        self._init = init

    def _init_weight(self, desc, arr):
        from ..rnn import FusedRNNCell
        cell = FusedRNNCell(prefix="", **self._cell)
        pieces = cell.unpack_weights({"parameters": arr})
        rule = self._init or getattr(desc, "global_init", None)
        for name, piece in pieces.items():
            if self._cell["mode"] == "lstm" and name.endswith("_f_bias"):
                piece[:] = self._cell["forget_bias"]
            elif name.endswith("bias"):
                piece[:] = 0
            elif rule is None:
                raise ValueError("FusedRNN needs an initializer for its matrices")
            else:
                rule(InitDesc(name, global_init=rule), piece)
        arr[:] = cell.pack_weights(pieces)["parameters"]
