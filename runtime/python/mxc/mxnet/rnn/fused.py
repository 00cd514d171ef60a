# SPDX-License-Identifier: Apache-2.0
"""FusedRNNCell: all layers and steps as one RNN operator."""

from .. import ndarray as nd, symbol
from ..initializer import FusedRNN
from .base import BaseRNNCell, normalize_sequence
from .cells import GRUCell, LSTMCell, RNNCell
from .combined import BidirectionalCell, SequentialRNNCell
from .modifiers import DropoutCell

_GATES = {"rnn_relu": ("",), "rnn_tanh": ("",),
          "lstm": ("_i", "_f", "_c", "_o"), "gru": ("_r", "_z", "_o")}


class FusedRNNCell(BaseRNNCell):
    """num_layers layers of `mode` ("rnn_relu", "rnn_tanh", "lstm", "gru") with one
    vector of parameters."""

    def __init__(self, num_hidden, num_layers=1, mode="lstm", bidirectional=False,
                 dropout=0.0, get_next_state=False, forget_bias=1.0, prefix=None,
                 params=None):
        if prefix is None:
            prefix = f"{mode}_"
        super().__init__(prefix=prefix, params=params)
        self._num_hidden = num_hidden
        self._num_layers = num_layers
        self._mode = mode
        self._bidirectional = bidirectional
        self._dropout = dropout
        self._get_next_state = get_next_state
        self._directions = ["l", "r"] if bidirectional else ["l"]
        self._parameter = self.params.get("parameters", init=FusedRNN(
            None, num_hidden, num_layers, mode, bidirectional, forget_bias))

    @property
    def state_info(self):
        layers = len(self._directions) * self._num_layers
        return [{"shape": (layers, 0, self._num_hidden), "__layout__": "LNC"}
                for _ in range(1 + (self._mode == "lstm"))]

    @property
    def _gate_names(self):
        return _GATES[self._mode]

    @property
    def _num_gates(self):
        return len(self._gate_names)

    # ---- Weights -------------------------------------------------------------

    def _pieces(self, num_input):
        """(name, shape) of each matrix and bias, in the vector's order."""
        size = self._num_hidden
        sides = [(f"{direction}{layer}", layer) for layer
                 in range(self._num_layers) for direction in self._directions]
        for side, layer in sides:
            width = (num_input if layer == 0
                     else size * len(self._directions))
            for group, columns in (("i2h", width), ("h2h", size)):
                for gate in self._gate_names:
                    yield (f"{self._prefix}{side}_{group}{gate}_weight",
                           (size, columns))
        for side, _ in sides:
            for group in ("i2h", "h2h"):
                for gate in self._gate_names:
                    yield f"{self._prefix}{side}_{group}{gate}_bias", (size,)

    def _num_input(self, count):
        """The width of the input, from the number of all parameters."""
        size, ways = self._num_hidden, len(self._directions)
        rest = (self._num_layers - 1) * (size + ways * size + 2)
        return count // ways // size // self._num_gates - rest - size - 2

    def unpack_weights(self, args):
        args = dict(args)
        vector = args.pop(f"{self._prefix}parameters")
        begin = 0
        for name, shape in self._pieces(self._num_input(vector.size)):
            count = shape[0] * (shape[1] if len(shape) > 1 else 1)
            args[name] = vector[begin:begin + count].reshape(shape).copy()
            begin += count
        if begin != vector.size:
            raise AssertionError(f"{self._prefix}parameters has {vector.size} "
                                 f"numbers, expected {begin}")
        return args

    def pack_weights(self, args):
        args = dict(args)
        first = args[f"{self._prefix}l0_i2h{self._gate_names[0]}_weight"]
        parts = [args.pop(name).reshape((-1,))
                 for name, _ in self._pieces(first.shape[1])]
        args[f"{self._prefix}parameters"] = nd.concat(*parts, dim=0)
        return args

    # ---- Graphs --------------------------------------------------------------

    def __call__(self, inputs, states):
        raise NotImplementedError("a fused cell has no single step; unroll() "
                                  "has all")

    def unroll(self, length, inputs, begin_state=None, layout="NTC",
               merge_outputs=None):
        self.reset()
        inputs, axis = normalize_sequence(length, inputs, layout, True)
        if axis == 1:
            inputs = symbol.swapaxes(inputs, dim1=0, dim2=1)
        elif axis != 0:
            raise AssertionError(f"layout is NTC or TNC, not {layout}")
        states = self.begin_state() if begin_state is None else begin_state
        given = {"state": states[0]}
        if self._mode == "lstm":
            given["state_cell"] = states[1]
        rnn = symbol.RNN(data=inputs, parameters=self._parameter,
                         state_size=self._num_hidden, num_layers=self._num_layers,
                         bidirectional=self._bidirectional, p=self._dropout,
                         state_outputs=self._get_next_state, mode=self._mode,
                         name=f"{self._prefix}rnn", **given)
        if not self._get_next_state:
            outputs, states = rnn, []
        else:
            outputs, states = rnn[0], list(rnn)[1:]
        if axis == 1:
            outputs = symbol.swapaxes(outputs, dim1=0, dim2=1)
        outputs, _ = normalize_sequence(length, outputs, layout, merge_outputs)
        return outputs, states

    def unfuse(self):
        """The same layers as cells of their own; see unpack_weights()."""
        make = {
            "rnn_relu": lambda prefix: RNNCell(self._num_hidden, "relu", prefix),
            "rnn_tanh": lambda prefix: RNNCell(self._num_hidden, "tanh", prefix),
            "lstm": lambda prefix: LSTMCell(self._num_hidden, prefix),
            "gru": lambda prefix: GRUCell(self._num_hidden, prefix)}[self._mode]
        stack = SequentialRNNCell()
        for layer in range(self._num_layers):
            cell = make(f"{self._prefix}l{layer}_")
            if self._bidirectional:
                cell = BidirectionalCell(
                    cell, make(f"{self._prefix}r{layer}_"),
                    output_prefix=f"{self._prefix}bi_l{layer}_")
            stack.add(cell)
            if self._dropout > 0 and layer != self._num_layers - 1:
                stack.add(DropoutCell(self._dropout,
                                      prefix=f"{self._prefix}_dropout{layer}_"))
        return stack
