// SPDX-License-Identifier: Apache-2.0
// usage: node runner.mjs FILE ADDRESS BYTES
// Runs kernels of WebAssembly as runner.c does those of other processors. No module
// can have the file as its memory: what is in use is copied in and out around each
// run. Nor can pages be forbidden: they are filled, with NaN, and must stay so.
import { openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

const PAGE = 1 << 16, TABLE = 8 << 20, BASE = 16 << 20; // behind a module's stack and constants
const FORBIDDEN = 0xff;

const [path, address] = process.argv.slice(2);
const file = openSync(path, 'r+'), start = BigInt(address);
const memory = new WebAssembly.Memory({ initial: BASE / PAGE });
const modules = [], forbidden = new Map();

const here = (pointer) => (BigInt(pointer) === 0n ? 0 : BASE + Number(BigInt(pointer) - start));

function reserve(end) {
  const pages = Math.ceil((end - memory.buffer.byteLength) / PAGE);
  if (pages > 0) memory.grow(pages);
}

function run([number, used, begin, end, step, scratch, ...operands]) {
  reserve(BASE + Number(used));
  const bytes = new Uint8Array(memory.buffer, BASE, Number(used));
  readSync(file, bytes, 0, bytes.length, 0);
  const fences = [...forbidden].filter(([at]) => at < BASE + bytes.length)
    .map(([at, length]) => new Uint8Array(memory.buffer, at, length));
  for (const fence of fences) fence.fill(FORBIDDEN);
  new Uint32Array(memory.buffer, TABLE, operands.length).set(operands.map(here));
  // With its constants, which other modules have elsewhere.
  const { kernel } = new WebAssembly.Instance(modules[number], { env: { memory } }).exports;
  const by = BigInt(step), many = by < 0n ? -by : by;
  for (let task = BigInt(begin); task !== BigInt(end); task += by) {
    kernel(TABLE, task, task + many, here(scratch));
  }
  if (!fences.every((fence) => fence.every((byte) => byte === FORBIDDEN))) return 1;
  writeSync(file, bytes, 0, bytes.length, 0);
  return 0;
}

const commands = {
  run,
  load: ([library]) => modules.push(new WebAssembly.Module(readFileSync(library))) - 1,
  protect([at, length, allowed]) {
    const first = here(at), end = first + Number(length);
    for (const each of forbidden.keys()) {
      if (first <= each && each < end) forbidden.delete(each);
    }
    if (Number(allowed) === 0) forbidden.set(first, Number(length));
    return 0;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [command, ...words] = line.split(' ');
  writeSync(1, `${commands[command](words)}\n`);
}
