# SPDX-License-Identifier: Apache-2.0
"""Layers side by side, the identity, sparse embeddings, shuffled pixels."""
from .... import ndarray
from ...block import Block, HybridBlock
from ...nn import BatchNorm, HybridSequential, Sequential

__all__ = ["Concurrent", "HybridConcurrent", "Identity", "SparseEmbedding", "SyncBatchNorm",
           "PixelShuffle1D", "PixelShuffle2D", "PixelShuffle3D"]


class Concurrent(Sequential):
    """Blocks of one input, their outputs side by side along `axis`."""

    def __init__(self, axis=-1, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def forward(self, x):
        return ndarray.concat(*[block(x) for block in self._children.values()], dim=self.axis)


class HybridConcurrent(HybridSequential):
    """Hybrid blocks of one input, their outputs side by side along `axis`."""

    def __init__(self, axis=-1, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def hybrid_forward(self, F, x):
        return F.concat(*[block(x) for block in self._children.values()], dim=self.axis)


class Identity(HybridBlock):
    """Its input."""

    def hybrid_forward(self, F, x):
        return x


class SparseEmbedding(Block):
    """Row x of a row_sparse table (input_dim, output_dim), for each element of x."""

    def __init__(self, input_dim, output_dim, dtype="float32", weight_initializer=None,
                 **kwargs):
        super().__init__(**kwargs)
        self._kwargs = {"input_dim": input_dim, "output_dim": output_dim, "dtype": dtype,
                        "sparse_grad": True}
        self.weight = self.params.get("weight", shape=(input_dim, output_dim),
                                      init=weight_initializer, dtype=dtype,
                                      grad_stype="row_sparse", stype="row_sparse")

    def forward(self, x):
        return ndarray.Embedding(x, self.weight.row_sparse_data(x), name="fwd", **self._kwargs)

    def __repr__(self):
        kwargs = self._kwargs
        return (f"{type(self).__name__}({kwargs['input_dim']} -> {kwargs['output_dim']}, "
                f"{kwargs['dtype']})")


class SyncBatchNorm(BatchNorm):
    """BatchNorm over all of `num_devices`; here one has the whole batch."""

    def __init__(self, in_channels=0, num_devices=None, momentum=0.9, epsilon=1e-5, center=True,
                 scale=True, use_global_stats=False, beta_initializer="zeros",
                 gamma_initializer="ones", running_mean_initializer="zeros",
                 running_variance_initializer="ones", **kwargs):
        super().__init__(1, momentum, epsilon, center, scale, use_global_stats, beta_initializer,
                         gamma_initializer, running_mean_initializer,
                         running_variance_initializer, in_channels, **kwargs)
        if (num_devices or 1) > 1:
            raise NotImplementedError("SyncBatchNorm over several devices is not there: "
                                      "num_devices is 1.")


class _PixelShuffle(HybridBlock):
    """(N, f… C, spatial…) as (N, C, f spatial…): channels become pixels, `factor` f."""

    _rank = 0

    def __init__(self, factor):
        super().__init__()
        self._factors = (int(factor),) * self._rank if isinstance(factor, (int, float)) else \
            tuple(int(each) for each in factor)
        assert len(self._factors) == self._rank, (
            f"factor is a number, or {self._rank} of them, not {factor}.")

    def hybrid_forward(self, F, x):
        """(N, f1 f2 C, H, W) → (N, C, f1, f2, H, W) → (N, C, H, f1, W, f2) → joined."""
        rank = self._rank
        # -4 splits an axis in two, -2 keeps what is left.
        x = F.reshape(x, (0, -4, -1, _product(self._factors), -2))
        for i, factor in enumerate(self._factors[:-1]):
            rest = _product(self._factors[i + 1:])
            x = F.reshape(x, (0,) * (2 + i) + (-4, factor, rest, -2))
        order = [0, 1]
        for i in range(rank):
            order += [2 + rank + i, 2 + i]
        x = F.transpose(x, tuple(order))
        return F.reshape(x, (0, 0) + (-3,) * rank)

    def __repr__(self):
        factors = self._factors if self._rank > 1 else self._factors[0]
        return f"{type(self).__name__}({factors})"


def _product(factors):
    total = 1
    for factor in factors:
        total *= factor
    return total


class PixelShuffle1D(_PixelShuffle):
    """(N, f C, W) as (N, C, f W)."""

    _rank = 1


class PixelShuffle2D(_PixelShuffle):
    """(N, f² C, H, W) as (N, C, f H, f W)."""

    _rank = 2


class PixelShuffle3D(_PixelShuffle):
    """(N, f³ C, D, H, W) as (N, C, f D, f H, f W)."""

    _rank = 3
