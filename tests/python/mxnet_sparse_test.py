# SPDX-License-Identifier: Apache-2.0
"""mx.nd.sparse: parts, storage types of results, values, gradients, files."""

import pickle

import numpy as np
import pytest

import mxc.mxnet as mx

MATRIX = np.array([[1, 0, 2, 0], [0, 0, 0, 0], [0, 3, 0, 0]], np.float32)
ROWS = np.array([[0, 0], [1, 2], [0, 0], [3, 4], [0, 0]], np.float32)


def csr():
    return mx.nd.sparse.csr_matrix(([1, 2, 3], [0, 2, 1], [0, 2, 2, 3]), shape=(3, 4))


def row_sparse():
    return mx.nd.sparse.row_sparse_array(([[1, 2], [3, 4]], [1, 3]), shape=(5, 2))


def test_parts():
    a, r = csr(), row_sparse()
    assert (a.stype, a.shape, a.dtype) == ("csr", (3, 4), np.float32)
    assert a.data.asnumpy().tolist() == [1, 2, 3]
    assert a.indptr.asnumpy().tolist() == [0, 2, 2, 3]
    assert a.indices.dtype == np.int64
    np.testing.assert_array_equal(a.asnumpy(), MATRIX)
    assert r.indices.asnumpy().tolist() == [1, 3]
    np.testing.assert_array_equal(r.data.asnumpy(), [[1, 2], [3, 4]])
    np.testing.assert_array_equal(r.asnumpy(), ROWS)


@pytest.mark.parametrize("values", [MATRIX, ROWS])
@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
def test_storage_there_and_back(values, stype):
    sparse = mx.nd.array(values).tostype(stype)
    sparse.check_format()
    assert sparse.stype == stype
    np.testing.assert_array_equal(sparse.tostype("default").asnumpy(), values)
    target = mx.nd.zeros(values.shape)
    sparse.copyto(target)
    np.testing.assert_array_equal(target.asnumpy(), values)


def test_coordinates_that_repeat_add_up():
    made = mx.nd.sparse.csr_matrix(([1., 2, 4], ([2, 0, 2], [1, 3, 1])), shape=(3, 4))
    np.testing.assert_array_equal(made.asnumpy(), [[0, 0, 0, 2], [0] * 4, [0, 5, 0, 0]])


@pytest.mark.parametrize("make", [csr, row_sparse])
def test_storage_types_of_results(make):
    x = make()
    kind = x.stype
    for result, stype in [(x * 2, kind), (x / 2, kind), (x + 1, "default"), (x + x, kind),
                          (x - x, kind), (x * x, kind), (x / x, "default"),
                          (mx.nd.sqrt(x), kind), (mx.nd.cos(x), "default"),
                          (x > 0, kind), (x >= 0, "default"), (-x, kind),
                          (mx.nd.clip(x, -1, 2), kind)]:
        assert result.stype == stype
    np.testing.assert_allclose(mx.nd.sin(x).asnumpy(), np.sin(make().asnumpy()), 1e-6)
    np.testing.assert_array_equal((x + x).asnumpy(), 2 * x.asnumpy())


def test_rows_of_a_matrix():
    a = csr()
    np.testing.assert_array_equal(a[0:2].asnumpy(), MATRIX[0:2])
    np.testing.assert_array_equal(a[-1].asnumpy(), MATRIX[2:3])
    part = mx.nd.slice(a, begin=(0, 1), end=(3, 3))
    assert part.stype == "csr"
    np.testing.assert_array_equal(part.asnumpy(), MATRIX[0:3, 1:3])
    both = mx.nd.concat(a, a, dim=0)
    assert both.stype == "csr"
    np.testing.assert_array_equal(both.asnumpy(), np.vstack([MATRIX, MATRIX]))


def test_dot_and_its_gradient():
    a, w = csr(), mx.nd.array(np.arange(8).reshape(4, 2))
    w.attach_grad(stype="row_sparse")
    with mx.autograd.record():
        y = mx.nd.dot(a, w)
    y.backward(mx.nd.array([[1, 2], [3, 4], [5, 6]]))
    np.testing.assert_array_equal(y.asnumpy(), MATRIX @ w.asnumpy())
    assert w.grad.stype == "row_sparse"
    assert w.grad.indices.asnumpy().tolist() == [0, 1, 2]
    np.testing.assert_array_equal(w.grad.asnumpy(), MATRIX.T @ [[1, 2], [3, 4], [5, 6]])
    transposed = mx.nd.dot(a, mx.nd.ones((3, 2)), transpose_a=True)
    assert transposed.stype == "row_sparse"
    np.testing.assert_array_equal(transposed.asnumpy(), MATRIX.T @ np.ones((3, 2)))


def test_large_matrices_are_never_dense():
    wide = mx.nd.sparse.csr_matrix(([1., 2.], [10 ** 12, 3], [0, 1, 2]),
                                   shape=(2, 10 ** 12 + 1))
    assert (wide * 3)[1].data.asnumpy().tolist() == [6]


def test_gradients_of_sparse_variables():
    x = csr()
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.square(x)
    y.backward()
    assert (y.stype, x.grad.stype) == ("csr", "csr")
    np.testing.assert_array_equal(x.grad.asnumpy(), 2 * MATRIX)


def test_retain():
    kept = mx.nd.sparse.retain(row_sparse(), mx.nd.array([1, 2]))
    assert kept.indices.asnumpy().tolist() == [1]
    with pytest.raises(mx.MXNetError):
        mx.nd.sparse.retain(mx.nd.ones((2, 2)), mx.nd.array([0]))


def test_files_and_pickles(tmp_path):
    name = str(tmp_path / "arrays.params")
    mx.nd.save(name, {"a": csr(), "r": row_sparse(), "d": mx.nd.ones((2,)),
                      "z": mx.nd.sparse.zeros("csr", (2, 3))})
    found = mx.nd.load(name)
    assert [found[key].stype for key in "arz"] == ["csr", "row_sparse", "csr"]
    np.testing.assert_array_equal(found["a"].asnumpy(), MATRIX)
    np.testing.assert_array_equal(found["r"].asnumpy(), ROWS)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(csr())).asnumpy(), MATRIX)


def test_broken_files_are_errors(tmp_path):
    name = tmp_path / "arrays.params"
    mx.nd.save(str(name), [csr()])
    data = bytearray(name.read_bytes())
    for at in range(24, len(data) - 8):
        broken = bytes(data[:at]) + b"\x7f" + bytes(data[at + 1:])
        name.write_bytes(broken)
        try:
            mx.nd.load(str(name))
        except mx.MXNetError:
            pass


@pytest.mark.parametrize("parts", [
    ([7, 8, 9], [0, 2, 1], [0, 5, 2, 3]), ([7, 8, 9], [2, 1, 1], [0, 2, 2, 3]),
    ([7, 8, 9], [1, 2, 1], [0, 2, 2, 4]), ([7, 8, 9], [1, 2, 9], [0, 2, 2, 3])])
def test_wrong_parts(parts):
    with pytest.raises(mx.MXNetError):
        mx.nd.sparse.csr_matrix(parts, shape=(3, 4)).check_format()


def test_errors():
    with pytest.raises(ValueError):
        mx.nd.array([1, 2, 3]).tostype("csr")
    with pytest.raises(ValueError):
        csr().tostype("row_sparse")
    with pytest.raises(ValueError):
        mx.nd.sparse.zeros("sparse", (2, 2))
    with pytest.raises(ValueError):
        mx.nd.sparse.csr_matrix((2, 2), shape=(3, 2))


@pytest.mark.parametrize("name", ["sgd", "adam", "ftrl", "adagrad"])
def test_lazy_updates_leave_other_rows_alone(name):
    options = {"momentum": 0.9} if name == "sgd" else {}
    weights = [mx.nd.array(np.ones((5, 2))) for _ in range(2)]
    for weight, grad in zip(weights, (row_sparse(), row_sparse().tostype("default"))):
        updater = mx.optimizer.get_updater(mx.optimizer.create(
            name, learning_rate=0.1, **options))
        for _ in range(3):
            updater(0, grad, weight)
    lazy, whole = (weight.asnumpy() for weight in weights)
    np.testing.assert_allclose(lazy[[1, 3]], whole[[1, 3]], rtol=1e-6)
    np.testing.assert_array_equal(lazy[[0, 2, 4]], 1)


def test_rows_of_a_store():
    store = mx.kv.create("local")
    store.init("w", mx.nd.array(ROWS + 1).tostype("row_sparse"))
    out = mx.nd.sparse.zeros("row_sparse", (5, 2))
    store.row_sparse_pull("w", out=out, row_ids=mx.nd.array([3, 0, 3]))
    assert out.indices.asnumpy().tolist() == [0, 3]
    np.testing.assert_array_equal(out.data.asnumpy(), [[1, 1], [4, 5]])
    store.push("w", [row_sparse(), row_sparse()])
    whole = mx.nd.zeros((5, 2))
    store.pull("w", out=whole, ignore_sparse=False)
    np.testing.assert_array_equal(whole.asnumpy(), 2 * ROWS)


def test_executor_of_a_csr_matrix():
    x, w = mx.sym.Variable("x", stype="csr"), mx.sym.Variable("w")
    executor = mx.sym.dot(x, w).simple_bind(mx.cpu(), x=(3, 4), w=(4, 2),
                                            grad_req={"x": "null", "w": "write"})
    assert executor.arg_dict["x"].stype == "csr"
    assert executor.grad_dict["w"].stype == "row_sparse"
    executor.arg_dict["w"][:] = 1
    (y,) = executor.forward(is_train=True, x=csr())
    np.testing.assert_array_equal(y.asnumpy(), MATRIX @ np.ones((4, 2)))
    executor.backward(mx.nd.ones((3, 2)))
    np.testing.assert_array_equal(executor.grad_dict["w"].asnumpy(),
                                  MATRIX.T @ np.ones((3, 2)))


def test_lines_of_libsvm(tmp_path):
    file = tmp_path / "data.libsvm"
    file.write_text("1 0:1 2:2\n0 1:3\n")
    batch = next(mx.io.LibSVMIter(data_libsvm=str(file), data_shape=(3,), batch_size=2))
    assert batch.data[0].stype == "csr"
    np.testing.assert_array_equal(batch.data[0].asnumpy(), [[1, 0, 2], [0, 3, 0]])
    assert batch.label[0].asnumpy().reshape(-1).tolist() == [1, 0]


def test_batches_of_csr_rows():
    batches = list(mx.io.NDArrayIter(csr(), batch_size=2, last_batch_handle="discard"))
    assert [batch.data[0].stype for batch in batches] == ["csr"]
    np.testing.assert_array_equal(batches[0].data[0].asnumpy(), MATRIX[:2])
    np.testing.assert_array_equal(csr().take_rows(np.array([2, 0])).asnumpy(),
                                  MATRIX[[2, 0]])
    with pytest.raises(NotImplementedError):
        mx.io.NDArrayIter(csr(), batch_size=2)


def complete_graph():
    """Five vertices, each with an edge to each other one, numbered from 1."""
    columns = [other for vertex in range(5) for other in range(5) if other != vertex]
    return mx.nd.sparse.csr_matrix(
        (np.arange(1, 21), columns, np.arange(0, 21, 4)), shape=(5, 5), dtype="int64")


def int64(values):
    return mx.nd.array(values, dtype="int64")


def test_parts_of_graphs():
    graph = complete_graph()
    new, old = mx.nd.contrib.dgl_subgraph(graph, int64([0, 1, 3]), return_mapping=True)
    np.testing.assert_array_equal(old.asnumpy(), [[0, 1, 3], [5, 0, 7], [13, 14, 0]])
    assert new.data.asnumpy().tolist() == list(range(6))
    np.testing.assert_array_equal(
        mx.nd.contrib.edge_id(graph, int64([0, 0, 2]), int64([0, 1, 3])).asnumpy(),
        [-1, 1, 11])
    adjacency = mx.nd.contrib.dgl_adjacency(graph)
    assert adjacency.dtype == np.float32
    np.testing.assert_array_equal(adjacency.asnumpy(), 1 - np.eye(5))


def sampled(graph, *seeds, **options):
    ids, part, *others = mx.nd.contrib.dgl_csr_neighbor_uniform_sample(
        graph, int64(list(seeds)), **options)
    count = int(ids[-1].asscalar())
    return ids.asnumpy()[:count].tolist(), ids, part, [each.asnumpy()[:count].tolist()
                                                       for each in others]


def test_sampled_neighbours():
    graph = complete_graph()
    vertices, ids, part, (layers,) = sampled(graph, 4, 0, num_hops=1, num_neighbor=1,
                                             max_num_vertices=5)
    assert set(vertices) >= {0, 4} and vertices == sorted(vertices)
    assert [layers[vertices.index(vertex)] for vertex in (0, 4)] == [0, 0]
    dense, whole = part.asnumpy(), graph.asnumpy()
    for row, vertex in enumerate(vertices):
        edges = dense[row][dense[row] != 0]
        assert len(edges) == (layers[row] == 0) and set(edges) <= set(whole[vertex])
    compact = mx.nd.contrib.dgl_graph_compact(part, ids, graph_sizes=len(vertices),
                                              return_mapping=False)
    assert compact.shape == (len(vertices),) * 2
    assert [vertices[i] for i in compact.indices.asnumpy()] == part.indices.asnumpy().tolist()


def test_sampling_ends_where_the_vertices_are_enough():
    vertices, _, part, (layers,) = sampled(complete_graph(), 3, num_hops=3,
                                           num_neighbor=4, max_num_vertices=3)
    assert vertices == [0, 1, 3] and layers == [1, 1, 0]
    assert part.data.asnumpy().tolist() == [13, 14, 15, 16]


def test_sampling_by_probability():
    chances = mx.nd.array([0.5, 0, 0, 0.25, 0.25])
    ids, part, of, _ = mx.nd.contrib.dgl_csr_neighbor_non_uniform_sample(
        complete_graph(), chances, int64([0]), num_hops=1, num_neighbor=2,
        max_num_vertices=4)
    assert ids.asnumpy().tolist() == [0, 3, 4, 0, 3]
    assert part.indices.asnumpy().tolist() == [3, 4]
    assert of.asnumpy().tolist() == [0.5, 0.25, 0.25, 0]
