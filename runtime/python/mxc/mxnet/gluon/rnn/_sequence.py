# SPDX-License-Identifier: Apache-2.0
"""Sequences as one array with a time axis, or as a list of steps."""
from ... import ndarray, symbol


def namespace(value):
    """`mx.sym` for symbols, `mx.nd` for arrays."""
    return symbol if isinstance(value, symbol.Symbol) else ndarray


def is_tensor(value):
    """Whether `value` is one array or symbol."""
    return isinstance(value, (symbol.Symbol, ndarray.NDArray))


def as_list(value):
    """A list, of one where `value` is one array or symbol."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def steps(F, value, axis, count):
    """`value` as a list of its `count` steps along `axis`."""
    parts = F.split(value, axis=axis, num_outputs=count, squeeze_axis=True)
    return list(parts) if F is symbol else as_list(parts)


def format_sequence(length, inputs, layout, merge, in_layout=None):
    """(inputs, time axis, F, batch size) with inputs as one array (`merge`) or as a list.

    With `merge` None they stay what they are. The batch size of symbols is 0, unknown."""
    axis = layout.find("T")
    in_axis = (in_layout or layout).find("T")
    if not is_tensor(inputs):
        assert length is None or len(inputs) == length, (
            f"There are {len(inputs)} steps of inputs, not {length}.")
        F = namespace(inputs[0])
        batch = 0 if F is symbol else inputs[0].shape[layout.replace("T", "").find("N")]
        if merge is True:
            return F.stack(*inputs, axis=axis), axis, F, batch
        return inputs, axis, F, batch
    F = namespace(inputs)
    batch = 0 if F is symbol else inputs.shape[layout.find("N")]
    if merge is not False:
        if axis != in_axis:
            inputs = F.swapaxes(inputs, dim1=axis, dim2=in_axis)
        return inputs, axis, F, batch
    if F is symbol:
        if len(inputs.list_outputs()) != 1:
            raise ValueError("unroll takes one symbol or a list of them: list(inputs) makes one "
                             "of a group.")
        count = length
    else:
        count = inputs.shape[in_axis]
        assert length is None or count == length, f"There are {count} steps, not {length}."
    return steps(F, inputs, in_axis, count), axis, F, batch


def begin_state(cell, F, state, inputs, batch_size):
    """`state`, or zeros where `inputs` lie."""
    if state is not None:
        return state
    if F is symbol:
        return cell.begin_state(func=symbol.zeros, batch_size=batch_size)
    with as_list(inputs)[0].context:
        return cell.begin_state(func=ndarray.zeros, batch_size=batch_size)


def mask(F, data, length, valid_length, axis, merge):
    """`data` with zeros after `valid_length` steps of each sample."""
    if not is_tensor(data):
        data = F.stack(*data, axis=axis)
    out = F.SequenceMask(data, sequence_length=valid_length, use_sequence_length=True, axis=axis)
    if merge:
        return out
    return steps(F, out, axis, length)


def last_states(F, all_states, valid_length):
    """Each state after the last valid step of each sample."""
    return [F.SequenceLast(F.stack(*each, axis=0), sequence_length=valid_length,
                           use_sequence_length=True, axis=0) for each in zip(*all_states)]


def reverse(sequence, length, valid_length):
    """The steps backwards; of each sample its valid ones, in their places."""
    if valid_length is None:
        return list(reversed(sequence))
    F = namespace(sequence[0])
    out = F.SequenceReverse(F.stack(*sequence, axis=0), sequence_length=valid_length,
                            use_sequence_length=True)
    return steps(F, out, 0, length)
