// SPDX-License-Identifier: Apache-2.0
/**
 * A network that mxc compiled to WebAssembly, for browsers and Node.
 *
 *     import { open } from './net.mjs';
 *     const net = await open();
 *     const { softmax_output } = net.run('infer', { data: pixels });
 *
 * and, where it was compiled with `--entry train,…`,
 *
 *     const { loss } = net.run('train', { data, softmax_label, learning_rate: [0.1] });
 *     const file = net.save();  // the bytes of a .params file, as MXNet's
 *
 * Tensors are dense and row-major, in typed arrays: f32 Float32Array, f64
 * Float64Array, i32 Int32Array, i64 BigInt64Array, u8 Uint8Array and so on; f16
 * and bf16 are their bits in a Uint16Array. Calls return when all is computed, one
 * at a time. Where memory can be shared (Node, pages that are isolated from others
 * by COOP and COEP), workers take parts of each step, and change no byte. Errors
 * are sentences.
 *
 * Of a network for sequences of any length up to a bound (`--length`) run('infer')
 * takes as many elements as the sequences have, and yields as many. Where an input
 * has two lengths of its own, a third argument says them: `{ S: 40, T: 7 }`.
 *
 * @typedef {{axis: number, inner: number, length: string}} Open  index i is of entry
 *   i / inner % length
 * @typedef {{name: string, dtype: string, shape: number[], role: string,
 *            offset: number, open?: Open[]}} Tensor  open: along which it may be
 *   shorter than its shape has it
 * @typedef {Record<string, number>} Lengths  by name; '': the only one
 * @typedef {Tensor & {initial: number}} State  initial: a place in the weights
 *   file, -1 for zeros
 * @typedef {{name: string, symbol: string, batch: number, lengths: Lengths,
 *            inputs: Tensor[], outputs: Tensor[], steps: string[]}} Entry  lengths:
 *   of the sequences that it is for, {}: any
 * @typedef {{name: string, wasm: string, weights: string, weightBytes: number,
 *            team: {wasm: string, pages: number, workers: number}, target: string, entries: Entry[], states: State[],
 *            labels: string[], preprocessing: string}} Description
 * @typedef {ArrayLike<number|bigint>} Values
 * @typedef {{dtype: string, shape: number[], data: any}} NamedArray
 */

/** @type {Description} What was compiled. */
export const description = /* written by mxc */ null;

// By MXNet's type flags, which .params files hold.
const ARRAYS = {
  f32: Float32Array, f64: Float64Array, f16: Uint16Array, u8: Uint8Array,
  i32: Int32Array, i8: Int8Array, i64: BigInt64Array, bool: Uint8Array,
  i16: Int16Array, u16: Uint16Array, u32: Uint32Array, u64: BigUint64Array,
  bf16: Uint16Array,
};
const DTYPES = Object.keys(ARRAYS);

/** @param {number[]} shape */
const count = (shape) => shape.reduce((n, extent) => n * extent, 1);
/** The elements that count. @param {Entry} entry @param {Tensor} t @param {Lengths} lengths */
const countAt = (entry, t, lengths) => (t.open ?? []).reduce(
    (n, { length }) => n / entry.lengths[length] * lengths[length], count(t.shape));
/**
 * Calls `copy(whole, counted, n)` for each run of `n` elements that count: from where
 * it lies among all, and among those that count.
 * @param {Entry} entry @param {Tensor} t @param {Lengths} lengths
 * @param {(whole: number, counted: number, n: number) => void} copy
 */
const visitCounted = (entry, t, lengths, copy) => {
  /** @type {{count: number, whole: number, counted: number}[]} */
  const loops = [];
  let run = 1, whole = 1, counted = 1;
  const add = (/** @type {number} */ most, /** @type {number} */ some) => {
    if (run === whole) run *= some;
    else if (most > 1) loops.push({ count: some, whole, counted });
    whole *= most;
    counted *= some;
  };
  for (let axis = t.shape.length; axis-- > 0;) {
    const open = (t.open ?? []).find((o) => o.axis === axis);
    const inner = open ? open.inner : 1, most = open ? entry.lengths[open.length] : 1;
    const sequences = t.shape[axis] / (most * inner);
    add(inner, inner);
    add(most, open ? lengths[open.length] : 1);
    add(sequences, sequences);
  }
  const visit = (/** @type {number} */ k, /** @type {number} */ from, /** @type {number} */ to) => {
    if (k === 0) return copy(from, to, run);
    const loop = loops[k - 1];
    for (let i = 0; i < loop.count; ++i) visit(k - 1, from + i * loop.whole, to + i * loop.counted);
  };
  visit(loops.length, 0, 0);
};
/** For an error. @param {Entry} entry @param {Open[]} open @param {Tensor} input */
const eachOf = (entry, open, input) => {
  const ones = Object.fromEntries(open.map((o) => [o.length, 1]));
  const names = open.map((o) => o.length ? `'${o.length}'` : 'a sequence').join(' × ');
  return `${countAt(entry, input, ones)} for each entry of ${names}`;
};
/** @param {{dtype: string, shape: number[]}} t */
const typeOf = (t) => `${t.dtype}[${t.shape.join(', ')}]`;

const PIECE = 4 << 20, AT_ONCE = 4;

/** @param {URL} url @returns {Promise<Uint8Array>} */
async function fileOf(url) {
  const { readFile } = await import('node:fs/promises');
  return new Uint8Array(await readFile(url));
}

/** @param {URL} url @param {RequestInit} [request] */
async function ask(url, request) {
  const answer = await fetch(url, request);
  if (!answer.ok) {
    throw new Error(`${url}: the server answers ${answer.status}`);
  }
  return answer;
}

/**
 * Fills `to` with the file, piece by piece where the server knows ranges.
 * @param {URL} url @param {Uint8Array} to
 * @param {(done: number, all: number) => void} onProgress
 */
async function fill(url, to, onProgress) {
  const whole = (/** @type {Uint8Array} */ bytes) => {
    if (bytes.length !== to.length) {
      throw new Error(`${url}: ${bytes.length} bytes, expected ${to.length}`);
    }
    to.set(bytes);
    onProgress(to.length, to.length);
  };
  if (to.length === 0) return;
  if (url.protocol === 'file:') return whole(await fileOf(url));
  let next = 0, done = 0, ended = false;
  const worker = async () => {
    while (next < to.length && !ended) {
      const from = next, end = Math.min(from + PIECE, to.length);
      next = end;
      const answer = await ask(url, { headers: { Range: `bytes=${from}-${end - 1}` } });
      const bytes = new Uint8Array(await answer.arrayBuffer());
      if (ended) return;
      if (answer.status !== 206) {
        ended = true;
        return whole(bytes);
      }
      if (bytes.length !== end - from) {
        throw new Error(`${url}: ${bytes.length} bytes from ${from} on, expected ${end - from}`);
      }
      to.set(bytes, from);
      onProgress(done += bytes.length, to.length);
    }
  };
  // The first says whether there are ranges at all.
  const first = worker();
  await Promise.all([first, ...Array.from({ length: to.length > PIECE ? AT_ONCE - 1 : 0 }, worker)]);
}

// As many as there are processors, where workers can share memory unasked.
function usualThreads() {
  const scope = /** @type {any} */ (globalThis);
  return scope.crossOriginIsolated && scope.Worker ? navigator.hardwareConcurrency || 1 : 1;
}

/**
 * A thread that takes part in all that the network computes, once it is ready.
 * @param {{module: WebAssembly.Module, memory: WebAssembly.Memory, worker: number}} task
 * @param {string|URL} base @returns {Promise<{terminate: () => any}>}
 */
async function startWorker(task, base) {
  const url = new URL('worker.mjs', base);
  if (url.protocol === 'file:') {
    const { Worker } = await import('node:worker_threads');
    const worker = new Worker(url, { workerData: task });
    await new Promise((ready, failed) => worker.once('message', ready).once('error', failed));
    worker.unref();
    return worker;
  }
  const worker = new Worker(url, { type: 'module' });
  await new Promise((ready, failed) => {
    worker.onmessage = ready;
    worker.onerror = () => failed(new Error(`${url}: the worker does not start`));
    worker.postMessage(task);
  });
  return worker;
}

/** A network and its memory. */
export class Network {
  /**
   * @param {WebAssembly.Instance} instance @param {WebAssembly.Memory} [memory]
   * @param {{terminate: () => any}[]} [workers]
   */
  constructor(instance, memory, workers = []) {
    this.description = description;
    this.exports = /** @type {any} */ (instance.exports);
    this.memory = memory ?? /** @type {WebAssembly.Memory} */ (this.exports.memory);
    this.workers = workers;
    if (memory) this.exports.mxc_begin(workers.length);
  }

  /** Of those who compute, this one too. */
  get threads() {
    return this.workers.length + 1;
  }

  /** Ends the other threads; what runs then runs on this one. */
  close() {
    if (this.workers.length > 0) this.exports.mxc_begin(0);
    for (const worker of this.workers) worker.terminate();
    this.workers = [];
  }

  /**
   * A tensor's elements where they lie: of an input, until a run, what is
   * written here is as good as given.
   * @param {Tensor} tensor @param {'tensors'|'states'|'weights'} region
   */
  view(tensor, region = 'tensors') {
    const base = this.exports[`mxc_${region}`].value >>> 0;
    return new ARRAYS[tensor.dtype](
        this.memory.buffer, base + tensor.offset, count(tensor.shape));
  }

  /**
   * @param {string} name @param {number} [batch]
   * @returns {Entry | undefined} that for this batch; the first if none is given
   */
  entry(name, batch) {
    return description.entries.find(
        (e) => e.name === name && (batch === undefined || e.batch === batch));
  }

  /** @param {string|Entry} which @returns {Entry} */
  known(which) {
    const entry = typeof which === 'string' ? this.entry(which) : which;
    if (entry) return entry;
    const known = description.entries.map((e) => e.name).join(', ');
    throw new Error(`there is no entry '${which}'; known: ${known}`);
  }

  /**
   * Those that are known, and those that follow from inputs with one that is not.
   * @param {Entry} entry @param {Record<string, Values>} inputs @param {Lengths} known
   */
  lengthsOf(entry, inputs, known) {
    const lengths = /** @type {Lengths} */ ({ ...known });
    for (let changed = true; changed;) {
      changed = false;
      for (const t of entry.inputs) {
        if (!t.open || !inputs[t.name]) continue;
        const left = new Set(t.open.map((o) => o.length).filter((name) => !(name in lengths)));
        if (left.size !== 1) continue;
        const [name] = left;
        const times = t.open.filter((o) => o.length === name).length;
        const one = countAt(entry, t, { ...lengths, [name]: 1 });
        const length = (inputs[t.name].length / one) ** (1 / times);
        lengths[name] = times > 1 ? Math.round(length) : length;
        changed = true;
      }
    }
    for (const [name, most] of Object.entries(entry.lengths)) lengths[name] ??= most;
    return lengths;
  }

  /**
   * The shortest entry that sequences of the inputs fit into, and their lengths.
   * @param {string|Entry} which @param {Record<string, Values>} inputs
   * @param {Lengths} [known]
   * @returns {{entry: Entry, lengths: Lengths}}
   */
  fitting(which, inputs, known = {}) {
    const size = (/** @type {Entry} */ e) => Object.values(e.lengths).reduce((n, most) => n * most, 1);
    const open = typeof which === 'string' && !this.entry(which) ?
      description.entries.filter((e) => e.name.startsWith(`${which}:`) && Object.keys(e.lengths).length > 0)
          .sort((a, b) => size(a) - size(b)) : [];
    if (open.length === 0) open.push(this.known(which));
    for (const entry of open) {
      const lengths = entry.inputs.some((t) => t.open) ? this.lengthsOf(entry, inputs, known) : entry.lengths;
      const possible = Object.entries(entry.lengths).every(([name, most]) =>
        Number.isInteger(lengths[name]) && lengths[name] >= 1 && lengths[name] <= most);
      const fits = possible && entry.inputs.every(
          (t) => !inputs[t.name] || inputs[t.name].length === countAt(entry, t, lengths));
      if (fits) return { entry, lengths };
    }
    const entry = open[open.length - 1];
    return { entry, lengths: entry.lengths };
  }

  /**
   * Runs an entry: 'infer', 'score', or 'train', which changes the parameters.
   * @param {string|Entry} which
   * @param {Record<string, Values>} inputs by name; one that is left out keeps
   *   its elements from the run before
   * @param {Lengths} [known] by name, those that the inputs do not tell
   * @returns {Record<string, any>} copies of the outputs, by name
   */
  run(which, inputs = {}, known = {}) {
    const { entry, lengths } = this.fitting(which, inputs, known);
    for (const [name, values] of Object.entries(inputs)) {
      const input = entry.inputs.find((t) => t.name === name);
      if (!input) {
        const known = entry.inputs.map((t) => t.name).join(', ');
        throw new Error(`entry '${entry.name}' has no input '${name}'; it has ${known}`);
      }
      const to = this.view(input);
      if (values.length !== countAt(entry, input, lengths)) {
        throw new Error(`input '${name}' has ${values.length} elements, expected ${typeOf(input)}` +
          (input.open ? ` or shorter, ${eachOf(entry, input.open, input)}` : ''));
      }
      const wide = to instanceof BigInt64Array || to instanceof BigUint64Array;
      const given = wide ? Array.from(values, BigInt) : /** @type {any} */ (values);
      const from = input.open ? new ARRAYS[input.dtype](given) : given;
      if (!input.open) to.set(from);
      else visitCounted(entry, input, lengths, (whole, counted, n) =>
        to.set(from.subarray(counted, counted + n), whole));
    }
    for (const counted of entry.inputs.filter((t) => t.role === 'length')) {
      this.view(counted)[0] = lengths[counted.name.slice('length:'.length)];
    }
    this.exports[entry.symbol](0, entry.steps.length);
    return Object.fromEntries(entry.outputs.map((t) => {
      const whole = this.view(t);
      if (!t.open) return [t.name, whole.slice()];
      const output = new ARRAYS[t.dtype](countAt(entry, t, lengths));
      visitCounted(entry, t, lengths, (from, to, n) =>
        output.set(whole.subarray(from, from + n), to));
      return [t.name, output];
    }));
  }

  /**
   * How long each step of an entry takes here, the least of some runs, by the
   * clock, which in a page has steps of 5 to 100 microseconds. Inputs are those of
   * the run before; 'train' trains.
   * @param {string|Entry} which @param {number} [runs]
   * @returns {{step: string, milliseconds: number}[]}
   */
  profile(which, runs = 10) {
    const entry = this.known(which), run = this.exports[entry.symbol];
    const rows = entry.steps.map((step) => ({ step, milliseconds: Infinity }));
    for (; runs > 0; --runs) {
      rows.forEach((row, i) => {
        const start = performance.now();
        run(i, i + 1);
        row.milliseconds = Math.min(row.milliseconds, performance.now() - start);
      });
    }
    return rows;
  }

  /** Parameters, moving statistics and the optimizer's numbers, as compiled. */
  reset() {
    for (const state of description.states) {
      const to = this.view(state, 'states');
      if (state.initial < 0) new Uint8Array(to.buffer, to.byteOffset, to.byteLength).fill(0);
      else to.set(this.view({ ...state, offset: state.initial }, 'weights'));
    }
  }

  /** @returns {State[]} what a .params file holds */
  trained() {
    return description.states.filter((s) => s.role === 'parameter' || s.role === 'auxiliary');
  }

  /** @returns {Uint8Array} a .params file of the parameters as they are */
  save() {
    /** @type {Map<string, NamedArray>} */
    const arrays = new Map();
    for (const state of this.trained()) {
      const prefix = state.role === 'parameter' ? 'arg:' : 'aux:';
      arrays.set(prefix + state.name, { ...state, data: this.view(state, 'states') });
    }
    return writeParams(arrays);
  }

  /**
   * Takes the parameters of a .params file; the optimizer begins anew. Nothing
   * changes where one is missing or is of another type.
   * @param {Uint8Array} bytes
   */
  load(bytes) {
    const arrays = readParams(bytes);
    const found = this.trained().map((state) => {
      const array = ['arg:', 'aux:', ''].map((prefix) => arrays.get(prefix + state.name)).find(Boolean);
      if (!array) throw new Error(`the file has no array '${state.name}'`);
      if (typeOf(array) !== typeOf(state)) {
        throw new Error(`'${state.name}' is ${typeOf(array)} in the file, expected ${typeOf(state)}`);
      }
      return { state, array };
    });
    if (found.length === 0) throw new Error('this network was compiled without --entry train and keeps its weights');
    this.reset();
    for (const { state, array } of found) this.view(state, 'states').set(array.data);
  }
}

/**
 * Fetches the module and its weights, which lie beside this file.
 * @param {{base?: string|URL, threads?: number,
 *          onProgress?: (done: number, all: number) => void}} [options]
 *   base: the address of the folder, if it is another; threads: at most so many, as
 *   many as there are processors in an isolated page and one elsewhere if it is not
 *   said; onProgress is told bytes of weights
 */
export async function open({ base = import.meta.url, threads = usualThreads(), onProgress = () => {} } = {}) {
  const { team } = description;
  const others = Math.min(threads, team.workers + 1) - 1;
  const url = new URL(others > 0 ? team.wasm : description.wasm, base);
  const code = url.protocol === 'file:' ? await fileOf(url) : await (await ask(url)).arrayBuffer();
  const module = await WebAssembly.compile(code);
  const memory = others > 0 ?
    new WebAssembly.Memory({ initial: team.pages, maximum: team.pages, shared: true }) : undefined;
  const instance = await WebAssembly.instantiate(module, memory ? { env: { memory } } : {});
  // Those that start; a page may be forbidden to have any.
  const started = await Promise.allSettled(Array.from({ length: memory ? others : 0 },
      (_, worker) => startWorker({ module, memory, worker }, base)));
  const workers = started.flatMap((one) => one.status === 'fulfilled' ? [one.value] : []);
  const net = new Network(instance, memory, workers);
  const weights = net.view(
      { name: '', role: '', dtype: 'u8', shape: [description.weightBytes], offset: 0 }, 'weights');
  await fill(new URL(description.weights, base), weights, onProgress);
  net.reset();
  return net;
}

const LIST = 0x112n, V1 = 0xf993fac8, V2 = 0xf993fac9, V3 = 0xf993faca;

/**
 * The arrays of a .params file of any MXNet, by name.
 * @param {Uint8Array} bytes @returns {Map<string, NamedArray>}
 */
export function readParams(bytes) {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const take = (/** @type {number} */ n) => {
    if (!(n <= bytes.length - at)) throw new Error(`the .params file ends early, at byte ${at}`);
    at += n;
    return at - n;
  };
  const u32 = () => data.getUint32(take(4), true);
  const u64 = () => Number(data.getBigUint64(take(8), true));
  if (bytes.length < 8 || data.getBigUint64(0, true) !== LIST) throw new Error('this is no .params file');
  at = 16;
  const arrays = [];
  for (let n = u64(); n > 0; --n) {
    const start = at, magic = u32();
    if ((magic === V2 || magic === V3) && u32() !== 0) {
      throw new Error(`the array at byte ${start} is sparse`);
    }
    const wide = magic === V1 || magic === V2 || magic === V3;
    const rank = wide ? u32() : magic;
    if (rank === 0 && magic !== V3) throw new Error(`the array at byte ${start} is empty`);
    if (rank > 32) throw new Error(`the array at byte ${start} has ${rank} axes`);
    const shape = Array.from({ length: rank }, wide ? u64 : u32);
    take(8);  // the device it was on
    const dtype = DTYPES[u32()];
    if (!dtype) throw new Error(`the array at byte ${start} is of an unknown type`);
    const size = count(shape) * ARRAYS[dtype].BYTES_PER_ELEMENT;
    const from = take(size);
    arrays.push({ dtype, shape, data: new ARRAYS[dtype](bytes.slice(from, from + size).buffer) });
  }
  const names = u64();
  if (names !== arrays.length) throw new Error(`${arrays.length} arrays have ${names} names`);
  return new Map(arrays.map((array) => {
    const length = u64(), from = take(length);
    return [new TextDecoder().decode(bytes.subarray(from, from + length)), array];
  }));
}

/**
 * A .params file, as `mx.nd.load` reads it.
 * @param {Map<string, NamedArray>} arrays @returns {Uint8Array}
 */
export function writeParams(arrays) {
  /** @type {Uint8Array[]} */
  const parts = [];
  const add = (/** @type {any} */ array) => parts.push(
      new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
  const u64 = (/** @type {number[]} */ ...numbers) => add(BigUint64Array.from(numbers, BigInt));
  const entries = [...arrays];
  u64(Number(LIST), 0, entries.length);
  for (const [, { dtype, shape, data }] of entries) {
    add(Uint32Array.of(V2, 0, shape.length));
    u64(...shape);
    add(Uint32Array.of(1, 0, DTYPES.indexOf(dtype)));
    add(data);
  }
  u64(entries.length);
  for (const [name] of entries) {
    const text = new TextEncoder().encode(name);
    u64(text.length);
    add(text);
  }
  const bytes = new Uint8Array(parts.reduce((n, part) => n + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
