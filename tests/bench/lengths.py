#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One artifact for every length beside artifacts made for a length.

usage: lengths.py NETWORK MOST LENGTH,… [--rounds N] [--together]
       lengths.py NETWORK S=MOST,T=MOST 40x7,… [--rounds N]

NETWORK leaves the length of its sequences open ("T"), or several by their names, whose
values are in the order of MOST; batch 1, one thread, the least
time of all rounds, in turns. --together: samples of all LENGTHs in one call, each as
long as it is, beside a batch of them that is filled up to the longest. Needs NumPy and
the Python package mxc.
"""
import argparse
import json
import pathlib
import time

import numpy as np

import mxc

CALLS = 5  # a round


def arrays(network, lengths):
    """Numbers that are tokens, too; what `valid_length` reads is all of it."""
    rng = np.random.default_rng(1)
    sizes = {"N": 1, **lengths}
    length = next(iter(lengths.values()))
    found = {}
    for name, shape in network["inputs"].items():
        if "label" in name:
            continue
        shape = [sizes.get(n, n) for n in shape]
        found[name] = (np.full(shape, length, np.float32) if name == "valid_length"
                       else rng.integers(0, 2, shape).astype(np.float32))
    return found


def least(rounds, **calls):
    """Seconds of each call, in turns."""
    best = dict.fromkeys(calls, np.inf)
    for _ in range(rounds):
        for name, call in calls.items():
            call()
            for _ in range(CALLS):
                begun = time.perf_counter()
                call()
                best[name] = min(best[name], time.perf_counter() - begun)
    return best


def together(network, options, made):
    """Samples of several lengths, none filled up, and all filled up to the longest."""
    lengths = [next(iter(one.values())) for one in options.lengths]
    model = mxc.compile(options.network, batch=[1, len(lengths)], length=options.most,
                        **made)
    each = [arrays(network, one) for one in options.lengths]
    lists = {name: [one[name][0] for one in each] for name in each[0]}
    filled = {}
    for name, samples in lists.items():
        shapes = [np.shape(sample) for sample in samples]
        filled[name] = np.zeros((len(samples), *np.max(shapes, axis=0)), np.float32)
        for k, sample in enumerate(samples):
            part = (slice(0, extent) for extent in np.shape(sample))
            filled[name][(k, *part)] = sample
    best = least(options.rounds, own=lambda: model(**lists),
                 filled=lambda: model(**filled))
    print(f"{len(lengths)} samples, {sum(lengths)} of {len(lengths) * max(lengths)}: "
          f"{best['own'] * 1e3:.1f} ms, filled up {best['filled'] * 1e3:.1f} ms: "
          f"{best['own'] / best['filled']:.3f}")


def bounds(text):
    """A number, or numbers by name."""
    if "=" not in text:
        return int(text)
    return {name: int(most) for name, most in
            (pair.split("=") for pair in text.split(","))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("network", type=pathlib.Path)
    parser.add_argument("most", type=bounds)
    parser.add_argument("lengths")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--together", action="store_true")
    options = parser.parse_args()
    names = list(options.most) if isinstance(options.most, dict) else ["T"]
    options.lengths = [dict(zip(names, map(int, one.split("x")), strict=True))
                       for one in options.lengths.split(",")]
    network = json.loads(options.network.read_text())
    made = {"init": "xavier", "seed": 3, "threads": 1}
    if options.together:
        return together(network, options, made)
    begun = time.perf_counter()
    every = mxc.compile(options.network, batch=1, length=options.most, **made)
    print(f"{len(every.entries)} entries, {time.perf_counter() - begun:.0f} s to compile")
    for lengths in options.lengths:
        given = arrays(network, lengths)
        own = mxc.compile(options.network, **made,
                          shapes={name: array.shape for name, array in given.items()})
        best = least(options.rounds, every=lambda: every(**given),
                     own=lambda: own(**given))
        text = "x".join(map(str, lengths.values()))
        print(f"length {text}: {best['every'] * 1e3:.3f} ms, of its own "
              f"{best['own'] * 1e3:.3f} ms: {best['every'] / best['own']:.3f}", flush=True)


main()
