# SPDX-License-Identifier: Apache-2.0
"""CUDA's source compiled while a program runs, which is not there."""

__all__ = ["CudaModule", "CudaKernel"]


class CudaModule:
    """Refused."""

    def __init__(self, source, options=(), exports=()):
        raise NotImplementedError("mx.rtc: no CUDA source is compiled while a program "
                                  "runs; kernels for GPUs come from the compiler")


class CudaKernel:
    """A function of a CudaModule; only that makes one."""

    def __init__(self, handle, name, is_ndarray, dtypes):
        raise NotImplementedError("mx.rtc: a CudaKernel comes from a CudaModule alone")
