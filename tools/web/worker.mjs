// SPDX-License-Identifier: Apache-2.0
// A thread of a network, which net.mjs starts: an instance of its module over the
// shared memory. It is told once what to do, and ends when it is ended.

/**
 * @param {{module: WebAssembly.Module, memory: WebAssembly.Memory, worker: number}} task
 * @param {() => void} ready  is told before the thread begins to wait for work
 */
async function work({ module, memory, worker }, ready) {
  const { exports } = await WebAssembly.instantiate(module, { env: { memory } });
  const stacks = exports.mxc_stacks.value >>> 0;
  exports.__stack_pointer.value = stacks + 65536 * (worker + 1);
  ready();
  exports.mxc_work(worker);
}

if (typeof WorkerGlobalScope === 'undefined') {
  const { parentPort, workerData } = await import('node:worker_threads');
  await work(workerData, () => parentPort.postMessage(0));
} else {
  self.onmessage = ({ data }) => work(data, () => self.postMessage(0));
}
