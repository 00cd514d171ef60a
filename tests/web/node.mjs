// SPDX-License-Identifier: Apache-2.0
// usage: node node.mjs BIN_DIR
// Pages of `mxc compile --emit web` in Node beside the same networks' artifacts for
// x86-64-v2: outputs, and parameters after steps of training, have the same bytes, on
// one thread and on several.
// Damaged .params files and wrong inputs are refused in a sentence.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { check, compare, difference, draw, folder, mxc, outcome, page, sameBytes, source } from './support.mjs';

const bin = process.argv[2];
const model = (name) => join(source, 'models', `${name}.json`);

// Exponentials, roots, whole numbers, windows, a loop of turns, reductions.
const MIXED = {
  mxc: 1, name: 'mixed', inputs: { data: ['N', 3, 8, 8] },
  parameters: { weights: { init: '["uniform", {"scale": 0.5}]' } },
  nodes: [
    { op: 'Convolution', name: 'conv0', kernel: [3, 3], num_filter: 8 },
    { op: 'BatchNorm', name: 'norm0' },
    { op: 'Activation', act_type: 'tanh' },
    { op: 'Reshape', shape: [6, 1, 48] },
    { op: 'RNN', name: 'rnn', mode: 'gru', state_size: 8, num_layers: 1, bidirectional: true,
      inputs: [[], 'weights', [{ op: '_zeros', shape: [2, 1, 8] }]] },
    { op: 'LeakyReLU', act_type: 'gelu' },
    { op: 'LayerNorm', name: 'norm1' },
    { op: 'Reshape', shape: [1, -1] },
    { op: 'FullyConnected', name: 'fc1', num_hidden: 10 },
    { op: 'SoftmaxOutput', name: 'softmax' }],
};

async function answers() {
  const mixed = join(folder(), 'mixed.json');
  writeFileSync(mixed, JSON.stringify(MIXED));
  for (const network of [model('mlp'), model('lenet'), mixed]) {
    for (const threads of [1, 3]) {
      const { net, inputs, same, worst } = await compare(bin, network, { threads });
      check(same, `${network}, ${threads} threads: the bytes of outputs; they differ by ${worst}`);
      check(net.threads === threads, `${network}: ${net.threads} threads of ${threads}`);
      step(net, inputs, network);
      net.close();
    }
  }
}

// Sequences of any length: what artifacts made for the length compute. Both batches'
// sequences lie apart in memory that is longer.
async function lengths() {
  const path = folder(), network = join(path, 'heads.json');
  writeFileSync(network, JSON.stringify({
    mxc: 1, name: 'heads', inputs: { data: [2, 'T', 4] },
    nodes: [
      { op: 'FullyConnected', name: 'query', num_hidden: 4, flatten: false },
      { op: 'batch_dot', name: 'scores', transpose_b: true, inputs: ['query', 'data'] },
      { op: 'softmax', name: 'shares' },
      { op: 'batch_dot', name: 'context', inputs: ['shares', 'data'] },
      { op: 'mean', name: 'mean', axis: [1], inputs: ['context'] }],
    outputs: ['context', 'mean'] }));
  const made = ['--init', 'xavier', '--seed', 3];
  const any = await (await page(bin, join(path, 'any'), network, '--length', 9, '--bucket', '4,9', ...made)).open();
  for (const length of [1, 3, 4, 7, 9]) {
    const shape = { shape: [2, length, 4], dtype: 'f32' }, data = draw(shape, length);
    const own = await (await page(bin, join(path, `own${length}`), network, '--input-shape', `data:2x${length}x4`,
      ...made)).open();
    for (const beside of [NaN, 0]) {  // left in memory by another run
      any.run('infer', { data: new Float32Array(72).fill(beside) });
      const [ours, theirs] = [any, own].map((net) => net.run('infer', { data: Array.from(data) }));
      for (const name of ['context_output', 'mean_output']) {
        check(ours[name].length === theirs[name].length && difference(ours[name], theirs[name]) < 1e-6,
          `${name} at length ${length} beside ${beside}`);
      }
    }
  }
  for (const size of [0, 7, 80]) {
    const said = refusal(() => any.run('infer', { data: new Float32Array(size) }));
    check(said === `input 'data' has ${size} elements, expected f32[2, 9, 4] or shorter, 8 for each entry of a sequence`, said);
  }
  await pairs(path);
}

// The same for two lengths, which inputs tell, or the caller.
async function pairs(path) {
  const network = join(path, 'cross.json');
  writeFileSync(network, JSON.stringify({
    mxc: 1, name: 'cross', inputs: { source: [2, 'S', 4], target: [2, 'T', 4], mask: [2, 'T', 'S'] },
    nodes: [
      { op: 'batch_dot', name: 'scores', transpose_b: true, inputs: ['target', 'source'] },
      { op: 'elemwise_add', name: 'masked', inputs: ['scores', 'mask'] },
      { op: 'softmax', name: 'shares' },
      { op: 'batch_dot', name: 'context', inputs: ['shares', 'source'] }],
    outputs: ['shares', 'context'] }));
  const any = await (await page(bin, join(path, 'pairs'), network, '--length', 'S=7,T=5', '--bucket', '3')).open();
  for (const [s, t] of [[7, 5], [1, 1], [3, 4], [4, 3], [1, 5]]) {
    const shapes = { source: [2, s, 4], target: [2, t, 4], mask: [2, t, s] };
    const inputs = Object.fromEntries(Object.entries(shapes).map(
      ([name, shape]) => [name, Array.from(draw({ shape, dtype: 'f32' }, s + 10 * t))]));
    const own = await (await page(bin, join(path, `own${s}x${t}`), network,
      ...Object.entries(shapes).flatMap(([name, shape]) => ['--input-shape', `${name}:${shape.join('x')}`]))).open();
    any.run('infer', { source: new Float32Array(56).fill(NaN), target: new Float32Array(40).fill(NaN),
      mask: new Float32Array(70).fill(NaN) });
    const theirs = own.run('infer', inputs);
    for (const ours of [any.run('infer', inputs), any.run('infer', inputs, { S: s, T: t })]) {
      for (const name of ['shares_output', 'context_output']) {
        check(ours[name].length === theirs[name].length && difference(ours[name], theirs[name]) < 1e-6,
          `${name} at ${s} and ${t}`);
      }
    }
  }
  const said = refusal(() => any.run('infer', { source: new Float32Array(64) }));
  check(said === "input 'source' has 64 elements, expected f32[2, 7, 4] or shorter, 8 for each entry of 'S'", said);
}

// An entry's steps, one after the other, compute what it does.
function step(net, inputs, network) {
  const entry = net.entry('infer'), [whole] = Object.values(net.run(entry, inputs));
  const output = net.view(entry.outputs[0]);
  output.fill(0);
  const rows = net.profile('infer', 2);
  check(sameBytes(output, whole), `${network}: its steps one by one`);
  check(rows.length === entry.steps.length && rows.every((row) => row.milliseconds >= 0), `${network}: ${rows}`);
}

// As `mxc train --data digits --no-shuffle --seed 7` does.
async function train(network, { steps, batch, rate, threads = 1 }, ...words) {
  const path = folder();
  const options = ['--entry', 'train,infer', '--batch', batch, '--init', 'xavier', '--seed', 3, ...words];
  const { open, readParams } = await page(bin, join(path, 'page'), network, ...options);
  const { digit } = await import(pathToFileURL(join(path, 'page', 'digits.mjs')).href);
  const net = await open({ threads });
  const entry = net.entry('train');
  const [data, label] = ['data', 'label'].map((role) => entry.inputs.find((t) => t.role === role).name);
  const losses = [];
  for (let step = 0; step < steps; ++step) {
    const samples = Array.from({ length: batch }, (_, row) => digit(7, step * batch + row));
    losses.push(net.run('train', {
      [data]: Float32Array.from(samples.flatMap(({ picture }) => [...picture]), (pixel) => pixel / 255),
      [label]: samples.map((sample) => sample.label),
      learning_rate: [rate],
    }).loss[0]);
  }
  mxc(bin, 'compile', network, '--target', 'x86-64-v2', '--golden', 'off', '--quiet', '-o',
    join(path, 'net.mxa'), ...options);
  mxc(bin, 'train', join(path, 'net.mxa'), '--data', 'digits', '--no-shuffle', '--seed', 7, '--steps',
    steps, '--lr', rate, '--threads', 1, '--save', join(path, 'after'));
  const ours = net.save();
  const theirs = new Uint8Array(readFileSync(join(path, 'after-0001.params')));
  const [a, b] = [readParams(ours), readParams(theirs)];
  check(a.size > 0 && a.size === b.size, `${network}: the arrays of .params`);
  for (const [name, array] of a) {
    check(sameBytes(array.data, b.get(name).data), `${network}: ${name} after ${steps} steps`);
  }
  const mean = (list) => list.reduce((sum, loss) => sum + loss, 0) / list.length;
  const [begins, ends] = [mean(losses.slice(0, steps / 2)), mean(losses.slice(-steps / 2))];
  check(ends < begins, `${network}: it learns: from ${begins} to ${ends}`);
  return { net, path, ours, theirs, readParams };
}

function refusal(act) {
  try {
    act();
  } catch (error) {
    return error instanceof Error && error.constructor === Error ? error.message : `not a sentence: ${error.stack}`;
  }
  return '';
}

function damaged({ net, ours, theirs }) {
  net.load(theirs);
  check(sameBytes(net.save(), ours), 'what is loaded is what is saved');
  for (let length = 0; length < Math.min(ours.length, 400); ++length) {
    const said = refusal(() => net.load(ours.slice(0, length)));
    check(said !== '' && !said.startsWith('not'), `a file that ends at byte ${length}: ${said}`);
  }
  for (let at = 0; at < 300; ++at) {
    for (const byte of [0, 0x7f, 0xff]) {
      const changed = ours.slice();
      changed[at] = byte;
      const said = refusal(() => net.load(changed));
      check(!said.startsWith('not'), `byte ${at} of the file is ${byte}: ${said}`);
    }
  }
  net.load(ours);
  check(refusal(() => net.load(new TextEncoder().encode('{"mxc": 1, "name": 1}'))) === 'this is no .params file', 'JSON as .params');
  check(sameBytes(net.save(), ours), 'a refused file changes nothing');
}

function wrongInputs({ net }) {
  const said = (act) => refusal(act);
  check(said(() => net.run('fly')) === "there is no entry 'fly'; known: train, infer", 'an unknown entry');
  check(said(() => net.run('infer', { x: [1] })) === "entry 'infer' has no input 'x'; it has data", 'an unknown input');
  check(said(() => net.run('infer', { data: [1, 2] })).startsWith("input 'data' has 2 elements, expected f32["), 'a short input');
}

await answers();
await lengths();
await train(model('mlp'), { steps: 20, batch: 16, rate: 0.1 });
(await train(model('lenet'), { steps: 5, batch: 16, rate: 0.05, threads: 2 })).net.close();
const lenet = await train(model('lenet'), { steps: 20, batch: 16, rate: 0.05 }, '--opt', 'momentum=0.9');
damaged(lenet);
wrongInputs(lenet);
const code = readFileSync(join(lenet.path, 'page', 'lenet.wasm'));
check(WebAssembly.Module.imports(new WebAssembly.Module(code)).length === 0, 'the module imports nothing');
const size = (name) => statSync(join(lenet.path, 'page', name)).size;
check(size('lenet.wasm') <= 120e3, `LeNet's module with training has ${size('lenet.wasm')} bytes`);
const shared = WebAssembly.Module.imports(new WebAssembly.Module(readFileSync(join(lenet.path, 'page', 'lenet.team.wasm'))));
check(JSON.stringify(shared) === '[{"module":"env","name":"memory","kind":"memory"}]', 'the module for threads imports its memory alone');
const download = ['lenet.team.wasm', 'worker.mjs', 'lenet.mjs', 'index.html', 'digits.mjs'].reduce((sum, name) => sum + size(name), 0);
check(download < 200e3, `LeNet's page has ${download} bytes without weights`);
console.log(`lenet.wasm ${size('lenet.wasm')}, page ${download} bytes`);
process.exit(outcome());
