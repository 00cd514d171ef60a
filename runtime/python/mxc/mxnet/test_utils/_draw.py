# SPDX-License-Identifier: Apache-2.0
"""Drawn shapes and arrays, and arrays of a certain kind."""

import random as _random

import numpy as np

from .. import ndarray as nd
from ._surroundings import default_dtype


def rand_shape_nd(num_dim, dim=10, allow_zero_size=False):
    """A shape of `num_dim` axes, each of 1 (or 0) to `dim`."""
    low = 0 if allow_zero_size else 1
    return tuple(np.random.randint(low, dim + 1, size=num_dim).tolist())


def rand_shape_2d(dim0=10, dim1=10, allow_zero_size=False):
    """A shape of two axes."""
    low = 0 if allow_zero_size else 1
    return tuple(int(np.random.randint(low, dim + 1)) for dim in (dim0, dim1))


def rand_shape_3d(dim0=10, dim1=10, dim2=10, allow_zero_size=False):
    """A shape of three axes."""
    low = 0 if allow_zero_size else 1
    return tuple(int(np.random.randint(low, dim + 1)) for dim in (dim0, dim1, dim2))


def rand_coord_2d(x_low, x_high, y_low, y_high):
    """A place in a range of rows and columns."""
    return (int(np.random.randint(x_low, x_high)), int(np.random.randint(y_low, y_high)))


def random_arrays(*shapes):
    """NumPy arrays from the normal distribution: one for one shape, else a list."""
    arrays = [np.array(np.random.randn(), dtype=default_dtype()) if len(shape) == 0 else
              np.random.randn(*shape).astype(default_dtype()) for shape in shapes]
    return arrays[0] if len(arrays) == 1 else arrays


def random_uniform_arrays(*shapes, **kwargs):
    """NumPy arrays of numbers from `low` (0) to before `high` (1), as a list."""
    low, high = kwargs.pop("low", 0.0), kwargs.pop("high", 1.0)
    dtype = kwargs.pop("dtype", default_dtype())
    if kwargs:
        raise TypeError(f"random_uniform_arrays has no '{next(iter(kwargs))}'")
    return [np.random.uniform(low, high, size=shape).astype(dtype) for shape in shapes]


def random_sample(population, k):
    """`k` elements, each once, in a drawn order."""
    population = list(population)
    _random.shuffle(population)
    return population[:k]


def rand_ndarray(shape, stype="default", density=None, dtype=None, modifier_func=None,
                 shuffle_csr_indices=False, distribution=None, ctx=None):
    """An array from the normal distribution, or of a sparse storage type."""
    if stype != "default":
        from ._sparse import rand_sparse_ndarray
        return rand_sparse_ndarray(
            shape, stype, density=density, dtype=dtype, modifier_func=modifier_func,
            shuffle_csr_indices=shuffle_csr_indices, distribution=distribution,
            ctx=ctx)[0]
    drawn = np.random.randn(*shape) if len(shape) else np.random.randn()
    values = nd.array(drawn, ctx=ctx, dtype=dtype or default_dtype())
    return values


def assign_each(the_input, function):
    """A NumPy array of what a function gives for each element."""
    return np.array(the_input) if function is None else np.vectorize(
        function, otypes=[np.asarray(the_input).dtype])(the_input)


def assign_each2(input1, input2, function):
    """A NumPy array of what a function gives for each pair of elements."""
    return np.array(input1) if function is None else np.vectorize(
        function, otypes=[np.asarray(input1).dtype])(input1, input2)


def np_reduce(dat, axis, keepdims, numpy_reduce_func):
    """A reduction of NumPy over some axes, whose function takes one."""
    axes = range(dat.ndim) if axis is None else (
        [axis] if isinstance(axis, int) else axis)
    result = dat
    for one in sorted((a % dat.ndim for a in axes), reverse=True):
        result = numpy_reduce_func(result, axis=one)
        if keepdims:
            result = np.expand_dims(result, one)
    return result


def collapse_sum_like(a, shape):
    """The sums over the axes in which `shape` has extent 1, or that it lacks."""
    if len(a.shape) < len(shape):
        raise AssertionError(f"{a.shape} has fewer axes than {shape}")
    lead = len(a.shape) - len(shape)
    axes = tuple(range(lead)) + tuple(
        lead + i for i, extent in enumerate(shape)
        if extent == 1 and a.shape[lead + i] != 1)
    return np.sum(a, axis=axes).reshape(shape)


def create_2d_tensor(rows, columns, dtype=np.int64):
    """Row r has r everywhere."""
    return nd.array(np.arange(rows).reshape(rows, 1).repeat(columns, 1), dtype=dtype)


def create_vector(size, dtype=np.int64):
    """0, 1, 2 …"""
    return nd.array(np.arange(size), dtype=dtype)


def get_identity_mat(size):
    """The identity matrix."""
    return nd.array(np.eye(size))


def get_identity_mat_batch(size):
    """Two identity matrices."""
    return nd.array(np.stack([np.eye(size)] * 2))


def new_orthonormal_matrix_2d(n):
    """A drawn orthonormal matrix."""
    q, _ = np.linalg.qr(np.random.randn(n, n))
    return q


def new_sym_matrix_with_real_eigvals_2d(n):
    """A drawn symmetric matrix."""
    half = np.random.uniform(-10.0, 10.0, (n, n))
    return 0.5 * (half + half.T)


def new_matrix_with_real_eigvals_2d(n):
    """A drawn matrix whose eigenvalues are real."""
    values = np.diag(np.random.uniform(-10.0, 10.0, n))
    vectors = new_orthonormal_matrix_2d(n) + np.eye(n) * 2.0
    return vectors @ values @ np.linalg.inv(vectors)


def _many(shape, make):
    count = int(np.prod(shape[:-2], dtype=int))
    return np.stack([make(shape[-1]) for _ in range(count)]).reshape(shape)


def new_matrix_with_real_eigvals_nd(shape):
    """Drawn matrices whose eigenvalues are real, in the last two axes."""
    return _many(shape, new_matrix_with_real_eigvals_2d)


def new_sym_matrix_with_real_eigvals_nd(shape):
    """Drawn symmetric matrices, in the last two axes."""
    return _many(shape, new_sym_matrix_with_real_eigvals_2d)


