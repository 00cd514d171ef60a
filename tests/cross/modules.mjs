// SPDX-License-Identifier: Apache-2.0
// usage: node modules.mjs
// Runs modules of WebAssembly as artifacts.c does artifacts. A line on stdin,
//
//   FOLDER RUNS SYMBOL STEPS
//
// is one, FOLDER/module.wasm, with the bytes of its regions (codegen/web/web_module.h)
// in the files weights, states and tensors. The tensors after each run, and then the
// states, go to FOLDER/results.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

function run(folder, runs, symbol, steps) {
  const file = (name) => readFileSync(join(folder, name));
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(file('module.wasm')));
  const regions = Object.fromEntries(['weights', 'states', 'tensors'].map((name) => {
    const bytes = file(name);
    const region = new Uint8Array(exports.memory.buffer, exports[`mxc_${name}`].value >>> 0, bytes.length);
    region.set(bytes);
    return [name, region];
  }));
  const results = [];
  for (let i = 0; i < Number(runs); ++i) {
    exports[symbol](0, Number(steps));
    results.push(regions.tensors.slice());
  }
  writeFileSync(join(folder, 'results'), Buffer.concat([...results, regions.states]));
}

for await (const line of createInterface({ input: process.stdin })) {
  let said = 'done';
  try {
    run(...line.split(' '));
  } catch (error) {
    said = String(error.message).split('\n')[0];
  }
  process.stdout.write(`${said}\n`);
}
