// SPDX-License-Identifier: Apache-2.0
// Keep decoded chunks, and answer what a series was at a moment. One rule for live, stored and
// exported recordings: the value is that of the last read at or before t; the rate is that of the
// two reads around t, or of the last two.
"use strict";

const KEPT_NUMBERS = 24 * 1024 * 1024;
// Reads of two chunks that are further apart give no rate here.
const ADJACENT_NS = 2.5e9;

class Samples {
  constructor(bound = KEPT_NUMBERS) {
    this.bound = bound;
    this.sources = new Map();
    this.size = 0;
    this.clock = 0;
    // Before these moments a source has no read.
    this.none = new Map();
  }

  of(source) {
    if (!this.sources.has(source)) this.sources.set(source, []);
    return this.sources.get(source);
  }

  // Take a piece. Seconds and the minute that replaces them hold the same reads: the longer stays.
  add(piece) {
    const pieces = this.of(piece.source);
    const first = piece.begin[0], last = piece.begin[piece.reads - 1];
    for (const each of pieces) {
      if (each.begin[0] <= first && each.begin[each.reads - 1] >= last) {
        each.until = Math.max(each.until, piece.until);
        return each;
      }
    }
    const kept = [];
    for (const each of pieces) {
      if (each.begin[0] >= first && each.begin[each.reads - 1] <= last) {
        this.size -= each.low.length;
        piece.until = Math.max(piece.until, each.until);
      } else {
        kept.push(each);
      }
    }
    kept.push(piece);
    kept.sort((one, other) => one.begin[0] - other.begin[0]);
    this.sources.set(piece.source, kept);
    this.size += piece.low.length;
    piece.used = this.clock += 1;
    this.forget(piece);
    return piece;
  }

  // Bound the memory: drop the pieces that were used longest ago.
  forget(newest) {
    while (this.size > this.bound) {
      let oldest = null;
      for (const pieces of this.sources.values()) {
        for (const each of pieces) {
          if (each !== newest && (oldest === null || each.used < oldest.used)) oldest = each;
        }
      }
      if (oldest === null) return;
      this.size -= oldest.low.length;
      this.sources.set(oldest.source, this.of(oldest.source).filter((each) => each !== oldest));
    }
  }

  // Return the piece that has the last read at or before t; null: there is none; undefined: not
  // loaded yet.
  at(source, t) {
    const pieces = this.of(source);
    let low = -1, high = pieces.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (pieces[middle].begin[0] <= t) low = middle; else high = middle;
    }
    if (low < 0) return (this.none.get(source) ?? -Infinity) >= t ? null : undefined;
    const piece = pieces[low];
    if (t > piece.until) return undefined;
    piece.used = this.clock += 1;
    return piece;
  }

  // Return the value of a series at t: null if it has none, undefined if it is not loaded yet.
  value(about, number, t) {
    const source = about.series[number][0];
    const piece = this.at(source, t);
    if (!piece) return piece;
    const column = piece.place.get(number);
    if (column === undefined) return null;
    const read = lastRead(piece, t);
    const at = column * piece.reads + read;
    if (isMissing(piece, at)) return null;
    const counter = about.series[number][4] === "counter";
    return {
      read: piece.begin[read], epoch: piece.epoch, raw: exact(piece, at),
      shown: counter ? this.rate(piece, column, read, number) : level(piece, at),
    };
  }

  rate(piece, column, read, number) {
    const row = column * piece.reads;
    if (read + 1 < piece.reads) return rateOf(piece, row, read, piece, row, read + 1);
    const pieces = this.of(piece.source);
    const own = pieces.indexOf(piece);
    const after = joinedPlace(piece, pieces[own + 1], number);
    if (after !== undefined) {
      const next = pieces[own + 1];
      return rateOf(piece, row, read, next, after * next.reads, 0);
    }
    if (read > 0) return rateOf(piece, row, read - 1, piece, row, read);
    const prior = pieces[own - 1];
    const before = prior && joinedPlace(prior, piece, number) !== undefined
      ? prior.place.get(number) : undefined;
    if (before === undefined) return NaN;
    return rateOf(prior, before * prior.reads, prior.reads - 1, piece, row, read);
  }

  // Value of a line of a lane; NaN where it has none, undefined where it is not loaded yet.
  line(about, line, t) {
    const parts = (numbers) => {
      let sum = 0, any = false;
      for (const number of numbers) {
        const found = this.value(about, number, t);
        if (found === undefined) return undefined;
        if (found === null || Number.isNaN(found.shown)) continue;
        sum += found.shown;
        any = true;
      }
      return any ? sum : NaN;
    };
    const members = parts(line.members);
    if (line.form === "sum" || members === undefined) return members && members * line.factor;
    const rest = parts(line.rest);
    if (rest === undefined) return undefined;
    return combined(line, members, rest);
  }
}

// Return the column of a series in the piece that goes on where another one ends.
function joinedPlace(piece, next, number) {
  if (!next || next.epoch !== piece.epoch) return undefined;
  if (next.begin[0] - piece.begin[piece.reads - 1] > ADJACENT_NS) return undefined;
  return next.place.get(number);
}

function combined(line, members, rest) {
  const whole = line.form === "share" ? members + rest : rest;
  return whole > 0 ? members / whole * line.factor : NaN;
}

function rateOf(from, row, read, to, rowThen, then) {
  const at = row + read, after = rowThen + then;
  const took = to.begin[then] - from.begin[read];
  if (took <= 0 || isMissing(from, at) || isMissing(to, after)) return NaN;
  return difference(from, at, to, after) * 1e9 / took;
}
