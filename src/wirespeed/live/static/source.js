// SPDX-License-Identifier: Apache-2.0
// Where a recording comes from: a server, or this file. Both have open, range, need, between and
// follow; everything else on the page is the same for both.
"use strict";

const RETRY_MS = 1000;
// Older than every read.
const NEVER = -1e18;
// The server answers with the chunks of no longer time.
const LONGEST_NS = 600e9;

class Source {
  constructor(samples) {
    this.samples = samples;
    this.about = null;
    this.base = 0n;
    this.changed = () => {};
    this.troubled = () => {};
  }

  take(about) {
    this.about = about;
    this.base = BigInt(about.base_ns);
    this.loss = about.lanes.filter((lane) => lane.loss)
      .flatMap((lane) => lane.lines.flatMap((line) => line.members));
  }

  async decoded(chunks) {
    const known = chunks.filter((chunk) => chunk.source < this.about.sources.length);
    return Promise.all(known.map((chunk) => pieceOf(chunk, this.base)));
  }
}

class ServerSource extends Source {
  constructor(number) {
    super(new Samples());
    this.number = number;
    this.wanted = null;
    this.loading = false;
  }

  async ask(name, query = {}, body = undefined) {
    const words = new URLSearchParams({ r: this.number, ...query });
    const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const answer = await fetch(`${name}?${words}`, options);
    if (!answer.ok) throw new Error((await answer.text()).trim());
    return answer;
  }

  async open() {
    this.take(await (await this.ask("about")).json());
    this.ends = this.about.ends.slice();
  }

  async range(begin, end, pixels) {
    const query = { begin: Math.floor(begin), end: Math.ceil(end), pixels };
    return stripsOf(await (await this.ask("picture", query)).arrayBuffer());
  }

  // Load the reads at t and a time after it; the newest wish wins, older ones are dropped.
  need(t, ahead = 0) {
    this.wanted = [t, Math.max(t, Math.min(t + ahead, this.about.end))];
    if (!this.loading) this.load();
  }

  async load() {
    this.loading = true;
    try {
      while (this.wanted !== null) {
        const [t, until] = this.wanted;
        this.wanted = null;
        await this.fetched(t, until);
        this.changed();
      }
      this.troubled("");
    } catch (fault) {
      this.troubled(fault.message);
    } finally {
      this.loading = false;
    }
  }

  async fetched(t, until, source = undefined) {
    until = Math.min(until, t + LONGEST_NS);
    const query = { begin: Math.floor(t), end: Math.floor(until) };
    if (source !== undefined) query.source = source;
    const found = await (await this.ask("chunks", query)).json();
    const pieces = await this.decoded(found.chunks);
    pieces.sort((one, other) => one.source - other.source || one.begin[0] - other.begin[0]);
    pieces.forEach((piece, at) => {
      const next = pieces[at + 1];
      const inside = next && next.source === piece.source;
      piece.until = Math.max(piece.until, inside ? next.begin[0] : until);
    });
    const before = new Set(pieces.filter((each) => each.begin[0] <= t).map((each) => each.source));
    this.about.sources.forEach((_, each) => {
      const asked = source === undefined || source === each;
      if (asked && !before.has(each)) {
        this.samples.none.set(each, Math.max(t, this.samples.none.get(each) ?? t));
      }
    });
    pieces.forEach((piece) => this.samples.add(piece));
    return pieces;
  }

  between(source, begin, end) {
    return this.fetched(begin, end, source);
  }

  // Ask for what is new until the recording is finished. A server that is gone is asked again: the
  // page says what it has, so nothing is lost and nothing comes twice.
  async follow(grown) {
    for (;;) {
      try {
        const { series, marks } = this.about;
        const body = { ends: this.ends, series: series.length, marks: marks.length };
        const found = await (await this.ask("follow", {}, body)).json();
        if (found.about) this.take(found.about);
        for (const piece of await this.decoded(found.chunks)) this.append(piece);
        this.troubled("");
        if (found.chunks.length || found.about) grown();
        if (found.finished) {
          this.about.finished_at ??= "now";
          return;
        }
      } catch (fault) {
        this.troubled(`The server does not answer: ${fault.message}. It is asked again.`);
        await new Promise((done) => setTimeout(done, RETRY_MS));
      }
    }
  }

  append(piece) {
    const before = this.samples.of(piece.source).at(-1);
    if (before && before.begin[0] < piece.begin[0]) {
      before.until = Math.max(before.until, piece.begin[0]);
    }
    while (this.ends.length <= piece.source) this.ends.push(NEVER);
    this.ends[piece.source] = Math.max(this.ends[piece.source], piece.end);
    this.about.end = Math.max(this.about.end, piece.end);
    this.samples.add(piece);
    for (const pieces of this.samples.sources.values()) {
      const last = pieces.at(-1);
      if (last && last.end === this.ends[last.source]) {
        last.until = Math.max(last.until, this.about.end);
      }
    }
  }
}

class FileSource extends Source {
  constructor(data) {
    super(new Samples(Infinity));
    this.data = data;
  }

  async open() {
    this.take(this.data);
    const shown = new Set(this.about.lanes.flatMap((lane) =>
      lane.lines.flatMap((line) => [...line.members, ...line.rest])));
    const layouts = new Map();
    for (const piece of await this.decoded(this.data.chunks)) {
      const key = piece.series.join();
      if (!layouts.has(key)) {
        layouts.set(key, layoutOf(Array.from(piece.series).filter((each) => shown.has(each))));
      }
      piece.layout = layouts.get(key);
      this.samples.add(piece);
    }
    this.data.chunks = [];
    for (const [source, pieces] of this.samples.sources) {
      pieces.forEach((piece, at) => {
        piece.until = pieces[at + 1]?.begin[0] ?? Infinity;
      });
      this.samples.none.set(source, pieces[0].begin[0]);
    }
    this.about.sources.forEach((_, source) => {
      if (!this.samples.of(source).length) this.samples.none.set(source, Infinity);
    });
  }

  async range(begin, end, pixels) {
    const pixel = Math.max(1, (end - begin) / pixels);
    const strips = [];
    for (const pieces of this.samples.sources.values()) {
      pieces.forEach((piece, at) => {
        const before = pieces[at - 1], after = pieces[at + 1];
        const far = (after && after.begin[0] < begin) || (before && before.end > end);
        if (far || !piece.layout.series.length) return;
        const buckets = Math.max(1, Math.ceil((piece.end - piece.begin[0]) / pixel));
        strips.push(stripOf(piece, before, this.about, piece.layout, buckets));
      });
    }
    return strips;
  }

  need() {}

  async fetched() {}

  async between(source, begin, end) {
    return this.samples.of(source).filter((each) => each.begin[0] <= end && each.until >= begin);
  }

  async follow() {}
}
