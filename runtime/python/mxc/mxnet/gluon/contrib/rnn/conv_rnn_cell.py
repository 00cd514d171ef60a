# SPDX-License-Identifier: Apache-2.0
"""Recurrent cells whose layers are convolutions."""
from ...nn.conv_layers import tuple_of
from ...rnn.rnn_cell import HybridRecurrentCell

__all__ = ["Conv1DRNNCell", "Conv2DRNNCell", "Conv3DRNNCell", "Conv1DLSTMCell",
           "Conv2DLSTMCell", "Conv3DLSTMCell", "Conv1DGRUCell", "Conv2DGRUCell",
           "Conv3DGRUCell"]

_LAYOUTS = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


class _ConvCell(HybridRecurrentCell):
    """A cell over `input_shape` (channels and extents in the layout's order, without N).

    The state has `hidden_channels` and the size that the input to hidden convolution
    gives; the hidden to hidden one, of odd `h2h_kernel`, keeps it."""

    _rank = 0
    _gates = 1

    def __init__(self, input_shape, hidden_channels, i2h_kernel, h2h_kernel, i2h_pad=0,
                 i2h_dilate=1, h2h_dilate=1, i2h_weight_initializer=None,
                 h2h_weight_initializer=None, i2h_bias_initializer="zeros",
                 h2h_bias_initializer="zeros", conv_layout=None, activation="tanh", prefix=None,
                 params=None):
        super().__init__(prefix=prefix, params=params)
        rank = self._rank
        conv_layout = conv_layout or _LAYOUTS[rank][0]
        assert conv_layout in _LAYOUTS[rank], (
            f"conv_layout is one of {_LAYOUTS[rank]}, not '{conv_layout}'.")
        self._hidden_channels = hidden_channels
        self._input_shape = tuple(input_shape)
        self._conv_layout = conv_layout
        self._activation = activation
        self._i2h = {"kernel": tuple_of(i2h_kernel, rank), "pad": tuple_of(i2h_pad, rank),
                     "dilate": tuple_of(i2h_dilate, rank)}
        kernel, dilate = tuple_of(h2h_kernel, rank), tuple_of(h2h_dilate, rank)
        assert all(extent % 2 == 1 for extent in kernel), (
            f"h2h_kernel is odd along each axis, so that the state keeps its size, not {kernel}.")
        self._h2h = {"kernel": kernel, "dilate": dilate,
                     "pad": tuple(d * (k - 1) // 2 for d, k in zip(dilate, kernel))}
        self._channel_axis = conv_layout.find("C")
        self._state_shape = self._shape_of_state()
        self._make_params(i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer,
                          h2h_bias_initializer)

    def _shape_of_state(self):
        axis = self._channel_axis - 1
        extents = [x for i, x in enumerate(self._input_shape) if i != axis]
        extents = [0 if x == 0 else x + 2 * p - d * (k - 1)
                   for x, k, p, d in zip(extents, self._i2h["kernel"], self._i2h["pad"],
                                         self._i2h["dilate"])]
        extents.insert(axis, self._hidden_channels)
        return tuple(extents)

    def _make_params(self, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        rows = self._hidden_channels * self._gates

        def weight(channels, kernel):
            shape = list(kernel)
            shape.insert(self._channel_axis - 1, channels)
            return (rows, *shape)

        channels = self._input_shape[self._channel_axis - 1]
        for name, shape, init in (
                ("i2h_weight", weight(channels, self._i2h["kernel"]), i2h_weight),
                ("h2h_weight", weight(self._hidden_channels, self._h2h["kernel"]), h2h_weight),
                ("i2h_bias", (rows,), i2h_bias), ("h2h_bias", (rows,), h2h_bias)):
            setattr(self, name, self.params.get(name, shape=shape, init=init,
                                                allow_deferred_init=True))

    def state_info(self, batch_size=0):
        return [{"shape": (batch_size, *self._state_shape), "__layout__": self._conv_layout}]

    def __repr__(self):
        rows, *rest = self.i2h_weight.shape
        return f"{type(self).__name__}({rest[self._channel_axis - 1] or None} -> {rows}, " \
               f"{self._conv_layout})"

    def _layers(self, F, inputs, state, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        """(prefix of names, input to hidden, hidden to hidden) of this step."""
        prefix = f"t{self._counter}_"
        common = {"num_filter": self._hidden_channels * self._gates,
                  "stride": (1,) * self._rank, "layout": self._conv_layout}
        return (prefix,
                F.Convolution(data=inputs, weight=i2h_weight, bias=i2h_bias,
                              name=prefix + "i2h", **common, **self._i2h),
                F.Convolution(data=state, weight=h2h_weight, bias=h2h_bias, name=prefix + "h2h",
                              **common, **self._h2h))

    def _slices(self, F, value, count, name):
        return F.SliceChannel(value, num_outputs=count, axis=self._channel_axis, name=name)


class _ConvRNNCell(_ConvCell):
    """h' = activation(conv(x) + conv(h))."""

    def _alias(self):
        return "conv_rnn"

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        prefix, i2h, h2h = self._layers(F, inputs, states[0], i2h_weight, h2h_weight, i2h_bias,
                                        h2h_bias)
        output = self._get_activation(F, i2h + h2h, self._activation, name=prefix + "out")
        return output, [output]


class _ConvLSTMCell(_ConvCell):
    """LSTM (arXiv:1506.04214)."""

    _gates = 4

    def _alias(self):
        return "conv_lstm"

    def state_info(self, batch_size=0):
        return super().state_info(batch_size) * 2

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        prefix, i2h, h2h = self._layers(F, inputs, states[0], i2h_weight, h2h_weight, i2h_bias,
                                        h2h_bias)
        gates = self._slices(F, i2h + h2h, 4, prefix + "slice")
        i, f, o = (F.Activation(gates[k], act_type="sigmoid", name=prefix + name)
                   for k, name in ((0, "i"), (1, "f"), (3, "o")))
        c = self._get_activation(F, gates[2], self._activation, name=prefix + "c")
        next_c = F.elemwise_add(f * states[1], i * c, name=prefix + "state")
        next_h = F.elemwise_mul(o, self._get_activation(F, next_c, self._activation),
                                name=prefix + "out")
        return next_h, [next_h, next_c]


class _ConvGRUCell(_ConvCell):
    """Gated recurrent unit."""

    _gates = 3

    def _alias(self):
        return "conv_gru"

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        before = states[0]
        prefix, i2h, h2h = self._layers(F, inputs, before, i2h_weight, h2h_weight, i2h_bias,
                                        h2h_bias)
        i2h = self._slices(F, i2h, 3, prefix + "i2h_slice")
        h2h = self._slices(F, h2h, 3, prefix + "h2h_slice")
        r, z = (F.Activation(i2h[k] + h2h[k], act_type="sigmoid", name=prefix + name)
                for k, name in enumerate(("r_act", "z_act")))
        fresh = self._get_activation(F, i2h[2] + r * h2h[2], self._activation,
                                     name=prefix + "h_act")
        output = F.elemwise_add((1.0 - z) * fresh, z * before, name=prefix + "out")
        return output, [output]


class Conv1DRNNCell(_ConvRNNCell):
    """Elman's cell over (C, W)."""

    _rank = 1


class Conv2DRNNCell(_ConvRNNCell):
    """Elman's cell over (C, H, W)."""

    _rank = 2


class Conv3DRNNCell(_ConvRNNCell):
    """Elman's cell over (C, D, H, W)."""

    _rank = 3


class Conv1DLSTMCell(_ConvLSTMCell):
    """LSTM over (C, W)."""

    _rank = 1


class Conv2DLSTMCell(_ConvLSTMCell):
    """LSTM over (C, H, W)."""

    _rank = 2


class Conv3DLSTMCell(_ConvLSTMCell):
    """LSTM over (C, D, H, W)."""

    _rank = 3


class Conv1DGRUCell(_ConvGRUCell):
    """Gated recurrent unit over (C, W)."""

    _rank = 1


class Conv2DGRUCell(_ConvGRUCell):
    """Gated recurrent unit over (C, H, W)."""

    _rank = 2


class Conv3DGRUCell(_ConvGRUCell):
    """Gated recurrent unit over (C, D, H, W)."""

    _rank = 3
