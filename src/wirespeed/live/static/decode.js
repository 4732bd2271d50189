// SPDX-License-Identifier: Apache-2.0
// Unpack chunks as the store packs them: differences of 64-bit integers, zigzag, lowest octets
// first, zlib. An integer is kept as two halves, because JavaScript's numbers end at 53 bits.
"use strict";

const TWO_32 = 4294967296;
const MAX_NUMBERS = 16 * 1024 * 1024;

function octetsOf(base64) {
  const text = atob(base64);
  const octets = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) octets[at] = text.charCodeAt(at);
  return octets;
}

// Inflate to exactly that number of octets: a chunk that unpacks to more is refused.
async function inflated(octets, wanted) {
  const stream = new Blob([octets]).stream().pipeThrough(new DecompressionStream("deflate"));
  const reader = stream.getReader();
  const whole = new Uint8Array(wanted);
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (length + value.length > wanted) {
      await reader.cancel();
      throw new Error("A chunk unpacks to more than it says.");
    }
    whole.set(value, length);
    length += value.length;
  }
  if (length !== wanted) throw new Error("A chunk unpacks to less than it says.");
  return whole;
}

// Return the integers column by column: the low and the high 32 bits.
async function integersOf(base64, reads, columns) {
  const count = reads * columns;
  if (!(reads >= 1 && columns >= 0 && count <= MAX_NUMBERS)) {
    throw new Error(`A chunk claims ${reads} reads of ${columns} series.`);
  }
  const planes = await inflated(octetsOf(base64), 8 * count);
  const low = new Uint32Array(count);
  const high = new Int32Array(count);
  const p1 = count, p2 = 2 * count, p3 = 3 * count;
  const p4 = 4 * count, p5 = 5 * count, p6 = 6 * count, p7 = 7 * count;
  for (let column = 0; column < columns; column += 1) {
    let lo = 0, hi = 0;
    for (let at = column * reads, end = at + reads; at < end; at += 1) {
      const zl = planes[at] | planes[at + p1] << 8 | planes[at + p2] << 16 | planes[at + p3] << 24;
      const zh = planes[at + p4] | planes[at + p5] << 8 | planes[at + p6] << 16
        | planes[at + p7] << 24;
      let stepLow = (zl >>> 1) | (zh << 31);
      let stepHigh = zh >>> 1;
      if (zl & 1) {
        stepLow = ~stepLow;
        stepHigh = ~stepHigh;
      }
      const sum = lo + (stepLow >>> 0);
      hi = (hi + stepHigh + (sum >= TWO_32 ? 1 : 0)) | 0;
      lo = sum >>> 0;
      low[at] = lo;
      high[at] = hi;
    }
  }
  return { low, high };
}

function nsSince(base, numbers, at) {
  const baseHigh = Number(base >> 32n), baseLow = Number(base & 0xffffffffn);
  return (numbers.high[at] - baseHigh) * TWO_32 + (numbers.low[at] - baseLow);
}

// Reads of one source in one epoch. begin: ns since the recording's base. Value of column c at read
// r: at c * reads + r of low and high.
async function pieceOf(chunk, base) {
  const { reads, columns, source, epoch } = chunk;
  const [series, moments, took, values] = await Promise.all([
    integersOf(chunk.series, 1, columns),
    integersOf(chunk.moments, reads, 1),
    integersOf(chunk.took, reads, 1),
    integersOf(chunk.values, reads, columns),
  ]);
  const begin = new Float64Array(reads);
  for (let read = 0; read < reads; read += 1) begin[read] = nsSince(base, moments, read);
  return {
    source, epoch, reads, columns, begin, low: values.low, high: values.high,
    series: series.low,
    place: new Map(Array.from(series.low, (number, column) => [number, column])),
    end: begin[reads - 1] + took.low[reads - 1] + took.high[reads - 1] * TWO_32,
    until: begin[reads - 1],
    used: 0,
  };
}

// A read may lack a series: -2^63.
function isMissing(piece, at) {
  return piece.high[at] === -2147483648 && piece.low[at] === 0;
}

function exact(piece, at) {
  return BigInt(piece.high[at]) * 4294967296n + BigInt(piece.low[at]);
}

function level(piece, at) {
  return piece.high[at] * TWO_32 + piece.low[at];
}

// Exact below 2^53: the halves are subtracted first.
function difference(from, at, to, then) {
  return (to.high[then] - from.high[at]) * TWO_32 + (to.low[then] - from.low[at]);
}

// Return the last read at or before t, or -1.
function lastRead(piece, t) {
  let low = -1, high = piece.reads;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (piece.begin[middle] <= t) low = middle; else high = middle;
  }
  return low;
}
