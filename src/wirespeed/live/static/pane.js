// SPDX-License-Identifier: Apache-2.0
// One recording on the page: its lanes for the time that is shown, and its values at one moment.
"use strict";

const LANE_HEIGHT = 72;
const LEGEND = 8;
const NOT_LOADED = "\u2026";
const STATE_MS = 100;

function element(name, attributes = {}, text = undefined) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// Four significant digits, as people read them.
function shownNumber(value) {
  if (value === undefined) return NOT_LOADED;
  if (Number.isNaN(value)) return "\u2013";
  const size = Math.abs(value);
  for (const [unit, name] of [[1e12, "T"], [1e9, "G"], [1e6, "M"]]) {
    if (size >= unit) return `${Number((value / unit).toPrecision(4))} ${name}`;
  }
  if (size >= 1000) return value.toFixed(0);
  return String(Number(value.toPrecision(4)));
}

class Pane {
  // page: seek(t), zoom(factor, t), width(); t is the page's time, the pane's is t + offset.
  constructor(source, parent, page) {
    this.source = source;
    this.page = page;
    this.offset = 0;
    this.strips = [];
    this.whole = [];
    this.gaps = [];
    this.events = [];
    this.view = { begin: 0, end: 1e9 };
    this.wish = null;
    this.looking = null;
    this.lanes = [];
    this.root = element("section", { class: "pane" });
    this.title = element("h2");
    this.box = element("div", { class: "lanes" });
    this.state = element("div", { class: "state" });
    this.drawings = [];
    this.stateAt = 0;
    this.stateLater = null;
    this.cursor = element("div", { class: "cursor" });
    this.axis = element("canvas", { class: "axis", "aria-hidden": "true" });
    this.root.append(this.title, this.state, this.box);
    parent.append(this.root);
    this.listen();
  }

  build() {
    const { about } = this.source;
    this.title.textContent = `${about.id} on ${about.host}`;
    this.root.setAttribute("aria-label", this.title.textContent);
    this.drawings = [new PathDrawing(about.state.path), new CpuMap(about.state)]
      .filter(({ empty }) => !empty);
    this.state.replaceChildren(...this.drawings.map(({ root }) => root));
    this.lanes = about.lanes.map((lane) => {
      const root = element("section", { class: "lane", "aria-label": lane.name });
      const head = element("h3", {}, lane.name);
      const top = element("span", { class: "top" });
      head.append(" ", top);
      const canvas = element("canvas", { role: "img" });
      const legend = element("ul", { class: "legend" });
      const gate = element("p", { class: "note gate" });
      root.append(head, canvas, legend);
      if (lane.gates) root.append(gate);
      const members = lane.lines.flatMap((line) => line.members);
      const sources = new Set(members.map((number) => about.series[number][0]));
      return { lane, root, top, canvas, legend, gate, sources, values: [], names: "" };
    });
    this.box.replaceChildren(...this.lanes.map(({ root }) => root), this.axis, this.cursor);
    if (!this.lanes.length) {
      this.box.append(element("p", { class: "note" }, "No series that a lane shows; see the table."));
    }
  }

  get width() {
    return Math.max(1, Math.floor(this.axis.clientWidth));
  }

  // Read the whole recording once, for the timeline, the events and the first picture.
  async survey() {
    const { about } = this.source;
    const { begin } = about, end = Math.max(about.end, begin + 1e9), { width } = this;
    this.whole = await this.source.range(begin, end, width);
    this.surveyed = { begin, end, width };
    this.gaps = gapsOf(this.whole);
    this.events = namedEvents(about, this.gaps);
    this.losses = lossBuckets(this.whole, this.source.loss);
  }

  // Show this time; while a picture is under way, only the newest wish is kept.
  look(view) {
    this.view = { begin: view.begin + this.offset, end: view.end + this.offset };
    const same = (name) => this.surveyed?.[name] === { width: this.width, ...this.view }[name];
    if (this.looking === null && ["begin", "end", "width"].every(same)) {
      this.strips = this.whole;
      this.draw();
      return null;
    }
    this.wish = this.view;
    if (this.looking === null) this.looking = this.answerWishes();
    return this.looking;
  }

  async answerWishes() {
    try {
      while (this.wish !== null) {
        const { begin, end } = this.wish;
        this.wish = null;
        this.strips = await this.source.range(begin, end, this.width);
        this.draw();
      }
    } catch (fault) {
      this.source.troubled(fault.message);
    } finally {
      this.looking = null;
    }
  }

  draw() {
    const { begin, end } = this.view;
    const gaps = gapsOf(this.strips);
    const trials = trialsOf(this.source.about.marks);
    for (const each of this.lanes) {
      const width = Math.max(1, Math.floor(each.canvas.clientWidth));
      const found = linesIn(each.lane, this.strips, begin, end, width);
      const top = drawLane(each.canvas, each.lane, found, LANE_HEIGHT);
      const context = each.canvas.getContext("2d");
      const x = (at) => (at - begin) / (end - begin) * width;
      drawGaps(context, gaps.filter(([, , source]) => each.sources.has(source)), x, LANE_HEIGHT);
      if (each.lane.gates) drawTrials(context, trials, x, width);
      each.top.textContent = `0 to ${shownNumber(top)} ${each.lane.unit}`;
      each.canvas.setAttribute("aria-label",
        `${each.lane.name}, 0 to ${shownNumber(top)} ${each.lane.unit}: the values follow as a list`);
      this.describe(each, found);
    }
    drawAxis(this.axis, begin, end);
    this.page.drawn();
  }

  // List the first lines with their values; keep the elements while the lines stay the same.
  describe(each, found) {
    const listed = found.slice(0, LEGEND);
    const names = JSON.stringify([listed.map(({ index }) => index), found.length]);
    if (names === each.names) return;
    each.names = names;
    each.values = listed.map(({ line, index }) => {
      const item = element("li");
      const swatch = element("i", { "aria-hidden": "true" });
      swatch.className = each.lane.loss ? "fail" : `s${index % COLOURS}`;
      const value = element("b", {}, NOT_LOADED);
      item.append(swatch, element("span", {}, line.label), " ", value);
      return { line, value, item, text: "" };
    });
    const more = found.length - listed.length;
    const items = each.values.map(({ item }) => item);
    const undrawn = found.length - LINES_DRAWN;
    if (more > 0) {
      const words = undrawn > 0 ? `${more} more, ${undrawn} of them not drawn` : `${more} more`;
      items.push(element("li", { class: "note" }, `${words}: see the table`));
    }
    if (!items.length) {
      const none = each.lane.loss ? "nothing lost in this time" : "no read in this time";
      items.push(element("li", { class: "note" }, none));
    }
    each.legend.replaceChildren(...items);
  }

  // Show the values of a moment of the page.
  show(t, ahead) {
    const at = t + this.offset;
    const { samples, about } = this.source;
    let missing = about.sources.some((_, source) => samples.at(source, at) === undefined);
    for (const { values } of this.lanes) {
      for (const each of values) {
        const value = samples.line(about, each.line, at);
        missing ||= value === undefined;
        const text = shownNumber(value);
        if (text !== each.text) each.value.textContent = each.text = text;
      }
    }
    if (missing) this.source.need(at, ahead);
    this.showState(at);
    const { begin, end } = this.view;
    const share = (at - begin) / (end - begin);
    this.cursor.hidden = share < 0 || share > 1;
    this.cursor.style.transform = `translateX(${share * this.width}px)`;
  }

  // Draw the path, the CPUs and the trial of a moment; while it moves, a few times a second.
  showState(at) {
    const now = performance.now();
    clearTimeout(this.stateLater);
    if (now - this.stateAt < STATE_MS) {
      this.stateLater = setTimeout(() => this.showState(at), STATE_MS);
      return;
    }
    this.stateAt = now;
    const { samples, about } = this.source;
    const trial = trialAt(trialsOf(about.marks), at);
    for (const { lane, gate } of this.lanes) {
      if (lane.gates) gate.textContent = trialWords(trial);
    }
    for (const each of this.drawings) each.show(samples, about, at);
  }

  timeAt(event) {
    const box = this.axis.getBoundingClientRect();
    const share = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
    return this.view.begin + share * (this.view.end - this.view.begin) - this.offset;
  }

  listen() {
    this.box.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.target.tagName !== "CANVAS") return;
      if (event.pointerType === "mouse") this.box.setPointerCapture(event.pointerId);
      this.page.seek(this.timeAt(event));
    });
    this.box.addEventListener("pointermove", (event) => {
      if (this.box.hasPointerCapture(event.pointerId)) this.page.seek(this.timeAt(event));
    });
    this.box.addEventListener("wheel", (event) => {
      if (event.target.tagName !== "CANVAS" || event.deltaY === 0) return;
      event.preventDefault();
      this.page.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.timeAt(event));
    }, { passive: false });
  }
}
