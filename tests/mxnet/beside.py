# SPDX-License-Identifier: Apache-2.0
"""One network by MXNet 1.9.1 and by mxc: its outputs, and what a step of
training makes of its parameters and states."""
import builtins
import os
import subprocess

import numpy as np
for word in ('bool', 'object', 'int', 'float'):  # which MXNet 1.9.1 asks for
    if word not in np.__dict__:
        setattr(np, word, getattr(builtins, word))
import mxnet as mx

RATE = 0.5


class Theirs:
    """The network as Gluon runs it, which bears shapes that data decide."""

    def __init__(self, symbol, fed):
        self.inputs = [mx.nd.array(array, dtype=array.dtype)
                       for array in fed.values()]
        self.block = mx.gluon.SymbolBlock(symbol, [mx.sym.var(name)
                                                   for name in fed])
        self.parameters = self.block.collect_params()
        shapes, _, states = symbol.infer_shape_partial(
            **{name: array.shape for name, array in fed.items()})
        known = dict(zip(symbol.list_arguments(), shapes))
        known.update(zip(symbol.list_auxiliary_states(), states))
        rng = np.random.RandomState(3)
        self.values = {}
        for name, parameter in self.parameters.items():
            state = name in symbol.list_auxiliary_states()
            value = mx.nd.array(rng.uniform(-.7, .7, known[name]))
            parameter.shape = value.shape
            parameter.initialize()
            parameter.set_data(value)
            self.values[('aux:' if state else 'arg:') + name] = value.copy()

    def outputs(self):
        found = self.block(*self.inputs)
        return found if isinstance(found, (list, tuple)) else [found]

    def train(self):
        """Parameters and states after one step."""
        with mx.autograd.record():
            outputs = self.outputs()
        mx.autograd.backward(list(outputs))
        mx.nd.waitall()
        after = {}
        for name in self.values:
            parameter = self.parameters[name[4:]]
            after[name] = (parameter.data() if name.startswith('aux:') else
                           parameter.data() - RATE * parameter.grad())
        return after


def run(bin_dir, folder, symbol, fed, params=(), options=()):
    """The outputs of mxc, without those that say how many rows there are."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, '{}').format

    def mxc(*args):
        subprocess.run([os.path.join(bin_dir, 'mxc'), *args, *options],
                       check=True, stdout=subprocess.DEVNULL)

    symbol.save(path('net-symbol.json'))
    for name, array in fed.items():
        np.save(path(name + '.npy'), array)
    shapes = [f'--input-shape={name}:' + 'x'.join(map(str, array.shape))
              for name, array in fed.items()]
    mxc('compile', path('net-symbol.json'), *params, *shapes, '--quiet', '-o',
        path('net.mxa'))
    inputs = [f'--input={name}={path(name)}.npy' for name in fed
              if not name.endswith('_label')]
    mxc('run', path('net.mxa'), *inputs, '--output-dir', path('out'))
    return [np.load(path(f'out/output_{i}.npy'))
            for i in range(len(symbol.list_outputs()))]


def worst_difference(symbol, fed, bin_dir, folder, *options):
    """Trains on `fed`, arrays by the names of inputs, the label the last of
    them, …_label where a loss head reads it; prints a line for each value,
    returns the largest difference. `options`: of every command of mxc's."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, '{}').format
    theirs = Theirs(symbol, fed)
    mx.nd.save(path('net-0000.params'), theirs.values)
    params = ('--params', path('net-0000.params'))
    outputs = run(bin_dir, folder, symbol, fed, params, options)
    worst = 0

    def compare(what, want, found):
        nonlocal worst
        difference = np.inf
        if want.shape == found.shape:
            difference = np.abs(want - found).max(initial=0)
        worst = max(worst, difference)
        print(f'{what:24} {str(want.shape):12} {difference:.3g} of '
              f'{np.abs(want).max(initial=0):.3g}')

    for name, want, found in zip(symbol.list_outputs(), theirs.outputs(), outputs):
        compare(name, want.asnumpy(), found)

    *_, label = fed
    np.savez(path('data.npz'), **fed)
    subprocess.run(
        [os.path.join(bin_dir, 'mxc'), 'train', path('net-symbol.json'), *params,
         '--data', 'npy:' + path('data.npz'), '--data-opt', 'labels=' + label,
         '--batch-size', str(len(fed[label])), '--epochs', '1', '--no-shuffle', '--lr',
         str(RATE), '--opt', 'wd=0', '--opt', 'rescale_grad=1', '--save',
         path('net'), '--overwrite', '--quiet', *options],
        check=True, stdout=subprocess.DEVNULL)
    ours = mx.nd.load(path('net-0001.params'))
    for name, after in theirs.train().items():
        compare(name[4:], after.asnumpy(), ours[name].asnumpy())
    return worst
