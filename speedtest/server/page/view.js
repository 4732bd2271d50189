// SPDX-License-Identifier: Apache-2.0
// Shows a result, the history and comparisons. Everything goes in as text, never as HTML.
import { limitOf, otherLoadOf } from "./advice.js";
import { draw } from "./chart.js";
import { count, milliseconds, rate, time } from "./format.js";
import { MOST_KEPT } from "./history.js";

export const $ = (id) => document.getElementById(id);
const LINES = [["idle", "idle"], ["download", "downloading"], ["upload", "uploading"]];

export function make(name, text, children = []) {
  const element = document.createElement(name);
  if (text !== null) element.textContent = text;
  element.append(...children);
  return element;
}

// A row whose first cell is its heading.
function row([heading, ...cells]) {
  const first = make("th", heading);
  first.scope = "row";
  return make("tr", null, [first, ...cells.map((cell) => make("td", cell))]);
}

let drawn = { rates: {}, stepMs: 200, totalMs: 8000 };

export function chart(rates, stepMs, totalMs) {
  drawn = { rates, stepMs, totalMs };
  draw($("chart"), rates, stepMs, totalMs);
}

function describeChart(result) {
  const said = ["download", "upload"].map((direction) => {
    const rates = result.rates?.[direction] ?? [];
    return rates.length ? `${direction} from ${rate(Math.min(...rates))} to ${rate(Math.max(...rates))}` : `${direction} not known`;
  });
  $("chart").setAttribute("aria-label", `Rate over time: ${said.join("; ")}`);
}

function limitItem(direction, verdict) {
  const { who, advice } = limitOf(direction, verdict);
  const parts = [make("strong", `${direction === "download" ? "Download" : "Upload"}: ${who}`), make("p", advice)];
  const others = otherLoadOf(verdict);
  if (others) parts.push(make("p", others));
  const because = verdict?.verdict?.because;
  if (Array.isArray(because) && because.length) {
    const evidence = `${because.join("; ")}.`;
    parts.push(make("details", null, [make("summary", "Evidence"), make("p", evidence)]));
  }
  return make("li", null, parts);
}

export function cards(result) {
  const { idle, download, upload } = result.latency ?? {};
  for (const direction of ["download", "upload"]) {
    $(direction).textContent = rate(result[`${direction}_bps`]);
    const judged = result.verdict?.[direction];
    $(`${direction}-note`).textContent = judged ? `limit: ${limitOf(direction, judged).who}` : "";
  }
  const note = (line) => (line ? `p95 ${milliseconds(line.p95_ms)}, RPM ${count(line.rpm)}` : "");
  // The direction that delays others more.
  const worst = upload && !(upload.rpm >= download?.rpm) ? upload : download;
  $("idle").textContent = milliseconds(idle?.p50_ms);
  $("idle-note").textContent = note(idle);
  $("loaded").textContent = milliseconds(worst?.p50_ms);
  $("loaded-note").textContent = note(worst);
  $("loaded-name").textContent = worst ? `Latency, ${worst === upload ? "uploading" : "downloading"}` : "Latency, loaded";
}

function latencyHow({ idle }) {
  const alone = idle?.protocol === "h2"
    ? "share the connection with the test data (HTTP/2)."
    : "have a connection of their own (HTTP/1.1): they show the queues of the path, not those of the connections that carry data.";
  const timed = idle?.timed_by === "clock" ? " Timed by this script, as the browser keeps no record of requests." : "";
  return "The time of small requests, from sending to the first byte of the answer; 95 of 100 were not slower than p95. "
    + "RPM is the number of round trips that fit into a minute while the network is busy: 60,000 ms over the mean time, "
    + "without the slowest twentieth (draft-ietf-ippm-responsiveness, which also times new connections; a page cannot). "
    + `The requests ${alone}${timed}`;
}

function aboutRows(result) {
  const { name, family, congestion } = result.server ?? {};
  return [
    ["Time", time(result.time)], ["Server", name],
    ["Connection", [family, { h2: "HTTP/2", "http/1.1": "HTTP/1.1" }[result.latency?.idle?.protocol]].filter(Boolean).join(", ")],
    ["Congestion control", congestion && `${congestion} (of the server, for the download)`],
    ["Result number", result.number],
  ].filter(([, value]) => value);
}

export function show(result) {
  cards(result);
  const { download = [], upload = [] } = result.rates ?? {};
  chart({ download, upload }, result.step_ms ?? 200, result.test_ms ?? 8000);
  describeChart(result);
  $("limits").replaceChildren(...["download", "upload"].map((way) => limitItem(way, result.verdict?.[way])));
  const latency = result.latency ?? {};
  $("latency").replaceChildren(...LINES.filter(([key]) => latency[key]).map(([key, name]) => {
    const { p50_ms: p50, p95_ms: p95, jitter_ms: jitter, rpm, samples, lost } = latency[key];
    return row([name, milliseconds(p50), milliseconds(p95), milliseconds(jitter), count(rpm), lost ? `${samples} (${lost} lost)` : count(samples)]);
  }));
  $("latency-how").textContent = latencyHow(latency);
  $("about").replaceChildren(...aboutRows(result).flatMap(([name, value]) => [make("dt", name), make("dd", String(value))]));
  $("result").hidden = false;
}

// A row that can be chosen for a comparison, and opened.
function pastRow(result, opened, chosen) {
  const box = make("input", null);
  box.type = "checkbox";
  box.setAttribute("aria-label", `Compare the result of ${time(result.time)}`);
  box.addEventListener("change", () => chosen(result, box));
  const open = make("button", time(result.time));
  open.type = "button";
  open.title = "Show this result";
  open.addEventListener("click", () => opened(result));
  const figures = [rate(result.download_bps), rate(result.upload_bps), milliseconds(result.latency?.idle?.p50_ms)];
  return make("tr", null, [make("td", null, [box]), make("td", null, [open]), ...figures.map((text) => make("td", text))]);
}

export function past(results, opened, chosen) {
  $("history").hidden = results.length === 0;
  $("history-note").textContent = results.length
    ? `The latest ${MOST_KEPT} results at most. They are kept in this browser only, until you clear them.`
    : `Results of this page will be listed here: the latest ${MOST_KEPT}, kept in this browser only.`;
  $("past").replaceChildren(...results.map((result) => pastRow(result, opened, chosen)));
}

export function comparison({ earlier, later, rows }) {
  $("earlier").textContent = time(earlier.time).replace(" ", "\n");
  $("later").textContent = time(later.time).replace(" ", "\n");
  $("differences").replaceChildren(...rows.map(row));
  $("comparison").hidden = false;
}

new ResizeObserver(() => draw($("chart"), drawn.rates, drawn.stepMs, drawn.totalMs)).observe($("chart"));
