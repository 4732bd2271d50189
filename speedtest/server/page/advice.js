// SPDX-License-Identifier: Apache-2.0
// What limited a direction, in words, and what to do about it. Names are those of the server's verdict.
const both = (text) => ({ download: text, upload: text });

const LIMITS = {
  path: {
    who: "the network path",
    ...both("This is what the network carries now. To see whether it can more: stop other transfers, use a cable instead of Wi-Fi, run the test at another time."),
  },
  server_cpu: {
    who: "the server's CPU",
    ...both("The line may be faster. The server's operator can give it more cores or allow fewer tests at a time."),
  },
  client: {
    who: "this device or browser",
    ...both("The line may be faster. Close other programs and tabs, plug in the power supply, or test with a program instead of a browser: iperf3, ndt7-client."),
  },
  receive_window: {
    who: "the receive window",
    download: "This device allows too little data in flight for this distance. Raise its TCP receive buffer (Linux: net.ipv4.tcp_rmem), or test with several streams (iperf3 -P).",
    upload: "The server allows too little data in flight for this distance. Its operator can raise net.ipv4.tcp_rmem.",
  },
  send_buffer: {
    who: "the send buffer",
    download: "The server keeps too little data in flight for this distance. Its operator can raise net.ipv4.tcp_wmem.",
    upload: "This device keeps too little data in flight for this distance. Raise its TCP send buffer (Linux: net.ipv4.tcp_wmem).",
  },
  policy: {
    who: "the server's limit",
    ...both("The line may be faster: the server allows no more to one test. Its operator sets limits.rate_bps."),
  },
  shared: {
    who: "other tests at the same time",
    ...both("Other tests used this server at the same time: run it again."),
  },
  unknown: {
    who: "could not be determined",
    ...both("Too little was transferred to decide: run it again."),
  },
};

// What else the server did during one direction, if it says so.
export function otherLoadOf(verdict) {
  const load = verdict?.other_load;
  if (!load) return "";
  if (!(load.tests > 0 || load.bytes > 0)) return "No other test used the server meanwhile.";
  const share = (part) => `${Math.round(part * 100)} %`;
  return `Meanwhile the server ran ${load.tests} other ${load.tests === 1 ? "test" : "tests"}: `
    + `${share(load.bytes_share)} of its test data, ${share(load.loop_share)} of the time of this test's event loop.`;
}

// `verdict` is one direction's answer of /verdict, or nothing.
export function limitOf(direction, verdict) {
  const name = verdict?.verdict?.limited_by;
  if (!name) return { who: "not known", advice: "The server reported nothing about this direction: run the test again." };
  const limit = LIMITS[name];
  return limit ? { who: limit.who, advice: limit[direction] } : { who: String(name), advice: "" };
}
