# SPDX-License-Identifier: Apache-2.0
"""Recurrent cells."""
from ._cell import GatedCell, HybridRecurrentCell, RecurrentCell
from ._containers import (BidirectionalCell, HybridSequentialRNNCell, SequentialRNNCell)
from ._modifiers import DropoutCell, ModifierCell, ResidualCell, ZoneoutCell

__all__ = ["RecurrentCell", "HybridRecurrentCell", "RNNCell", "LSTMCell", "GRUCell",
           "SequentialRNNCell", "HybridSequentialRNNCell", "DropoutCell", "ModifierCell",
           "ZoneoutCell", "ResidualCell", "BidirectionalCell"]


class RNNCell(GatedCell):
    """h' = activation(W_i x + b_i + W_h h + b_h)."""

    def __init__(self, hidden_size, activation="tanh", i2h_weight_initializer=None,
                 h2h_weight_initializer=None, i2h_bias_initializer="zeros",
                 h2h_bias_initializer="zeros", input_size=0, prefix=None, params=None):
        super().__init__(1, hidden_size, i2h_weight_initializer, h2h_weight_initializer,
                         i2h_bias_initializer, h2h_bias_initializer, input_size, prefix, params)
        self._activation = activation

    def _alias(self):
        return "rnn"

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        prefix, i2h, h2h = self._layers(F, inputs, states[0], i2h_weight, h2h_weight, i2h_bias,
                                        h2h_bias)
        total = F.elemwise_add(i2h, h2h, name=prefix + "plus0")
        output = self._get_activation(F, total, self._activation, name=prefix + "out")
        return output, [output]


class LSTMCell(GatedCell):
    """Long short-term memory: gates i, f, c, o; states h and c."""

    def __init__(self, hidden_size, i2h_weight_initializer=None, h2h_weight_initializer=None,
                 i2h_bias_initializer="zeros", h2h_bias_initializer="zeros", input_size=0,
                 prefix=None, params=None, activation="tanh", recurrent_activation="sigmoid"):
        super().__init__(4, hidden_size, i2h_weight_initializer, h2h_weight_initializer,
                         i2h_bias_initializer, h2h_bias_initializer, input_size, prefix, params)
        self._activation = activation
        self._recurrent_activation = recurrent_activation

    def _alias(self):
        return "lstm"

    def state_info(self, batch_size=0):
        return super().state_info(batch_size) + super().state_info(batch_size)

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        prefix, i2h, h2h = self._layers(F, inputs, states[0], i2h_weight, h2h_weight, i2h_bias,
                                        h2h_bias)
        gates = F.SliceChannel(F.elemwise_add(i2h, h2h, name=prefix + "plus0"), num_outputs=4,
                               name=prefix + "slice")
        i, f, c, o = (
            self._get_activation(F, gates[k], activation, name=prefix + name)
            for k, (name, activation) in enumerate((
                ("i", self._recurrent_activation), ("f", self._recurrent_activation),
                ("c", self._activation), ("o", self._recurrent_activation))))
        next_c = F.elemwise_add(F.elemwise_mul(f, states[1], name=prefix + "mul0"),
                                F.elemwise_mul(i, c, name=prefix + "mul1"),
                                name=prefix + "state")
        next_h = F.elemwise_mul(
            o, self._get_activation(F, next_c, self._activation, name=prefix + "activation0"),
            name=prefix + "out")
        return next_h, [next_h, next_c]


class GRUCell(GatedCell):
    """Gated recurrent unit: gates r, z, and the new state."""

    def __init__(self, hidden_size, i2h_weight_initializer=None, h2h_weight_initializer=None,
                 i2h_bias_initializer="zeros", h2h_bias_initializer="zeros", input_size=0,
                 prefix=None, params=None):
        super().__init__(3, hidden_size, i2h_weight_initializer, h2h_weight_initializer,
                         i2h_bias_initializer, h2h_bias_initializer, input_size, prefix, params)

    def _alias(self):
        return "gru"

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        before = states[0]
        prefix, i2h, h2h = self._layers(F, inputs, before, i2h_weight, h2h_weight, i2h_bias,
                                        h2h_bias)
        i2h = F.SliceChannel(i2h, num_outputs=3, name=prefix + "i2h_slice")
        h2h = F.SliceChannel(h2h, num_outputs=3, name=prefix + "h2h_slice")
        r, z = (F.Activation(F.elemwise_add(i2h[k], h2h[k], name=f"{prefix}plus{k}"),
                             act_type="sigmoid", name=prefix + name)
                for k, name in enumerate(("r_act", "z_act")))
        fresh = F.Activation(
            F.elemwise_add(i2h[2], F.elemwise_mul(r, h2h[2], name=prefix + "mul0"),
                           name=prefix + "plus2"), act_type="tanh", name=prefix + "h_act")
        output = F.elemwise_add(
            F.elemwise_mul(1.0 - z, fresh, name=prefix + "mul1"),
            F.elemwise_mul(z, before, name=prefix + "mul2"), name=prefix + "out")
        return output, [output]
