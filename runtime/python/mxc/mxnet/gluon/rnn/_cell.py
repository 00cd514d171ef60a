# SPDX-License-Identifier: Apache-2.0
"""What all recurrent cells have."""
from ... import ndarray
from ..block import Block, HybridBlock
from . import _sequence


class RecurrentCell(Block):
    """One step of a recurrence: `output, states = cell(input, states)`.

    `unroll` takes many; `reset` begins to count steps anew, as names and dropout do.
    """

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)
        self._modified = False
        self.reset()

    def reset(self):
        """Begins a new sequence."""
        self._init_counter = -1
        self._counter = -1
        for cell in self._children.values():
            if hasattr(cell, "reset"):
                cell.reset()

    def state_info(self, batch_size=0):
        """For each state a dict with `shape` and `__layout__`."""
        raise NotImplementedError(f"{type(self).__name__} has no state_info.")

    def _check_unmodified(self):
        assert not self._modified, (
            f"{self.name} is within a modifier, as a ZoneoutCell: call that one instead.")

    def begin_state(self, batch_size=0, func=ndarray.zeros, **kwargs):
        """The first states, made by `func` (zeros); `kwargs` are its."""
        self._check_unmodified()
        states = []
        for info in self.state_info(batch_size):
            self._init_counter += 1
            info = dict(info or {}, **kwargs)
            if func in (ndarray.zeros, ndarray.ones):
                info.pop("__layout__", None)
            else:
                info["name"] = f"{self._prefix}begin_state_{self._init_counter}"
            states.append(func(**info))
        return states

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None,
               valid_length=None):
        """(outputs, states) of `length` steps of `inputs`: one array, or a list of steps.

        Outputs are one array (`merge_outputs`), a list (False), or what is cheapest (None);
        zero after `valid_length` (N,) steps of a sample, whose states are those there."""
        self.reset()
        inputs, axis, F, batch = _sequence.format_sequence(length, inputs, layout, False)
        states = _sequence.begin_state(self, F, begin_state, inputs, batch)
        outputs, all_states = [], []
        for i in range(length):
            output, states = self(inputs[i], states)
            outputs.append(output)
            all_states.append(states)
        if valid_length is not None:
            states = _sequence.last_states(F, all_states, valid_length)
            outputs = _sequence.mask(F, outputs, length, valid_length, axis, True)
        outputs = _sequence.format_sequence(length, outputs, layout, merge_outputs)[0]
        return outputs, states

    def _get_activation(self, F, inputs, activation, **kwargs):
        """`activation`, a name or a block, of `inputs`."""
        function = {"tanh": F.tanh, "relu": F.relu, "sigmoid": F.sigmoid,
                    "softsign": F.softsign}.get(activation) \
            if isinstance(activation, str) else None
        if function:
            return function(inputs, **kwargs)
        if isinstance(activation, str):
            return F.Activation(inputs, act_type=activation, **kwargs)
        return activation(inputs)

    def forward(self, inputs, states):
        """(output, states) of one step."""
        self._counter += 1
        return super().forward(inputs, states)


class HybridRecurrentCell(RecurrentCell, HybridBlock):
    """A RecurrentCell that computes by `hybrid_forward`."""

    def hybrid_forward(self, F, x, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} has no hybrid_forward.")


class GatedCell(HybridRecurrentCell):
    """A cell of input to hidden and hidden to hidden layers, `gates` of them side by side."""

    def __init__(self, gates, hidden_size, i2h_weight_initializer, h2h_weight_initializer,
                 i2h_bias_initializer, h2h_bias_initializer, input_size, prefix, params,
                 state_size=None):
        super().__init__(prefix=prefix, params=params)
        self._gates = gates
        self._hidden_size = hidden_size
        self._input_size = input_size
        rows = gates * hidden_size
        for name, shape, init in (
                ("i2h_weight", (rows, input_size), i2h_weight_initializer),
                ("h2h_weight", (rows, state_size or hidden_size), h2h_weight_initializer),
                ("i2h_bias", (rows,), i2h_bias_initializer),
                ("h2h_bias", (rows,), h2h_bias_initializer)):
            setattr(self, name, self.params.get(name, shape=shape, init=init,
                                                allow_deferred_init=True))

    def state_info(self, batch_size=0):
        return [{"shape": (batch_size, self._hidden_size), "__layout__": "NC"}]

    def _layers(self, F, inputs, state, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        """(prefix of names, input to hidden, hidden to hidden) of this step."""
        prefix = f"t{self._counter}_"
        width = self._gates * self._hidden_size
        i2h = F.FullyConnected(data=inputs, weight=i2h_weight, bias=i2h_bias, num_hidden=width,
                               name=prefix + "i2h")
        h2h = F.FullyConnected(data=state, weight=h2h_weight, bias=h2h_bias, num_hidden=width,
                               name=prefix + "h2h")
        return prefix, i2h, h2h

    def __repr__(self):
        rows, columns = self.i2h_weight.shape
        return f"{type(self).__name__}({columns or None} -> {rows})"
