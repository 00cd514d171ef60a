# SPDX-License-Identifier: Apache-2.0
"""The plain cells: RNN, LSTM, GRU."""

from .. import symbol
from ..initializer import LSTMBias
from .base import BaseRNNCell


class _DenseCell(BaseRNNCell):
    """Two layers of `gates` · num_hidden outputs each, of input and state."""

    _state_count = 1

    def __init__(self, num_hidden, prefix, params, bias_init=None):
        super().__init__(prefix=prefix, params=params)
        self._num_hidden = num_hidden
        self._iW = self.params.get("i2h_weight")
        self._hW = self.params.get("h2h_weight")
        self._iB = self.params.get("i2h_bias", **(
            {} if bias_init is None else {"init": bias_init}))
        self._hB = self.params.get("h2h_bias")

    @property
    def state_info(self):
        return [{"shape": (0, self._num_hidden), "__layout__": "NC"}
                for _ in range(self._state_count)]

    def _layers(self, inputs, state, name):
        size = self._num_hidden * len(self._gate_names)
        return (symbol.FullyConnected(data=inputs, weight=self._iW, bias=self._iB,
                                      num_hidden=size, name=f"{name}i2h"),
                symbol.FullyConnected(data=state, weight=self._hW, bias=self._hB,
                                      num_hidden=size, name=f"{name}h2h"))

    def _next_name(self):
        self._counter += 1
        return f"{self._prefix}t{self._counter}_"


class RNNCell(_DenseCell):
    """h' = activation(W x + U h + b)."""

    def __init__(self, num_hidden, activation="tanh", prefix="rnn_", params=None):
        super().__init__(num_hidden, prefix, params)
        self._activation = activation

    @property
    def _gate_names(self):
        return ("",)

    def __call__(self, inputs, states):
        name = self._next_name()
        i2h, h2h = self._layers(inputs, states[0], name)
        output = self._get_activation(i2h + h2h, self._activation,
                                      name=f"{name}out")
        return output, [output]


class LSTMCell(_DenseCell):
    """States: output and memory. forget_bias: the forget gate's first bias."""

    _state_count = 2

    def __init__(self, num_hidden, prefix="lstm_", params=None, forget_bias=1.0):
        super().__init__(num_hidden, prefix, params,
                         LSTMBias(forget_bias=forget_bias))

    @property
    def _gate_names(self):
        return ("_i", "_f", "_c", "_o")

    def __call__(self, inputs, states):
        name = self._next_name()
        i2h, h2h = self._layers(inputs, states[0], name)
        gates = symbol.SliceChannel(i2h + h2h, num_outputs=4, name=f"{name}slice")
        write = symbol.Activation(gates[0], act_type="sigmoid", name=f"{name}i")
        keep = symbol.Activation(gates[1], act_type="sigmoid", name=f"{name}f")
        fresh = symbol.Activation(gates[2], act_type="tanh", name=f"{name}c")
        read = symbol.Activation(gates[3], act_type="sigmoid", name=f"{name}o")
        memory = symbol.elemwise_add(keep * states[1], write * fresh,
                                     name=f"{name}state")
        output = symbol.elemwise_mul(
            read, symbol.Activation(memory, act_type="tanh"), name=f"{name}out")
        return output, [output, memory]


class GRUCell(_DenseCell):
    """Cho et al.'s gated unit, with the reset gate behind the product."""

    def __init__(self, num_hidden, prefix="gru_", params=None):
        super().__init__(num_hidden, prefix, params)

    @property
    def _gate_names(self):
        return ("_r", "_z", "_o")

    def __call__(self, inputs, states):
        name = self._next_name()
        before = states[0]
        i2h, h2h = self._layers(inputs, before, name)
        i2h_r, i2h_z, i2h = symbol.SliceChannel(i2h, num_outputs=3,
                                                name=f"{name}i2h_slice")
        h2h_r, h2h_z, h2h = symbol.SliceChannel(h2h, num_outputs=3,
                                                name=f"{name}h2h_slice")
        reset = symbol.Activation(i2h_r + h2h_r, act_type="sigmoid",
                                  name=f"{name}r_act")
        update = symbol.Activation(i2h_z + h2h_z, act_type="sigmoid",
                                   name=f"{name}z_act")
        fresh = symbol.Activation(i2h + reset * h2h, act_type="tanh",
                                  name=f"{name}h_act")
        output = symbol.elemwise_add((1.0 - update) * fresh, update * before,
                                     name=f"{name}out")
        return output, [output]
