# SPDX-License-Identifier: Apache-2.0
"""Networks that MXNet's tests import as `models`: the file of that name is not among
them."""

import mxnet as mx


def mlp2():
    """Two dense layers."""
    hidden = mx.symbol.FullyConnected(data=mx.symbol.Variable("data"), name="fc1",
                                      num_hidden=1000)
    hidden = mx.symbol.Activation(data=hidden, act_type="relu")
    return mx.symbol.FullyConnected(data=hidden, name="fc2", num_hidden=10)


def conv():
    """Two convolutions with normalization and pooling, and a classifier."""
    data = mx.symbol.Variable("data")
    for layer, pool in (("1", "avg"), ("2", "avg")):
        data = mx.symbol.Convolution(data=data, name="conv" + layer, num_filter=32,
                                     kernel=(3, 3), stride=(2, 2))
        data = mx.symbol.BatchNorm(data=data, name="bn" + layer)
        data = mx.symbol.Activation(data=data, name="relu" + layer, act_type="relu")
        data = mx.symbol.Pooling(data=data, name="mp" + layer, kernel=(2, 2),
                                 stride=(2, 2), pool_type=pool)
    data = mx.symbol.FullyConnected(data=mx.symbol.Flatten(data=data), name="fc3",
                                    num_hidden=10)
    return mx.symbol.SoftmaxOutput(data=data, name="softmax")
