#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks that mxc calibrate has written, computed by MXNet 1.9.1 with oneDNN
and by mxc.

  tests/mxnet/calibrated.py BIN_DIR PREFIX INPUT.npy…    with mxnet==1.9.1, numpy<1.24

PREFIX-symbol.json and PREFIX-0000.params; prints of each output the greatest
difference, relative to its greatest number. A number that one of the two rounds
up and the other down is a level of 127 or 255. Exits with 1 where a network
computes something else.
"""
import builtins
import os
import subprocess
import sys
import tempfile

os.environ['MXNET_MKLDNN_ENABLED'] = '1'

import numpy as np
for word in ('bool', 'object', 'int', 'float'):  # which MXNet 1.9.1 asks for
    if word not in np.__dict__:
        setattr(np, word, getattr(builtins, word))
import mxnet as mx

MOST = 0.05


def main():
    bin_dir, prefix, *files = sys.argv[1:]
    symbol, arguments, states = mx.model.load_checkpoint(prefix, 0)
    worst = 0
    for file in files:
        data = np.load(file).astype('f')
        given = {'data': mx.nd.array(data)}
        for name in symbol.list_arguments():
            if name.endswith('label'):
                given[name] = mx.nd.zeros(len(data))
        executor = symbol.bind(mx.cpu(), {**arguments, **given},
                               aux_states=states, grad_req='null')
        theirs = [each.asnumpy() for each in executor.forward(is_train=False)]
        with tempfile.TemporaryDirectory() as folder:
            artifact = os.path.join(folder, 'net.mxa')
            shape = 'data:' + 'x'.join(map(str, data.shape))
            for command in (['compile', prefix + '-symbol.json', '--input-shape',
                             shape, '--quiet', '-o', artifact],
                            ['run', artifact, '--input', 'data=' + file,
                             '--output-dir', folder]):
                subprocess.run([os.path.join(bin_dir, 'mxc'), *command],
                               check=True, stdout=subprocess.DEVNULL)
            for i, want in enumerate(theirs):
                found = np.load(os.path.join(folder, f'output_{i}.npy'))
                difference = abs(want - found).max() / abs(want).max()
                worst = max(worst, difference)
                print(f'{file}: output {i} {want.shape} {difference:.2g}')
    return int(not worst <= MOST)


if __name__ == '__main__':
    sys.exit(main())
