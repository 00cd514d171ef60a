#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: run.py BIN_DIR

Records a benchmark, a training run and a job of two workers with --trace, and
asks of each file what a reader asks: which rows there are, and that the spans
of a row lie in each other or follow each other. Perfetto itself reads them in
tests/engines/trace_processor.sh.
"""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile

MODELS = pathlib.Path(__file__).parents[2] / 'models'
TRAINING = ['--data', 'digits', '--data-opt', 'size=512', '--batch-size', '64',
            '--epochs', '1', '--lr', '0.1', '--seed', '7', '--target',
            'x86-64-v3', '--quiet', '--save', 'net', '--overwrite']


def check(what, holds):
    if not holds:
        sys.exit(f'failed: {what}')


def rows(path):
    """By thread's name: its spans' names and times, in order."""
    events = json.loads(path.read_text())['traceEvents']
    names = {(e['pid'], e['tid']): e['args']['name'] for e in events
             if e['name'] == 'thread_name'}
    found = collections.defaultdict(list)
    by_thread = collections.defaultdict(list)  # several may have one name
    for event in events:
        if event['ph'] == 'X':
            key = (event['pid'], event['tid'])
            by_thread[key].append(event)
            found[names.get(key, 'medians')].append(event)
    for key, spans in by_thread.items():
        nest(names.get(key, 'medians'), spans)
    return found


def nest(name, spans):
    ends = []
    for span in sorted(spans, key=lambda s: (s['ts'], -s['dur'])):
        end = span['ts'] + span['dur']
        while ends and ends[-1] <= span['ts'] + 0.002:
            ends.pop()
        check(f'{name}: spans overlap', not ends or end <= ends[-1] + 0.002)
        ends.append(end)


def named(spans):
    return {span['name'] for span in spans}


def main():
    mxc = pathlib.Path(sys.argv[1]).resolve() / 'mxc'
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def run(*command):
            subprocess.run([mxc, *command], cwd=folder, check=True,
                           stdout=subprocess.DEVNULL)

        run('compile', MODELS / 'lenet.json', '--init', 'xavier', '-o',
            'lenet.mxa', '--batch', '16', '--target', 'x86-64-v3', '--quiet')
        run('bench', 'lenet.mxa', '--iterations', '3', '--threads', '2',
            '--trace', 'bench.json')
        bench = rows(folder / 'bench.json')
        print({row: len(spans) for row, spans in bench.items()})
        # Whichever threads had a core ran them.
        ran = [span['name'] for row, spans in bench.items()
               if row == 'caller' or row.startswith('worker') for span in spans]
        medians = [span['name'] for span in bench['medians']]
        check('bench: three runs of each step',
              all(ran.count(step) >= 3 for step in medians))
        check('bench: a median for each step', len(medians) == 6)
        algorithms = [span['args']['algorithm'] for span in bench['medians']]
        check('bench: algorithms by their names',
              all(not name.startswith('mxc_') for name in algorithms) and
              any(name.startswith(('direct', 'gemm')) for name in algorithms))

        run('train', MODELS / 'mlp.json', *TRAINING, '--val', 'digits',
            '--threads', '2', '--trace', 'train.json')
        train = rows(folder / 'train.json')
        print({row: len(spans) for row, spans in train.items()})
        loop = named(train['training loop'])
        check('train: the loop', {'next batch', 'training step', 'validate',
                                  'save'} <= loop)
        check('train: the data', 'read samples' in named(train['data']))
        steps = [s for s in train['training loop']
                 if s['name'] == 'training step']
        check('train: 512 samples are 8 steps', len(steps) == 8)

        run('launch', '--workers', '2', '--servers', '1', '--', mxc, 'train',
            MODELS / 'mlp.json', *TRAINING, '--trace', 'job.json')
        for file in ('job.json', 'job.json.1'):
            job = rows(folder / file)
            check(f'{file}: communication',
                  'send and receive' in named(job['communication']))
            text = (folder / file).read_text()
            check(f'{file}: a parameter travels',
                  '"fc1_weight","cat":"communication"' in text or
                  'weight","cat":"communication"' in text)


main()
