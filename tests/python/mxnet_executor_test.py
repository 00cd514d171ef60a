# SPDX-License-Identifier: Apache-2.0
"""Executors: values and gradients of mathematics, CustomOp, monitors, checks."""

import numpy as np
import pytest

import mxc.mxnet as mx


def test_values_and_gradients():
    x, y = mx.sym.var("x"), mx.sym.var("y")
    a, b = mx.nd.array([1, 2, 3]), mx.nd.array([4, 5, 6])
    grads = [mx.nd.zeros((3,)), mx.nd.zeros((3,))]
    executor = (x * x + x * y).bind(mx.cpu(), [a, b], grads)
    assert executor.forward(is_train=True)[0].asnumpy().tolist() == [5, 14, 27]
    executor.backward(mx.nd.array([1, 10, 100]))
    assert grads[0].asnumpy().tolist() == [6, 90, 1200]
    assert grads[1].asnumpy().tolist() == [1, 20, 300]
    executor.backward(mx.nd.ones((3,)))
    assert grads[1].asnumpy().tolist() == [1, 2, 3]


def test_gradient_requests():
    x, y, z = (mx.sym.var(name) for name in "xyz")
    executor = (x * y * z).simple_bind(
        mx.cpu(), grad_req={"x": "add", "y": "write"}, x=(2,), y=(2,), z=(2,))
    for name, value in (("x", 2), ("y", 3), ("z", 5)):
        executor.arg_dict[name][:] = value
    for _ in range(2):
        executor.forward(is_train=True)
        executor.backward(mx.nd.ones((2,)))
    assert executor.grad_dict["x"].asnumpy().tolist() == [30, 30]
    assert executor.grad_dict["y"].asnumpy().tolist() == [10, 10]
    assert executor.grad_dict["z"] is None


def test_states_of_training():
    net = mx.sym.BatchNorm(mx.sym.var("x"), fix_gamma=False, momentum=0.5,
                           eps=1e-5, name="bn")
    executor = net.simple_bind(mx.cpu(), x=(4, 2))
    executor.arg_dict["bn_gamma"][:] = 1
    executor.aux_dict["bn_moving_var"][:] = 1
    data = np.array([[1, 2], [3, 4], [5, 6], [7, 8]], "float32")
    executor.forward(is_train=False, x=mx.nd.array(data))
    np.testing.assert_allclose(executor.outputs[0].asnumpy(), data, rtol=1e-4)
    executor.forward(is_train=True)
    np.testing.assert_allclose(executor.aux_dict["bn_moving_mean"].asnumpy(),
                               [2, 2.5], rtol=1e-6)
    np.testing.assert_allclose(executor.outputs[0].asnumpy().mean(axis=0), 0,
                               atol=1e-5)


def test_reshaped_executors_share_parameters():
    net = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=3, name="fc")
    executor = net.simple_bind(mx.cpu(), x=(5, 2))
    executor.arg_dict["fc_weight"][:] = 2
    smaller = executor.reshape(x=(2, 2))
    smaller.forward(x=mx.nd.ones((2, 2)))
    assert (smaller.outputs[0].asnumpy() == 4).all()
    executor.arg_dict["fc_bias"][:] = 1
    smaller.forward()
    assert (smaller.outputs[0].asnumpy() == 5).all()
    with pytest.raises(AssertionError):
        executor.reshape(x=(9, 2))
    assert executor.reshape(allow_up_sizing=True, x=(9, 2)).forward()[
        0].shape == (9, 3)


def test_reshaped_executors_write_over_the_outputs():
    net = mx.sym.exp(mx.sym.var("x"))
    executor = net.simple_bind(mx.cpu(), x=(3, 2))
    smaller = executor.reshape(x=(2, 2))
    executor.forward(is_train=True, x=mx.nd.ones((3, 2)))
    smaller.forward(x=mx.nd.zeros((2, 2)))
    over = executor.outputs[0].asnumpy()
    np.testing.assert_allclose(over, [[1, 1], [1, 1], [np.e, np.e]], rtol=1e-6)
    executor.backward(mx.nd.ones((3, 2)))
    np.testing.assert_allclose(executor.grad_dict["x"].asnumpy(),
                               np.full((3, 2), np.e), rtol=1e-6)
    assert (executor.forward(x=mx.nd.zeros((3, 2)))[0].asnumpy() == 1).all()
    assert (executor.outputs[0].asnumpy() == 1).all()


def test_loss_needs_no_gradient():
    net = mx.sym.SoftmaxOutput(mx.sym.var("x"), name="softmax")
    executor = net.simple_bind(mx.cpu(), x=(2, 3))
    executor.forward(is_train=True, softmax_label=mx.nd.array([0, 2]))
    executor.backward()
    expected = np.full((2, 3), 1 / 3)
    expected[0, 0] -= 1
    expected[1, 2] -= 1
    np.testing.assert_allclose(executor.grad_dict["x"].asnumpy(), expected,
                               rtol=1e-5)


def test_mistakes_in_binding():
    x = mx.sym.var("x")
    net = mx.sym.FullyConnected(x, num_hidden=2, name="fc")
    for wrong, error in (
            (lambda: net.simple_bind(mx.cpu()), RuntimeError),
            (lambda: net.bind(mx.cpu(), [mx.nd.ones((2, 2))]), ValueError),
            (lambda: net.bind(mx.cpu(), {"x": mx.nd.ones((2, 2))}), ValueError),
            (lambda: net.bind(mx.cpu(), {"x": 3}), (TypeError, ValueError)),
            (lambda: net.simple_bind(mx.cpu(), grad_req="nonsense", x=(2, 2)),
             ValueError)):
        with pytest.raises(error):
            wrong()
    executor = net.simple_bind(mx.cpu(), x=(2, 2))
    with pytest.raises(ValueError):
        executor.forward(x=mx.nd.ones((3, 2)))
    with pytest.raises(TypeError):
        executor.forward(stranger=mx.nd.ones((3, 2)))
    with pytest.raises(mx.MXNetError):
        executor.backward()


@mx.operator.register("test_square_times")
class SquareTimesProp(mx.operator.CustomOpProp):
    """x² · factor, and how often it ran."""

    def __init__(self, factor="1"):
        super().__init__(need_top_grad=True)
        self.factor = float(factor)

    def list_auxiliary_states(self):
        return ["count"]

    def infer_shape(self, in_shape):
        return in_shape, [in_shape[0]], [(1,)]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        factor = self.factor

        class SquareTimes(mx.operator.CustomOp):
            def forward(self, is_train, req, in_data, out_data, aux):
                self.assign(out_data[0], req[0], in_data[0] * in_data[0] * factor)
                aux[0][:] += 1

            def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
                self.assign(in_grad[0], req[0],
                            out_grad[0] * in_data[0] * (2 * factor))

        return SquareTimes()


def test_custom_operators_in_graphs():
    x = mx.sym.var("x")
    net = mx.sym.Custom(x * 2, op_type="test_square_times", factor=3,
                        name="square") + 1
    assert net.list_arguments() == ["x"]
    assert net.list_auxiliary_states() == ["square_count"]
    assert net.infer_shape(x=(2, 3))[1] == [(2, 3)]
    executor = net.simple_bind(mx.cpu(), x=(2,))
    executor.forward(is_train=True, x=mx.nd.array([1, 2]))
    assert executor.outputs[0].asnumpy().tolist() == [13, 49]
    executor.backward(mx.nd.ones((2,)))
    assert executor.grad_arrays[0].asnumpy().tolist() == [24, 48]
    assert executor.aux_arrays[0].asnumpy().tolist() == [1]


def test_custom_operators_of_arrays():
    count = mx.nd.zeros((1,))
    out = mx.nd.Custom(mx.nd.array([1, 2]), count, op_type="test_square_times")
    assert out.asnumpy().tolist() == [1, 4]
    assert count.asnumpy().tolist() == [1]
    with pytest.raises(mx.MXNetError):
        mx.nd.Custom(count, op_type="no such operator")


class Twice(mx.operator.NumpyOp):
    """The earlier interface."""

    def infer_shape(self, in_shape):
        return in_shape, [in_shape[0]]

    def forward(self, in_data, out_data):
        out_data[0][:] = in_data[0] * 2

    def backward(self, out_grad, in_data, out_data, in_grad):
        in_grad[0][:] = out_grad[0] * 2


def test_operators_of_numpy():
    executor = Twice()(mx.sym.var("x"), name="twice").simple_bind(mx.cpu(), x=(2,))
    executor.forward(is_train=True, x=mx.nd.array([3, 4]))
    executor.backward(mx.nd.array([1, 10]))
    assert executor.outputs[0].asnumpy().tolist() == [6, 8]
    assert executor.grad_arrays[0].asnumpy().tolist() == [2, 20]


def test_monitors_see_every_operator():
    net = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=2, name="fc")
    executor = mx.sym.Activation(net, act_type="relu", name="act").simple_bind(
        mx.cpu(), x=(1, 2))
    monitor = mx.mon.Monitor(1, sort=True, pattern=".*output")
    monitor.install(executor)
    monitor.tic()
    executor.forward()
    assert [name for _, name, _ in monitor.toc()] == ["act_output", "fc_output"]


def test_checks_find_wrong_gradients():
    from mxc.mxnet.test_utils import (check_consistency, check_numeric_gradient,
                                      check_symbolic_backward,
                                      check_symbolic_forward)
    x = mx.sym.var("x")
    data = [np.array([[0.5, 1.5], [2.0, 3.0]], "float32")]
    check_symbolic_forward(mx.sym.square(x), data, [data[0] ** 2])
    check_symbolic_backward(mx.sym.square(x), data, [np.ones((2, 2))],
                            [2 * data[0]])
    check_numeric_gradient(mx.sym.square(x), data, rtol=1e-2)
    check_consistency(mx.sym.square(x), [
        {"ctx": mx.cpu(), "x": (2, 2), "type_dict": {"x": kind}}
        for kind in (np.float32, np.float64)])
    with pytest.raises(AssertionError):
        check_symbolic_forward(mx.sym.square(x), data, [data[0]])
    with pytest.raises(AssertionError):
        check_numeric_gradient(mx.sym.BlockGrad(mx.sym.square(x)), data, rtol=1e-2)


def test_backward_after_a_forward_that_did_not_train():
    x = mx.sym.Variable("x")
    executor = (x * x).bind(mx.cpu(), {"x": mx.nd.array([1, 2])},
                            {"x": mx.nd.zeros(2)})
    executor.forward()
    executor.backward(mx.nd.ones(2))
    assert executor.grad_dict["x"].asnumpy().tolist() == [2, 4]


def test_gradients_that_nobody_asks_for_stay_what_they_are():
    x = mx.sym.Variable("x")
    executor = (x * x).bind(mx.cpu(), {"x": mx.nd.ones(2)}, {"x": mx.nd.full((2,), 7)},
                            grad_req="null")
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones(2))
    assert executor.grad_dict["x"].asnumpy().tolist() == [7, 7]


def test_constants_take_a_gradient_of_any_shape():
    x = mx.sym.Variable("x")
    executor = mx.sym.argmax(x, axis=1).bind(
        mx.cpu(), {"x": mx.nd.ones((2, 3))}, {"x": mx.nd.ones((2, 3))})
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones((2, 3)))
    assert executor.grad_dict["x"].asnumpy().tolist() == [[0] * 3] * 2


def test_monitors_see_variables_before_the_inputs_that_they_are():
    data = mx.sym.Variable("data", shape=(2, 3))
    net = mx.sym.FullyConnected(mx.sym.relu(data, name="r"), num_hidden=2, name="fc")
    executor = net.simple_bind(mx.cpu(), grad_req="null")
    seen = []
    executor.set_monitor_callback(lambda name, _: seen.append(name.decode()), True)
    executor.forward()
    assert seen == ["data", "r_input0", "r_output", "fc_data", "fc_weight", "fc_weight",
                    "fc_bias", "fc_bias", "fc_output"]


def test_outputs_of_a_loop_are_there_before_the_first_forward():
    out, states = mx.sym.contrib.foreach(
        lambda x, kept: (x + kept[0], [x * kept[0]]), mx.sym.var("x"), [mx.sym.var("kept")])
    executor = mx.sym.Group([out, states[0]]).bind(
        mx.cpu(), {"x": mx.nd.ones((5, 2)), "kept": mx.nd.full((2,), 3)})
    before = executor.outputs
    assert [array.shape for array in before] == [(5, 2), (2,)]
    executor.forward()
    assert before[0].asnumpy().tolist() == [[4, 4]] * 5
    assert before[1].asnumpy().tolist() == [3, 3]


def test_outputs_have_their_types_before_the_first_forward():
    x = mx.sym.Variable("x", dtype="float32")
    executor = mx.sym.Cast(x, dtype="int32").simple_bind(mx.cpu(), x=(2, 3))
    assert (executor.outputs[0].shape, executor.outputs[0].dtype) == ((2, 3), np.int32)


@pytest.mark.parametrize("name", ["uniform", "normal", "gamma", "exponential", "poisson"])
def test_random_numbers_of_the_shape_of_an_array(name):
    drawn = getattr(mx.sym.random, name + "_like")(mx.sym.Variable("x"))
    executor = drawn.simple_bind(mx.cpu(), x=(3, 4))
    values = executor.forward()[0].asnumpy()
    assert values.shape == (3, 4) and len(np.unique(values)) > 1


def test_memory_that_gradients_hold():
    def megabytes(net, **kwargs):
        executor = net.simple_bind(mx.cpu(), x=(8, 512, 512), **kwargs)
        return int(executor.debug_str().split("Total ")[1].split(" MB")[0])

    net = mx.sym.Variable("x")
    for _ in range(4):
        net = net * net
    assert megabytes(net) == 4 * 8
    assert megabytes(net, grad_req="null") == 8
    assert megabytes(mx.sym.BlockGrad(net)) == 8


def test_a_bound_symbol_can_be_had_again():
    net = mx.sym.FullyConnected(mx.sym.Variable("x"), num_hidden=2, name="fc")
    executor = net.simple_bind(mx.cpu(), x=(3, 4))
    assert executor.get_optimized_symbol().list_arguments() == net.list_arguments()
