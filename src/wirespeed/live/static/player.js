// SPDX-License-Identifier: Apache-2.0
// Time on the page: play, pause, step, speed, loop, zoom, follow. Everything that is shown is a
// function of the samples and of this state, which the address of the page holds.
"use strict";

const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 100];
const SHORTEST_NS = 1e6;
const FOLLOWED_NS = 60e9;
// Reads are loaded this far ahead of the moment that is played.
const AHEAD_S = 2;
const HASH_MS = 300;

class Player {
  // page: look(view), show(t), said(text); begin and end: of the first recording.
  constructor(page, bounds) {
    this.page = page;
    this.bounds = bounds;
    this.t = 0;
    this.speed = 1;
    this.playing = false;
    this.following = false;
    this.a = null;
    this.b = null;
    this.looping = false;
    this.align = 0;
    this.view = { begin: 0, end: 1e9 };
    this.frames = 0;
  }

  get loop() {
    return this.a !== null && this.b !== null && this.a < this.b ? [this.a, this.b] : null;
  }

  get ahead() {
    return this.playing ? AHEAD_S * this.speed * 1e9 : 0;
  }

  clamped(t) {
    const { begin, end } = this.bounds();
    return Math.max(begin, Math.min(end, t));
  }

  seek(t, keep = false) {
    if (!keep) this.following = false;
    this.t = this.clamped(t);
    const { begin, end } = this.view;
    if (this.t < begin || this.t > end) {
      const length = end - begin;
      const from = this.t > end && this.playing ? this.t : this.t - length / 2;
      this.setView(from, from + length);
    }
    this.page.show();
    this.remember();
  }

  setView(begin, end) {
    const bounds = this.bounds();
    const most = Math.max(SHORTEST_NS, bounds.end - bounds.begin);
    const length = Math.max(SHORTEST_NS, Math.min(end - begin, most));
    const from = Math.max(bounds.begin, Math.min(begin, bounds.begin + most - length));
    this.view = { begin: from, end: from + length };
    this.page.look();
    this.remember();
  }

  zoom(factor, t = this.t) {
    const { begin, end } = this.view;
    this.following = this.following && t === this.t;
    this.setView(t - (t - begin) * factor, t + (end - t) * factor);
    this.page.show();
  }

  play(playing = !this.playing) {
    const { end } = this.bounds();
    if (playing && this.t >= end && !this.following) this.seek(this.loop?.[0] ?? this.bounds().begin);
    this.playing = playing;
    if (playing) this.following = false;
    this.page.show();
    if (playing) {
      this.last = performance.now();
      requestAnimationFrame((now) => this.frame(now));
    } else {
      this.remember();
    }
  }

  frame(now) {
    if (!this.playing) return;
    this.frames += 1;
    const passed = Math.max(0, Math.min(250, now - this.last));
    this.last = now;
    let t = this.t + passed * 1e6 * this.speed;
    const loop = this.looping ? this.loop : null;
    if (loop && t >= loop[1]) [t] = loop;
    const { end } = this.bounds();
    if (t >= end) {
      this.seek(end);
      this.play(false);
      return;
    }
    this.seek(t);
    requestAnimationFrame((then) => this.frame(then));
  }

  setSpeed(speed) {
    this.speed = SPEEDS.reduce((best, each) =>
      (Math.abs(each - speed) < Math.abs(best - speed) ? each : best));
    this.page.show();
    this.remember();
  }

  faster(steps) {
    const at = SPEEDS.indexOf(this.speed) + steps;
    this.setSpeed(SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, at))]);
  }

  follow(following = !this.following) {
    this.following = following;
    if (following) {
      this.playing = false;
      this.grown();
    }
    this.page.show();
  }

  // The recording has grown: a page that follows goes along.
  grown() {
    if (!this.following) return;
    const { begin, end } = this.bounds();
    const length = Math.min(FOLLOWED_NS, Math.max(1e9, end - begin));
    this.view = { begin: end - length, end };
    this.page.look();
    this.seek(end, true);
  }

  // Keep the address up to date, but not at every frame.
  remember() {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      const hash = `#${this.words()}`;
      if (hash !== location.hash) history.replaceState(null, "", hash);
    }, HASH_MS);
  }

  words() {
    const seconds = (ns) => String(Number((ns / 1e9).toFixed(9)));
    const words = new URLSearchParams({ t: seconds(this.t), speed: this.speed });
    words.set("from", seconds(this.view.begin));
    words.set("to", seconds(this.view.end));
    if (this.a !== null) words.set("a", seconds(this.a));
    if (this.b !== null) words.set("b", seconds(this.b));
    if (this.looping) words.set("loop", 1);
    if (this.align) words.set("align", this.align);
    if (this.following) words.set("follow", 1);
    return words;
  }

  // Take the state of an address; what is missing or no number stays as it is.
  restore(hash) {
    const words = new URLSearchParams(hash.replace(/^#/, ""));
    const ns = (name) => {
      const found = parseFloat(words.get(name));
      return Number.isFinite(found) ? Math.round(found * 1e9) : null;
    };
    this.a = ns("a");
    this.b = ns("b");
    this.looping = words.get("loop") === "1";
    const speed = parseFloat(words.get("speed"));
    if (Number.isFinite(speed)) this.setSpeed(speed);
    const from = ns("from"), to = ns("to"), t = ns("t");
    if (from !== null && to !== null && to > from) this.setView(from, to);
    if (t !== null) this.seek(t);
    return { align: words.get("align"), follow: words.get("follow") === "1", t };
  }
}
