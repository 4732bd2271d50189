// SPDX-License-Identifier: Apache-2.0
// One direction of a test: workers move data, requests are timed meanwhile.
import { Failure } from "./failure.js";
import { loadedLatency } from "./latency.js";
import { STEP_MS, Timeline } from "./timeline.js";

const WARMUP_SHARE = 0.1;
const WORKERS = 2;
const DRAW_MS = 200;
// A worker reports its bytes this late at most; bytes not yet reported are not drawn.
const TOLD_MS = 200;
const PATHS = { download: "garbage?ckSize=1024", upload: "empty?" };

// One worker, ready to move data. `ended` settles when it has.
function prepare(direction, url, ms, report) {
  const worker = new Worker("worker.js");
  let ready, ended;
  const made = new Promise((resolve, reject) => { ready = { resolve, reject }; });
  const over = new Promise((resolve, reject) => { ended = { resolve, reject }; });
  over.catch(() => {});
  const fail = (failure) => {
    ready.reject(failure);
    ended.reject(failure);
  };
  worker.onmessage = ({ data }) => {
    if (data.ready) ready.resolve();
    else if (data.done) ended.resolve();
    else if (data.failed) fail(Failure.ofTransfer(direction, data.failed));
    else report(data);
  };
  worker.onerror = (event) => fail(new Failure("script", `worker.js: ${event.message ?? "could not be loaded"}`));
  worker.postMessage({ direction, url, ms });
  return { worker, made, over };
}

function aborted(signal) {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(new Failure("cancelled")), { once: true });
  });
}

// Moves data for `ms`. Gives the mean rate, the rates over time, and the latency under this load; `draw`
// gets the rates so far.
export async function transfer(direction, id, ms, signal, draw) {
  const url = new URL(`${PATHS[direction]}&id=${id}`, location.href).href;
  const warmupMs = ms * WARMUP_SHARE;
  const timeline = new Timeline(WORKERS, ms, warmupMs);
  const streams = Array.from({ length: WORKERS }, (_, stream) =>
    prepare(direction, url, ms, ({ from, to, bytes }) => timeline.add(stream, from, to, bytes)));
  const stop = new AbortController();
  const cancelled = aborted(signal);
  cancelled.catch(() => {});
  const timers = [];
  try {
    await Promise.race([cancelled, Promise.all(streams.map(({ made }) => made))]);
    const start = performance.now();
    for (const { worker } of streams) worker.postMessage({ go: true });
    let endProbes = null;
    timers.push(setTimeout(() => { endProbes = loadedLatency(stop.signal); }, warmupMs));
    timers.push(setInterval(() => draw(timeline.rates(performance.now() - start - TOLD_MS)), DRAW_MS));
    await Promise.race([cancelled, Promise.all(streams.map(({ over }) => over))]);
    const latency = await endProbes?.() ?? null;
    const bps = timeline.mean();
    if (!(bps > 0)) throw new Failure("nothing", direction);
    draw(timeline.rates());
    return { bps: Math.round(bps), rates: timeline.rates(), step_ms: STEP_MS, latency };
  } finally {
    stop.abort();
    for (const timer of timers) clearInterval(timer);
    for (const { worker } of streams) worker.terminate();
  }
}
