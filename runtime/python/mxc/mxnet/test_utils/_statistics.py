# SPDX-License-Identifier: Apache-2.0
"""Whether what a generator draws has the distribution that it should have. scipy is
needed."""

import math

import numpy as np

from ..ndarray import NDArray


def _drawn(generator, nsamples):
    values = generator(nsamples)
    values = values.asnumpy() if isinstance(values, NDArray) else np.asarray(values)
    return values.reshape(nsamples)


def gen_buckets_probs_with_ppf(ppf, nbuckets):
    """Ranges of equal probability, and these, by a distribution's quantiles."""
    if nbuckets <= 0:
        raise AssertionError("nbuckets must be above 0")
    edges = [ppf(i / nbuckets) for i in range(nbuckets + 1)]
    return list(zip(edges[:-1], edges[1:])), [1.0 / nbuckets] * nbuckets


def mean_check(generator, mu, sigma, nsamples=1000000):
    """Whether the mean lies where it does in 999 cases of 1,000."""
    import scipy.stats
    mean = _drawn(generator, nsamples).mean()
    low, high = (scipy.stats.norm.ppf(p, mu, math.sqrt(sigma**2 / nsamples))
                 for p in (0.001, 0.999))
    return low < mean < high


def var_check(generator, sigma, nsamples=1000000):
    """Whether the variance lies where a normal distribution's does in 999 cases of
    1,000."""
    import scipy.stats
    ratio = _drawn(generator, nsamples).var(ddof=1) / sigma**2
    low, high = (scipy.stats.chi2.ppf(p, nsamples - 1) / (nsamples - 1)
                 for p in (0.001, 0.999))
    return low < ratio < high


def chi_square_check(generator, buckets, probs, nsamples=1000000):
    """The p-value, how often each bucket was met, and how often it was expected."""
    import scipy.stats
    if not buckets:
        raise AssertionError("there are no buckets")
    values = _drawn(generator, nsamples)
    if isinstance(buckets[0], (list, tuple)):
        counts = [np.count_nonzero((values >= low) & (values < high))
                  for low, high in buckets]
    else:
        counts = [np.count_nonzero(values == value) for value in buckets]
    met = np.array(counts, dtype=np.int64)
    expected = (nsamples * np.array(probs, dtype=np.float64))
    statistic = float(np.sum((met - expected) ** 2 / expected))
    p = float(scipy.stats.chi2.sf(statistic, len(buckets) - 1))
    return p, met, expected.astype(np.int64)


def verify_generator(generator, buckets, probs, nsamples=1000000, nrepeat=5,
                     success_rate=0.2, alpha=0.05):
    """The p-values of several draws; AssertionError where too few are above
    `alpha`."""
    checks = [chi_square_check(generator, buckets, probs, nsamples)
              for _ in range(nrepeat)]
    passed = sum(p > alpha for p, _, _ in checks)
    if passed < nrepeat * success_rate:
        raise AssertionError(f"of {nrepeat} draws {passed} fit: p is "
                             f"{[c[0] for c in checks]}, the last was met "
                             f"{checks[-1][1]} times where {checks[-1][2]} are due")
    return [p for p, _, _ in checks]
