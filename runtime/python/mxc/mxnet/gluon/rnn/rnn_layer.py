# SPDX-License-Identifier: Apache-2.0
"""Fused recurrent layers: a whole sequence, all layers and directions, by one operator."""
from ... import ndarray, symbol
from ..block import HybridBlock
from . import rnn_cell

__all__ = ["RNN", "LSTM", "GRU"]


class _RNNLayer(HybridBlock):
    """`num_layers` recurrent layers over (T, N, C) ("TNC") or (N, T, C) ("NTC").

    `layer(x)` is the outputs, `layer(x, states)` (outputs, states). `dropout` is between
    layers. Parameters of layer i: `l{i}_i2h_weight` and so on, `r{i}_…` backwards in time.
    """

    def __init__(self, hidden_size, num_layers, layout, dropout, bidirectional, input_size,
                 i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer,
                 h2h_bias_initializer, mode, projection_size, h2r_weight_initializer,
                 lstm_state_clip_min, lstm_state_clip_max, lstm_state_clip_nan, dtype,
                 use_sequence_length=False, **kwargs):
        super().__init__(**kwargs)
        assert layout in ("TNC", "NTC"), f"layout is 'TNC' or 'NTC', not '{layout}'."
        self._hidden_size = hidden_size
        self._projection_size = projection_size
        self._num_layers = num_layers
        self._mode = mode
        self._layout = layout
        self._dropout = dropout
        self._dir = 2 if bidirectional else 1
        self._input_size = input_size
        self._lstm_state_clip_min = lstm_state_clip_min
        self._lstm_state_clip_max = lstm_state_clip_max
        self._lstm_state_clip_nan = lstm_state_clip_nan
        self._dtype = dtype
        self._use_sequence_length = use_sequence_length
        self._gates = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}[mode]
        rows, step = self._gates * hidden_size, projection_size or hidden_size
        for layer in range(num_layers):
            width = input_size if layer == 0 else step * self._dir
            for side in self._sides():
                prefix = f"{side}{layer}_"
                self._register(prefix + "i2h_weight", (rows, width), i2h_weight_initializer)
                self._register(prefix + "h2h_weight", (rows, step), h2h_weight_initializer)
                self._register(prefix + "i2h_bias", (rows,), i2h_bias_initializer)
                self._register(prefix + "h2h_bias", (rows,), h2h_bias_initializer)
                if projection_size:
                    self._register(prefix + "h2r_weight", (projection_size, hidden_size),
                                   h2r_weight_initializer)

    def _sides(self):
        return ("l", "r")[:self._dir]

    def _register(self, name, shape, init):
        setattr(self, name, self.params.get(name, shape=shape, init=init,
                                            allow_deferred_init=True, dtype=self._dtype))

    def __repr__(self):
        rows, width = self.l0_i2h_weight.shape
        text = f"{width or None} -> {rows // self._gates}, {self._layout}"
        if self._num_layers != 1:
            text += f", num_layers={self._num_layers}"
        if self._dropout != 0:
            text += f", dropout={self._dropout}"
        if self._dir == 2:
            text += ", bidirectional"
        return f"{type(self).__name__}({text})"

    def state_info(self, batch_size=0):
        """For each state a dict with `shape`, `__layout__` and `dtype`."""
        shape = (self._num_layers * self._dir, batch_size,
                 self._projection_size or self._hidden_size)
        return [{"shape": shape, "__layout__": "LNC", "dtype": self._dtype}]

    def cast(self, dtype):
        """Changes the type of parameters and states."""
        super().cast(dtype)
        self._dtype = dtype

    def begin_state(self, batch_size=0, func=ndarray.zeros, **kwargs):
        """The first states, made by `func` (zeros); `kwargs` are its."""
        states = []
        for i, info in enumerate(self.state_info(batch_size)):
            info = dict(info, **kwargs)
            if func in (ndarray.zeros, ndarray.ones):
                info.pop("__layout__")
            else:
                info["name"] = f"{self.prefix}h0_{i}"
            states.append(func(**info))
        return states

    def infer_shape(self, inputs, *args):
        """Sets the width of the first layer's weights by the inputs'."""
        for side in self._sides():
            weight = getattr(self, f"{side}0_i2h_weight")
            weight.shape = (self._gates * self._hidden_size, inputs.shape[2])

    def __call__(self, inputs, states=None, sequence_length=None, **kwargs):
        """Outputs; or with `states` (one or a list) outputs and states."""
        alone = states is None
        if alone:
            states = self._first_states(inputs, **kwargs)
        elif isinstance(states, (ndarray.NDArray, symbol.Symbol)):
            states = [states]
        if isinstance(inputs, ndarray.NDArray):
            self._check_states(inputs, states)
        lengths = [] if sequence_length is None else [sequence_length]
        out = super().__call__(inputs, states, *lengths)
        return out[0] if alone else tuple(out)

    def _first_states(self, inputs, **kwargs):
        if isinstance(inputs, symbol.Symbol):
            return self.begin_state(0, func=symbol.zeros, **kwargs)
        return self.begin_state(inputs.shape[self._layout.find("N")], ctx=inputs.context,
                                **dict({"dtype": inputs.dtype}, **kwargs))

    def _check_states(self, inputs, states):
        for state, info in zip(states, self.state_info(inputs.shape[self._layout.find("N")])):
            if state.shape != info["shape"]:
                raise ValueError(f"{self.name}: a state has shape {state.shape}, "
                                 f"{info['shape']} is expected.")

    def hybrid_forward(self, F, inputs, states, sequence_length=None, **params):
        if self._layout == "NTC":
            inputs = F.swapaxes(inputs, dim1=0, dim2=1)
        extra = {}
        if self._mode == "lstm":
            extra = {"lstm_state_clip_min": self._lstm_state_clip_min,
                     "lstm_state_clip_max": self._lstm_state_clip_max,
                     "lstm_state_clip_nan": self._lstm_state_clip_nan}
        if self._projection_size:
            extra["projection_size"] = self._projection_size
        lengths = [] if sequence_length is None else [sequence_length]
        out = F.RNN(inputs, self._flat(F, params), *states, *lengths,
                    use_sequence_length=bool(lengths), state_size=self._hidden_size,
                    num_layers=self._num_layers, bidirectional=self._dir == 2,
                    p=self._dropout, state_outputs=True, mode=self._mode, **extra)
        outputs, states = out[0], [out[k] for k in range(1, 3 if self._mode == "lstm" else 2)]
        if self._layout == "NTC":
            outputs = F.swapaxes(outputs, dim1=0, dim2=1)
        return outputs, states

    def _flat(self, F, params):
        """All parameters as the operator wants them: weights of all layers, then biases."""
        groups = ("i2h", "h2h", "h2r") if self._projection_size else ("i2h", "h2h")
        parts = [params[f"{side}{layer}_{group}_{kind}"].reshape((-1,))
                 for kind in ("weight", "bias") for layer in range(self._num_layers)
                 for side in self._sides() for group in groups
                 if (group, kind) != ("h2r", "bias")]
        return F._internal._rnn_param_concat(*parts, dim=0)

    # The same layers as cells.

    def _cell(self, prefix, width):
        raise NotImplementedError(f"{type(self).__name__} has no cell.")

    def _unfuse(self):
        """A stack of cells that shares the parameters."""
        assert not self._projection_size, "Layers with a projection have no cells to unfuse to."
        stack = rnn_cell.HybridSequentialRNNCell(prefix=self.prefix, params=self.params)
        width = self._input_size
        with stack.name_scope():
            for layer in range(self._num_layers):
                cells = [self._cell(f"{side}{layer}_", width) for side in self._sides()]
                stack.add(rnn_cell.BidirectionalCell(*cells) if self._dir == 2 else cells[0])
                if self._dropout > 0 and layer != self._num_layers - 1:
                    stack.add(rnn_cell.DropoutCell(self._dropout))
                width = self._hidden_size * self._dir
        return stack


class RNN(_RNNLayer):
    """Elman layers with `activation` "relu" or "tanh"."""

    def __init__(self, hidden_size, num_layers=1, activation="relu", layout="TNC", dropout=0,
                 bidirectional=False, i2h_weight_initializer=None, h2h_weight_initializer=None,
                 i2h_bias_initializer="zeros", h2h_bias_initializer="zeros", input_size=0,
                 dtype="float32", **kwargs):
        super().__init__(hidden_size, num_layers, layout, dropout, bidirectional, input_size,
                         i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer,
                         h2h_bias_initializer, "rnn_" + activation, None, None, None, None, False,
                         dtype, **kwargs)
        self._activation = activation

    def _cell(self, prefix, width):
        return rnn_cell.RNNCell(self._hidden_size, activation=self._activation, prefix=prefix,
                                input_size=width)


class LSTM(_RNNLayer):
    """Long short-term memory layers; states h and c, h of `projection_size` if given."""

    def __init__(self, hidden_size, num_layers=1, layout="TNC", dropout=0, bidirectional=False,
                 input_size=0, i2h_weight_initializer=None, h2h_weight_initializer=None,
                 i2h_bias_initializer="zeros", h2h_bias_initializer="zeros",
                 projection_size=None, h2r_weight_initializer=None, state_clip_min=None,
                 state_clip_max=None, state_clip_nan=False, dtype="float32", **kwargs):
        super().__init__(hidden_size, num_layers, layout, dropout, bidirectional, input_size,
                         i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer,
                         h2h_bias_initializer, "lstm", projection_size, h2r_weight_initializer,
                         state_clip_min, state_clip_max, state_clip_nan, dtype, **kwargs)

    def state_info(self, batch_size=0):
        hidden = super().state_info(batch_size)
        shape = (self._num_layers * self._dir, batch_size, self._hidden_size)
        return hidden + [dict(hidden[0], shape=shape)]

    def _cell(self, prefix, width):
        return rnn_cell.LSTMCell(self._hidden_size, prefix=prefix, input_size=width)


class GRU(_RNNLayer):
    """Gated recurrent layers."""

    def __init__(self, hidden_size, num_layers=1, layout="TNC", dropout=0, bidirectional=False,
                 input_size=0, i2h_weight_initializer=None, h2h_weight_initializer=None,
                 i2h_bias_initializer="zeros", h2h_bias_initializer="zeros", dtype="float32",
                 **kwargs):
        super().__init__(hidden_size, num_layers, layout, dropout, bidirectional, input_size,
                         i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer,
                         h2h_bias_initializer, "gru", None, None, None, None, False, dtype,
                         **kwargs)

    def _cell(self, prefix, width):
        return rnn_cell.GRUCell(self._hidden_size, prefix=prefix, input_size=width)
