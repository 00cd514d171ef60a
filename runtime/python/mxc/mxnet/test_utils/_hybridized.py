# SPDX-License-Identifier: Apache-2.0
"""Whether a block computes the same hybridized as not."""

import numpy as np

from .. import autograd
from ..util import is_np_array
from ._compare import assert_almost_equal


def _computed(net_builder, data_l, saved, hybridize, test_grad):
    """A block's output, its inputs' and parameters' gradients, and its parameters."""
    net = net_builder()
    net.initialize()
    if hybridize:
        net.hybridize()
    inputs = [data.copy() for data in data_l]
    for array in inputs if test_grad else ():
        array.attach_grad()
    net(*inputs)
    params = list(net.collect_params().values())
    for param, value in zip(params, saved or ()):
        param.set_data(value)
    if not test_grad:
        return net(*inputs).asnumpy(), [], [param.data().copy() for param in params]
    with autograd.record():
        out = net(*inputs)
    out.backward(out.copy())
    gradients = [array.grad.asnumpy() for array in inputs]
    gradients += [param.grad().asnumpy() for param in params if param.grad_req != "null"]
    return out.asnumpy(), gradients, [param.data().copy() for param in params]


def check_gluon_hybridize_consistency(net_builder, data_l, numpy_func=None,
                                      test_grad=True, rtol=1e-4, atol=1e-4):
    """Fails unless the block of net_builder() gives the same output, and gradients with
    `test_grad`, of the arrays data_l, hybridized or not, and that of
    numpy_func(*arrays of NumPy)."""
    assert is_np_array(), "check_gluon_hybridize_consistency is for mx.np's arrays"
    plain, gradients, saved = _computed(net_builder, data_l, None, False, test_grad)
    again, others, _ = _computed(net_builder, data_l, saved, True, test_grad)
    assert_almost_equal(plain, again, rtol=rtol, atol=atol)
    assert len(gradients) == len(others)
    for one, other in zip(gradients, others):
        assert_almost_equal(one, other, rtol=rtol, atol=atol)
    if numpy_func is not None:
        expected = np.asarray(numpy_func(*[data.asnumpy() for data in data_l]))
        assert_almost_equal(plain, expected, rtol=rtol, atol=atol)
