// SPDX-License-Identifier: Apache-2.0
// Runs tests when asked to, and connects the page's buttons.
import { Failure, diagnose, explain } from "./failure.js";
import { compare, forget, isResult, keep, kept } from "./history.js";
import { idleLatency } from "./latency.js";
import { transfer } from "./measure.js";
import { STEP_MS } from "./timeline.js";
import { rate, time } from "./format.js";
import { $, cards, chart, comparison, past, show } from "./view.js";

const SECONDS = { least: 1, usual: 8, most: 60 };
const IDLE_SHARE = 0.05;
const LIVE_STEPS = 5;
let running = null; // The AbortController of a test.
let shown = null;   // The result on the page.
let chosen = [];    // Results of the history, with their boxes.

// Of each direction; the page's address may ask for another time.
function testMs() {
  const seconds = Number(new URLSearchParams(location.search).get("seconds") || SECONDS.usual);
  return Math.min(Math.max(seconds || SECONDS.usual, SECONDS.least), SECONDS.most) * 1000;
}

const TEST_MS = testMs();
const say = (text) => { $("status").textContent = text; };

async function json(path, signal) {
  const reply = await fetch(path, { cache: "no-store", signal });
  if (!reply.ok) throw Failure.ofStatus(reply.status, Number(reply.headers.get("Retry-After")) || null);
  return reply.json();
}

function testId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Fills `result` as it goes, so that what was measured before a failure can be shown.
async function measure(result, signal) {
  const id = testId();
  say("Measuring latency.");
  result.server = await json("server", signal);
  result.latency.idle = await idleLatency(signal);
  cards(result);
  for (const [at, direction] of ["download", "upload"].entries()) {
    say(direction === "download" ? "Downloading." : "Uploading.");
    const done = await transfer(direction, id, TEST_MS, signal, (rates) => {
      result.rates[direction] = rates;
      chart(result.rates, STEP_MS, TEST_MS);
      const latest = rates.slice(-LIVE_STEPS);
      if (latest.length) $(direction).textContent = rate(latest.reduce((a, b) => a + b) / latest.length);
      $("progress").value = IDLE_SHARE + (1 - IDLE_SHARE) * (at + rates.length * STEP_MS / TEST_MS) / 2;
    });
    result[`${direction}_bps`] = done.bps;
    result.rates[direction] = done.rates;
    result.latency[direction] = done.latency;
    cards(result);
  }
  result.verdict = await json(`verdict?id=${id}`, signal);
}

// The server's number of this result, if it keeps results.
async function report(result) {
  const reply = await fetch("results/telemetry", { method: "POST", body: JSON.stringify(result) });
  const number = reply.ok && /^id (\d+)$/.exec(await reply.text());
  return number ? Number(number[1]) : null;
}

function setRunning(controller) {
  running = controller;
  const busy = controller !== null;
  $("start").hidden = busy;
  $("cancel").hidden = !busy;
  $("progress").hidden = !busy;
  $("progress").value = 0;
  (busy ? $("cancel") : $("start")).focus({ preventScroll: true });
}

async function run() {
  if (running) return;
  const controller = new AbortController();
  setRunning(controller);
  $("failure").hidden = $("result").hidden = true;
  clearInterval(countdown);
  const result = {
    version: 2, time: new Date().toISOString(), test_ms: TEST_MS, step_ms: STEP_MS,
    latency: {}, rates: { download: [], upload: [] },
  };
  try {
    cards(result);
    chart(result.rates, STEP_MS, TEST_MS);
    await measure(result, controller.signal);
    result.number = await report(result).catch(() => null);
    shown = result;
    show(result);
    const note = keep(result) ? "" : " This browser does not let the page keep it.";
    say(`Done: ${rate(result.download_bps)} down, ${rate(result.upload_bps)} up.${note}`);
    listPast();
  } catch (error) {
    if (!(error instanceof Failure)) console.info(error);
    fail(await diagnose(Failure.of(error)));
  } finally {
    setRunning(null);
    $("start").textContent = "Run again";
  }
}

let countdown = 0;

// What failed and what to do; a server that says when it may be asked again gets a button for that.
function fail(failure) {
  const { what, next } = explain(failure);
  say(failure.kind === "cancelled" ? `${what} ${next}` : "The test has failed.");
  if (failure.kind === "cancelled") return;
  $("failed-what").textContent = what;
  $("failed-next").textContent = next;
  $("failure").hidden = false;
  $("retry").hidden = !failure.retryAfterS;
  if (failure.retryAfterS) offerRetry(performance.now() + failure.retryAfterS * 1000);
}

function offerRetry(due) {
  let asked = false;
  const tick = () => {
    const left = Math.ceil((due - performance.now()) / 1000);
    $("retry").textContent = left > 0 ? (asked ? `Starts in ${left} s` : `Try again in ${left} s`) : "Try again now";
    $("retry").disabled = asked;
    if (left > 0) return;
    clearInterval(countdown);
    if (asked) run();
  };
  $("retry").onclick = () => {
    asked = true;
    say("The test starts as soon as the server may be asked again.");
    tick();
  };
  clearInterval(countdown);
  countdown = setInterval(tick, 250);
  tick();
}

function listPast() {
  chosen = [];
  $("compare").disabled = true;
  past(kept(), open, choose);
}

function open(result) {
  if (running) return;
  shown = result;
  $("failure").hidden = true;
  show(result);
  say(`The result of ${time(result.time)}.`);
  $("status").scrollIntoView({ block: "center" });
}

// Two at most: the third choice replaces the first.
function choose(result, box) {
  chosen = chosen.filter((one) => one.box !== box);
  if (box.checked) chosen.push({ result, box });
  if (chosen.length > 2) chosen.shift().box.checked = false;
  $("compare").disabled = chosen.length !== 2;
}

function save(result) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(result, null, 2)], { type: "application/json" }));
  link.download = `speedtest-${result.time.replace(/[^0-9T]/g, "").slice(0, 15)}.json`;
  link.click();
  URL.revokeObjectURL(link.href);
}

async function share(result) {
  const link = `${location.origin}${location.pathname}#${encodeURIComponent(JSON.stringify(result))}`;
  history.replaceState(null, "", link);
  try {
    await navigator.clipboard.writeText(link);
    say("The link is in the clipboard.");
  } catch {
    say("The link is in the address bar.");
  }
}

function showLinked() {
  try {
    const result = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    if (!isResult(result)) throw new TypeError("no result");
    open(result);
  } catch {
    say("The link holds no result.");
  }
}

$("start").addEventListener("click", run);
$("cancel").addEventListener("click", () => running?.abort());
$("export").addEventListener("click", () => save(shown));
$("share").addEventListener("click", () => share(shown));
$("compare").addEventListener("click", () => {
  comparison(compare(chosen[0].result, chosen[1].result));
  $("comparison").focus();
});
$("clear").addEventListener("click", () => {
  forget();
  $("comparison").hidden = true;
  listPast();
  say("The history is cleared.");
});
listPast();
// Only now does the page have all its parts: a network that changes meanwhile takes one away.
$("start").disabled = false;
say("Ready. A test takes about 20 seconds.");
if (location.hash.length > 1) showLinked();
json("server").then(({ name, family }) => { $("server").textContent = `${name}, reached over ${family}`; }, () => {});
if (new URLSearchParams(location.search).has("start")) run();
