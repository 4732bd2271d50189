// SPDX-License-Identifier: Apache-2.0
// Moves test data in its own thread. Tells how many bytes moved between which two times, in ms since
// `go`. Downloads go into one buffer that is used again and again: allocating for each piece is what
// makes browsers slow.
const TELL_MS = 100;
const BUFFER_BYTES = 1 << 20;
// Pieces of an upload grow until one takes this long. The first is one that a full server reads whole,
// so that its sender gets the answer.
const PIECE_MS = 200;
const FIRST_PIECE_BYTES = 4 << 20;
const LAST_PIECE_BYTES = 64 << 20;
// Chromium tells every 100 ms how far an upload is; after a longer silence nothing has moved.
const SILENCE_MS = 500;

let start = 0, told = 0;
const now = () => performance.now() - start;

function tell(bytes) {
  const to = now();
  postMessage({ from: told, to, bytes });
  told = to;
}

class Refusal extends Error {
  constructor(status, retryAfter) {
    super(`the server answered ${status}`);
    this.status = status;
    this.retryAfterS = Number(retryAfter) || null;
  }
}

function readerOf(body) {
  try {
    return body.getReader({ mode: "byob" });
  } catch {
    return null; // A browser whose bodies are no byte streams.
  }
}

async function drain(body, until) {
  const byob = readerOf(body);
  const reader = byob ?? body.getReader();
  let buffer = new ArrayBuffer(BUFFER_BYTES);
  let bytes = 0;
  for (;;) {
    const { value, done } = await reader.read(byob ? new Uint8Array(buffer) : undefined);
    if (done) break;
    if (byob) buffer = value.buffer;
    bytes += value.byteLength;
    if (now() - told < TELL_MS) continue;
    tell(bytes);
    bytes = 0;
    if (now() >= until) return;
  }
  tell(bytes);
}

async function download(url, until) {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), until - now());
  try {
    while (now() < until) {
      const reply = await fetch(url, { cache: "no-store", signal: stop.signal });
      if (!reply.ok) throw new Refusal(reply.status, reply.headers.get("Retry-After"));
      await drain(reply.body, until);
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    tell(0);
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}

function uploadOnce(url, body, until) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    let seen = 0;
    const timer = setTimeout(() => request.abort(), until - now());
    request.upload.onprogress = (event) => {
      if (now() - told < TELL_MS) return;
      tell(event.loaded - seen);
      seen = event.loaded;
    };
    request.onload = () => {
      if (request.status !== 200) {
        reject(new Refusal(request.status, request.getResponseHeader("Retry-After")));
        return;
      }
      tell(body.size - seen);
      resolve();
    };
    request.onabort = () => {
      if (now() - told > SILENCE_MS) tell(0);
      resolve();
    };
    request.onerror = () => reject(new TypeError("the connection was lost"));
    request.onloadend = () => clearTimeout(timer);
    request.open("POST", url);
    request.send(body);
  });
}

function payload() {
  const piece = new Uint8Array(BUFFER_BYTES);
  for (let at = 0; at < piece.length; at += 65536) crypto.getRandomValues(piece.subarray(at, at + 65536));
  return new Blob(Array(LAST_PIECE_BYTES / BUFFER_BYTES).fill(piece));
}

async function upload(url, until, body) {
  let size = FIRST_PIECE_BYTES;
  while (now() < until) {
    const began = now();
    await uploadOnce(url, body.slice(0, size), until);
    if (now() - began < PIECE_MS) size = Math.min(size * 2, LAST_PIECE_BYTES);
  }
}

let task = null;
onmessage = async ({ data }) => {
  if (!task) {
    task = { ...data, body: data.direction === "upload" ? payload() : null };
    postMessage({ ready: true });
    return;
  }
  start = performance.now();
  try {
    await (task.direction === "download" ? download : upload)(task.url, task.ms, task.body);
    postMessage({ done: true });
  } catch ({ message, status, retryAfterS }) {
    postMessage({ failed: { message, status, retryAfterS } });
  }
};
