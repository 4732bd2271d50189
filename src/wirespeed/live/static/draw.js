// SPDX-License-Identifier: Apache-2.0
// Draw lanes, time axis and timeline on canvases, in the colours of the page.
"use strict";

const LINES_DRAWN = 24;
const COLOURS = 8;
const LEAST_LOSS_PX = 3;
const MARK_COLOURS = {
  point: "s3", trial: "s7", gate: "goal", fault: "fail", user: "accent", clock: "s5", note: "muted",
};

let colours = new Map();

function colour(name) {
  if (!colours.has(name)) {
    const style = getComputedStyle(document.documentElement);
    colours.set(name, style.getPropertyValue(`--${name}`).trim());
  }
  return colours.get(name);
}

function forgetColours() {
  colours = new Map();
}

// Size a canvas to its box; return its context and size in CSS pixels.
function prepared(canvas, height) {
  const width = Math.max(1, Math.floor(canvas.clientWidth));
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

// Return the lines of a lane that have a value in this time, those with the most first.
function linesIn(lane, strips, begin, end, width) {
  const found = [];
  for (const [index, line] of lane.lines.entries()) {
    const { least, most } = columnsOf(line, strips, begin, end, width);
    let high = -Infinity;
    for (const value of most) if (value > high) high = value;
    if (high > (lane.loss ? 0 : -Infinity)) found.push({ line, index, least, most, high });
  }
  return found.sort((one, other) => other.high - one.high);
}

function niceTop(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].find((each) => each * power >= value) * power;
}

// Draw the lines; return the upper end of the axis.
function drawLane(canvas, lane, found, height) {
  const { context, width } = prepared(canvas, height);
  const top = lane.top ?? niceTop(Math.max(0, ...found.map((each) => each.high)));
  const y = (value) => height - 1 - Math.max(0, Math.min(1, value / top)) * (height - 3);
  context.strokeStyle = colour("rule");
  context.beginPath();
  for (const share of [0, 0.5, 1]) {
    context.moveTo(0, Math.round(y(share * top)) + 0.5);
    context.lineTo(width, Math.round(y(share * top)) + 0.5);
  }
  context.stroke();
  const drawn = found.slice(0, LINES_DRAWN);
  for (let at = drawn.length - 1; at >= 0; at -= 1) {
    const hue = colour(lane.loss ? "fail" : `s${drawn[at].index % COLOURS}`);
    if (lane.loss) drawLoss(context, drawn[at], y, height, hue);
    else drawLine(context, drawn[at], y, hue);
  }
  return top;
}

function drawLine(context, { least, most }, y, hue) {
  context.strokeStyle = hue;
  context.lineWidth = 1.25;
  context.beginPath();
  let open = false;
  for (let x = 0; x < most.length; x += 1) {
    if (Number.isNaN(most[x])) {
      open = false;
      continue;
    }
    const low = y(least[x]), high = y(most[x]);
    if (open) context.lineTo(x + 0.5, high); else context.moveTo(x + 0.5, high);
    if (low - high > 0.5) context.lineTo(x + 0.5, low);
    else if (!open) context.lineTo(x + 1, high);
    open = true;
  }
  context.stroke();
}

// Bars, so that a loss that is shorter or smaller than a pixel is seen.
function drawLoss(context, { most }, y, height, hue) {
  context.fillStyle = hue;
  for (let x = 0; x < most.length; x += 1) {
    if (!(most[x] > 0)) continue;
    const high = Math.max(LEAST_LOSS_PX, height - y(most[x]));
    context.fillRect(x - 0.5, height - high, 2, high);
  }
}

// Hatch the time in which a source was restarted.
function drawGaps(context, gaps, x, height) {
  context.fillStyle = colour("goal");
  for (const [begin, end] of gaps) {
    const from = x(begin), width = Math.max(2, x(end) - from);
    context.globalAlpha = 0.35;
    context.fillRect(from, 0, width, height);
    context.globalAlpha = 1;
  }
}

function niceStep(seconds, ticks) {
  const steps = [1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10,
    15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];
  return steps.find((step) => seconds / step <= ticks) ?? 86400;
}

function drawAxis(canvas, begin, end) {
  const { context, width } = prepared(canvas, 18);
  const step = niceStep((end - begin) / 1e9, Math.max(2, width / 90));
  context.fillStyle = colour("muted");
  context.font = "11px system-ui, sans-serif";
  for (let tick = Math.ceil(begin / 1e9 / step); tick * step <= end / 1e9; tick += 1) {
    const x = (tick * step * 1e9 - begin) / (end - begin) * width;
    context.fillRect(Math.round(x), 0, 1, 4);
    const words = secondsOf(tick * step, step);
    const half = context.measureText(words).width / 2;
    context.fillText(words, Math.max(0, Math.min(width - 2 * half, x - half)), 15);
  }
}

function secondsOf(seconds, step) {
  const digits = step >= 1 ? 0 : Math.min(4, Math.ceil(-Math.log10(step)));
  if (Math.abs(seconds) < 120) return `${seconds.toFixed(digits)} s`;
  const sign = seconds < 0 ? "-" : "";
  const whole = Math.abs(seconds);
  const hours = Math.floor(whole / 3600), minutes = Math.floor(whole / 60) % 60;
  const left = (whole % 60).toFixed(digits).padStart(digits ? digits + 3 : 2, "0");
  return `${sign}${hours ? `${hours}:${String(minutes).padStart(2, "0")}` : minutes}:${left}`;
}

// Draw the whole recording: trials, marks, losses and gaps, and what the lanes show of it.
function drawTimeline(canvas, state) {
  const { context, width, height } = prepared(canvas, 44);
  const { begin, end, view, marks, losses, gaps, loop } = state;
  const x = (at) => (at - begin) / Math.max(1, end - begin) * width;
  context.fillStyle = colour("panel");
  context.fillRect(0, 0, width, height);
  context.fillStyle = colour("rule");
  context.fillRect(x(view.begin), 0, Math.max(3, x(view.end) - x(view.begin)), height);
  if (loop) {
    context.fillStyle = colour("accent");
    context.globalAlpha = 0.25;
    context.fillRect(x(loop[0]), 0, Math.max(2, x(loop[1]) - x(loop[0])), height);
    context.globalAlpha = 1;
  }
  drawGaps(context, gaps, x, height);
  for (const [at, kind] of marks) {
    if (kind === PRICE) continue;
    context.fillStyle = colour(MARK_COLOURS[kind] ?? "muted");
    const tall = kind === "trial" || kind === "note" ? 10 : 18;
    context.fillRect(Math.round(x(at)), 0, kind === "user" || kind === "fault" ? 2 : 1, tall);
  }
  context.fillStyle = colour("fail");
  for (const loss of losses) {
    const [from, to] = [x(loss.begin), x(loss.end)];
    context.fillRect(from - 0.5, height - 10, Math.max(2, to - from), 10);
  }
}
