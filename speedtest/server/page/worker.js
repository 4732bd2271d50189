// SPDX-License-Identifier: Apache-2.0
// Moves test data in its own thread and says every 100 ms how much. Downloads go into one buffer that
// is used again and again: allocating for each piece is what makes browsers slow.
const TELL_MS = 100;
const BUFFER_BYTES = 1 << 20;
const UPLOAD_BYTES = 64 << 20;

function refusal(status) {
  if (status === 503) return "the server is busy with other tests, please try again in a few seconds";
  if (status === 429) return "this address has had what the server allows, please try again later";
  return `the server answered ${status}`;
}

async function download(url, until) {
  let buffer = new ArrayBuffer(BUFFER_BYTES);
  let bytes = 0, told = performance.now();
  while (performance.now() < until) {
    const stop = new AbortController();
    const reply = await fetch(url, { cache: "no-store", signal: stop.signal });
    if (!reply.ok) throw new Error(refusal(reply.status));
    const reader = reply.body.getReader({ mode: "byob" });
    for (;;) {
      const { value, done } = await reader.read(new Uint8Array(buffer));
      buffer = value.buffer;
      if (done) break;
      bytes += value.byteLength;
      const now = performance.now();
      if (now - told >= TELL_MS) {
        postMessage({ bytes });
        bytes = 0;
        told = now;
      }
      if (now >= until) {
        stop.abort();
        return bytes;
      }
    }
  }
  return bytes;
}

function uploadOnce(url, body, until) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    let seen = 0, told = 0;
    request.upload.onprogress = (event) => {
      const now = performance.now();
      if (now - told >= TELL_MS) {
        postMessage({ bytes: event.loaded - seen });
        seen = event.loaded;
        told = now;
      }
      if (now >= until) request.abort();
    };
    request.onload = () => {
      if (request.status === 200) resolve(body.size - seen);
      else reject(new Error(refusal(request.status)));
    };
    request.onabort = () => resolve(0);
    request.onerror = () => reject(new Error("the upload failed"));
    request.open("POST", url);
    request.send(body);
  });
}

async function upload(url, until) {
  const piece = new Uint8Array(BUFFER_BYTES);
  for (let at = 0; at < piece.length; at += 65536) crypto.getRandomValues(piece.subarray(at, at + 65536));
  const body = new Blob(Array(UPLOAD_BYTES / BUFFER_BYTES).fill(piece));
  let left = 0;
  while (performance.now() < until) {
    postMessage({ bytes: left });
    left = await uploadOnce(url, body, until);
  }
  return left;
}

onmessage = async ({ data: { direction, url, ms } }) => {
  try {
    const until = performance.now() + ms;
    const bytes = await (direction === "download" ? download : upload)(url, until);
    postMessage({ bytes, done: true });
  } catch (error) {
    postMessage({ bytes: 0, done: true, error: error.message });
  }
};
