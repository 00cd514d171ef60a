# SPDX-License-Identifier: Apache-2.0
"""Cells around another cell: dropout, zoneout, residual."""

import contextlib

from .. import symbol
from .base import BaseRNNCell, normalize_sequence


class DropoutCell(BaseRNNCell):
    """Drops a part of its input."""

    def __init__(self, dropout, prefix="dropout_", params=None):
        super().__init__(prefix, params)
        self.dropout = float(dropout)

    @property
    def state_info(self):
        return []

    def __call__(self, inputs, states):
        if not self.dropout:
            return inputs, states
        return symbol.Dropout(data=inputs, p=self.dropout), states

    def unroll(self, length, inputs, begin_state=None, layout="NTC",
               merge_outputs=None):
        self.reset()
        inputs, _ = normalize_sequence(length, inputs, layout, merge_outputs)
        if isinstance(inputs, symbol.Symbol):
            return self(inputs, [])
        return super().unroll(length, inputs, begin_state=begin_state,
                              layout=layout, merge_outputs=merge_outputs)


class ModifierCell(BaseRNNCell):
    """Changes what base_cell gives; its parameters and states are that cell's."""

    def __init__(self, base_cell):
        base_cell._modified = True
        super().__init__()
        self.base_cell = base_cell

    @property
    def params(self):
        self._own_params = False
        return self.base_cell.params

    @property
    def state_info(self):
        return self.base_cell.state_info

    def begin_state(self, func=symbol.zeros, **kwargs):
        if self._modified:
            raise AssertionError("another cell modifies this one; ask that")
        with self._own_base() as base:
            return base.begin_state(func=func, **kwargs)

    @contextlib.contextmanager
    def _own_base(self):
        """The cell inside, which may be asked meanwhile."""
        self.base_cell._modified = False
        try:
            yield self.base_cell
        finally:
            self.base_cell._modified = True

    def unpack_weights(self, args):
        return self.base_cell.unpack_weights(args)

    def pack_weights(self, args):
        return self.base_cell.pack_weights(args)


class ZoneoutCell(ModifierCell):
    """Keeps a part of the output and of the states from the step before."""

    def __init__(self, base_cell, zoneout_outputs=0.0, zoneout_states=0.0):
        if type(base_cell).__name__ == "FusedRNNCell":
            raise AssertionError("a fused cell keeps its steps to itself: "
                                 "unfuse() it")
        super().__init__(base_cell)
        self.zoneout_outputs = zoneout_outputs
        self.zoneout_states = zoneout_states
        self.prev_output = None

    def reset(self):
        super().reset()
        self.prev_output = None

    @staticmethod
    def _mixed(part, new, old):
        if part == 0.0:
            return new
        mask = symbol.Dropout(symbol.ones_like(new), p=part)
        return symbol.where(mask, new, old)

    def __call__(self, inputs, states):
        output, following = self.base_cell(inputs, states)
        before = self.prev_output
        if before is None:
            before = symbol.zeros_like(output)
        output = self._mixed(self.zoneout_outputs, output, before)
        following = [self._mixed(self.zoneout_states, new, old)
                     for new, old in zip(following, states)]
        self.prev_output = output
        return output, following


class ResidualCell(ModifierCell):
    """Adds the input to the output."""

    def __call__(self, inputs, states):
        output, states = self.base_cell(inputs, states)
        return symbol.elemwise_add(output, inputs,
                                   name=f"{output.name}_plus_residual"), states

    def unroll(self, length, inputs, begin_state=None, layout="NTC",
               merge_outputs=None):
        self.reset()
        with self._own_base() as base:
            outputs, states = base.unroll(
                length, inputs=inputs, begin_state=begin_state, layout=layout,
                merge_outputs=merge_outputs)
        merge_outputs = isinstance(outputs, symbol.Symbol)
        inputs, _ = normalize_sequence(length, inputs, layout, merge_outputs)
        if merge_outputs:
            return symbol.elemwise_add(
                outputs, inputs, name=f"{outputs.name}_plus_residual"), states
        return [symbol.elemwise_add(output, each,
                                    name=f"{output.name}_plus_residual")
                for output, each in zip(outputs, inputs)], states
