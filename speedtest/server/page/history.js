// SPDX-License-Identifier: Apache-2.0
// Results that this browser keeps, and nobody else: localStorage, the latest ones only.
import { change, milliseconds, rate } from "./format.js";

const KEY = "wirespeed.results";
export const MOST_KEPT = 50;

// Is this a result, whatever a link or an older page has left? Figures may be missing, none may be wrong.
export function isResult(value) {
  const number = (figure) => figure === undefined || figure === null || Number.isFinite(figure);
  return typeof value === "object" && value !== null && typeof value.time === "string" && !Number.isNaN(Date.parse(value.time))
    && [value.download_bps, value.upload_bps, value.step_ms, value.test_ms].every(number)
    && ["download", "upload"].every((direction) =>
      (value.rates?.[direction] ?? []).every?.((bps) => Number.isFinite(bps) && bps >= 0));
}

export function kept() {
  try {
    const results = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(results) ? results.filter(isResult) : [];
  } catch {
    return []; // Storage is forbidden or holds something else.
  }
}

// Newest first. False: this browser keeps nothing.
export function keep(result) {
  try {
    localStorage.setItem(KEY, JSON.stringify([result, ...kept()].slice(0, MOST_KEPT)));
    return true;
  } catch {
    return false;
  }
}

export function forget() {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // Then there is nothing to forget.
  }
}

const FIGURES = [
  ["Download", rate, (result) => result.download_bps],
  ["Upload", rate, (result) => result.upload_bps],
  ["Latency, idle", milliseconds, (result) => result.latency?.idle?.p50_ms],
  ["Latency, downloading", milliseconds, (result) => result.latency?.download?.p50_ms],
  ["Latency, uploading", milliseconds, (result) => result.latency?.upload?.p50_ms],
  ["RPM, downloading", String, (result) => result.latency?.download?.rpm],
  ["RPM, uploading", String, (result) => result.latency?.upload?.rpm],
];

// Rows of name, the earlier figure, the later one, and the difference in % of the earlier one.
export function compare(one, other) {
  const [earlier, later] = Date.parse(one.time) <= Date.parse(other.time) ? [one, other] : [other, one];
  const text = (format, figure) => (Number.isFinite(figure) ? format(figure) : "–");
  const rows = FIGURES.map(([name, format, of]) =>
    [name, text(format, of(earlier)), text(format, of(later)), change(of(earlier), of(later))]);
  return { earlier, later, rows };
}
