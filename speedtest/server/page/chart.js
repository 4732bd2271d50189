// SPDX-License-Identifier: Apache-2.0
// Draws rates over time into an SVG, in its own pixels, so that text is as large on a phone as anywhere.
import { unitOf } from "./format.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 220;
const MARGIN = { top: 24, right: 14, bottom: 40, left: 46 };
const STEPS = [1, 2, 2.5, 5, 10];

function make(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// Marks from zero to the first one that is not below `most`, about `wanted` of them.
export function marks(most, wanted) {
  const rough = most / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = STEPS.find((factor) => factor * power >= rough * 0.999) * power;
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, at) => Number((at * step).toPrecision(6)));
}

// Where times (ms) and rates (in the unit of the marks) are, and the marks.
function scaleOf(width, most, totalMs) {
  const [size, unit] = unitOf(most);
  const rows = most > 0 ? marks(most / size, 4) : [0];
  const columns = marks(totalMs / 1000, width < 480 ? 4 : 8);
  const top = rows.at(-1) || 1;
  const x = (ms) => MARGIN.left + (ms / totalMs) * (width - MARGIN.left - MARGIN.right);
  const y = (value) => HEIGHT - MARGIN.bottom - (value / top) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const key = [width, unit, rows.at(-1), totalMs].join(" ");
  return { x, y, size, unit: most > 0 ? unit : "", rows, columns, totalMs, key };
}

function axes({ x, y, unit, rows, columns, totalMs }) {
  const parts = [
    make("text", { x: MARGIN.left, y: 13, class: "unit" }, unit),
    make("text", { x: x(totalMs / 2), y: HEIGHT - 4, class: "middle" }, "seconds since the direction began"),
  ];
  for (const value of rows) {
    parts.push(make("line", { x1: x(0), x2: x(totalMs), y1: y(value), y2: y(value), class: value ? "grid" : "axis" }));
    parts.push(make("text", { x: MARGIN.left - 6, y: y(value) + 4, class: "end" }, String(value)));
  }
  for (const second of columns) {
    const at = x(second * 1000);
    parts.push(make("line", { x1: at, x2: at, y1: y(0), y2: y(0) + 5, class: "axis" }));
    parts.push(make("text", { x: at, y: y(0) + 19, class: "middle" }, String(second)));
  }
  return parts;
}

// `rates` has bit/s for each `stepMs`, by direction; both are on one scale, or they could not be compared.
// Axes are made anew only when the scale changes: the browser has a link to fill meanwhile.
export function draw(svg, rates, stepMs, totalMs) {
  const width = Math.max(svg.clientWidth, 240);
  const scale = scaleOf(width, Math.max(...Object.values(rates).flat(), 0), totalMs);
  if (svg.dataset.scale !== scale.key) {
    svg.dataset.scale = scale.key;
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    svg.setAttribute("height", HEIGHT);
    const lines = ["download", "upload"].map((direction) => make("polyline", { class: direction }));
    svg.replaceChildren(...axes(scale), ...lines);
  }
  for (const [direction, values] of Object.entries(rates)) {
    // A step's rate is drawn at the middle of its time.
    const points = values.map((bps, at) => `${scale.x((at + 0.5) * stepMs).toFixed(1)},${scale.y(bps / scale.size).toFixed(1)}`);
    svg.querySelector(`polyline.${direction}`).setAttribute("points", points.join(" "));
  }
}
