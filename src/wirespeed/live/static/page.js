// SPDX-License-Identifier: Apache-2.0
// Compose the page: one recording, or two side by side, from a server or out of this file.
"use strict";

const SURVEY_MS = 5000;
// A recording whose last read is not older is being written now.
const LIVE_MS = 10000;
const byId = (id) => document.getElementById(id);

class Page {
  constructor(sources) {
    this.sources = sources;
    this.panes = sources.map((source) => new Pane(source, byId("panes"), this));
    this.player = new Player(this, () => this.bounds());
    this.table = new SeriesTable(sources[0]);
    this.nextSurvey = Infinity;
    for (const source of sources) {
      source.changed = () => this.show();
      source.troubled = (text) => this.problem(text);
    }
  }

  bounds() {
    const begins = this.panes.map(({ source, offset }) => source.about.begin - offset);
    const ends = this.panes.map(({ source, offset }) => source.about.end - offset);
    const begin = Math.min(...begins);
    return { begin, end: Math.max(begin + 1e6, ...ends) };
  }

  async start() {
    byId("about").textContent = ""; // The page has arrived: what fails from here on is a problem.
    await Promise.all(this.sources.map((source) => source.open()));
    const { about } = this.sources[0];
    byId("title").textContent = this.sources.map((each) => each.about.id).join(" and ");
    const kept = about.sparse ? "; sparse: reads of a host without a CPU to spare" : "";
    byId("about").textContent = `${about.host}, ${about.started_at.slice(0, 19)} UTC, `
      + `${about.rate_hz} Hz, ${about.series.length} series${about.run ? `, run ${about.run}` : ""}${kept}`;
    this.panes.forEach((pane) => pane.build());
    this.built = about.series.length;
    this.player.t = this.bounds().begin;
    this.player.view = { ...this.bounds() };
    this.controls();
    this.alignments();
    this.listMarks();
    this.price();
    await this.survey();
    const before = this.player.restore(location.hash);
    if (before.align && this.panes.length > 1) this.alignAt(Number(before.align));
    this.look();
    this.follow(before);
    this.show();
    await Promise.all(this.panes.map((pane) => pane.looking));
  }

  // Read whole recordings; long ones are read anew less often while they grow.
  async survey() {
    const begun = performance.now();
    this.nextSurvey = Infinity;
    try {
      await Promise.all(this.panes.map((pane) => pane.survey()));
    } finally {
      const now = performance.now();
      this.nextSurvey = now + Math.max(SURVEY_MS, 20 * (now - begun));
    }
    this.drawTimeline();
  }

  // Follow what is being written; a page that says where it was stays there.
  follow(before) {
    const { about } = this.sources[0];
    const now = Number(BigInt(about.real_ns) / 1000000n) + about.end / 1e6;
    const written = about.finished_at === null && this.sources[0] instanceof ServerSource;
    byId("live").hidden = !written;
    if (!written) return;
    const fresh = Math.abs(Date.now() - now) < LIVE_MS;
    if (before.follow || (fresh && before.t === null)) this.player.follow(true);
    this.sources[0].follow(() => this.grown())
      .then(() => this.survey())
      .then(() => {
        this.listMarks();
        this.price();
      })
      .catch((fault) => this.problem(fault.message));
  }

  grown() {
    const [pane] = this.panes;
    if (this.built !== this.sources[0].about.series.length) {
      this.built = this.sources[0].about.series.length;
      pane.build();
    }
    if (performance.now() > this.nextSurvey) {
      this.survey().catch((fault) => this.problem(fault.message));
      this.listMarks();
    }
    this.player.grown();
    if (!this.player.following) this.show();
  }

  look() {
    for (const pane of this.panes) pane.look(this.player.view);
    this.drawTimeline();
  }

  drawn() {
    this.show();
  }

  seek(t) {
    this.player.seek(t);
  }

  zoom(factor, t) {
    this.player.zoom(factor, t);
  }

  show() {
    const { player } = this;
    const { begin, end } = this.bounds();
    for (const pane of this.panes) pane.show(player.t, player.ahead);
    this.table.show(player.t + this.panes[0].offset);
    const share = (player.t - begin) / (end - begin);
    const clock = this.clock(player.t);
    byId("clock").textContent = clock;
    byId("position").value = Math.round(share * 1e6);
    byId("position").setAttribute("aria-valuetext", clock);
    this.pressed("play", player.playing, player.playing ? "Pause" : "Play");
    this.pressed("live", player.following);
    this.pressed("loop", player.looping);
    byId("loop").disabled = player.loop === null;
    byId("speed").value = String(player.speed);
  }

  pressed(id, on, text = undefined) {
    const button = byId(id);
    if (button.getAttribute("aria-pressed") !== String(on)) button.setAttribute("aria-pressed", on);
    if (text !== undefined && button.textContent !== text) button.textContent = text;
  }

  // Wall clock of the recorded host, and seconds since the recording began.
  clock(t) {
    const { about } = this.sources[0];
    const ms = Number(BigInt(about.real_ns) / 1000000n) + (t + this.panes[0].offset) / 1e6;
    return `${new Date(ms).toISOString().slice(11, 23)} UTC, ${(t / 1e9).toFixed(3)} s`;
  }

  drawTimeline() {
    const [pane] = this.panes;
    const { begin, end } = this.bounds();
    const { view, loop } = this.player;
    drawTimeline(byId("timeline"), {
      begin, end, view, loop, marks: this.sources[0].about.marks, losses: pane.losses ?? [],
      gaps: pane.gaps,
    });
    const length = (view.end - view.begin) / 1e9;
    byId("span").textContent = `Shown: ${(view.begin / 1e9).toFixed(3)} to ${(view.end / 1e9).toFixed(3)} s `
      + `(${shownNumber(length)} s of ${shownNumber((end - begin) / 1e9)} s)`;
  }

  async event(forward) {
    const [pane] = this.panes;
    const kind = byId("kinds").value;
    const t = this.player.t + pane.offset;
    this.player.play(false);
    const found = await nextEvent(pane.source, pane.whole, pane.events, t, kind, forward);
    if (found === null) {
      byId("said").textContent = `No ${kind || "event"} ${forward ? "after" : "before"} this time.`;
      return;
    }
    this.player.seek(found.at - pane.offset);
    byId("said").textContent = `${found.text}, at ${(found.at / 1e9).toFixed(3)} s`;
  }

  // Go to the read of any source that is next to t.
  async step(forward) {
    const [source] = this.sources;
    const { samples, about } = source;
    const t = this.player.t + this.panes[0].offset;
    this.player.play(false);
    if (about.sources.some((_, each) => samples.at(each, t) === undefined)) {
      await source.fetched(t, t);
    }
    let best = t + (forward ? 1 : -1) * 1e9 / Math.max(1, about.rate_hz);
    about.sources.forEach((_, source) => {
      const piece = samples.at(source, t);
      if (!piece) return;
      let read = lastRead(piece, t);
      if (forward) read += 1; else if (piece.begin[read] >= t) read -= 1;
      const at = piece.begin[read];
      if (at !== undefined && (forward ? at < best : at > best)) best = at;
    });
    this.player.seek(best - this.panes[0].offset);
  }

  setLoop(name) {
    this.player[name] = this.player.t;
    this.drawTimeline();
    this.show();
    this.player.remember();
    byId("said").textContent = `${name.toUpperCase()} is at ${(this.player.t / 1e9).toFixed(3)} s`;
  }

  toggleLoop() {
    this.player.looping = !this.player.looping;
    this.show();
    this.player.remember();
  }

  showAll() {
    const { begin, end } = this.bounds();
    this.player.following = false;
    this.player.setView(begin, end);
    this.show();
  }

  // Marks that both recordings have, at which they can be aligned.
  alignments() {
    if (this.panes.length < 2) return;
    const [one, other] = this.sources.map((source) => source.about.marks);
    this.pairs = [[this.sources[0].about.begin, this.sources[1].about.begin, "begin of both"]];
    for (const [at, kind, text] of one) {
      const same = other.find((mark) => mark[1] === kind && mark[2] === text);
      if (same && kind !== "note") this.pairs.push([at, same[0], `${kind}: ${text}`]);
    }
    const options = this.pairs.map(([, , text], number) => element("option", { value: number }, text));
    byId("aligned").replaceChildren(...options);
    byId("align").hidden = false;
    byId("aligned").addEventListener("change", () => this.alignAt(Number(byId("aligned").value)));
    this.alignAt(0);
  }

  alignAt(number) {
    const pair = this.pairs[number];
    if (!pair) return;
    byId("aligned").value = String(number);
    this.player.align = number;
    this.panes[1].offset = pair[1] - pair[0];
    this.look();
    this.player.remember();
  }

  listMarks() {
    const marks = this.sources[0].about.marks.filter(([, kind]) => kind !== PRICE);
    byId("marks").hidden = !marks.length;
    byId("mark-list").replaceChildren(...marks.slice(0, 500).map(([at, kind, text]) => {
      const item = element("li");
      const button = element("button", { type: "button" }, `${(at / 1e9).toFixed(3)} s`);
      button.addEventListener("click", () => this.player.seek(at));
      item.append(button, ` ${kind}: ${text}`);
      return item;
    }));
  }

  // What the recording cost: its recorder writes it at the end.
  price() {
    const [first, ...others] = this.sources[0].about.marks
      .filter(([, kind]) => kind === PRICE).map(([, , text]) => text);
    byId("price").hidden = first === undefined;
    byId("price-sum").textContent = `Price: ${first}`;
    byId("price-list").replaceChildren(...others.map((text) => element("li", {}, text)));
  }

  problem(text) {
    byId("problem").textContent = text;
    byId("problem").hidden = text === "";
  }

  controls() {
    const { player } = this;
    byId("speed").replaceChildren(...SPEEDS.map((speed) =>
      element("option", { value: speed }, `${speed}x`)));
    const actions = {
      play: () => player.play(), back: () => this.step(false), forward: () => this.step(true),
      live: () => player.follow(), event: () => this.event(true),
      "event-back": () => this.event(false), "set-a": () => this.setLoop("a"),
      "set-b": () => this.setLoop("b"), loop: () => this.toggleLoop(),
      in: () => player.zoom(0.5), out: () => player.zoom(2), all: () => this.showAll(),
    };
    for (const [id, act] of Object.entries(actions)) byId(id).addEventListener("click", act);
    byId("speed").addEventListener("change", () => player.setSpeed(Number(byId("speed").value)));
    byId("position").addEventListener("input", () => {
      const { begin, end } = this.bounds();
      player.seek(begin + Number(byId("position").value) / 1e6 * (end - begin));
    });
    const timeline = byId("timeline");
    const scrub = (event) => {
      const box = timeline.getBoundingClientRect();
      const { begin, end } = this.bounds();
      player.seek(begin + (event.clientX - box.left) / box.width * (end - begin));
    };
    timeline.addEventListener("pointerdown", (event) => {
      timeline.setPointerCapture(event.pointerId);
      scrub(event);
    });
    timeline.addEventListener("pointermove", (event) => {
      if (timeline.hasPointerCapture(event.pointerId)) scrub(event);
    });
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("hashchange", () => this.player.restore(location.hash));
    let { width } = this.panes[0];
    new ResizeObserver(() => {
      if (this.panes[0].width === width) return;
      ({ width } = this.panes[0]);
      this.look();
    }).observe(byId("panes"));
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      forgetColours();
      this.panes.forEach((pane) => pane.draw());
      this.drawTimeline();
    });
  }

  key(event) {
    const { player } = this;
    const { tagName, type } = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (tagName === "SELECT" || (tagName === "INPUT" && type !== "range")) return;
    if (event.key === " " && (tagName === "BUTTON" || tagName === "SUMMARY")) return;
    if (type === "range" && /^(Arrow|Home|End|Page)/.test(event.key)) return;
    const tenth = (player.view.end - player.view.begin) / 10;
    const { begin, end } = this.bounds();
    const keys = {
      " ": () => player.play(),
      ArrowLeft: () => (event.shiftKey ? player.seek(player.t - tenth) : this.step(false)),
      ArrowRight: () => (event.shiftKey ? player.seek(player.t + tenth) : this.step(true)),
      ArrowUp: () => player.faster(1), ArrowDown: () => player.faster(-1),
      n: () => this.event(true), p: () => this.event(false),
      a: () => this.setLoop("a"), b: () => this.setLoop("b"), l: () => this.toggleLoop(),
      "+": () => player.zoom(0.5), "-": () => player.zoom(2), 0: () => this.showAll(),
      f: () => !byId("live").hidden && player.follow(),
      Home: () => player.seek(begin), End: () => player.seek(end),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }
}

async function main() {
  const data = byId("data");
  let sources;
  if (data) {
    sources = [new FileSource(JSON.parse(data.textContent))];
  } else {
    const answer = await fetch("recordings");
    if (!answer.ok) throw new Error(await answer.text());
    sources = (await answer.json()).map((_, number) => new ServerSource(number));
  }
  window.page = new Page(sources);
  await window.page.start();
  document.documentElement.dataset.state = "ready";
}

main().catch((fault) => {
  byId("problem").textContent = `This recording cannot be shown: ${fault.message}`;
  byId("problem").hidden = false;
  document.documentElement.dataset.state = "failed";
});
