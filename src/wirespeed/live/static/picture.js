// SPDX-License-Identifier: Apache-2.0
// Least and most over time: strips of buckets, and the pixel columns that they cover. A bucket that
// is narrower than a pixel is never lost, so that a short loss shows at any zoom.
"use strict";

const HELD_NS = 2.5e9;

// Read the server's answer (live/document.py: picture).
function stripsOf(buffer) {
  const octets = new Uint8Array(buffer);
  const newline = octets.indexOf(10);
  const head = JSON.parse(new TextDecoder().decode(octets.subarray(0, newline)));
  const layouts = head.layouts.map(layoutOf);
  let at = newline + 1;
  function numbers(Type, count) {
    const next = at + count * Type.BYTES_PER_ELEMENT;
    const found = new Type(buffer.slice(at, next));
    at = next;
    return found;
  }
  return head.strips.map(([source, epoch, layout, buckets]) => ({
    source, epoch: head.epochs[epoch], layout: layouts[layout], buckets,
    edges: numbers(Float64Array, buckets + 1),
    least: numbers(Float32Array, buckets * layouts[layout].series.length),
    most: numbers(Float32Array, buckets * layouts[layout].series.length),
  }));
}

function layoutOf(series) {
  return { series, place: new Map(series.map((number, column) => [number, column])) };
}

// Make the strip of a piece in that number of buckets, as store/extremes.py does.
function stripOf(piece, before, about, layout, wanted) {
  const buckets = Math.max(1, Math.min(piece.reads, wanted));
  const width = layout.series.length;
  const joined = before && before.epoch === piece.epoch ? before : null;
  const start = joined ? joined.begin[joined.reads - 1] : piece.begin[0];
  const edges = new Float64Array(buckets + 1);
  const least = new Float32Array(buckets * width).fill(NaN);
  const most = new Float32Array(buckets * width).fill(NaN);
  const firsts = Array.from({ length: buckets + 1 }, (_, each) =>
    Math.floor(each * piece.reads / buckets));
  for (let bucket = 0; bucket <= buckets; bucket += 1) {
    const first = firsts[bucket];
    edges[bucket] = first === 0 ? start : piece.begin[first - 1];
  }
  layout.series.forEach((number, column) => {
    const row = piece.place.get(number) * piece.reads;
    const counter = about.series[number][4] === "counter";
    const place = joined?.place.get(number);
    for (let bucket = 0; bucket < buckets; bucket += 1) {
      let low = Infinity, high = -Infinity;
      for (let read = firsts[bucket]; read < firsts[bucket + 1]; read += 1) {
        const inside = read > 0;
        const known = inside || place !== undefined;
        const from = inside ? piece : joined;
        const fromRow = inside ? row : known ? place * joined.reads : 0;
        const fromRead = inside ? read - 1 : known ? joined.reads - 1 : 0;
        if (counter) {
          const value = known ? rateOf(from, fromRow, fromRead, piece, row, read) : NaN;
          if (value < low) low = value;
          if (value > high) high = value;
          continue;
        }
        const took = piece.begin[read] - (inside ? piece.begin[read - 1] : start);
        if (known && took <= HELD_NS && !isMissing(from, fromRow + fromRead)) {
          low = Math.min(low, level(from, fromRow + fromRead));
          high = Math.max(high, level(from, fromRow + fromRead));
        }
        if (!isMissing(piece, row + read)) {
          low = Math.min(low, level(piece, row + read));
          high = Math.max(high, level(piece, row + read));
        }
      }
      if (low <= high) {
        least[bucket * width + column] = low;
        most[bucket * width + column] = high;
      }
    }
  });
  return { source: piece.source, epoch: piece.epoch, layout, buckets, edges, least, most };
}

// Return least and most of a line for each pixel column of the time from begin to end.
function columnsOf(line, strips, begin, end, width) {
  const least = new Float32Array(width).fill(NaN);
  const most = new Float32Array(width).fill(NaN);
  const scale = width / (end - begin);
  const wanted = [...byLayout(strips)].map(([layout, own]) => [placesIn(layout, line), own])
    .filter(([columns]) => columns !== null)
    .flatMap(([columns, own]) => own.map((strip) => [columns, strip]));
  for (const [columns, strip] of wanted) {
    for (let bucket = 0; bucket < strip.buckets; bucket += 1) {
      if (strip.edges[bucket + 1] < begin || strip.edges[bucket] > end) continue;
      const low = valueOf(line, columns, strip, bucket, true);
      if (Number.isNaN(low)) continue;
      const high = valueOf(line, columns, strip, bucket, false);
      let from = Math.max(0, Math.floor((strip.edges[bucket] - begin) * scale));
      const to = Math.min(width, Math.max(from + 1,
        Math.ceil((strip.edges[bucket + 1] - begin) * scale)));
      for (; from < to; from += 1) {
        if (!(least[from] <= low)) least[from] = low;
        if (!(most[from] >= high)) most[from] = high;
      }
    }
  }
  return { least, most };
}

const layoutsOf = new WeakMap();

// Return the strips of each layout: a day has thousands of strips of few layouts.
function byLayout(strips) {
  if (!layoutsOf.has(strips)) {
    const found = new Map();
    for (const strip of strips) {
      if (!found.has(strip.layout)) found.set(strip.layout, []);
      found.get(strip.layout).push(strip);
    }
    layoutsOf.set(strips, found);
  }
  return layoutsOf.get(strips);
}

function placesIn(layout, line) {
  layout.lines ??= new Map();
  if (!layout.lines.has(line)) {
    const places = (numbers) => numbers.map((n) => layout.place.get(n)).filter((n) => n !== undefined);
    const members = places(line.members), rest = places(line.rest);
    const none = !members.length || (line.rest.length > 0 && !rest.length);
    layout.lines.set(line, none ? null : { members, rest });
  }
  return layout.lines.get(line);
}

// Zoomed out, the band of a sum or a share is bounded by the bands of its parts.
function valueOf(line, columns, strip, bucket, wantLeast) {
  const { least, most } = strip;
  const row = bucket * strip.layout.series.length;
  const one = wantLeast ? least : most, other = wantLeast ? most : least;
  const members = sumOf(one, row, columns.members);
  if (line.form === "sum") return members * line.factor;
  const rest = sumOf(other, row, columns.rest);
  const found = combined(line, members, rest);
  return Math.min(found, line.factor);
}

function sumOf(values, row, places) {
  let sum = 0, any = false;
  for (const place of places) {
    const value = values[row + place];
    if (value === value) {
      sum += value;
      any = true;
    }
  }
  return any ? sum : NaN;
}

// Return the times at which a source began anew: [begin, end, source].
function gapsOf(strips) {
  const last = new Map();
  const gaps = [];
  for (const strip of strips) {
    const before = last.get(strip.source);
    if (before && before.epoch !== strip.epoch) {
      gaps.push([before.edges[before.buckets], strip.edges[0], strip.source]);
    }
    last.set(strip.source, strip);
  }
  return gaps.sort((one, other) => one[0] - other[0]);
}
