// SPDX-License-Identifier: Apache-2.0
// What a core can multiply and add in WebAssembly without relaxed SIMD, and which
// share of a network's multiplications each class of its layers does.

const F32X4_ADD = [0xfd, 0xe4, 0x01], F32X4_MUL = [0xfd, 0xe6, 0x01];
const SUMS = 12;  // chains, to fill two multipliers and two adders of three cycles each
const LANES = 4;

const unsigned = (n) => n < 128 ? [n] : [n % 128 + 128, ...unsigned(Math.floor(n / 128))];
const sized = (bytes) => [...unsigned(bytes.length), ...bytes];
const section = (id, bytes) => [id, ...sized(bytes)];
const splat = (value) => [
  0x43, ...new Uint8Array(Float32Array.of(value).buffer), 0xfd, 0x13];

// (count: i32) => f32: each sum becomes sum * 0.5 + 1, count times.
function peakModule() {
  const factor = 1, term = 2, sum = (k) => 3 + k;
  const loop = [];
  for (let k = 0; k < SUMS; ++k) {
    loop.push(0x20, sum(k), 0x20, factor, ...F32X4_MUL, 0x20, term, ...F32X4_ADD, 0x21, sum(k));
  }
  const body = [
    1, ...unsigned(2 + SUMS), 0x7b,                         // locals: v128
    ...splat(0.5), 0x21, factor, ...splat(1), 0x21, term,
    0x03, 0x40, ...loop,
    0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b,         // while (count -= 1)
    0x20, sum(0),
    ...Array.from({ length: SUMS - 1 }, (_, k) => [0x20, sum(k + 1), ...F32X4_ADD]).flat(),
    0xfd, 0x1f, 0, 0x0b,                                    // lane 0
  ];
  return new Uint8Array([
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    ...section(1, [1, 0x60, 1, 0x7f, 1, 0x7d]),
    ...section(3, [1, 0]),
    ...section(7, [1, ...sized([...Buffer.from('peak')]), 0, 0]),
    ...section(10, [1, ...sized(body)]),
  ]);
}

/** GFLOP/s of one thread. */
export function peak() {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(peakModule()));
  const count = 1 << 20;
  for (let i = 0; i < 20; ++i) exports.peak(count);
  let best = Infinity;
  for (let i = 0; i < 100; ++i) {
    const start = performance.now();
    exports.peak(count);
    best = Math.min(best, performance.now() - start);
  }
  return 2 * LANES * SUMS * count / best / 1e6;
}

const extentOf = (text) => Number(/\d+/.exec(text)[0]);

// Of the multiplications that the definition has, those that the algorithm needs; with
// strides Winograd's takes each phase of the window by itself.
function needed(algorithm, node) {
  const winograd = /^winograd(\d+)/.exec(algorithm);
  if (winograd) {
    const tile = Number(winograd[1]), kernel = extentOf(node.attrs.kernel);
    const phases = extentOf(node.attrs.stride ?? '1');
    const taps = Math.ceil(kernel / phases);
    return (phases * (tile + taps - 1) / (tile * kernel)) ** 2;
  }
  return algorithm.startsWith('strassen') ? 7 / 8 : 1;
}

function classOf(node, algorithm, isFirst) {
  if (node?.op === 'FullyConnected') return 'dense';
  if (node?.op !== 'Convolution') return 'other';
  const name = algorithm.split(' ')[0].replace(/\d+$/, '');
  if (isFirst) return `first layer, ${name}`;
  const kernel = extentOf(node.attrs.kernel);
  return name === 'depthwise' ? name : `${kernel}x${kernel}, ${name}`;
}

/**
 * Rows of classes: milliseconds, and GFLOP/s by the definition and by what the
 * algorithm multiplies.
 * @param steps {{name, kernel, flops, milliseconds}[]}
 * @param nodes of the network as MXNet's JSON has them
 */
export function classes(steps, nodes) {
  const named = new Map(nodes.map((node) => [node.name, node]));
  const first = nodes.find(({ op }) => op === 'Convolution')?.name;
  const found = new Map();
  for (const { name, kernel, flops, milliseconds } of steps) {
    const node = name.includes('/') ? undefined
      : name.split('+').map((part) => named.get(part)).find((n) => n?.op === 'Convolution' || n?.op === 'FullyConnected');
    const key = classOf(node, kernel, node?.name === first);
    const row = found.get(key) ?? { key, steps: 0, milliseconds: 0, flops: 0, multiplied: 0 };
    row.steps += 1;
    row.milliseconds += milliseconds;
    row.flops += flops;
    row.multiplied += flops * needed(kernel, node);
    found.set(key, row);
  }
  return [...found.values()].sort((a, b) => b.milliseconds - a.milliseconds);
}
