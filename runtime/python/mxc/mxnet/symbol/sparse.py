# SPDX-License-Identifier: Apache-2.0
"""Operators of which some inputs may be sparse: results have the storage types of
mx.nd.sparse."""

import sys as _sys

from ._compose import function as _function
from ._operators import table as _table
from ._register import fill as _fill

_fill(_sys.modules[__name__])
for _name in """abs add_n arccos arccosh arcsin arcsinh arctan arctanh broadcast_add
broadcast_div broadcast_minus broadcast_mul broadcast_plus broadcast_sub cbrt ceil
cast_storage clip concat cos cosh degrees dot elemwise_add elemwise_div elemwise_mul elemwise_sub
exp expm1 fix floor gamma gammaln log log10 log1p log2 LinearRegressionOutput
LogisticRegressionOutput MAERegressionOutput make_loss mean negative norm radians
relu rint round rsqrt sigmoid sign sin sinh slice sqrt square stop_gradient sum tan
tanh trunc where zeros_like Embedding FullyConnected adagrad_update adam_update
ftrl_update sgd_mom_update sgd_update""".split():
    if _name in _table() and _name not in globals():
        globals()[_name] = _function(_name, _name)
