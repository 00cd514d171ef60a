// SPDX-License-Identifier: Apache-2.0
// What tests of pages share: mxc as a process, arrays as files, comparisons.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const source = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

process.setMaxListeners(0);

let failures = 0;
export function check(holds, what) {
  if (holds) return;
  failures += 1;
  console.error(`failed: ${what}`);
}
export const outcome = () => Math.min(failures, 1);

/** A folder that goes when the process does. */
export function folder() {
  const path = mkdtempSync(join(tmpdir(), 'mxc-web-'));
  process.on('exit', () => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** What `mxc …` says on stdout; its stderr where it fails. */
export function mxc(bin, ...words) {
  try {
    return execFileSync(join(bin, 'mxc'), words.map(String),
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28 });
  } catch (error) {
    throw new Error(`mxc ${words.join(' ')}\n${error.stderr}`);
  }
}

/** The module of a page that is compiled with these words. */
export async function page(bin, into, network, ...words) {
  mxc(bin, 'compile', network, '--emit', 'web', '-o', into, '--quiet', ...words);
  const name = readdirSync(into).find((file) => file.endsWith('.mjs') && file !== 'digits.mjs');
  return import(pathToFileURL(join(into, name)).href);
}

const TYPES = { f32: '<f4', f64: '<f8', i32: '<i4', i64: '<i8', u8: '|u1' };

/** A .npy of a tensor of the description. */
export function writeNpy(path, tensor, values) {
  const shape = tensor.shape.length === 1 ? `${tensor.shape[0]},` : tensor.shape.join(', ');
  const header = `{'descr': '${TYPES[tensor.dtype]}', 'fortran_order': False, 'shape': (${shape}), }`;
  const head = Buffer.from('\x93NUMPY\x01\x00\x76\x00' + header.padEnd(117) + '\n', 'latin1');
  writeFileSync(path, Buffer.concat([head, Buffer.from(values.buffer, values.byteOffset, values.byteLength)]));
}

/** The elements of a .npy of floats. */
export function readNpy(path) {
  const bytes = readFileSync(path), at = 10 + bytes.readUInt16LE(8);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset + at, bytes.byteOffset + bytes.length));
}

/** Numbers in [-1, 1), or whole ones below 50, the same for the same seed. */
export function draw(tensor, seed) {
  let state = seed >>> 0 || 1;
  const next = () => {
    state ^= state << 13; state ^= state >>> 17; state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  const n = tensor.shape.reduce((a, b) => a * b, 1);
  const float = tensor.dtype.startsWith('f');
  const values = Array.from({ length: n }, () => float ? 2 * next() - 1 : Math.floor(50 * next()));
  return { f32: Float32Array, f64: Float64Array, i32: Int32Array, u8: Uint8Array,
    i64: { from: (list) => BigInt64Array.from(list, BigInt) } }[tensor.dtype].from(values);
}

/** The largest difference, of how far the elements of one lie apart. */
export function difference(ours, theirs) {
  let least = Infinity, most = -Infinity, worst = ours.length === theirs.length ? 0 : Infinity;
  ours.forEach((x, i) => {
    least = Math.min(least, x);
    most = Math.max(most, x);
    // Equal ones, infinite or no numbers, differ by nothing.
    if (!Object.is(x, theirs[i])) worst = Math.max(worst, Math.abs(x - theirs[i]) || 0);
    if (Number.isNaN(x) !== Number.isNaN(theirs[i])) worst = Infinity;
  });
  return worst / Math.max(most - least, 1e-6 * Math.max(Math.abs(most), Math.abs(least)), 1e-30);
}

export const sameBytes = (a, b) => Buffer.from(a.buffer, a.byteOffset, a.byteLength)
  .equals(Buffer.from(b.buffer, b.byteOffset, b.byteLength));

/**
 * A network's page, opened as `how` says, and its artifact for x86-64-v2 beside each
 * other, for the same drawn inputs: the worst difference of an output, and whether all bytes agree.
 */
export async function compare(bin, network, how, ...words) {
  const path = folder(), options = ['--init', 'msra', '--seed', '3'];
  const { open } = await page(bin, join(path, 'page'), network, ...options, ...words);
  const net = await open(how);
  mxc(bin, 'compile', network, '--target', 'x86-64-v2', '--golden', 'off', '--quiet', '-o',
    join(path, 'net.mxa'), ...options);
  const inputs = {}, given = [];
  net.entry('infer').inputs.forEach((tensor, k) => {
    inputs[tensor.name] = draw(tensor, k + 1);
    const file = join(path, `in${k}.npy`);
    writeNpy(file, tensor, inputs[tensor.name]);
    given.push('--input', `${tensor.name}=${file}`);
  });
  const into = join(path, 'out');
  mxc(bin, 'run', join(path, 'net.mxa'), ...given, '--output-dir', into, '--threads', 1);
  const outputs = Object.values(net.run('infer', inputs));
  const theirs = readdirSync(into).sort().map((file) => readNpy(join(into, file)));
  return {
    net,
    inputs,
    worst: Math.max(...outputs.map((output, k) => difference(output, theirs[k]))),
    same: outputs.length === theirs.length && outputs.every((output, k) => sameBytes(output, theirs[k])),
  };
}
