# SPDX-License-Identifier: Apache-2.0
"""mx.test_utils: comparison with tolerances, drawn arrays, and what tests need."""

# Tests import all names of this module, and with them, as of MXNet's, these.
import errno
import gzip
import json
import logging
import numbers
import os
import platform
import struct
import sys
import time
import traceback
import zipfile
from collections import OrderedDict
from contextlib import contextmanager

import numpy as np
import numpy.testing as npt

from .. import ndarray as nd
from ..context import Context, current_context
from ..ndarray import array
from ..runtime import Features
from ..util import getenv, setenv, use_np
from ._hybridized import check_gluon_hybridize_consistency
from ._compare import (almost_equal, assert_almost_equal, assert_almost_equal_ignore_nan,
                       assert_almost_equal_with_err, assert_allclose, assert_exception,
                       checkShapes, compare_ndarray_tuple, default_atols,
                       default_numeric_eps, default_rtols, effective_dtype, get_atol,
                       get_etol, get_rtol, get_tolerance, get_tols, locationError, same,
                       same_array)
from ._data import (DummyIter, download, download_model, get_bz2_data, get_cifar10,
                    get_im2rec_path, get_mnist, get_mnist_iterator, get_mnist_pkl,
                    get_mnist_ubyte, get_zip_data)
from ._draw import (assign_each, assign_each2, collapse_sum_like, create_2d_tensor,
                    create_vector, get_identity_mat, get_identity_mat_batch,
                    new_matrix_with_real_eigvals_2d, new_matrix_with_real_eigvals_nd,
                    new_orthonormal_matrix_2d, new_sym_matrix_with_real_eigvals_2d,
                    new_sym_matrix_with_real_eigvals_nd, np_reduce, rand_coord_2d,
                    rand_ndarray, rand_shape_2d, rand_shape_3d, rand_shape_nd,
                    random_arrays, random_sample, random_uniform_arrays)
from ._sparse import (create_sparse_array, create_sparse_array_zd, rand_sparse_ndarray,
                      shuffle_csr_column_indices)
from ._statistics import (chi_square_check, gen_buckets_probs_with_ppf, mean_check,
                          var_check, verify_generator)
from ._surroundings import (default_context, default_dtype, discard_stderr, environment,
                            has_tvm_ops, is_aarch64_run, is_cd_run, is_op_runnable,
                            list_gpus, retry, set_default_context)

# Tests find NumPy and this package here, as they do in MXNet's module.
mx = sys.modules[__name__.rsplit(".", 1)[0]]
rnd = np.random

try:
    from .symbolic import *  # noqa: F403
except ModuleNotFoundError as _error:
    if not str(_error.name).startswith(__name__):
        raise
