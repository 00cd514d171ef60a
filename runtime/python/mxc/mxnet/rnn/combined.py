# SPDX-License-Identifier: Apache-2.0
"""Cells of several cells: one after the other, both ways."""

from .. import symbol
from .base import BaseRNNCell, normalize_sequence


class _Container(BaseRNNCell):
    """Cells with the states of all."""

    def __init__(self, prefix, params):
        self._cells = []
        super().__init__(prefix=prefix, params=params)
        self._override_cell_params = params is not None

    def _take(self, cell):
        if self._override_cell_params:
            if not cell._own_params:
                raise AssertionError("the container and its cells both have "
                                     "parameters, expected one of the two")
            cell.params._params.update(self.params._params)
        self.params._params.update(cell.params._params)
        self._cells.append(cell)

    @property
    def state_info(self):
        return [info for cell in self._cells for info in cell.state_info]

    def begin_state(self, **kwargs):
        if self._modified:
            raise AssertionError("another cell modifies this one; ask that")
        return [state for cell in self._cells
                for state in cell.begin_state(**kwargs)]

    def unpack_weights(self, args):
        for cell in self._cells:
            args = cell.unpack_weights(args)
        return args

    def pack_weights(self, args):
        for cell in self._cells:
            args = cell.pack_weights(args)
        return args

    def _shares(self, states):
        """The states, a list for each cell."""
        begin = 0
        for cell in self._cells:
            count = len(cell.state_info)
            yield states[begin:begin + count]
            begin += count


class SequentialRNNCell(_Container):
    """Each cell reads what the one before gives."""

    def __init__(self, params=None):
        super().__init__("", params)

    def add(self, cell):
        """Appends a cell."""
        self._take(cell)

    def __call__(self, inputs, states):
        self._counter += 1
        following = []
        for cell, own in zip(self._cells, self._shares(states)):
            if isinstance(cell, BidirectionalCell):
                raise AssertionError("a BidirectionalCell has no single step")
            inputs, new = cell(inputs, own)
            following += new
        return inputs, following

    def unroll(self, length, inputs, begin_state=None, layout="NTC",
               merge_outputs=None):
        self.reset()
        states = self.begin_state() if begin_state is None else begin_state
        following = []
        last = len(self._cells) - 1
        for i, (cell, own) in enumerate(zip(self._cells, self._shares(states))):
            inputs, new = cell.unroll(
                length, inputs=inputs, begin_state=own, layout=layout,
                merge_outputs=merge_outputs if i == last else None)
            following += new
        return inputs, following


class BidirectionalCell(_Container):
    """One cell forward, one backward; their outputs are joined."""

    def __init__(self, l_cell, r_cell, params=None, output_prefix="bi_"):
        super().__init__("", params)
        self._output_prefix = output_prefix
        self._take(l_cell)
        self._take(r_cell)

    def __call__(self, inputs, states):
        raise NotImplementedError("a bidirectional cell has no single step; "
                                  "unroll() has all")

    def unroll(self, length, inputs, begin_state=None, layout="NTC",
               merge_outputs=None):
        self.reset()
        inputs, axis = normalize_sequence(length, inputs, layout, False)
        states = self.begin_state() if begin_state is None else begin_state
        forward, backward = self._cells
        own, other = self._shares(states)
        l_outputs, l_states = forward.unroll(length, inputs=inputs,
                                             begin_state=own, layout=layout,
                                             merge_outputs=merge_outputs)
        r_outputs, r_states = backward.unroll(length, list(reversed(inputs)),
                                              begin_state=other, layout=layout,
                                              merge_outputs=merge_outputs)
        if merge_outputs is None:
            merge_outputs = (isinstance(l_outputs, symbol.Symbol)
                             and isinstance(r_outputs, symbol.Symbol))
            l_outputs, _ = normalize_sequence(None, l_outputs, layout,
                                              merge_outputs)
            r_outputs, _ = normalize_sequence(None, r_outputs, layout,
                                              merge_outputs)
        if merge_outputs:
            r_outputs = symbol.reverse(r_outputs, axis=axis)
            outputs = symbol.Concat(l_outputs, r_outputs, dim=2,
                                    name=f"{self._output_prefix}out")
        else:
            outputs = [symbol.Concat(left, right, dim=1,
                                     name=f"{self._output_prefix}t{i}")
                       for i, (left, right) in
                       enumerate(zip(l_outputs, reversed(r_outputs)))]
        return outputs, [*l_states, *r_states]
