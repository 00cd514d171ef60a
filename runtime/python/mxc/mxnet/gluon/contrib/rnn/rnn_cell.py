# SPDX-License-Identifier: Apache-2.0
"""Dropout that is the same at each step, LSTM with a projection, loops as one operator."""
from ...rnn import BidirectionalCell, SequentialRNNCell, _sequence
from ...rnn._cell import GatedCell
from ...rnn.rnn_cell import ModifierCell

__all__ = ["VariationalDropoutCell", "LSTMPCell"]


class VariationalDropoutCell(ModifierCell):
    """Dropout of inputs, first states and outputs, the same at each step of a sequence."""

    def __init__(self, base_cell, drop_inputs=0.0, drop_states=0.0, drop_outputs=0.0):
        assert not drop_states or not isinstance(base_cell, BidirectionalCell), (
            "A BidirectionalCell is not stepped: apply VariationalDropoutCell to the cells in "
            "it.")
        assert not drop_states or not isinstance(base_cell, SequentialRNNCell), (
            "The states of a stack are many: apply VariationalDropoutCell to the cells in it.")
        super().__init__(base_cell)
        self.drop_inputs = drop_inputs
        self.drop_states = drop_states
        self.drop_outputs = drop_outputs
        self._masks = {}

    def _alias(self):
        return "vardrop"

    def reset(self):
        super().reset()
        self._masks = {}

    def _dropped(self, F, name, value, rate):
        """`value` times the sequence's mask of `name`."""
        if not rate:
            return value
        if name not in self._masks:
            self._masks[name] = F.Dropout(F.ones_like(value), p=rate)
        return value * self._masks[name]

    def hybrid_forward(self, F, inputs, states):
        states = list(states)
        states[0] = self._dropped(F, "states", states[0], self.drop_states)
        inputs = self._dropped(F, "inputs", inputs, self.drop_inputs)
        output, states = self.base_cell(inputs, states)
        return self._dropped(F, "outputs", output, self.drop_outputs), states

    def __repr__(self):
        return f"{type(self).__name__}(p_out = {self.drop_outputs}, " \
               f"p_state = {self.drop_states})"

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None,
               valid_length=None):
        """The whole sequence at once where no state is dropped; else step by step."""
        if self.drop_states:
            return super().unroll(length, inputs, begin_state, layout, merge_outputs,
                                  valid_length=valid_length)
        self.reset()
        inputs, axis, F, batch = _sequence.format_sequence(length, inputs, layout, True)
        states = _sequence.begin_state(self, F, begin_state, inputs, batch)
        if self.drop_inputs:
            inputs = F.Dropout(inputs, p=self.drop_inputs, axes=(axis,))
        outputs, states = self.base_cell.unroll(length, inputs, states, layout,
                                                merge_outputs=True, valid_length=valid_length)
        if self.drop_outputs:
            outputs = F.Dropout(outputs, p=self.drop_outputs, axes=(axis,))
        outputs = _sequence.format_sequence(length, outputs, layout, merge_outputs)[0]
        if valid_length is not None:
            outputs = _sequence.mask(F, outputs, length, valid_length, axis, merge_outputs)
        return outputs, states


class LSTMPCell(GatedCell):
    """LSTM whose state h, and output, is a projection to `projection_size`."""

    def __init__(self, hidden_size, projection_size, i2h_weight_initializer=None,
                 h2h_weight_initializer=None, h2r_weight_initializer=None,
                 i2h_bias_initializer="zeros", h2h_bias_initializer="zeros", input_size=0,
                 prefix=None, params=None):
        super().__init__(4, hidden_size, i2h_weight_initializer, h2h_weight_initializer,
                         i2h_bias_initializer, h2h_bias_initializer, input_size, prefix, params,
                         state_size=projection_size)
        self._projection_size = projection_size
        self.h2r_weight = self.params.get("h2r_weight", shape=(projection_size, hidden_size),
                                          init=h2r_weight_initializer, allow_deferred_init=True)

    def state_info(self, batch_size=0):
        return [{"shape": (batch_size, width), "__layout__": "NC"}
                for width in (self._projection_size, self._hidden_size)]

    def _alias(self):
        return "lstmp"

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, h2r_weight, i2h_bias,
                       h2h_bias):
        prefix, i2h, h2h = self._layers(F, inputs, states[0], i2h_weight, h2h_weight, i2h_bias,
                                        h2h_bias)
        gates = F.SliceChannel(F.elemwise_add(i2h, h2h, name=prefix + "plus0"), num_outputs=4,
                               name=prefix + "slice")
        i, f, c, o = (F.Activation(gates[k], act_type=kind, name=prefix + name)
                      for k, (name, kind) in enumerate((("i", "sigmoid"), ("f", "sigmoid"),
                                                        ("c", "tanh"), ("o", "sigmoid"))))
        next_c = F.elemwise_add(F.elemwise_mul(f, states[1], name=prefix + "mul0"),
                                F.elemwise_mul(i, c, name=prefix + "mul1"),
                                name=prefix + "state")
        hidden = F.elemwise_mul(o, F.Activation(next_c, act_type="tanh",
                                                name=prefix + "activation0"),
                                name=prefix + "hidden")
        next_r = F.FullyConnected(data=hidden, num_hidden=self._projection_size,
                                  weight=h2r_weight, no_bias=True, name=prefix + "out")
        return next_r, [next_r, next_c]


def dynamic_unroll(cell, inputs, begin_state, drop_inputs=0, drop_outputs=0, layout="TNC",
                   valid_length=None):
    """`cell` over a sequence as one loop: the length is the inputs' own.

    Returns (outputs, states); outputs are zero after `valid_length` (N,) steps, and states
    those there."""
    inputs, axis, F, _ = _sequence.format_sequence(None, inputs, layout, True)
    if axis != 0:
        axes = list(range(len(layout)))
        axes = [axes.pop(axis)] + axes
        inputs = F.transpose(inputs, axes=axes)
    begin = begin_state
    if drop_inputs:
        inputs = F.Dropout(inputs, p=drop_inputs, axes=(axis,))
    if valid_length is None:
        def body(x, states):
            return cell(x, states)
        outputs, states = F.contrib.foreach(body, inputs, begin)
    else:
        step = F.zeros_like(valid_length)

        def body(x, carried):
            count, states = carried[0], carried[1:]
            output, new = cell(x, states)
            active = F.broadcast_greater(valid_length, count)
            kept = [F.where(active, after, before) for after, before in zip(new, states)]
            output = F.where(active, output, F.zeros_like(output))
            return output, [count + 1] + kept
        outputs, states = F.contrib.foreach(body, inputs, [step] + list(begin))
        states = states[1:]
    if drop_outputs:
        outputs = F.Dropout(outputs, p=drop_outputs, axes=(axis,))
    if axis != 0:
        order = list(range(len(layout)))
        order.insert(axis, order.pop(0))
        outputs = F.transpose(outputs, axes=order)
    return outputs, states
