# SPDX-License-Identifier: Apache-2.0
"""Layers that normalize."""
import numpy as np

from ..block import HybridBlock

__all__ = ["BatchNorm", "BatchNormReLU", "InstanceNorm", "LayerNorm", "GroupNorm"]


class _Norm(HybridBlock):
    """Scale `gamma` and shift `beta`, one for each channel; constant unless `scale`, `center`."""

    def _scale_and_shift(self, channels, scale, center, gamma_initializer, beta_initializer,
                         **kwargs):
        self.gamma = self.params.get("gamma", grad_req="write" if scale else "null",
                                     shape=(channels,), init=gamma_initializer,
                                     allow_deferred_init=True, **kwargs)
        self.beta = self.params.get("beta", grad_req="write" if center else "null",
                                    shape=(channels,), init=beta_initializer,
                                    allow_deferred_init=True, **kwargs)

    def __repr__(self):
        facts = ", ".join(f"{key}={value!r}" for key, value in self._kwargs.items())
        channels = self.gamma.shape[0]
        return f"{type(self).__name__}({facts}, in_channels={channels or None})"


class _BatchNorm(_Norm):
    def __init__(self, axis, momentum, epsilon, center, scale, fuse_relu, use_global_stats,
                 beta_initializer, gamma_initializer, running_mean_initializer,
                 running_variance_initializer, in_channels, **kwargs):
        super().__init__(**kwargs)
        self._kwargs = {"axis": axis, "eps": epsilon, "momentum": momentum,
                        "fix_gamma": not scale, "use_global_stats": use_global_stats}
        self._axis = axis
        self._fuse_relu = fuse_relu
        if in_channels != 0:
            self.in_channels = in_channels
        self._scale_and_shift(in_channels, scale, center, gamma_initializer, beta_initializer,
                              differentiable=scale or center)
        for name, init in (("running_mean", running_mean_initializer),
                           ("running_var", running_variance_initializer)):
            setattr(self, name, self.params.get(name, grad_req="null", shape=(in_channels,),
                                                init=init, allow_deferred_init=True,
                                                differentiable=False))

    def cast(self, dtype):
        """Changes the type; statistics of 16-bit inputs stay float32."""
        super().cast("float32" if np.dtype(dtype).name == "float16" else dtype)

    def hybrid_forward(self, F, x, gamma, beta, running_mean, running_var):
        out = F.BatchNorm(x, gamma, beta, running_mean, running_var, name="fwd", **self._kwargs)
        return F.relu(out) if self._fuse_relu else out


class BatchNorm(_BatchNorm):
    """Mean 0 and variance 1 of each channel over the batch (`axis` is the channels').

    Training moves `running_mean` and `running_var` towards the batch's by 1 - `momentum`;
    inference, and `use_global_stats`, normalize by them."""

    def __init__(self, axis=1, momentum=0.9, epsilon=1e-5, center=True, scale=True,
                 use_global_stats=False, beta_initializer="zeros", gamma_initializer="ones",
                 running_mean_initializer="zeros", running_variance_initializer="ones",
                 in_channels=0, **kwargs):
        super().__init__(axis, momentum, epsilon, center, scale, False, use_global_stats,
                         beta_initializer, gamma_initializer, running_mean_initializer,
                         running_variance_initializer, in_channels, **kwargs)


class BatchNormReLU(_BatchNorm):
    """BatchNorm, then max(x, 0)."""

    def __init__(self, axis=1, momentum=0.9, epsilon=1e-5, center=True, scale=True,
                 use_global_stats=False, beta_initializer="zeros", gamma_initializer="ones",
                 running_mean_initializer="zeros", running_variance_initializer="ones",
                 in_channels=0, **kwargs):
        super().__init__(axis, momentum, epsilon, center, scale, True, use_global_stats,
                         beta_initializer, gamma_initializer, running_mean_initializer,
                         running_variance_initializer, in_channels, **kwargs)


class InstanceNorm(_Norm):
    """Mean 0 and variance 1 of each channel of each sample."""

    def __init__(self, axis=1, epsilon=1e-5, center=True, scale=False, beta_initializer="zeros",
                 gamma_initializer="ones", in_channels=0, **kwargs):
        super().__init__(**kwargs)
        self._kwargs = {"eps": epsilon, "axis": axis, "center": center, "scale": scale}
        self._axis = axis
        self._epsilon = epsilon
        self._scale_and_shift(in_channels, scale, center, gamma_initializer, beta_initializer)

    def hybrid_forward(self, F, x, gamma, beta):
        if self._axis == 1:
            return F.InstanceNorm(x, gamma, beta, name="fwd", eps=self._epsilon)
        x = x.swapaxes(1, self._axis)
        return F.InstanceNorm(x, gamma, beta, name="fwd",
                              eps=self._epsilon).swapaxes(1, self._axis)


class LayerNorm(_Norm):
    """Mean 0 and variance 1 along `axis` of each sample."""

    def __init__(self, axis=-1, epsilon=1e-5, center=True, scale=True, beta_initializer="zeros",
                 gamma_initializer="ones", in_channels=0, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)
        self._kwargs = {"eps": epsilon, "axis": axis, "center": center, "scale": scale}
        self._axis = axis
        self._epsilon = epsilon
        self._center = center
        self._scale = scale
        self._scale_and_shift(in_channels, scale, center, gamma_initializer, beta_initializer)

    def hybrid_forward(self, F, data, gamma, beta):
        return F.LayerNorm(data, gamma=gamma, beta=beta, axis=self._axis, eps=self._epsilon)


class GroupNorm(_Norm):
    """Mean 0 and variance 1 of each of `num_groups` groups of channels of each sample.

    Scale and shift: (num_groups,), or by the first input (channels,)."""

    def __init__(self, num_groups=1, epsilon=1e-5, center=True, scale=True,
                 beta_initializer="zeros", gamma_initializer="ones", prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)
        self._kwargs = {"eps": epsilon, "num_groups": num_groups, "center": center,
                        "scale": scale}
        self._num_groups = num_groups
        self._epsilon = epsilon
        self._center = center
        self._scale = scale
        self._scale_and_shift(0, scale, center, gamma_initializer, beta_initializer)

    def hybrid_forward(self, F, data, gamma, beta):
        return F.GroupNorm(data, gamma=gamma, beta=beta, num_groups=self._num_groups,
                           eps=self._epsilon)
