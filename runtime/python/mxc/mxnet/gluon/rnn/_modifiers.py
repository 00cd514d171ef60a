# SPDX-License-Identifier: Apache-2.0
"""Cells that change what another cell does."""
from ... import ndarray
from . import _sequence
from ._cell import HybridRecurrentCell


class DropoutCell(HybridRecurrentCell):
    """Dropout of the inputs; no states."""

    def __init__(self, rate, axes=(), prefix=None, params=None):
        super().__init__(prefix, params)
        assert isinstance(rate, (int, float)), f"rate is a number, not {rate!r}."
        self._rate = rate
        self._axes = axes

    def __repr__(self):
        return f"{type(self).__name__}(rate={self._rate}, axes={self._axes})"

    def state_info(self, batch_size=0):
        return []

    def _alias(self):
        return "dropout"

    def hybrid_forward(self, F, inputs, states):
        if self._rate > 0:
            inputs = F.Dropout(data=inputs, p=self._rate, axes=self._axes,
                               name=f"t{self._counter}_fwd")
        return inputs, states

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None,
               valid_length=None):
        """Dropout of the whole sequence at once, where it is one array."""
        self.reset()
        inputs, _, F, _ = _sequence.format_sequence(length, inputs, layout, merge_outputs)
        if _sequence.is_tensor(inputs):
            return self.hybrid_forward(F, inputs, begin_state or [])
        return super().unroll(length, inputs, begin_state=begin_state, layout=layout,
                              merge_outputs=merge_outputs, valid_length=None)


class ModifierCell(HybridRecurrentCell):
    """A cell over `base_cell`, whose parameters and states are its own."""

    def __init__(self, base_cell):
        assert not base_cell._modified, f"{base_cell.name} is within another modifier already."
        base_cell._modified = True
        super().__init__(prefix=base_cell.prefix + self._alias(), params=None)
        self.base_cell = base_cell

    @property
    def params(self):
        return self.base_cell.params

    def state_info(self, batch_size=0):
        return self.base_cell.state_info(batch_size)

    def begin_state(self, batch_size=0, func=ndarray.zeros, **kwargs):
        self._check_unmodified()
        self.base_cell._modified = False
        try:
            return self.base_cell.begin_state(batch_size=batch_size, func=func, **kwargs)
        finally:
            self.base_cell._modified = True

    def __repr__(self):
        return f"{type(self).__name__}({self.base_cell!r})"


class ZoneoutCell(ModifierCell):
    """In training, outputs and states keep what they were with the given probabilities."""

    def __init__(self, base_cell, zoneout_outputs=0.0, zoneout_states=0.0):
        from ._containers import BidirectionalCell
        assert not isinstance(base_cell, BidirectionalCell), (
            "A BidirectionalCell is not stepped: apply ZoneoutCell to the cells in it.")
        super().__init__(base_cell)
        self.zoneout_outputs = zoneout_outputs
        self.zoneout_states = zoneout_states
        self._prev_output = None

    def __repr__(self):
        return f"{type(self).__name__}(p_out={self.zoneout_outputs}, " \
               f"p_state={self.zoneout_states}, {self.base_cell!r})"

    def _alias(self):
        return "zoneout"

    def reset(self):
        super().reset()
        self._prev_output = None

    def hybrid_forward(self, F, inputs, states):
        output, after = self.base_cell(inputs, states)

        def kept(probability, new, old):
            if probability == 0:
                return new
            return F.where(F.Dropout(F.ones_like(new), p=probability), new, old)

        before = F.zeros_like(output) if self._prev_output is None else self._prev_output
        output = kept(self.zoneout_outputs, output, before)
        after = [kept(self.zoneout_states, new, old) for new, old in zip(after, states)]
        self._prev_output = output
        return output, after


class ResidualCell(ModifierCell):
    """The cell's output plus its input."""

    def hybrid_forward(self, F, inputs, states):
        output, states = self.base_cell(inputs, states)
        return F.elemwise_add(output, inputs, name=f"t{self._counter}_fwd"), states

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None,
               valid_length=None):
        """The cell's sequence plus its inputs."""
        self.reset()
        self.base_cell._modified = False
        try:
            outputs, states = self.base_cell.unroll(
                length, inputs=inputs, begin_state=begin_state, layout=layout,
                merge_outputs=merge_outputs, valid_length=valid_length)
        finally:
            self.base_cell._modified = True
        if merge_outputs is None:
            merge_outputs = _sequence.is_tensor(outputs)
        inputs, axis, F, _ = _sequence.format_sequence(length, inputs, layout, merge_outputs)
        if valid_length is not None:
            inputs = _sequence.mask(F, inputs, length, valid_length, axis, merge_outputs)
        if merge_outputs:
            return F.elemwise_add(outputs, inputs), states
        return [F.elemwise_add(one, other) for one, other in zip(outputs, inputs)], states
