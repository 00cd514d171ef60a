# SPDX-License-Identifier: Apache-2.0
"""mxc.mxnet.nd: what NumPy, or MXNet's documentation, says of the same calls."""

import sys

import numpy as np
import pytest

import mxc.mxnet as mx

nd = mx.nd


def drawn(*shape, dtype=np.float32):
    return np.random.default_rng(7).integers(1, 9, shape).astype(dtype)


def test_import_shadows_nothing():
    assert "mxnet" not in sys.modules


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_arithmetic_of_arrays_and_numbers(dtype):
    x, y = drawn(2, 3, dtype=dtype), drawn(1, 3, dtype=dtype)
    a, b = nd.array(x, dtype=dtype), nd.array(y, dtype=dtype)
    for got, want in [(a + b, x + y), (a - b, x - y), (a * b, x * y),
                      (3 - a, 3 - x), (a * 2, x * 2), (a % b, x % y),
                      (a > b, x > y), (a <= 3, x <= 3), (-a, -x),
                      (a == b, x == y)]:
        assert got.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(got.asnumpy(), want.astype(dtype))


def test_power():
    x = drawn(2, 3)
    np.testing.assert_allclose((nd.array(x) ** 2).asnumpy(), x ** 2, 1e-6)
    np.testing.assert_allclose((2 ** nd.array(x)).asnumpy(), 2 ** x, 1e-6)


def test_number_takes_the_arrays_type():
    assert (nd.array([1, 2], dtype="int32") + 1.5).asnumpy().tolist() == [2, 3]


# Where nothing but the array is given, no Python runs on the way to the operator.
@pytest.mark.parametrize("name,of_numpy", [
    ("sum", np.sum), ("mean", np.mean), ("max", np.max), ("square", np.square),
    ("exp", np.exp), ("sigmoid", lambda x: 1 / (1 + np.exp(-x)))])
def test_methods_without_arguments(name, of_numpy):
    assert getattr(nd.NDArray, name).__name__ == name
    assert f"mx.nd.{name} of it." in getattr(nd.NDArray, name).__doc__
    x = drawn(2, 3)
    method = getattr(nd.array(x), name)
    np.testing.assert_allclose(method().asnumpy(), of_numpy(x), 1e-5)
    if name in ("sum", "mean", "max"):
        np.testing.assert_allclose(method(axis=1).asnumpy(), of_numpy(x, 1), 1e-5)
        np.testing.assert_allclose(method(1).asnumpy(), of_numpy(x, 1), 1e-5)
    of_np = getattr(mx.np.array(x), name, None)
    assert of_np is None or isinstance(of_np(), mx.np.ndarray)


def test_methods_without_arguments_are_recorded():
    x = nd.array([1, 2, 3])
    x.attach_grad()
    with mx.autograd.record():
        y = x.square().sum()
    y.backward()
    assert x.grad.asnumpy().tolist() == [2, 4, 6]
    with mx.autograd.record():
        y = x.square()
    y.backward(nd.array([1, 10, 100]))
    assert x.grad.asnumpy().tolist() == [2, 40, 600]


def test_methods_of_what_is_empty():
    with mx.util.np_shape(True):
        empty = nd.zeros((0, 3))
        empty.attach_grad()
        with mx.autograd.record():
            y = empty.square()
        y.backward()
        assert y.shape == empty.shape == (0, 3)


def test_in_place():
    a = nd.ones((2, 2))
    same = a
    a += 2
    a *= nd.full((2, 2), 3)
    assert a is same and same.asnumpy().tolist() == [[9, 9], [9, 9]]


def test_views_share_memory():
    a = nd.zeros((4, 3))
    a[1:3].reshape((6,))[:] = 5
    a[0][:] = nd.array([1, 2, 3])
    assert a.asnumpy().tolist() == [[1, 2, 3], [5] * 3, [5] * 3, [0] * 3]


KEYS = [0, -1, slice(1, 3), slice(None, None, 2), (slice(None), 1),
        (Ellipsis, 0), (1, slice(0, 2)), None, (0, None, slice(1, None)),
        [0, 2], (slice(None), [2, 0]), ([0, 1], [1, 2]),
        np.array([[0, 1], [2, 3]]), slice(None, None, -1)]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_keys_are_numpys(key):
    x = drawn(4, 3, 2)
    np.testing.assert_array_equal(nd.array(x)[key].asnumpy(), x[key])
    a, y = nd.array(x), x.copy()
    a[key] = 7
    y[key] = 7
    np.testing.assert_array_equal(a.asnumpy(), y)
    a[key] = nd.array(np.full_like(y[key], 3))
    y[key] = 3
    np.testing.assert_array_equal(a.asnumpy(), y)


@pytest.mark.parametrize("codes, want", [
    ((6, 4), (6, 4)), ((-1,), (24,)), ((0, -1), (2, 12)), ((-2,), (2, 3, 4)),
    ((-3, 0), (6, 4)), ((-4, 1, 2, -2), (1, 2, 3, 4)), ((0, -3), (2, 12)),
    ((0, 0, -4, -1, 2), (2, 3, 2, 2))])
def test_codes_of_reshape(codes, want):
    assert nd.zeros((2, 3, 4)).reshape(codes).shape == want


def test_operators_of_the_table():
    x = drawn(2, 3)
    a = nd.array(x)
    np.testing.assert_array_equal(nd.sum(a, 1).asnumpy(), x.sum(1))
    np.testing.assert_array_equal(nd.dot(a, a, transpose_b=True).asnumpy(),
                                  x @ x.T)
    np.testing.assert_array_equal(nd.concat(a, a, dim=0).asnumpy(),
                                  np.concatenate([x, x]))
    left, right = nd.split(nd.array(drawn(2, 4)), num_outputs=2)
    assert left.shape == right.shape == (2, 2)
    out = nd.zeros((2, 3))
    assert nd.negative(a, out=out) is out
    np.testing.assert_array_equal(out.asnumpy(), -x)


def test_errors():
    a = nd.ones((2, 3))
    with pytest.raises(mx.MXNetError, match="do not broadcast"):
        a + nd.ones((2, 2))
    with pytest.raises(mx.MXNetError, match="num_hidden"):
        nd.FullyConnected(a)
    with pytest.raises(mx.MXNetError, match="at least one"):
        nd.broadcast_like(a, a, lhs_axes=(), rhs_axes=())
    with pytest.raises(AssertionError, match="is an NDArray, and 1"):
        nd.relu(1)
    with pytest.raises(TypeError):
        a + "s"
    with pytest.raises(IndexError):
        a[2]
    with pytest.raises(ValueError):
        bool(a)
    with pytest.raises(mx.MXNetError, match="no GPU"):
        nd.zeros((2,), ctx=mx.gpu())


def test_contexts():
    with mx.Context("cpu", 3):
        assert mx.current_context() == mx.cpu(3)
        assert nd.zeros((1,)).context == mx.cpu(3)
    assert mx.current_context() == mx.cpu(0)
    assert mx.num_gpus() == 0


def test_files_of_arrays(tmp_path):
    file = str(tmp_path / "a.params")
    arrays = [nd.array(drawn(2, 3)), nd.array([1, 2], dtype="int64"),
              nd.array([0.5], dtype="float16")]
    nd.save(file, arrays)
    for got, want in zip(nd.load(file), arrays):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got.asnumpy(), want.asnumpy())
    nd.save(file, {"arg:w": arrays[0]})
    assert list(nd.load(file)) == ["arg:w"]
    whole = open(file, "rb").read()
    for end in range(0, len(whole), 7):
        with pytest.raises(mx.MXNetError, match="byte"):
            nd.load_frombuffer(whole[:end])


def test_memory_is_shared_with_other_libraries():
    x = np.arange(6, dtype=np.float32)
    a = nd.from_numpy(x)
    a += 1
    assert x.tolist() == [1, 2, 3, 4, 5, 6] and not x.flags.writeable
    b = nd.from_dlpack(nd.to_dlpack_for_write(a))
    b[0] = 9
    assert a.asnumpy()[0] == 9


def test_draws_follow_from_the_seed():
    mx.random.seed(3)
    first = mx.nd.random.normal(2, 0.5, shape=(2000,)).asnumpy()
    mx.random.seed(3)
    again = mx.nd.random.normal(2, 0.5, shape=(2000,)).asnumpy()
    np.testing.assert_array_equal(first, again)
    assert abs(first.mean() - 2) < 0.06 and abs(first.std() - 0.5) < 0.06
    low = nd.array([0, 10])
    drawn_rows = mx.nd.random.uniform(low, low + 1, shape=(3,)).asnumpy()
    assert drawn_rows.shape == (2, 3) and (drawn_rows[1] >= 10).all()


def test_loops_that_python_runs():
    steps, total = nd.contrib.foreach(lambda row, sum: (row * 2, sum + row),
                                      nd.array([[1, 2], [3, 4]]), nd.zeros((2,)))
    assert steps.asnumpy().tolist() == [[2, 4], [6, 8]]
    assert total.asnumpy().tolist() == [4, 6]
    out, (left,) = nd.contrib.while_loop(lambda i: i < 3, lambda i: (i, [i + 1]),
                                         [nd.array([1])], max_iterations=4)
    assert out.asnumpy().ravel().tolist() == [1, 2, 0, 0]
    assert left.asscalar() == 3


def test_a_schedule_of_rates_compiles_one_update():
    """Adam by rates that change each step: the formula, and one
    operator that is compiled."""
    weight, grad = nd.array([[1.0, 2.0]]), nd.array([[0.5, -0.5]])
    mean, square = nd.zeros((1, 2)), nd.zeros((1, 2))
    expected, m, v = np.array([[1.0, 2.0]]), 0.0, 0.0
    rates = [0.1 / (step + 1) for step in range(1000)]
    handles = _operators_of("adam_update")
    for rate in rates:
        nd.adam_update(weight, grad, mean, square, lr=rate, wd=0.01, out=weight)
        g = np.array([[0.5, -0.5]]) + 0.01 * expected
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        expected = expected - rate * m / (np.sqrt(v) + 1e-8)
    assert _operators_of("adam_update") == handles + 1
    np.testing.assert_allclose(weight.asnumpy(), expected, rtol=1e-4)


def _operators_of(name):
    kept = sys.modules["mxc.mxnet.ndarray._invoke"]._operators
    return sum(key[0] == name for key in kept)


def test_a_call_that_cannot_be_made_fails_where_its_value_is_asked_for():
    made = nd.random.normal(0, -1, shape=(2, 2))
    more = nd.dot(made, nd.ones((2, 2)))
    for array in (made, more):
        with pytest.raises(mx.MXNetError, match="scale is -1"):
            array.asnumpy()
    try:
        nd.waitall()
    except mx.MXNetError:
        pass
    assert nd.ones((2,)).asnumpy().tolist() == [1, 1]


def test_assignment_while_a_thread_records():
    x = nd.array([1, 2, 3])
    x.attach_grad()
    with mx.autograd.record():
        y = nd.zeros((2, 3))
        y[0, 0] = 7
        y[1] = x * x
        with pytest.raises(mx.MXNetError, match="while the thread records"):
            y[0, 0] = 8
        total = (y * 2).sum()
    total.backward()
    assert x.grad.asnumpy().tolist() == [4, 8, 12]


def test_elements_of_variables_pass_their_gradients():
    for key, want in [(1, [[0, 0], [1, 1]]), ((slice(None), 0), [[1, 0], [1, 0]]),
                      (([0, 0], [1, 1]), [[0, 2], [0, 0]])]:
        x = nd.array([[1, 2], [3, 4]])
        x.attach_grad()
        with mx.autograd.record():
            y = x[key]
        y.backward()
        assert x.grad.asnumpy().tolist() == want


def test_unknown_extents_need_numpys_shapes():
    for shape in ((), (0, 2)):
        for make in (mx.nd.zeros, mx.nd.ones):
            with pytest.raises(mx.MXNetError):
                make(shape)
            with mx.util.np_shape():
                assert make(shape).shape == shape


def test_joins_of_arrays_without_elements():
    with mx.util.np_shape():
        empty, full = mx.nd.ones((0, 2)), mx.nd.ones((3, 2))
        assert mx.nd.concat(empty, empty, dim=1).shape == (0, 4)
        np.testing.assert_array_equal(mx.nd.concat(empty, full, dim=0).asnumpy(),
                                      np.ones((3, 2)))


def test_rows_of_no_depth():
    assert mx.nd.one_hot(mx.nd.array([1, 0]), depth=0).shape == (2, 0)


def test_progressions_of_whole_numbers_count_in_their_type():
    assert mx.nd.arange(1.5, 6, 1.5, dtype="int32").asnumpy().tolist() == [1, 2, 3]
    assert mx.nd.arange(1, 6, 1.5).asnumpy().tolist() == [1, 2.5, 4, 5.5]


def test_nearness_is_one_number():
    a = mx.nd.ones((2, 3))
    near = mx.nd.contrib.allclose(a, a + 1e-7)
    assert (near.shape, near.dtype, int(near.asscalar())) == ((), np.uint8, 1)
    assert int(mx.nd.contrib.allclose(a, a * 2).asscalar()) == 0


def test_operators_are_described():
    assert {"Activation", "dot"} <= set(mx.operator.get_all_registered_operators())
    found = mx.operator.get_operator_arguments("clip")
    assert (found.narg, found.names) == (3, ["data", "a_min", "a_max"])
    assert found.types == ["NDArray-or-Symbol", "float, required", "float, required"]


def test_gathered_places_are_checked():
    data = mx.nd.array([[0, 1, 2], [3, 4, 5]])
    assert mx.nd.gather_nd(data, mx.nd.array([[0, -1], [2, -3]])).asnumpy().tolist() == [2, 3]
    for wrong in (3, -4):
        with pytest.raises(IndexError):
            mx.nd.gather_nd(data, mx.nd.array([[0], [wrong]]))


def test_taken_places_are_checked_on_request():
    data = mx.nd.array([[0, 1, 2], [3, 4, 5]])
    taken = mx.nd.take(data, mx.nd.array([2, 0]), axis=1, mode="raise")
    assert taken.asnumpy().tolist() == [[2, 0], [5, 3]]
    for wrong in (-1, 3):
        with pytest.raises(mx.MXNetError, match="out of bounds"):
            mx.nd.take(data, mx.nd.array([0, wrong]), axis=1, mode="raise")
        mx.nd.take(data, mx.nd.array([0, wrong]), axis=1)


def test_split_may_leave_parts_without_elements():
    data = np.arange(12, dtype="float32").reshape(3, 4)
    for places in ((0, 2), (1, 1, 3)):
        parts = mx.nd.split_v2(mx.nd.array(data), places, axis=1)
        for part, expected in zip(parts, np.split(data, places, axis=1)):
            np.testing.assert_array_equal(part.asnumpy(), expected)
