// SPDX-License-Identifier: Apache-2.0
// Times small requests, idle and under load, and sums them up.
const IDLE_PROBES = 40;
const IDLE_MOST_MS = 3000;
const IDLE_LEAST = 10;
const LOADED_EVERY_MS = 200;
const PROBE_TIMEOUT_MS = 10000;
// draft-ietf-ippm-responsiveness leaves out the slowest twentieth.
const TRIMMED = 0.95;

let number = 0;

// Milliseconds from sending the request to the first byte of its answer, as the browser's network
// process saw it; without such a record (some privacy settings), as this script did.
async function probe(signal) {
  number += 1;
  const url = new URL(`empty?probe=${Date.now()}-${number}`, location.href).href;
  const began = performance.now();
  const limit = AbortSignal.timeout(PROBE_TIMEOUT_MS);
  const reply = await fetch(url, { cache: "no-store", signal: AbortSignal.any([signal, limit]) });
  await reply.text();
  const ended = performance.now();
  const entry = performance.getEntriesByName(url)[0];
  performance.clearResourceTimings();
  const recorded = entry?.requestStart > 0;
  return {
    ms: recorded ? entry.responseStart - entry.requestStart : ended - began,
    recorded,
    protocol: entry?.nextHopProtocol || null,
  };
}

// Mean difference of neighbours, as in RFC 3550 without the smoothing.
function jitter(times) {
  const steps = times.slice(1).map((time, at) => Math.abs(time - times[at]));
  return steps.length ? steps.reduce((a, b) => a + b, 0) / steps.length : null;
}

const round = (value) => (value === null ? null : Math.round(value * 1000) / 1000);

// The distribution of some times (ms), of which N more got no answer; percentiles by nearest rank.
export function summary(times, lost = 0) {
  const sorted = [...times].sort((a, b) => a - b);
  const rank = (share) => (sorted.length ? sorted[Math.ceil(share * sorted.length) - 1] : null);
  const quick = sorted.slice(0, Math.ceil(sorted.length * TRIMMED));
  const mean = quick.reduce((a, b) => a + b, 0) / quick.length;
  return {
    p50_ms: round(rank(0.5)), p95_ms: round(rank(0.95)), jitter_ms: round(jitter(times)),
    rpm: mean > 0 ? Math.round(60000 / mean) : null, samples: times.length, lost,
  };
}

// Without load, one request after the other. The first one opens the connection and does not count.
export async function idleLatency(signal) {
  const { protocol, recorded } = await probe(signal);
  const end = performance.now() + IDLE_MOST_MS;
  const times = [];
  while (times.length < IDLE_PROBES && (times.length < IDLE_LEAST || performance.now() < end)) {
    times.push((await probe(signal)).ms);
  }
  return { ...summary(times), protocol, timed_by: recorded ? "resource timing" : "clock" };
}

// Until it is stopped; a request that gets no answer is counted, as it is no reason to end the test.
export function loadedLatency(signal) {
  const times = [];
  let lost = 0, running = true;
  const ended = (async () => {
    while (running && !signal.aborted) {
      try {
        const { ms } = await probe(signal);
        if (running) times.push(ms); // The last one may have outlived the load.
      } catch {
        lost += Number(!signal.aborted);
      }
      await new Promise((resolve) => setTimeout(resolve, LOADED_EVERY_MS));
    }
  })();
  return async () => {
    running = false;
    await ended;
    return summary(times, lost);
  };
}
