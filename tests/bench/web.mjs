// SPDX-License-Identifier: Apache-2.0
// usage: node web.mjs BIN_DIR [--threads N] [--steps] [--classes] [--target T] NETWORK.json…
// Each network's page in Node beside its artifact for x86-64-v2 (the worst
// difference of an output, of how far its elements lie apart; equal bytes), how long
// the least of seven times takes, and, where the environment names a Python with
// onnxruntime (MXC_ONNX_PYTHON), how long ONNX Runtime's takes natively, on as many
// threads. --steps: those that take most; --classes: what each class of layers reaches
// of what multiplications and additions in registers do. Ends with 1 above 4e-6.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { classes, peak } from './web_peak.mjs';
import { check, compare, folder, mxc, outcome } from '../web/support.mjs';

const { values: { threads, steps, classes: ofClasses, target }, positionals: [bin, ...networks] } = parseArgs({
  allowPositionals: true,
  options: {
    threads: { type: 'string', default: '1' },
    steps: { type: 'boolean' },
    classes: { type: 'boolean' },
    target: { type: 'string', default: 'wasm32' },
  },
});
if (target.endsWith('relaxed')) setFlagsFromString('--experimental-wasm-relaxed-simd');

// Long enough before, that the engine has compiled all of it as well as it can.
function least(act) {
  const began = performance.now();
  while (performance.now() - began < 3000) act();
  let best = Infinity;
  for (let round = 0; round < 7; ++round) {
    const repeat = Math.max(1, Math.round(20 / (best === Infinity ? 20 : best)));
    const start = performance.now();
    for (let i = 0; i < repeat; ++i) act();
    best = Math.min(best, (performance.now() - start) / repeat);
  }
  return best;
}

const RUNTIME = `
import sys, time
import numpy, onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = int(sys.argv[2])
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=['CPUExecutionProvider'])
given = {i.name: numpy.random.default_rng(1).random([d if isinstance(d, int) else 1 for d in i.shape], 'float32')
         for i in session.get_inputs()}
def once(n):
    start = time.perf_counter()
    for _ in range(n): session.run(None, given)
    return 1e3 * (time.perf_counter() - start) / n
once(2)
best = once(1)
for _ in range(7): best = min(best, once(max(1, round(20 / best))))
print(best)
`;

function onnxRuntime(network) {
  const python = process.env.MXC_ONNX_PYTHON;
  if (!python) return NaN;
  const file = join(folder(), 'net.onnx');
  mxc(bin, 'convert', network, '--init', 'msra', '--seed', '3', '-o', file);
  const script = join(folder(), 'time.py');
  writeFileSync(script, RUNTIME);
  return Number(execFileSync(python, [script, file, threads], { encoding: 'utf8' }));
}

// What each takes at least, and the multiplications and additions of its definition.
function profiled(net, network) {
  const { steps: planned } = JSON.parse(mxc(bin, 'inspect', network, '--target', target, '--steps', '--json'));
  return net.profile('infer', 20).map(({ step, milliseconds }) => ({
    name: step, kernel: '', flops: 0, ...planned.find((row) => row.name === step), milliseconds }));
}

const columns = (milliseconds, all, flops) => [`${milliseconds.toFixed(3).padStart(9)} ms`,
  `${(100 * milliseconds / all).toFixed(1).padStart(5)} %`, `${(flops / milliseconds / 1e6).toFixed(1).padStart(6)} GFLOP/s `];

function printSteps(rows) {
  const all = rows.reduce((sum, row) => sum + row.milliseconds, 0);
  for (const { name, kernel, flops, milliseconds } of rows.sort((a, b) => b.milliseconds - a.milliseconds).slice(0, 40)) {
    console.log(...columns(milliseconds, all, flops), kernel.padEnd(14), name);
  }
}

function printClasses(rows, network) {
  const symbol = join(folder(), 'net-symbol.json');
  mxc(bin, 'convert', network, '--init', 'msra', '--seed', '3', '-o', symbol);
  const { nodes } = JSON.parse(readFileSync(symbol, 'utf8'));
  const all = rows.reduce((sum, row) => sum + row.milliseconds, 0), most = peak();
  console.log(`multiplications and additions in registers: ${most.toFixed(1)} GFLOP/s`);
  for (const { key, steps: count, milliseconds, flops, multiplied } of classes(rows, nodes)) {
    console.log(...columns(milliseconds, all, flops),
      `${(multiplied / milliseconds / 1e4 / most).toFixed(1).padStart(6)} % of the most, in ${(multiplied / most / 1e6).toFixed(3).padStart(7)} ms `,
      key, `(${count})`);
  }
}

for (const network of networks) {
  const { net, worst, same } = await compare(bin, network, { threads: Number(threads) }, '--target', target);
  check(worst <= 4e-6, `${network}: a difference of ${worst}`);
  // Interleaved, so that what else the machine does meets both.
  const entry = net.entry('infer'), run = () => net.exports[entry.symbol](0, entry.steps.length);
  let ours = least(run);
  const native = onnxRuntime(network);
  ours = Math.min(ours, least(run));
  const ratio = native ? `  ONNX Runtime, native ${native.toFixed(3)} ms, ${(ours / native).toFixed(2)} times` : '';
  console.log(`${basename(network).padEnd(24)} ${same ? 'same bytes' : worst.toExponential(1)}  ${ours.toFixed(3)} ms${ratio}`);
  const rows = steps || ofClasses ? profiled(net, network) : [];
  if (ofClasses) printClasses(rows, network);
  if (steps) printSteps(rows);
  net.close();
}
process.exit(outcome());
