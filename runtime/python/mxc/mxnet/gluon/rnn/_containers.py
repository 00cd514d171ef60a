# SPDX-License-Identifier: Apache-2.0
"""Cells of cells: stacks, and both directions."""
from ... import ndarray
from ..utils import indented
from . import _sequence
from ._cell import HybridRecurrentCell, RecurrentCell


def _repr_of(container):
    lines = "\n".join(f"  ({key}): {indented(repr(child))}"
                      for key, child in container._children.items())
    return f"{type(container).__name__}(\n{lines}\n)"


class _Stack:
    """Cells one upon the other; their states are one list."""

    def add(self, cell):
        """Appends a cell."""
        self.register_child(cell)

    def __repr__(self):
        return _repr_of(self)

    def __len__(self):
        return len(self._children)

    def __getitem__(self, key):
        return list(self._children.values())[key]

    def state_info(self, batch_size=0):
        """The states of all cells."""
        return [info for cell in self._children.values() for info in cell.state_info(batch_size)]

    def begin_state(self, batch_size=0, func=ndarray.zeros, **kwargs):
        """The first states of all cells."""
        self._check_unmodified()
        return [state for cell in self._children.values()
                for state in cell.begin_state(batch_size=batch_size, func=func, **kwargs)]

    def _step(self, inputs, states):
        self._counter += 1
        after, first = [], 0
        for cell in self._children.values():
            assert not isinstance(cell, BidirectionalCell), (
                "A stack with a BidirectionalCell goes by unroll, not step by step.")
            count = len(cell.state_info())
            inputs, new = cell(inputs, states[first:first + count])
            first += count
            after += new
        return inputs, after

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None,
               valid_length=None):
        """Each cell's whole sequence, one after the other."""
        self.reset()
        inputs, _, F, batch = _sequence.format_sequence(length, inputs, layout, None)
        states = _sequence.begin_state(self, F, begin_state, inputs, batch)
        cells, after, first = list(self._children.values()), [], 0
        for cell in cells:
            count = len(cell.state_info())
            inputs, new = cell.unroll(
                length, inputs=inputs, begin_state=states[first:first + count], layout=layout,
                merge_outputs=merge_outputs if cell is cells[-1] else None,
                valid_length=valid_length)
            first += count
            after += new
        return inputs, after


class SequentialRNNCell(_Stack, RecurrentCell):
    """A stack of cells."""

    def __call__(self, inputs, states):
        return self._step(inputs, states)

    def forward(self, *args, **kwargs):
        raise NotImplementedError("A SequentialRNNCell is called, not forwarded.")


class HybridSequentialRNNCell(_Stack, HybridRecurrentCell):
    """A stack of hybrid cells."""

    def __call__(self, inputs, states):
        return self._step(inputs, states)

    def hybrid_forward(self, F, inputs, states):
        return self._step(inputs, states)


class BidirectionalCell(HybridRecurrentCell):
    """One cell forwards, one backwards in time; outputs side by side. Only by `unroll`."""

    def __init__(self, l_cell, r_cell, output_prefix="bi_"):
        super().__init__(prefix="", params=None)
        self.register_child(l_cell, "l_cell")
        self.register_child(r_cell, "r_cell")
        self._output_prefix = output_prefix

    def __call__(self, inputs, states):
        raise NotImplementedError("A BidirectionalCell needs the whole sequence: use unroll.")

    def __repr__(self):
        left, right = self._children.values()
        return f"{type(self).__name__}(forward={left!r}, backward={right!r})"

    state_info = _Stack.state_info
    begin_state = _Stack.begin_state

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None,
               valid_length=None):
        """Both cells' sequences; see RecurrentCell.unroll."""
        self.reset()
        inputs, axis, F, batch = _sequence.format_sequence(length, inputs, layout, False)
        states = _sequence.begin_state(self, F, begin_state, inputs, batch)
        left, right = self._children.values()
        split = len(left.state_info(batch))
        l_outputs, l_states = left.unroll(
            length, inputs=inputs, begin_state=states[:split], layout=layout,
            merge_outputs=merge_outputs, valid_length=valid_length)
        r_outputs, r_states = right.unroll(
            length, inputs=_sequence.reverse(inputs, length, valid_length),
            begin_state=states[split:], layout=layout, merge_outputs=False,
            valid_length=valid_length)
        r_outputs = _sequence.reverse(r_outputs, length, valid_length)
        if merge_outputs is None:
            merge_outputs = _sequence.is_tensor(l_outputs)
        l_outputs, r_outputs = (
            _sequence.format_sequence(length, outputs, layout, merge_outputs)[0]
            for outputs in (l_outputs, r_outputs))
        prefix = self._output_prefix
        if merge_outputs:
            outputs = F.concat(l_outputs, r_outputs, dim=2, name=prefix + "out")
        else:
            outputs = [F.concat(one, other, dim=1, name=f"{prefix}t{i}")
                       for i, (one, other) in enumerate(zip(l_outputs, r_outputs))]
        if valid_length is not None:
            outputs = _sequence.mask(F, outputs, length, valid_length, axis, merge_outputs)
        return outputs, l_states + r_states
