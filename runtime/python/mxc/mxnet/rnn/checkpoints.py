# SPDX-License-Identifier: Apache-2.0
"""Checkpoints in which cells have a weight and a bias for each gate."""

from ..callback import every
from ..model import load_checkpoint, save_checkpoint
from .base import BaseRNNCell


def _as_list(cells):
    return [cells] if isinstance(cells, BaseRNNCell) else cells


def save_rnn_checkpoint(cells, prefix, epoch, symbol, arg_params, aux_params):
    """save_checkpoint() with the cells' weights unpacked."""
    for cell in _as_list(cells):
        arg_params = cell.unpack_weights(arg_params)
    save_checkpoint(prefix, epoch, symbol, arg_params, aux_params)


def load_rnn_checkpoint(cells, prefix, epoch):
    """load_checkpoint() with the cells' weights packed."""
    symbol, arguments, states = load_checkpoint(prefix, epoch)
    for cell in _as_list(cells):
        arguments = cell.pack_weights(arguments)
    return symbol, arguments, states


def do_rnn_checkpoint(cells, prefix, period=1):
    """A callback of fit() that saves after every `period` epochs."""
    return every(period, lambda number, *what: save_rnn_checkpoint(
        cells, prefix, number, *what))
