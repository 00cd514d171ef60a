// SPDX-License-Identifier: Apache-2.0
/**
 * Drawn digits, byte for byte those of mxc's data source "digits": of the same
 * seed, sample i is the same picture here and there (runtime/data/digits).
 */

// Written by mxc: for each digit the ways to write it, each a list of strokes;
// a stroke is its kind (0 line, 1 curve, 2 loop) and its points' coordinates.
const GLYPHS = /* written by mxc */ null;

const SIDE = 28, PIECES_OF_CURVE = 5;
const F = Math.fround;

// Numbers of 64 bits in halves, [high, low]; `high` and `low` are the last result.
let high = 0, low = 0;

/** @param {number} ah @param {number} al @param {number} bh @param {number} bl */
function multiply(ah, al, bh, bl) {
  const a0 = al & 0xffff, a1 = al >>> 16, b0 = bl & 0xffff, b1 = bl >>> 16;
  const p00 = a0 * b0, middle = a0 * b1 + a1 * b0 + (p00 - (p00 & 0xffff)) / 65536;
  low = ((middle & 0xffff) << 16 | p00 & 0xffff) >>> 0;
  high = (a1 * b1 + Math.floor(middle / 65536) + Math.imul(ah, bl) + Math.imul(al, bh)) >>> 0;
}

/** @param {number} by below 32 */
function xorShifted(by) {
  const h = high;
  high = (h ^ h >>> by) >>> 0;
  low = (low ^ (low >>> by | h << 32 - by)) >>> 0;
}

// SplitMix64's finalizer of (high, low).
function mix() {
  xorShifted(30);
  multiply(high, low, 0xbf58476d, 0x1ce4e5b9);
  xorShifted(27);
  multiply(high, low, 0x94d049bb, 0x133111eb);
  xorShifted(31);
}

/** @param {number} h @param {number} l */
function add(h, l) {
  const sum = low + l;
  low = sum >>> 0;
  high = (high + h + (sum > 0xffffffff ? 1 : 0)) >>> 0;
}

/** One key of two. @param {number[]} a @param {number[]} b @returns {number[]} */
function key([ah, al], [bh, bl]) {
  high = ah; low = al;
  add(0x9e3779b9, 0x7f4a7c15);
  mix();
  high = (high ^ bh) >>> 0; low = (low ^ bl) >>> 0;
  mix();
  add(0x632be59b, 0xd9b4e019);
  return [high, low];
}

const wide = (/** @type {number} */ n) => [Math.floor(n / 2 ** 32) >>> 0, n >>> 0];
const remainder = (/** @type {number} */ h, /** @type {number} */ l, /** @type {number} */ n) =>
  ((h % n) * (2 ** 32 % n) + l % n) % n;

class Draws {
  /** @param {number[]} key */
  constructor([h, l]) { this.high = h; this.low = l; }
  bits() {
    high = this.high; low = this.low;
    add(0x9e3779b9, 0x7f4a7c15);
    this.high = high; this.low = low;
    mix();
  }
  /** @param {number} least @param {number} most */
  between(least, most) {
    this.bits();
    return F(least + (most - least) * ((high * 2097152 + (low >>> 11)) * 2 ** -53));
  }
  /** @param {number} count */
  below(count) {
    const skewed = remainder(0xffffffff, 0xffffffff, count) + 1;
    do this.bits(); while (high === 0 && low < skewed % count);
    return remainder(high, low, count);
  }
}

/** @typedef {{x: number, y: number}} Point */

/** @param {number} a @param {number} b @param {number} c @param {number} d @param {number} t */
function blend(a, b, c, d, t) {
  const cubic = F(F(F(3 * F(b - c)) + d) - a);
  const square = F(F(F(F(2 * a) - F(5 * b)) + F(4 * c)) - d);
  return F(b + F(F(0.5 * t) * F(F(c - a) + F(t * F(square + F(t * cubic))))));
}

/** @param {number} kind @param {Point[]} points */
function polyline(kind, points) {
  if (kind === 0) return points;
  const loop = kind === 2, n = points.length;
  const at = (/** @type {number} */ i) =>
    points[loop ? (i + n) % n : Math.min(Math.max(i, 0), n - 1)];
  const line = [];
  for (let i = 0; i < (loop ? n : n - 1); ++i) {
    const [a, b, c, d] = [at(i - 1), at(i), at(i + 1), at(i + 2)];
    for (let k = 0; k < PIECES_OF_CURVE; ++k) {
      const t = F(k / PIECES_OF_CURVE);
      line.push({ x: blend(a.x, b.x, c.x, d.x, t), y: blend(a.y, b.y, c.y, d.y, t) });
    }
  }
  line.push(loop ? points[0] : points[n - 1]);
  return line;
}

const clamp = (/** @type {number} */ x) => Math.min(Math.max(x, 0), 1);

/** @param {Point} a @param {Point} b @param {number} radius @param {Float32Array} paper */
function segment(a, b, radius, paper) {
  const reach = F(radius + 1);
  const first = (/** @type {number} */ p, /** @type {number} */ q) =>
    Math.max(0, Math.trunc(F(Math.min(p, q) - reach)));
  const last = (/** @type {number} */ p, /** @type {number} */ q) =>
    Math.min(SIDE - 1, Math.trunc(F(Math.max(p, q) + reach)));
  const dx = F(b.x - a.x), dy = F(b.y - a.y);
  const length = Math.max(F(F(dx * dx) + F(dy * dy)), F(1e-6));
  const right = last(a.x, b.x), bottom = last(a.y, b.y), left = first(a.x, b.x);
  for (let y = first(a.y, b.y); y <= bottom; ++y) {
    for (let x = left; x <= right; ++x) {
      const px = F(x - a.x), py = F(y - a.y);
      const t = clamp(F(F(F(px * dx) + F(py * dy)) / length));
      const ex = F(px - F(t * dx)), ey = F(py - F(t * dy));
      const distance = F(Math.sqrt(F(F(ex * ex) + F(ey * ey))));
      const at = y * SIDE + x;
      paper[at] = Math.max(paper[at], clamp(F(F(radius + 0.5) - distance)));
    }
  }
}

/** A digit by one of the hands. @param {number} digit @param {number[]} key */
function draw(digit, key) {
  const draws = new Draws(key);
  const between = (/** @type {number} */ a, /** @type {number} */ b) => draws.between(a, b);
  const jitter = between(0.5, 5.5), angle = between(-0.28, 0.28), slant = between(-0.25, 0.35);
  const width = between(0.12, 0.22), height = between(0.16, 0.22), bend = between(-0.15, 0.15);
  const left = between(-3.5, 3.5), top = between(-3, 3);
  const glyph = GLYPHS[digit][draws.below(GLYPHS[digit].length)];
  const radius = between(0.55, 1.7);
  const square = F(angle * angle);
  const sine = F(angle * F(1 - F(F(square / 6) * F(1 - F(square / 20)))));
  const cosine = F(1 - F(F(square / 2) * F(1 - F(square / 12))));
  const place = (/** @type {Point} */ p) => {
    const u = F(p.x - 50), v = F(p.y - 50);
    const x = F(F(F(u + F(F(F(bend * v) * v) / 50)) - F(slant * v)) * width), y = F(v * height);
    return { x: F(F(F(13.5 + left) + F(cosine * x)) - F(sine * y)),
      y: F(F(F(13.5 + top) + F(sine * x)) + F(cosine * y)) };
  };
  const paper = new Float32Array(SIDE * SIDE);
  for (const [kind, ...numbers] of glyph) {
    const points = [];
    for (let i = 0; i < numbers.length; i += 2) {
      const x = F(numbers[i] + between(-jitter, jitter));
      points.push({ x, y: F(numbers[i + 1] + between(-jitter, jitter)) });
    }
    const line = polyline(kind, points).map(place);
    for (let i = 0; i + 1 < line.length; ++i) segment(line[i], line[i + 1], radius, paper);
  }
  if (between(0, 1) <= F(0.2)) {
    const from = { x: between(1, 26), y: 0 };
    from.y = between(1, 26);
    const to = { x: F(from.x + between(-3, 3)), y: 0 };
    to.y = F(from.y + between(-3, 3));
    segment(from, to, between(0.2, 0.6), paper);
  }
  const ink = between(0.65, 1), dirt = between(0, 0.25);
  const picture = new Uint8Array(SIDE * SIDE);
  for (let i = 0; i < picture.length; ++i) {
    const value = F(F(paper[i] * ink) + between(-dirt, dirt));
    picture[i] = F(F(clamp(value) * 255) + 0.5);
  }
  return picture;
}

/**
 * Sample `i` of the source with this seed.
 * @param {number} seed @param {number} i @param {boolean} [heldOut] of those that
 *   nobody trains with
 * @returns {{label: number, picture: Uint8Array}} 28 x 28 pixels, 255 is ink
 */
export function digit(seed, i, heldOut = false) {
  const one = key(key(wide(seed), wide(heldOut ? 2 : 1)), wide(i));
  const label = remainder(one[0], one[1], 10);
  return { label, picture: draw(label, one) };
}
