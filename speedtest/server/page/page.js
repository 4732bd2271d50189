// SPDX-License-Identifier: Apache-2.0
// Runs the test and shows it. Rates count what arrived after the first tenth of the time.
const WORKERS = 2;
const TEST_MS = 8000;
const PINGS = 20;
const PING_EVERY_MS = 200;
const $ = (id) => document.getElementById(id);
const say = (text) => { $("status").textContent = text; };

function rateText(bps) {
  return bps >= 1e9 ? `${(bps / 1e9).toFixed(2)} Gbit/s` : `${(bps / 1e6).toFixed(1)} Mbit/s`;
}

function median(values) {
  if (!values.length) return null;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

async function ping() {
  const start = performance.now();
  await (await fetch("empty", { cache: "no-store" })).text();
  return performance.now() - start;
}

// Mean difference of neighbours, as in RFC 3550 without the smoothing.
function jitter(times) {
  const steps = times.slice(1).map((time, at) => Math.abs(time - times[at]));
  return steps.length ? steps.reduce((a, b) => a + b, 0) / steps.length : null;
}

const rates = { download: [], upload: [] };

// Both directions on one scale, or they could not be compared.
function draw() {
  const most = Math.max(...rates.download, ...rates.upload, 1);
  for (const [direction, points] of Object.entries(rates)) {
    const step = 600 / Math.max(points.length - 1, 1);
    const xy = points.map((bps, at) => `${at * step},${155 - (bps / most) * 150}`);
    $(`${direction}-line`).setAttribute("points", xy.join(" "));
  }
  $("scale").textContent = most > 1 ? `top: ${rateText(most)}` : "";
}

function milliseconds(ms) {
  return ms === null ? "–" : `${ms.toFixed(1)} ms`;
}

async function transfer(direction, id, loaded) {
  const start = performance.now();
  const from = start + TEST_MS / 10;
  const points = [];
  rates[direction] = points;
  let counted = 0, slot = 0, running = true, last = from, first = null;
  const path = direction === "download" ? "garbage?ckSize=1024" : "empty?";
  const url = new URL(`${path}&id=${id}`, location.href).href;
  const runOne = () => new Promise((resolve, reject) => {
    const worker = new Worker("worker.js");
    worker.onmessage = ({ data }) => {
      const now = performance.now();
      if (now >= from) {
        if (first === null) first = now; else counted += data.bytes;
        last = now;
      }
      slot += data.bytes;
      if (!data.done) return;
      worker.terminate();
      if (data.error) reject(new Error(data.error)); else resolve();
    };
    worker.onerror = (event) => reject(new Error(event.message));
    worker.postMessage({ direction, url, ms: TEST_MS });
  });
  const graph = setInterval(() => {
    points.push(slot * 8 / 0.2);
    slot = 0;
    draw();
    $(direction).textContent = rateText(points.at(-1));
  }, 200);
  const pings = (async () => {
    while (running) {
      loaded.push(await ping());
      await new Promise((resolve) => setTimeout(resolve, PING_EVERY_MS));
    }
  })();
  try {
    await Promise.all(Array.from({ length: WORKERS }, runOne));
  } finally {
    running = false;
    clearInterval(graph);
  }
  await pings;
  const bps = counted * 8 / Math.max((last - first) / 1000, 0.001);
  $(direction).textContent = rateText(bps);
  return bps;
}

const WHO = {
  server_cpu: "the server's CPU", client: "this device or browser", receive_window: "the receive window",
  send_buffer: "the send buffer", path: "the network path", policy: "the server's limit",
  unknown: "nothing that could be told",
};

function show(result) {
  $("download").textContent = rateText(result.download_bps);
  $("upload").textContent = rateText(result.upload_bps);
  for (const key of ["idle", "loaded", "jitter"]) {
    $(key).textContent = milliseconds(result[`${key}_ms`]);
  }
  const lines = ["download", "upload"].map((direction) => {
    const verdict = result.verdict?.[direction]?.verdict;
    const item = document.createElement("li");
    item.textContent = `${direction}: ${verdict ? WHO[verdict.limited_by] : "not known"}`;
    if (verdict) {
      const evidence = document.createElement("details");
      const summary = document.createElement("summary");
      summary.textContent = "How this is known";
      evidence.append(summary, `${verdict.because.join("; ")}.`);
      item.append(evidence);
    }
    return item;
  });
  $("verdict").replaceChildren(...lines);
  $("after").hidden = false;
}

async function run() {
  $("start").disabled = true;
  $("after").hidden = true;
  try {
    const id = Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, "0")).join("");
    say("Measuring latency.");
    await ping();
    const idle = [];
    for (let at = 0; at < PINGS; at += 1) idle.push(await ping());
    $("idle").textContent = milliseconds(median(idle));
    $("jitter").textContent = milliseconds(jitter(idle));
    const loaded = [];
    rates.download = rates.upload = [];
    say("Downloading.");
    const download_bps = await transfer("download", id, loaded);
    say("Uploading.");
    const upload_bps = await transfer("upload", id, loaded);
    const verdict = await (await fetch(`verdict?id=${id}`)).json();
    const result = {
      time: new Date().toISOString(), download_bps, upload_bps,
      idle_ms: median(idle), loaded_ms: median(loaded), jitter_ms: jitter(idle), verdict,
    };
    await fetch("results/telemetry", { method: "POST", body: JSON.stringify(result) });
    window.result = result;
    show(result);
    say(`Done: ${rateText(download_bps)} down, ${rateText(upload_bps)} up.`);
  } catch (error) {
    say(`The test failed: ${error.message}`);
  } finally {
    $("start").disabled = false;
  }
}

$("start").addEventListener("click", run);
$("share").addEventListener("click", async () => {
  const link = `${location.origin}${location.pathname}#${encodeURIComponent(JSON.stringify(window.result))}`;
  history.replaceState(null, "", link);
  try {
    await navigator.clipboard.writeText(link);
    say("The link is in the clipboard.");
  } catch {
    say("The link is in the address bar.");
  }
});
$("export").addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(window.result, null, 2)], { type: "application/json" }));
  link.download = "speedtest.json";
  link.click();
  URL.revokeObjectURL(link.href);
});
if (location.hash.length > 1) {
  try {
    window.result = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    show(window.result);
    say(`A result of ${window.result.time}.`);
  } catch {
    say("The link holds no result.");
  }
}
if (new URLSearchParams(location.search).has("start")) run();
