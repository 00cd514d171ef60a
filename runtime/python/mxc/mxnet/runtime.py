# SPDX-License-Identifier: Apache-2.0
"""mx.runtime: MXNet's build features, and which of them are here."""

import collections

__all__ = ["Feature", "Features", "feature_list"]

_NAMES = """CUDA CUDNN NCCL CUDA_RTC TENSORRT CPU_SSE CPU_SSE2 CPU_SSE3 CPU_SSE4_1
CPU_SSE4_2 CPU_SSE4A CPU_AVX CPU_AVX2 OPENMP SSE F16C JEMALLOC BLAS_OPEN BLAS_ATLAS
BLAS_MKL BLAS_APPLE LAPACK MKLDNN OPENCV CAFFE PROFILER DIST_KVSTORE CXX14
INT64_TENSOR_SIZE SIGNAL_HANDLER DEBUG TVM_OP""".split()
_HERE = {"CPU_SSE", "CPU_SSE2", "CPU_SSE3", "CPU_SSE4_1", "CPU_SSE4_2", "F16C",
         "DIST_KVSTORE", "INT64_TENSOR_SIZE", "LAPACK"}

_Row = collections.namedtuple("Feature", "name enabled")


class Feature(_Row):
    """A feature's name, and whether it is here."""

    __slots__ = ()

    def __repr__(self):
        return ("✔ " if self.enabled else "✖ ") + self.name


def feature_list():
    """All features."""
    return [Feature(name, name in _HERE) for name in _NAMES]


class Features(collections.OrderedDict):
    """Features by name; there is one object."""

    _one = None

    def __new__(cls):
        if cls._one is None:
            cls._one = super().__new__(cls)
        return cls._one

    def __init__(self):
        super().__init__((feature.name, feature) for feature in feature_list())

    def __repr__(self):
        return str(list(self.values()))

    def is_enabled(self, feature_name):
        """Whether it is here; RuntimeError where there is no such feature."""
        name = feature_name.upper()
        if name not in self:
            raise RuntimeError(f"there is no feature '{name}', but {', '.join(self)}")
        return self[name].enabled
