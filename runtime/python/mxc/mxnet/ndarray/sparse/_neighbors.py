# SPDX-License-Identifier: Apache-2.0
"""Graphs as csr matrices (row: a vertex; column: a neighbour; value: the edge's
number): mx.nd.contrib's functions of them, computed by NumPy."""

import numpy as np

from ..creation import array
from ._csr import CSRNDArray, pointers, rows_of


def _graph(parts, shape, ctx):
    return CSRNDArray._of_parts(parts, shape, ctx)


def _vertices(array_of_numbers):
    return array_of_numbers.asnumpy().astype(np.int64).reshape(-1)


def _unpacked(results):
    return results[0] if len(results) == 1 else results


def edge_id(data, u, v):
    """The stored value at (u[i], v[i]) for each i; -1 where none is."""
    values, columns, indptr = data._get_parts()
    stored = dict(zip(zip(rows_of(indptr).tolist(), columns.tolist()), values.tolist()))
    found = [stored.get(pair, -1) for pair in
             zip(_vertices(u).tolist(), _vertices(v).tolist())]
    return array(np.array(found, values.dtype), dtype=values.dtype)


def dgl_adjacency(data):
    """The graph with float32 ones as values."""
    values, columns, indptr = data._get_parts()
    return _graph((np.ones(len(values), np.float32), columns.copy(), indptr.copy()),
                  data.shape, data._ctx)


def _subgraph(parts, vertices):
    values, columns, indptr = parts
    place = {vertex: i for i, vertex in enumerate(vertices.tolist())}
    edges = [(row, place[columns[at]], values[at])
             for row, vertex in enumerate(vertices)
             for at in range(indptr[vertex], indptr[vertex + 1]) if columns[at] in place]
    rows, ends, numbers = zip(*edges) if edges else ((), (), ())
    return (np.array(numbers, values.dtype), np.array(ends, np.int64),
            pointers(np.array(rows, np.int64), len(vertices)))


def dgl_subgraph(graph, *vertices, return_mapping=False, num_args=None):
    """For each array of vertices the graph between them, whose edges are numbered from
    0; return_mapping: behind them the same graphs with the old edges' numbers."""
    found = [_subgraph(graph._get_parts(), _vertices(each)) for each in vertices]
    results, mapped = [], []
    for values, columns, indptr in found:
        shape = (len(indptr) - 1,) * 2
        numbers = np.arange(len(values), dtype=values.dtype)
        results.append(_graph((numbers, columns, indptr), shape, graph._ctx))
        mapped.append(_graph((values, columns, indptr), shape, graph._ctx))
    return _unpacked(results + mapped if return_mapping else results)


def _drawn(count, most, chances):
    """Up to `most` of `count` places, ascending; chances: how likely each is."""
    if count <= most:
        return np.arange(count)
    if chances is not None:
        most = min(most, np.count_nonzero(chances))
        chances = chances / chances.sum() if most else None
    return np.sort(np.random.choice(count, most, replace=False, p=chances))


def _sampled(parts, seeds, hops, most_neighbours, most_vertices, chances):
    """({vertex: layer}, {vertex: places of its drawn edges}) of a walk from the seeds
    that ends after `hops` layers, or where it has found `most_vertices` vertices."""
    _, columns, indptr = parts
    layers = dict.fromkeys(seeds[:most_vertices].tolist(), 0)
    edges, pending = {}, list(layers)
    for vertex in pending:
        if layers[vertex] >= hops or len(layers) >= most_vertices:
            break
        begin, end = indptr[vertex], indptr[vertex + 1]
        drawn = begin + _drawn(end - begin, most_neighbours, None if chances is None
                               else chances[columns[begin:end]])
        edges[vertex] = drawn
        for neighbour in columns[drawn].tolist():
            if neighbour not in layers and len(layers) < most_vertices:
                layers[neighbour] = layers[vertex] + 1
                pending.append(neighbour)
    return layers, edges


def _sample(graph, seeds, chances, num_hops, num_neighbor, max_num_vertices):
    parts = values, columns, _ = graph._get_parts()
    layers, edges = _sampled(parts, _vertices(seeds), num_hops, num_neighbor,
                             max_num_vertices, chances)
    vertices = sorted(layers)
    ids = np.zeros(max_num_vertices + 1, np.int64)
    ids[:len(vertices)], ids[-1] = vertices, len(vertices)
    layer = np.zeros(max_num_vertices, np.int64)
    layer[:len(vertices)] = [layers[vertex] for vertex in vertices]
    none = np.zeros(0, np.int64)
    drawn = [edges.get(vertex, none) for vertex in vertices]
    places = np.concatenate([none, *drawn]).astype(np.int64)
    rows = np.repeat(np.arange(len(vertices)), [len(each) for each in drawn])
    found = _graph((values[places], columns[places], pointers(rows, max_num_vertices)),
                   (max_num_vertices, graph.shape[1]), graph._ctx)
    of_vertices = None
    if chances is not None:
        of_vertices = np.zeros(max_num_vertices, np.float32)
        of_vertices[:len(vertices)] = chances[vertices]
    return ids, found, of_vertices, layer


def _samples(graph, seeds, chances, options):
    found = [_sample(graph, each, chances, **options) for each in seeds]
    ids, graphs, of_vertices, layers = zip(*found)
    results = [array(each, dtype="int64") for each in ids]
    results += graphs
    if chances is not None:
        results += [array(each) for each in of_vertices]
    return results + [array(each, dtype="int64") for each in layers]


def dgl_csr_neighbor_uniform_sample(csr_matrix, *seeds, num_args=None, num_hops=1,
                                    num_neighbor=2, max_num_vertices=100):
    """Of each array of seeds a part of the graph, reached in num_hops steps to
    num_neighbor drawn neighbours: the vertices in ascending order, and behind
    max_num_vertices of them their number; their drawn edges, a row a vertex; their
    distance from the seeds."""
    return _samples(csr_matrix, seeds, None, {
        "num_hops": num_hops, "num_neighbor": num_neighbor,
        "max_num_vertices": max_num_vertices})


def dgl_csr_neighbor_non_uniform_sample(csr_matrix, probability, *seeds, num_args=None,
                                        num_hops=1, num_neighbor=2,
                                        max_num_vertices=100):
    """The same with neighbours drawn as `probability` of each vertex says; before the
    distances come the vertices' probabilities."""
    return _samples(csr_matrix, seeds, probability.asnumpy(), {
        "num_hops": num_hops, "num_neighbor": num_neighbor,
        "max_num_vertices": max_num_vertices})


def dgl_graph_compact(*graph_data, return_mapping, graph_sizes, num_args=None):
    """What was sampled (graphs, then their arrays of vertices) without empty rows, its
    columns the rows' numbers; edges are numbered from 0. return_mapping: behind them
    the same graphs with the old edges' numbers."""
    graphs = graph_data[:len(graph_data) // 2]
    sizes = np.atleast_1d(np.asarray(graph_sizes)).astype(int).tolist()
    results, mapped = [], []
    for graph, ids, size in zip(graphs, graph_data[len(graphs):], sizes):
        values, columns, indptr = graph._get_parts()
        place = {vertex: i for i, vertex in enumerate(_vertices(ids)[:size].tolist())}
        ends = np.array([place[column] for column in columns.tolist()], np.int64)
        numbers = np.arange(len(values), dtype=np.int64)
        for to, edges in ((results, numbers), (mapped, values)):
            to.append(_graph((edges, ends, indptr[:size + 1].copy()), (size, size),
                             graph._ctx))
    return _unpacked(results + mapped if return_mapping else results)


FUNCTIONS = {each.__name__: each for each in (
    edge_id, dgl_adjacency, dgl_subgraph, dgl_csr_neighbor_uniform_sample,
    dgl_csr_neighbor_non_uniform_sample, dgl_graph_compact)}
