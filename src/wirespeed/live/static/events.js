// SPDX-License-Identifier: Apache-2.0
// Find the next loss, gate, fault, mark or gap after a moment, or the one before it.
"use strict";

// Kind of the marks that say what the recording cost: no event.
const PRICE = "price";
// Buckets inside losses that are looked at for a further start.
const INNER_MAX = 40;

// Return marks and gaps as { at, kind, text }, in the order of time.
function namedEvents(about, gaps) {
  const kinds = { gate: "gate", fault: "fault" };
  const marks = about.marks.filter(([, kind]) => kind !== PRICE).map(([at, kind, text]) => ({
    at, kind: kinds[kind] ?? "mark", text: `${kind}: ${text}`,
  }));
  const broken = gaps.map(([at, , source]) => ({
    at, kind: "gap", text: `${about.sources[source]}: its counters began anew`,
  }));
  return [...marks, ...broken].sort((one, other) => one.at - other.at);
}

// Return the buckets in which a series of `numbers` rose: { begin, end, source, first, opens }; first:
// no loss in the bucket before it; opens: nothing is known of the source before it.
function lossBuckets(strips, numbers) {
  const wanted = new Set(numbers);
  const found = [], ended = new Map(), known = new Set();
  for (const strip of strips) {
    const { source, edges, layout: { series } } = strip;
    const places = series.map((number, place) => (wanted.has(number) ? place : -1))
      .filter((place) => place >= 0);
    for (let bucket = 0; places.length && bucket < strip.buckets; bucket += 1) {
      const rises = places.map((place) => strip.most[bucket * series.length + place]);
      if (rises.some((rise) => rise > 0)) {
        const [begin, end] = [edges[bucket], edges[bucket + 1]];
        const first = ended.get(source) !== begin;
        found.push({ begin, end, source, first, opens: !known.has(source) });
        ended.set(source, end);
      }
      if (!rises.every(Number.isNaN)) known.add(source);
    }
  }
  return found.sort((one, other) => one.begin - other.begin);
}

// Return the moments at which a loss begins: the reads before it are known and lost nothing. pieces:
// of one source. After a restart of the counters nothing was lost yet.
function lossStarts(pieces, numbers) {
  const starts = [];
  let before = null, losing = null;
  for (const piece of pieces) {
    for (let read = 0; read < piece.reads; read += 1) {
      const joined = read > 0 || (before !== null && before.epoch === piece.epoch);
      const from = read > 0 ? piece : before;
      const last = read > 0 ? read - 1 : (before?.reads ?? 0) - 1;
      const lost = joined && numbers.some((number) => {
        const place = piece.place.get(number), placed = from.place.get(number);
        if (place === undefined || placed === undefined) return false;
        return rateOf(from, placed * from.reads, last, piece, place * piece.reads, read) > 0;
      });
      if (lost && losing === false) starts.push(from.begin[last]);
      if (from !== null) losing = lost;
    }
    before = piece;
  }
  return starts;
}

// Return the loss that begins next after t, or last before it: { at, kind, text } or null.
async function nextLoss(source, strips, t, forward) {
  const buckets = lossBuckets(strips, source.loss)
    .filter(({ begin, end }) => (forward ? end > t : begin < t));
  if (!forward) buckets.reverse();
  let best = null, inner = 0;
  for (const { begin, end, source: number, first, opens } of buckets) {
    if (best !== null && (forward ? begin > best.at : end < best.at)) break;
    if (!first && (inner += 1) > INNER_MAX) continue;
    const own = source.loss.filter((each) => source.about.series[each][0] === number);
    const pieces = await source.between(number, begin, end);
    const starts = lossStarts(pieces, own);
    if (opens && !starts.some((at) => at <= end)) starts.push(begin);
    for (const at of starts) {
      const fits = forward ? at > t : at < t;
      const better = best === null || (forward ? at < best.at : at > best.at);
      if (fits && better) {
        best = { at, kind: "loss", text: `loss in ${source.about.sources[number]}` };
      }
    }
  }
  return best;
}

// Return the next event of that kind ("": of any) after t, or the one before it.
async function nextEvent(source, strips, events, t, kind, forward) {
  const named = events.filter((each) =>
    (kind === "" || each.kind === kind) && (forward ? each.at > t : each.at < t));
  const found = forward ? named[0] : named.at(-1);
  const loss = kind === "" || kind === "loss" ? await nextLoss(source, strips, t, forward) : null;
  if (!found || !loss) return found ?? loss;
  return (found.at <= loss.at) === forward ? found : loss;
}
