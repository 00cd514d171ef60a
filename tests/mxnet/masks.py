#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shapes that data decide, beside MXNet: rows that a mask picks, layers of each
row and reductions over all of them, forward and backward; where arrays are not 0,
and their different elements.

  tests/mxnet/masks.py BIN_DIR FOLDER    with mxnet==1.9.1, numpy<1.24

Exits with 1 where a value differs.
"""
import os
import sys

import beside
import mxnet as mx
import numpy as np


def network(reduced):
    data = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=5, name='fc0')
    rows = mx.sym.contrib.boolean_mask(data, mx.sym.var('mask'), name='rows')
    # MXNet finds no shape behind the mask.
    last = mx.sym.FullyConnected(
        mx.sym.tanh(rows), mx.sym.var('fc1_weight', shape=(3, 5)),
        mx.sym.var('fc1_bias', shape=(3,)), num_hidden=3, name='fc1')
    scores = mx.sym.sigmoid(mx.sym.broadcast_mul(
        last, mx.sym.var('gain_weight', shape=(1, 3))), name='scores')
    one = mx.sym.reshape(reduced(scores), shape=(1, -1))
    # The sums of what the samples' labels weigh, so that each is read.
    loss = mx.sym.broadcast_mul(one, mx.sym.expand_dims(mx.sym.var('label'), 1))
    return mx.sym.Group([mx.sym.MakeLoss(loss, name='loss'),
                         mx.sym.BlockGrad(scores, name='scores_out')])


REDUCED = {
    'sum': lambda x: mx.sym.sum(x, axis=0),
    'mean': lambda x: mx.sym.mean(x, axis=0),
    'mean of all': lambda x: mx.sym.mean(x),
    'max': lambda x: mx.sym.max(x, axis=0),
    'min': lambda x: mx.sym.min(x, axis=0, keepdims=True),
    'prod': lambda x: mx.sym.prod(x, axis=0),
    'nansum': lambda x: mx.sym.nansum(x, axis=0),
    'of each row, then': lambda x: mx.sym.sum(mx.sym.max(x, axis=1)),
}


def different_indices(bin_dir, folder):
    """How many outputs of nonzero and unique differ."""
    mx.npx.set_np()
    data = mx.sym.var('data').as_np_ndarray()
    flags = {'return_index': True, 'return_inverse': True, 'return_counts': True}
    arrays = [np.array([[3, 1, 2, 1], [0, 0, -1, 3]], 'f'), np.ones((1, 1), 'f'),
              np.zeros(3, 'f'), np.random.RandomState(1).randint(-9, 9, (5, 4, 7))]
    wrong = 0
    for array in arrays:
        for name, symbol, want in (
                ('nonzero', mx.sym.npx.nonzero(data), mx.npx.nonzero(mx.np.array(array))),
                ('unique', mx.sym.np.unique(data), mx.np.unique(mx.np.array(array))),
                ('unique of all', mx.sym.Group([*mx.sym.np.unique(data, **flags)]),
                 mx.np.unique(mx.np.array(array), **flags))):
            want = want if isinstance(want, (list, tuple)) else [want]
            found = beside.run(bin_dir, folder, symbol, {'data': array.astype('f')})
            same = [np.array_equal(w.asnumpy(), f) for w, f in zip(want, found)]
            print(f'{name} of {array.shape}: {same}')
            wrong += same.count(False)
    mx.npx.reset_np()
    return wrong


def main():
    bin_dir, folder = (os.path.abspath(a) for a in sys.argv[1:3])
    rng = np.random.RandomState(5)
    worst = 0
    for mask in ([0, 1, 0, 1, 1, 0], [1] * 6, [0, 0, 0, 0, 0, 7]):
        fed = {'data': rng.randn(6, 4).astype('f'),
               'mask': np.array(mask, 'f'),
               'label': rng.rand(6).astype('f')}
        for name, reduced in REDUCED.items():
            print(f'-- {name} of {mask}')
            worst = max(worst, beside.worst_difference(
                network(reduced), fed, bin_dir, folder))
    return int(worst > 2e-6 or different_indices(bin_dir, folder) > 0)


if __name__ == '__main__':
    sys.exit(main())
