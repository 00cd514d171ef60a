# SPDX-License-Identifier: Apache-2.0
"""mx.np and mx.npx: what NumPy gives, gradients by mathematics."""

import numpy as onp
import pytest

import mxc.mxnet as mx
from mxc.mxnet import autograd, gluon, np, npx

onp.random.seed(7)
A = onp.random.rand(2, 3, 4).astype("float32") + 0.5
B = onp.random.rand(3, 1).astype("float32") + 0.5


@pytest.fixture(autouse=True)
def numpy_semantics():
    npx.set_np()
    yield
    npx.reset_np()


def check(made, expected, tolerance=1e-5):
    if isinstance(expected, (tuple, list)):
        assert len(made) == len(expected)
        for one, other in zip(made, expected):
            check(one, other, tolerance)
        return
    assert isinstance(made, np.ndarray)
    assert made.shape == onp.shape(expected)
    onp.testing.assert_allclose(made.asnumpy(), expected, tolerance, tolerance)


ONE = """abs arctan cbrt ceil cos cosh degrees exp expm1 fix floor log log10 log1p log2
negative radians reciprocal rint sign sin sinh sqrt square tan tanh trunc isnan isinf
isfinite logical_not around""".split()
TWO = """add subtract multiply divide mod power maximum minimum hypot arctan2 copysign equal
not_equal greater greater_equal less less_equal""".split()


@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_array(name):
    check(getattr(np, name)(np.array(A)), getattr(onp, name)(A))


@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_are_broadcast_and_take_numbers(name):
    ours, theirs = getattr(np, name), getattr(onp, name)
    check(ours(np.array(A), np.array(B)), theirs(A, B))
    check(ours(np.array(A), 2.0), theirs(A, onp.float32(2)))
    check(ours(2.0, np.array(A)), theirs(onp.float32(2), A))


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("name", ["hypot", "arctan2"])
def test_infinite_huge_and_tiny_numbers_keep_their_places(name, kind):
    far = 3e38 if kind == "float32" else 1e308
    some = [onp.inf, -onp.inf, onp.nan, 0.0, 1.0, -2.5, far, -far, far / 4, 1 / far, 1e-30]
    first, second = (part.astype(kind) for part in onp.meshgrid(some, some))
    ours = getattr(np, name)(np.array(first, dtype=kind), np.array(second, dtype=kind))
    with onp.errstate(all="ignore"):
        theirs = getattr(onp, name)(first, second)
    onp.testing.assert_allclose(ours.asnumpy(), theirs, 1e-5, 0)


@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
@pytest.mark.parametrize("shape,width", [
    ((3,), 2), ((2,), 5), ((3,), (7, 4)), ((3,), (0, 11)), ((1,), (2, 3)),
    ((2, 4), ((5, 1), (0, 9))), ((1, 3), ((2, 2), (4, 5))), ((2, 1, 3), 4)])
def test_padding_mirrors_as_often_as_is_asked(mode, shape, width):
    values = onp.arange(onp.prod(shape), dtype="float32").reshape(shape)
    check(np.pad(np.array(values), width, mode), onp.pad(values, width, mode))


@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
def test_padding_refuses_what_cannot_be_mirrored(mode):
    with pytest.raises(ValueError, match="empty axis 0"):
        np.pad(np.zeros((0, 2)), ((1, 0), (0, 0)), mode)
    with pytest.raises(ValueError, match="axis 1 is padded by"):
        np.pad(np.ones((3, 2)), ((0, 0), (-1, 5)), mode)


def test_nothing_is_set_to_nothing_while_recording():
    array = np.ones((2, 3))
    with autograd.record():
        array[:, 3:] = np.zeros((2, 0))
    check(array, onp.ones((2, 3)))


@pytest.mark.parametrize("name", "sum prod mean max min var std all any".split())
@pytest.mark.parametrize("axis", [None, 1, (0, 2), -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(name, axis, keepdims):
    check(getattr(np, name)(np.array(A), axis=axis, keepdims=keepdims),
          getattr(onp, name)(A, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("call", [
    lambda np, a, b: np.reshape(a, (4, -1)),
    lambda np, a, b: np.transpose(a, (2, 0, 1)),
    lambda np, a, b: np.moveaxis(a, 0, -1),
    lambda np, a, b: np.expand_dims(a, 1),
    lambda np, a, b: np.squeeze(b),
    lambda np, a, b: np.flip(a, (0, 2)),
    lambda np, a, b: np.roll(a, 2, 1),
    lambda np, a, b: np.rot90(a, 1, (0, 2)),
    lambda np, a, b: np.tile(b, (2, 3)),
    lambda np, a, b: np.repeat(a, 2, 1),
    lambda np, a, b: np.concatenate([a, a], axis=2),
    lambda np, a, b: np.stack([a, a], axis=1),
    lambda np, a, b: np.split(a, 2, axis=2),
    lambda np, a, b: np.array_split(a, 3, axis=2),
    lambda np, a, b: np.hstack([b, b]),
    lambda np, a, b: np.broadcast_to(b, (2, 3, 4)),
    lambda np, a, b: np.atleast_3d(b),
    lambda np, a, b: np.dot(a[0], a[1].T),
    lambda np, a, b: np.matmul(a, np.transpose(a, (0, 2, 1))),
    lambda np, a, b: np.tensordot(a, b, ([1], [0])),
    lambda np, a, b: np.inner(a, a),
    lambda np, a, b: np.outer(b, b),
    lambda np, a, b: np.kron(b, b),
    lambda np, a, b: np.einsum("ijk,jl->ikl", a, b),
    lambda np, a, b: np.cumsum(a, axis=1),
    lambda np, a, b: np.diff(a, axis=2),
    lambda np, a, b: np.sort(a, axis=1),
    lambda np, a, b: np.argsort(a, axis=1),
    lambda np, a, b: np.argmax(a, axis=1),
    lambda np, a, b: np.take(a, np.array([2, 0]).astype("int64"), axis=1),
    lambda np, a, b: np.where(a > 1, a, b),
    lambda np, a, b: np.clip(a, 0.7, 1.2),
    lambda np, a, b: np.percentile(a, 30.0, axis=1),
    lambda np, a, b: np.average(a, axis=1),
    lambda np, a, b: np.trace(a),
    lambda np, a, b: np.tril(a),
    lambda np, a, b: np.diagonal(a),
    lambda np, a, b: np.pad(a, ((1, 0), (0, 2), (1, 1))),
    lambda np, a, b: np.delete(a, 1, axis=1),
    lambda np, a, b: np.delete(a, np.array([0, 2]).astype("int64"), axis=1),
    lambda np, a, b: np.insert(a, 1, 5.0, axis=1),
    lambda np, a, b: np.unique(np.floor(a * 3)),
    lambda np, a, b: np.nonzero(a > 1),
    lambda np, a, b: np.histogram(a, bins=4, range=(0.0, 2.0)),
    lambda np, a, b: np.polyval(b[:, 0], a),
    lambda np, a, b: np.meshgrid(b[:, 0], a[0, 0]),
    lambda np, a, b: np.linalg.norm(a, axis=1),
    lambda np, a, b: np.linalg.inv(a[0, :3, :3]),
    lambda np, a, b: np.linalg.solve(a[0, :3, :3], b),
    lambda np, a, b: np.linalg.det(a[0, :3, :3]),
    lambda np, a, b: np.interp(a, [0.0, 2.0], [1.0, 5.0]),
    lambda np, a, b: np.bincount(np.array([1, 5, 1]).astype("int64")),
])
def test_functions_give_what_numpy_gives(call):
    check(call(np, np.array(A), np.array(B)), call(onp, A, B), 2e-4)


@pytest.mark.parametrize("key", [
    0, -1, (1, 2), slice(1, None), (slice(None), slice(None, None, -1)), None, Ellipsis,
    (Ellipsis, 1), [1, 0], ([0, 1], [2, 1]), (slice(None), [0, 2]), (0, 1, 2), (), True,
    A > 1, (0, A[0] > 1)], ids=str)
def test_elements_and_their_gradients(key):
    x = np.array(A)
    check(x[key], A[key])
    x.attach_grad()
    with autograd.record():
        y = x[key] * 3
    y.backward()
    expected = onp.zeros_like(A)
    expected[key] = 3
    check(x.grad, expected)
    x, values = np.array(A), A.copy()
    x[key] = 7
    values[key] = 7
    check(x, values)


def test_a_mask_of_the_class_itself_and_no_hits():
    x = np.array(A)
    check(x[x > 1], A[A > 1])
    check(x[x > 9], A[A > 9])


def test_rank_0_and_no_elements():
    x = np.array(2.5)
    assert x.shape == () and x.item() == 2.5 and float(x + 1) == 3.5
    assert repr(x) == "array(2.5)"
    with pytest.raises(TypeError):
        len(x)
    nothing = np.zeros((0, 3))
    assert (nothing + 1).shape == (0, 3) and np.sin(nothing).shape == (0, 3)
    check(nothing.sum(axis=0), onp.zeros(3))
    check(np.concatenate([nothing, np.ones((2, 3))]), onp.ones((2, 3)))
    check(np.dot(np.ones((2, 0)), nothing), onp.zeros((2, 3)))
    with pytest.raises(mx.MXNetError):
        nothing.max()


@pytest.mark.parametrize("first, second, sum_type, quotient_type", [
    ("int32", "float32", "float32", "float32"), ("int8", "int64", "int64", "float32"),
    ("float16", "int64", "float16", "float16"), ("bool", "int8", "int8", "float32"),
    ("float32", "float64", "float64", "float64"), ("uint8", "int8", "int32", "float32")])
def test_types(first, second, sum_type, quotient_type):
    a, b = np.array([1, 2], dtype=first), np.array([1, 2], dtype=second)
    assert (a + b).dtype == sum_type and (b + a).dtype == sum_type
    assert (a / b).dtype == quotient_type


def test_memory_is_shared_with_mx_nd():
    x = mx.nd.ones((2, 2))
    y = x.as_np_ndarray()
    assert type(y) is np.ndarray and type(y.as_nd_ndarray()) is mx.nd.NDArray
    y[0] = 5
    assert x.asnumpy()[0, 0] == 5
    assert type(np.exp(y)) is np.ndarray and type(mx.nd.exp(x)) is mx.nd.NDArray


def test_numpys_protocols():
    x = np.array(A)
    for made in (onp.exp(x), onp.add(x, A), onp.concatenate([x, x]), onp.mean(x),
                 onp.linalg.norm(x)):
        assert isinstance(made, np.ndarray)
    check(onp.multiply(x, A), A * A)


def test_gradients_of_several_steps():
    x, w = np.array(A[0]), np.array(A[1])
    x.attach_grad()
    w.attach_grad()
    with autograd.record():
        loss = (np.tanh(np.dot(x, w.T)) ** 2).mean()
    loss.backward()
    t = onp.tanh(A[0] @ A[1].T)
    g = 2 * t * (1 - t * t) / t.size
    check(x.grad, g @ A[1])
    check(w.grad, g.T @ A[0])


def test_what_numpy_computes_refuses_to_be_recorded():
    x = np.array(A)
    x.attach_grad()
    with autograd.record(), pytest.raises(NotImplementedError, match="interp"):
        np.interp(x, [0.0, 1.0], [0.0, 1.0])
    with autograd.record():
        assert bool(np.allclose(x, x))


@pytest.mark.parametrize("hybridize", [False, True])
def test_blocks(hybridize):
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.w = self.params.get("w", shape=(4, 2))

        def hybrid_forward(self, F, x, w):
            h = F.npx.relu(F.np.dot(x, w) - 0.5)
            return F.np.concatenate([h, F.np.ones((3, 1))], axis=1)[:, 1:]

    net = Net()
    net.initialize(mx.init.One())
    if hybridize:
        net.hybridize()
    out = net(np.array(A[0]))
    check(out, onp.concatenate([onp.maximum(A[0] @ onp.ones((4, 2)) - 0.5, 0),
                                onp.ones((3, 1))], 1)[:, 1:])
    assert type(net.w.data()) is np.ndarray


def test_a_block_that_asks_for_values_runs_step_by_step():
    class Net(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.np.unique(x)

    net = Net()
    net.hybridize()
    check(net(np.array([3, 1, 3])), [1, 3])


def test_symbols():
    x = mx.sym.var("x").as_np_ndarray()
    y = (mx.sym.np.sin(x) + x[1] * 2).sum(axis=0)
    found = y.as_nd_ndarray().eval(x=mx.nd.array(A[0]))[0]
    onp.testing.assert_allclose(found.asnumpy(), (onp.sin(A[0]) + A[0][1] * 2).sum(0),
                                1e-5)


def test_extension():
    x = np.array(A[0])
    e = onp.exp(A[0] - A[0].max(-1, keepdims=True))
    check(npx.softmax(x), e / e.sum(-1, keepdims=True))
    check(npx.relu(x - 1), onp.maximum(A[0] - 1, 0))
    check(npx.one_hot(np.array([1, 0]), 3), onp.eye(3)[[1, 0]])
    check(npx.pick(x, np.array([0, 3, 1])), A[0][[0, 1, 2], [0, 3, 1]])
    check(npx.topk(x, k=2, ret_typ="value"), -onp.sort(-A[0])[:, :2])
    check(npx.reshape(np.array(A), (-2, -5)), A.reshape(2, 12))
    check(npx.nonzero(x > 1), onp.argwhere(A[0] > 1))
    check(npx.batch_dot(np.array(A), np.array(A), transpose_b=True),
          A @ A.transpose(0, 2, 1))
    with pytest.raises(ValueError, match="too small"):
        npx.constraint_check(x > 1.4, "too small")


def test_files(tmp_path):
    name = str(tmp_path / "arrays")
    npx.save(name, {"a": np.array(A), "b": np.array(3.0), "c": np.zeros((0, 2))})
    found = npx.load(name)
    check(found["a"], A)
    assert found["b"].shape == () and found["c"].shape == (0, 2)


def test_draws_follow_from_the_seed():
    npx.random.seed(3)
    first = np.random.normal(2.0, 3.0, (2000,))
    npx.random.seed(3)
    check(np.random.normal(2.0, 3.0, (2000,)), first.asnumpy())
    assert abs(first.mean().item() - 2) < 0.4 and abs(first.std().item() - 3) < 0.4
    assert np.random.randint(3, 5, (100,)).dtype == "int64"
    assert set(np.random.choice(3, (200,)).tolist()) == {0, 1, 2}
    assert sorted(np.random.choice(5, (5,), replace=False).tolist()) == [0, 1, 2, 3, 4]
    assert np.random.multinomial(20, [0.5, 0.5], (7,)).sum(axis=1).tolist() == [20] * 7
    assert np.random.uniform(size=(0, 2)).shape == (0, 2)


def test_einsum_of_many_arrays_and_its_gradient():
    a, b, c = (onp.random.rand(*shape).astype("float32") for shape in ((2, 3), (3, 4),
                                                                       (4, 2)))
    x, y, z = np.array(a), np.array(b), np.array(c)
    y.attach_grad()
    with autograd.record():
        made = np.einsum("ij,jk,ki->i", x, y, z)
    made.backward()
    check(made, onp.einsum("ij,jk,ki->i", a, b, c))
    check(y.grad, onp.einsum("ij,ki->jk", a, c))


class Over(gluon.HybridBlock):
    """A hybridized block of one function."""

    def __init__(self, function):
        super().__init__()
        self.function = function
        self.hybridize()

    def hybrid_forward(self, F, *arrays):
        return self.function(F, *arrays)


def test_symbols_without_axes():
    made = Over(lambda F, a: F.np.squeeze(a))(np.ones((1, 1)))
    assert made.shape == () and made == 1


def test_symbols_of_differences_with_arrays_around():
    made = Over(lambda F, a, b, c: F.np.ediff1d(a, to_begin=b, to_end=c))(
        np.array([1.0, 4.0, 9.0]), np.array([7.0]), np.array([8.0, 9.0]))
    assert made.tolist() == [7, 3, 5, 8, 9]


def test_the_weights_of_a_product_follow_from_its_data():
    a, b = (mx.sym.var(name).as_np_ndarray() for name in "ab")
    shapes, outputs, _ = mx.sym.np.dot(a, b).infer_shape(a=(2, 3), b=(-1, 4))
    assert (shapes, outputs) == ([(2, 3), (3, 4)], [(2, 4)])


@pytest.mark.parametrize("dtype", ["int32", "float32"])
@pytest.mark.parametrize("key", [1, (slice(None), slice(0, 4, 2)), slice(None), (1, 2),
                                 (onp.array([0, 2]), 1)])
def test_gradients_pass_to_what_elements_are_set_to(dtype, key):
    x = np.zeros((3, 4), dtype=dtype)
    y = np.array(onp.full(x[key].shape, 2.5))
    y.attach_grad()
    with autograd.record():
        x[key] = y
        z = x * 3
    z.backward()
    assert (x[key] == onp.full(x[key].shape, 2.5).astype(dtype)).all()
    assert (y.grad == 3).all()


def test_gradients_of_values_that_were_broadcast():
    x, y = np.zeros((3, 4)), np.array([1.0])
    y.attach_grad()
    with autograd.record():
        x[:, 1:3] = y
    x.backward()
    assert y.grad.tolist() == [6]


def test_places_of_whole_numbers_that_are_floats():
    assert np.delete(np.arange(5), np.array([0, 3])).tolist() == [1, 2, 4]


def test_gradients_pass_beside_no_elements():
    x, y = np.zeros((3, 4)), np.zeros((0, 4))
    y.attach_grad()
    with autograd.record():
        x[:0] = y
    x.backward()
    assert y.grad.shape == (0, 4)


@pytest.mark.parametrize("shape", [(0,), (1,), (3,)])
def test_gradients_of_what_stands_around_differences(shape):
    x, begin = np.zeros(shape), np.array([[1.0, 2.0]])
    for array in (x, begin):
        array.attach_grad()
    with autograd.record():
        y = np.ediff1d(x, to_begin=begin, to_end=5)
    y.backward()
    assert y.tolist() == [1, 2] + [0] * max(shape[0] - 1, 0) + [5]
    assert begin.grad.tolist() == [[1, 1]]


@pytest.mark.parametrize("bounds", [{"min": 0}, {"max": 1}, {"a_min": 0, "a_max": 1}])
def test_nothing_is_within_bounds(bounds):
    assert np.zeros((5, 0, 3)).clip(**bounds).shape == (5, 0, 3)
    assert np.clip(np.zeros((5, 0, 3)), **bounds).shape == (5, 0, 3)


# Shapes of a and b, the axes that are moved, and the solution's shape by NumPy 1.23.
SOLUTIONS = [
    ((), (), None, ()), ((), (1, 1, 1), None, ()),
    ((1, 1, 1), (), (0, 1, 2), (1, 1, 1)), ((1, 1, 1), (1, 1, 1), (2, 0, 1), (1, 1, 1)),
    ((1, 1), (1,) * 5, None, ()), ((2, 3, 6), (6,), (0, 1), (2, 3)),
    ((1, 12, 4, 1, 3), (1, 2, 1, 2, 1, 3, 1), None, (4, 1, 3))]


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("a_shape, b_shape, axes, shape", SOLUTIONS)
def test_solutions_have_the_shapes_of_numpy_1(a_shape, b_shape, axes, shape, hybridize):
    class Solve(gluon.HybridBlock):
        def hybrid_forward(self, F, a, b):
            return F.np.linalg.tensorsolve(a, b, axes=axes)

    draw = onp.random.RandomState(3)
    a, b = draw.uniform(1, 2, a_shape), draw.uniform(1, 2, b_shape)
    solve = Solve()
    if hybridize:
        solve.hybridize()
    found = solve(np.array(a, dtype="float64"), np.array(b, dtype="float64")).asnumpy()
    assert found.shape == shape
    moved = onp.moveaxis(a, axes, range(-len(axes), 0)) if axes else a
    product = moved.reshape((b.size, b.size)) @ found.reshape((-1,))
    onp.testing.assert_allclose(product, b.reshape((-1,)), rtol=1e-8)


def test_joined_arrays_without_elements():
    x, none = np.ones((2, 2)), np.zeros((2, 0))
    for array in (x, none):
        array.attach_grad()
    with autograd.record():
        y = np.concatenate([none, x, none], axis=1) * 3
        z = np.concatenate([none, np.ones((2, 1))], axis=1)
    y.backward()
    z.backward()
    assert x.grad.tolist() == [[3, 3], [3, 3]]


def test_an_axis_stands_once_in_an_order():
    with pytest.raises(ValueError):
        np.transpose(np.ones((2, 3, 4)), (0, 0, 1))
