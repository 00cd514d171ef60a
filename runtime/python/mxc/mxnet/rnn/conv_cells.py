# SPDX-License-Identifier: Apache-2.0
"""Cells whose products are convolutions; states are pictures."""

import functools

from .. import symbol
from ..initializer import LSTMBias
from .base import BaseRNNCell

_leaky = functools.partial(symbol.LeakyReLU, act_type="leaky", slope=0.2)


class BaseConvRNNCell(BaseRNNCell):
    """input_shape: (N, C, H, W) of the input; h2h_kernel: odd numbers; the state
    has the extents of the input's convolution."""

    _state_count = 1

    def __init__(self, input_shape, num_hidden, h2h_kernel, h2h_dilate, i2h_kernel,
                 i2h_stride, i2h_pad, i2h_dilate, i2h_weight_initializer,
                 h2h_weight_initializer, i2h_bias_initializer,
                 h2h_bias_initializer, activation, prefix="", params=None,
                 conv_layout="NCHW"):
        super().__init__(prefix=prefix, params=params)
        if any(extent % 2 == 0 for extent in h2h_kernel):
            raise AssertionError(f"h2h_kernel is {h2h_kernel}, expected odd "
                                 "numbers")
        self._num_hidden = num_hidden
        self._conv_layout = conv_layout
        self._activation = activation
        self._h2h = {"kernel": h2h_kernel, "dilate": h2h_dilate,
                     "stride": (1,) * len(h2h_kernel), "pad": tuple(
                         dilate * (extent - 1) // 2 for extent, dilate
                         in zip(h2h_kernel, h2h_dilate))}
        self._i2h = {"kernel": i2h_kernel, "stride": i2h_stride, "pad": i2h_pad,
                     "dilate": i2h_dilate}
        self._iW = self.params.get("i2h_weight", init=i2h_weight_initializer)
        self._hW = self.params.get("h2h_weight", init=h2h_weight_initializer)
        self._iB = self.params.get("i2h_bias", init=i2h_bias_initializer)
        self._hB = self.params.get("h2h_bias", init=h2h_bias_initializer)
        _, shapes, _ = symbol.Convolution(
            symbol.Variable("data"), num_filter=num_hidden, layout=conv_layout,
            **self._i2h).infer_shape(data=input_shape)
        self._state_shape = (0, *shapes[0][1:])

    @property
    def state_info(self):
        return [{"shape": self._state_shape, "__layout__": self._conv_layout}
                for _ in range(self._state_count)]

    def _convolved(self, inputs, state, name):
        filters = self._num_hidden * len(self._gate_names)
        return (symbol.Convolution(
            data=inputs, weight=self._iW, bias=self._iB, num_filter=filters,
            layout=self._conv_layout, name=f"{name}i2h", **self._i2h),
            symbol.Convolution(
                data=state, weight=self._hW, bias=self._hB, num_filter=filters,
                layout=self._conv_layout, name=f"{name}h2h", **self._h2h))

    def _split(self, gates, count, name):
        return symbol.SliceChannel(gates, num_outputs=count,
                                   axis=self._conv_layout.find("C"), name=name)

    def _next_name(self):
        self._counter += 1
        return f"{self._prefix}t{self._counter}_"


class ConvRNNCell(BaseConvRNNCell):
    """RNNCell by convolutions."""

    def __init__(self, input_shape, num_hidden, h2h_kernel=(3, 3),
                 h2h_dilate=(1, 1), i2h_kernel=(3, 3), i2h_stride=(1, 1),
                 i2h_pad=(1, 1), i2h_dilate=(1, 1), i2h_weight_initializer=None,
                 h2h_weight_initializer=None, i2h_bias_initializer="zeros",
                 h2h_bias_initializer="zeros", activation=_leaky,
                 prefix="ConvRNN_", params=None, conv_layout="NCHW"):
        super().__init__(input_shape, num_hidden, h2h_kernel, h2h_dilate,
                         i2h_kernel, i2h_stride, i2h_pad, i2h_dilate,
                         i2h_weight_initializer, h2h_weight_initializer,
                         i2h_bias_initializer, h2h_bias_initializer, activation,
                         prefix, params, conv_layout)

    @property
    def _gate_names(self):
        return ("",)

    def __call__(self, inputs, states):
        name = self._next_name()
        i2h, h2h = self._convolved(inputs, states[0], name)
        output = self._get_activation(i2h + h2h, self._activation,
                                      name=f"{name}out")
        return output, [output]


class ConvLSTMCell(BaseConvRNNCell):
    """LSTMCell by convolutions (Shi et al., 2015, without peepholes)."""

    _state_count = 2

    def __init__(self, input_shape, num_hidden, h2h_kernel=(3, 3),
                 h2h_dilate=(1, 1), i2h_kernel=(3, 3), i2h_stride=(1, 1),
                 i2h_pad=(1, 1), i2h_dilate=(1, 1), i2h_weight_initializer=None,
                 h2h_weight_initializer=None, i2h_bias_initializer=None,
                 h2h_bias_initializer="zeros", activation=_leaky,
                 prefix="ConvLSTM_", params=None, conv_layout="NCHW"):
        super().__init__(input_shape, num_hidden, h2h_kernel, h2h_dilate,
                         i2h_kernel, i2h_stride, i2h_pad, i2h_dilate,
                         i2h_weight_initializer, h2h_weight_initializer,
                         i2h_bias_initializer or LSTMBias(forget_bias=1.0),
                         h2h_bias_initializer, activation, prefix, params,
                         conv_layout)

    @property
    def _gate_names(self):
        return ("_i", "_f", "_c", "_o")

    def __call__(self, inputs, states):
        name = self._next_name()
        i2h, h2h = self._convolved(inputs, states[0], name)
        gates = self._split(i2h + h2h, 4, f"{name}slice")
        write = symbol.Activation(gates[0], act_type="sigmoid", name=f"{name}i")
        keep = symbol.Activation(gates[1], act_type="sigmoid", name=f"{name}f")
        fresh = self._get_activation(gates[2], self._activation, name=f"{name}c")
        read = symbol.Activation(gates[3], act_type="sigmoid", name=f"{name}o")
        memory = symbol.elemwise_add(keep * states[1], write * fresh,
                                     name=f"{name}state")
        output = symbol.elemwise_mul(
            read, self._get_activation(memory, self._activation),
            name=f"{name}out")
        return output, [output, memory]


class ConvGRUCell(BaseConvRNNCell):
    """GRUCell by convolutions."""

    def __init__(self, input_shape, num_hidden, h2h_kernel=(3, 3),
                 h2h_dilate=(1, 1), i2h_kernel=(3, 3), i2h_stride=(1, 1),
                 i2h_pad=(1, 1), i2h_dilate=(1, 1), i2h_weight_initializer=None,
                 h2h_weight_initializer=None, i2h_bias_initializer="zeros",
                 h2h_bias_initializer="zeros", activation=_leaky,
                 prefix="ConvGRU_", params=None, conv_layout="NCHW"):
        super().__init__(input_shape, num_hidden, h2h_kernel, h2h_dilate,
                         i2h_kernel, i2h_stride, i2h_pad, i2h_dilate,
                         i2h_weight_initializer, h2h_weight_initializer,
                         i2h_bias_initializer, h2h_bias_initializer, activation,
                         prefix, params, conv_layout)

    @property
    def _gate_names(self):
        return ("_r", "_z", "_o")

    def __call__(self, inputs, states):
        name = self._next_name()
        before = states[0]
        i2h, h2h = self._convolved(inputs, before, name)
        i2h_r, i2h_z, i2h = self._split(i2h, 3, f"{name}i2h_slice")
        h2h_r, h2h_z, h2h = self._split(h2h, 3, f"{name}h2h_slice")
        reset = symbol.Activation(i2h_r + h2h_r, act_type="sigmoid",
                                  name=f"{name}r_act")
        update = symbol.Activation(i2h_z + h2h_z, act_type="sigmoid",
                                   name=f"{name}z_act")
        fresh = self._get_activation(i2h + reset * h2h, self._activation,
                                     name=f"{name}h_act")
        output = symbol.elemwise_add((1.0 - update) * fresh, update * before,
                                     name=f"{name}out")
        return output, [output]
