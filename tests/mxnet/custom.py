#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operators of a library beside MXNet's Custom: what Python's CustomOp computes,
forward, backward and in its states, and what mxc makes of the same graph.

  tests/mxnet/custom.py BIN_DIR FOLDER LIBRARY    with mxnet==1.9.1, numpy<1.24

LIBRARY is libops.so of tests/e2e/custom.test, whose two operators stand here in
Python. Exits with 1 where a value differs.
"""
import os
import sys

import beside
import mxnet as mx
import numpy as np


class Shift(mx.operator.CustomOp):
    def __init__(self, scale, momentum):
        super().__init__()
        self.scale, self.momentum = scale, momentum

    def forward(self, is_train, req, in_data, out_data, aux):
        data, weight = in_data
        if is_train:
            aux[0][:] = (aux[0] * self.momentum
                         + data.mean(axis=0) * (1 - self.momentum))
        centred = data - aux[0]
        self.assign(out_data[0], req[0], centred * weight * self.scale)
        self.assign(out_data[1], req[1],
                    (centred > 0).sum(axis=1).astype('int32'))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        slope = out_grad[0] * self.scale
        through = slope - slope.mean(axis=0) * (1 - self.momentum)
        self.assign(in_grad[0], req[0], through * in_data[1])
        self.assign(in_grad[1], req[1],
                    (slope * (in_data[0] - aux[0])).sum(axis=0))


@mx.operator.register('my_shift')
class ShiftProp(mx.operator.CustomOpProp):
    def __init__(self, scale='1', momentum='0.9'):
        super().__init__(need_top_grad=True)
        self.scale, self.momentum = float(scale), float(momentum)

    def list_arguments(self):
        return ['data', 'weight']

    def list_outputs(self):
        return ['output', 'above']

    def list_auxiliary_states(self):
        return ['shift']

    def infer_shape(self, in_shape):
        rows, columns = in_shape[0]
        return [in_shape[0], (columns,)], [in_shape[0], (rows,)], [(columns,)]

    def infer_type(self, in_type):
        return [in_type[0]] * 2, [in_type[0], np.int32], [in_type[0]]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Shift(self.scale, self.momentum)


class Softmax(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], mx.nd.softmax(in_data[0], axis=1))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        hot = mx.nd.one_hot(in_data[1], out_data[0].shape[1])
        self.assign(in_grad[0], req[0], out_data[0] - hot)
        self.assign(in_grad[1], req[1], 0)


@mx.operator.register('my_softmax')
class SoftmaxProp(mx.operator.CustomOpProp):
    def __init__(self):
        super().__init__(need_top_grad=False)

    def list_arguments(self):
        return ['data', 'label']

    def infer_shape(self, in_shape):
        return [in_shape[0], (in_shape[0][0],)], [in_shape[0]], []

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Softmax()


def network():
    data = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=5, name='fc0')
    mine = mx.sym.Custom(data, op_type='my_shift', scale=2, momentum='0.5',
                         name='mine')
    last = mx.sym.FullyConnected(mine[0], num_hidden=3, name='fc1')
    loss = mx.sym.Custom(last, op_type='my_softmax', name='softmax')
    return mx.sym.Group([loss, mx.sym.BlockGrad(mine[1], name='above')])


def main():
    bin_dir, folder, library = (os.path.abspath(a) for a in sys.argv[1:4])
    fed = {'data': np.random.RandomState(5).randn(4, 6).astype('f'),
           'softmax_label': np.array([0, 2, 1, 1], 'f')}
    worst = beside.worst_difference(network(), fed, bin_dir, folder,
                                    '--functions', library)
    return int(worst > 2e-6)


if __name__ == '__main__':
    sys.exit(main())
