// SPDX-License-Identifier: Apache-2.0
// Draw the path of the packets at one moment: what they pass from top to bottom, between two stops
// a band as wide as the rate, losses and queues next to it.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const PATH_WIDTH = 410;
const BAND = 110;
const ROW = 16;
const MARGIN = 8;
const BUSY_LISTED = 2;

function svgElement(name, attributes, text = undefined) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

class PathDrawing {
  constructor(path) {
    this.path = path;
    this.empty = !path.stops.length;
    this.root = element("section", { class: "path", "aria-label": "Path of the packets" });
    this.svg = svgElement("svg", { role: "img" });
    this.root.append(element("h3", {}, "Path of the packets at this time"), this.svg);
    // What changes: { lines, draw(values of the lines, highest rate of all bands) }.
    this.shown = [];
    let y = 1;
    path.stops.forEach((stop, place) => {
      y = this.stop(stop, y);
      const cable = path.cables[place];
      if (cable) y = this.cable(cable, y);
      else y += MARGIN;
    });
    this.svg.setAttribute("viewBox", `0 0 ${PATH_WIDTH} ${y}`);
  }

  text(x, y, kind, text) {
    const made = svgElement("text", { x, y, class: kind }, text);
    this.svg.append(made);
    return made;
  }

  stop(stop, top) {
    const box = svgElement("rect", { x: 1, y: top, width: PATH_WIDTH - 2, rx: 4, class: "stop" });
    this.svg.append(box);
    let y = top + ROW;
    const name = this.text(MARGIN, y, "name", stop.name);
    name.append(svgElement("tspan", { class: "what", dx: 8 }, stop.what));
    if (stop.busy.length) this.busy(stop.busy, this.text(MARGIN, y += ROW, "what", ""));
    for (const port of stop.ports) this.port(port, y += ROW);
    for (const queue of stop.queues) this.queue(queue, MARGIN, y += ROW);
    for (const line of stop.lost) this.loss(line, MARGIN, y += ROW);
    y += ROW / 2;
    box.setAttribute("height", y - top);
    return y;
  }

  busy(lines, text) {
    this.shown.push({
      lines,
      draw: (values) => {
        const words = lines.map(({ label }, at) => `${label} ${percentWords(values[at])}`);
        text.textContent = `busy: ${words.slice(0, BUSY_LISTED).join(", ")}`
          + `${words.length > BUSY_LISTED ? ` and ${words.length - BUSY_LISTED} more` : ""}`;
      },
    });
  }

  port(port, y) {
    const words = this.text(MARGIN, y, "what", port.name);
    this.shown.push({
      lines: [port.into, port.out, port.lost],
      draw: ([into, out, lost]) => {
        words.textContent = `${port.name}: in ${rateWords(into)}, out ${rateWords(out)}`
          + `${lost > 0 ? `, lost ${shownNumber(lost)}/s` : ""}`;
        words.setAttribute("class", lost > 0 ? "lost" : "what");
      },
    });
  }

  queue(queue, x, y) {
    const room = svgElement("rect", { x, y: y - 9, width: BAND, height: 8, class: "room" });
    const used = svgElement("rect", { x, y: y - 9, width: 0, height: 8, class: "flow" });
    this.svg.append(room, used);
    const words = this.text(x + BAND + MARGIN, y, "what", queue.label);
    this.shown.push({
      lines: [queue.used, queue.size],
      draw: ([now, size]) => {
        used.setAttribute("width", size > 0 && now > 0 ? Math.min(1, now / size) * BAND : 0);
        const of = size > 0 ? ` of ${shownNumber(size)}` : "";
        words.textContent = `queue ${queue.label}: ${shownNumber(now)}${of} packets`;
      },
    });
  }

  loss(line, x, y) {
    const words = this.text(x, y, "what", "");
    this.shown.push({
      lines: [line],
      draw: ([lost]) => {
        words.textContent = `lost, ${line.label}: ${shownNumber(lost)}/s`;
        words.setAttribute("class", lost > 0 ? "lost" : "what");
      },
    });
  }

  cable(cable, top) {
    const rows = 1 + (cable.back ? 1 : 0) + cable.lost.length + cable.queues.length;
    let y = top + ROW;
    const height = rows * ROW + ROW / 2;
    if (cable.forward) this.band(cable, cable.forward, "\u2193", "flow", y);
    else this.text(BAND + 2 * MARGIN, y, "what", "not counted");
    if (cable.back) this.band(cable, cable.back, "\u2191", "back", y += ROW);
    for (const queue of cable.queues) this.queue(queue, MARGIN, y += ROW);
    for (const line of cable.lost) this.loss(line, BAND + 2 * MARGIN, y += ROW);
    return top + height;
  }

  band(cable, line, arrow, kind, y) {
    const bar = svgElement("rect", { x: MARGIN, y: y - 11, width: 1, height: 12, class: kind });
    bar.append(svgElement("title", {}, cable.label));
    this.svg.append(bar);
    const words = this.text(BAND + 2 * MARGIN, y, "", "");
    this.shown.push({
      lines: [line], bar,
      draw: ([rate], most) => {
        const share = rate > 0 && most > 0 ? rate / most : 0;
        bar.setAttribute("width", Math.max(1, share * BAND));
        words.textContent = `${arrow} ${rateWords(rate)}`;
      },
    });
  }

  show(samples, about, t) {
    const values = this.shown.map(({ lines }) =>
      lines.map((line) => (line === null ? NaN : samples.line(about, line, t))));
    const rates = values.filter((_, at) => this.shown[at].bar).map(([rate]) => rate);
    const most = Math.max(0, ...rates.filter((rate) => rate > 0));
    this.shown.forEach(({ draw }, at) => draw(values[at], most));
    const said = [...this.svg.querySelectorAll("text")].map((each) => each.textContent);
    this.svg.setAttribute("aria-label", said.filter((each) => each).join("; "));
  }
}

function percentWords(share) {
  return share >= 10 ? `${share.toFixed(0)}%` : `${shownNumber(share)}%`;
}

function rateWords(mpps) {
  if (mpps === undefined || Number.isNaN(mpps)) return shownNumber(mpps);
  return mpps >= 0.001 || mpps === 0 ? `${shownNumber(mpps)} Mpps` : `${shownNumber(mpps * 1e6)} pps`;
}
