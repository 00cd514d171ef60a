# SPDX-License-Identifier: Apache-2.0
"""mxc.mxnet.gluon: parameters and gradients of which only some rows are there."""

import numpy as np

import mxc.mxnet as mx
from mxc.mxnet import autograd, gluon


def test_gradients_of_embeddings_have_the_rows_that_were_used():
    layer = gluon.nn.Embedding(6, 2, sparse_grad=True)
    layer.initialize()
    with autograd.record():
        y = layer(mx.nd.array([1, 4, 4]))
    y.backward()
    gradient = layer.weight.grad()
    assert gradient.stype == "row_sparse"
    np.testing.assert_array_equal(gradient.indices.asnumpy(), [1, 4])
    np.testing.assert_array_equal(gradient.data.asnumpy(), [[1, 1], [2, 2]])


def test_rows_of_a_parameter_are_pulled_and_updated():
    weight = gluon.Parameter("w", shape=(4, 2), init="ones", stype="row_sparse",
                             grad_stype="row_sparse")
    weight.initialize()
    trainer = gluon.Trainer([weight], "sgd", {"learning_rate": 1})
    every = mx.nd.arange(4)
    with autograd.record():
        y = mx.nd.Embedding(mx.nd.array([2]), weight.row_sparse_data(every), input_dim=4,
                            output_dim=2, sparse_grad=True)
    y.backward()
    trainer.step(1)
    np.testing.assert_array_equal(weight.row_sparse_data(every).asnumpy()[:, 0],
                                  [1, 1, 0, 1])
