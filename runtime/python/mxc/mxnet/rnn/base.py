# SPDX-License-Identifier: Apache-2.0
"""What all cells share: parameters, states, unrolling."""

from .. import ndarray as nd, symbol


class RNNParams:
    """Variables by name, each made once."""

    def __init__(self, prefix=""):
        self._prefix = prefix
        self._params = {}

    def get(self, name, **kwargs):
        """The variable prefix + name; kwargs: of symbol.Variable."""
        name = self._prefix + name
        if name not in self._params:
            self._params[name] = symbol.Variable(name, **kwargs)
        return self._params[name]


def normalize_sequence(length, inputs, layout, merge, in_layout=None):
    """(inputs, axis of time): of one symbol, or with merge=False of a list; None
    leaves them as they are."""
    if inputs is None:
        raise AssertionError("unroll needs inputs: a symbol, or a list of them")
    axis = layout.find("T")
    in_axis = in_layout.find("T") if in_layout is not None else axis
    if isinstance(inputs, symbol.Symbol):
        if merge is False:
            if len(inputs.list_outputs()) != 1:
                raise AssertionError(f"the input has {len(inputs)} outputs, "
                                     "expected one symbol or a list")
            inputs = list(symbol.split(inputs, axis=in_axis, num_outputs=length,
                                       squeeze_axis=1))
    else:
        if length is not None and len(inputs) != length:
            raise AssertionError(f"{len(inputs)} inputs for {length} steps")
        if merge is True:
            inputs = symbol.Concat(*[symbol.expand_dims(each, axis=axis)
                                     for each in inputs], dim=axis)
            in_axis = axis
    if isinstance(inputs, symbol.Symbol) and axis != in_axis:
        inputs = symbol.swapaxes(inputs, dim1=axis, dim2=in_axis)
    return inputs, axis


class BaseRNNCell:
    """cell(inputs, states) -> (output, states). params: an RNNParams that is
    shared with other cells."""

    def __init__(self, prefix="", params=None):
        self._own_params = params is None
        self._prefix = prefix
        self._params = RNNParams(prefix) if params is None else params
        self._modified = False
        self.reset()

    def reset(self):
        """Before the cell is used in another graph."""
        self._init_counter = -1
        self._counter = -1
        for cell in getattr(self, "_cells", ()):
            cell.reset()

    def __call__(self, inputs, states):
        raise NotImplementedError(f"{type(self).__name__} has no step")

    @property
    def params(self):
        """The variables; from now on the cell shares them."""
        self._own_params = False
        return self._params

    @property
    def state_info(self):
        """Of each state a dict: shape (0: the batch's) and __layout__."""
        raise NotImplementedError(f"{type(self).__name__} has no state_info")

    @property
    def state_shape(self):
        """The states' shapes."""
        return [info["shape"] for info in self.state_info]

    @property
    def _gate_names(self):
        return ()

    def begin_state(self, func=symbol.zeros, **kwargs):
        """Symbols of the first states: func(name=…, shape=…, **kwargs) each."""
        if self._modified:
            raise AssertionError(f"another cell modifies the cell {self._prefix!r}; "
                                 "ask that one")
        states = []
        for info in self.state_info:
            self._init_counter += 1
            given = {**kwargs, **(info or {})}
            states.append(func(name=f"{self._prefix}begin_state_"
                                    f"{self._init_counter}", **given))
        return states

    # ---- Weights -------------------------------------------------------------

    def unpack_weights(self, args):
        """A copy of a dict of arrays with a weight and a bias for each gate."""
        args = dict(args)
        if not self._gate_names:
            return args
        size = self._num_hidden
        for group in ("i2h", "h2h"):
            for kind in ("weight", "bias"):
                whole = args.pop(f"{self._prefix}{group}_{kind}")
                for i, gate in enumerate(self._gate_names):
                    args[f"{self._prefix}{group}{gate}_{kind}"] = whole[
                        i * size:(i + 1) * size].copy()
        return args

    def pack_weights(self, args):
        """The opposite of unpack_weights()."""
        args = dict(args)
        if not self._gate_names:
            return args
        for group in ("i2h", "h2h"):
            for kind in ("weight", "bias"):
                parts = [args.pop(f"{self._prefix}{group}{gate}_{kind}")
                         for gate in self._gate_names]
                args[f"{self._prefix}{group}_{kind}"] = (
                    nd.concat(*parts, dim=0) if len(parts) > 1 else parts[0])
        return args

    # ---- Unrolling -----------------------------------------------------------

    def unroll(self, length, inputs, begin_state=None, layout="NTC",
               merge_outputs=None):
        """(outputs, states) after `length` steps. inputs: one symbol in this
        layout or a list, a symbol for each step; outputs likewise: merge_outputs
        True: one symbol, False: a list."""
        self.reset()
        inputs, _ = normalize_sequence(length, inputs, layout, False)
        states = self.begin_state() if begin_state is None else begin_state
        outputs = []
        for step in range(length):
            output, states = self(inputs[step], states)
            outputs.append(output)
        outputs, _ = normalize_sequence(length, outputs, layout, merge_outputs)
        return outputs, states

    @staticmethod
    def _get_activation(inputs, activation, **kwargs):
        if isinstance(activation, str):
            return symbol.Activation(inputs, act_type=activation, **kwargs)
        return activation(inputs, **kwargs)


