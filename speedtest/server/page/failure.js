// SPDX-License-Identifier: Apache-2.0
// Why did a test fail, and what can be done about it?
const ASK_TIMEOUT_MS = 5000;
const DOING = { download: "download", upload: "upload" };

export class Failure extends Error {
  // `where` is the direction, the file or the status that it is about.
  constructor(kind, where = "", retryAfterS = null) {
    super(`${kind} ${where}`.trim());
    Object.assign(this, { kind, where, retryAfterS });
  }

  static ofStatus(status, retryAfterS) {
    const kind = { 503: "full", 429: "limit" }[status] ?? "status";
    return new Failure(kind, String(status), retryAfterS);
  }

  // What a worker tells of its transfer.
  static ofTransfer(direction, { status, retryAfterS }) {
    return status ? Failure.ofStatus(status, retryAfterS) : new Failure("lost", direction);
  }

  static of(error) {
    if (error instanceof Failure) return error;
    if (error.name === "AbortError") return new Failure("cancelled");
    if (error.name === "TimeoutError" || error instanceof TypeError) return new Failure("unreachable");
    return new Failure("script", error.message);
  }
}

// A transfer that was cut does not say why; the next request gets the reason.
export async function diagnose(failure) {
  if (failure.kind !== "lost") return failure;
  try {
    const limits = { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(ASK_TIMEOUT_MS) };
    const reply = await fetch("garbage?ckSize=1", limits);
    if (reply.ok) return failure;
    return Failure.ofStatus(reply.status, Number(reply.headers.get("Retry-After")) || null);
  } catch {
    return new Failure("unreachable", failure.where);
  }
}

const TEXTS = {
  cancelled: () => ["The test was cancelled.", "What had been measured is shown; it is not kept."],
  full: ({ retryAfterS }) => [
    "The server is full.",
    `It runs as many tests as it may. ${retryAfterS ? `It asks to try again after ${retryAfterS} s.` : "Try again in a few seconds."}`,
  ],
  limit: ({ retryAfterS }) => [
    "A limit of the server ended the test.",
    "This address has used the bytes or the time that the server allows for one test. "
      + `Wait ${retryAfterS ?? "some"} seconds before the next one; the server's operator sets these limits.`,
  ],
  status: ({ where }) => [
    `The server answered ${where}.`,
    "That is not an answer of a speed test: a proxy before it may have refused the request. Tell the server's operator.",
  ],
  lost: ({ where }) => [
    `The connection was lost during the ${DOING[where] ?? "test"}.`,
    "The server still answers. Run the test again; if it is lost again, look at what lies between: Wi-Fi, a proxy, a firewall.",
  ],
  unreachable: () => navigator.onLine
    ? ["The server cannot be reached.", "Check that other pages load. If they do, the server has stopped or something blocks it."]
    : ["This device is offline.", "Connect it to the network, then run the test again."],
  nothing: ({ where }) => [
    `Nothing was transferred in the ${DOING[where] ?? "test"}.`,
    "The connection is open, but no data came through. Run the test again, with other transfers of this device stopped.",
  ],
  script: ({ where }) => [
    "The page itself failed.",
    `Reload it; if that does not help, tell the server's operator: ${where}`,
  ],
};

// What failed, and what to do.
export function explain(failure) {
  const [what, next] = TEXTS[failure.kind](failure);
  return { what, next };
}
