// SPDX-License-Identifier: Apache-2.0
// Figures as text.
const UNITS = [[1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"], [1, "bit/s"]];

// The largest unit in which a rate (bit/s) has a whole digit: [bit/s, name].
export function unitOf(bps) {
  return UNITS.find(([size]) => bps >= size) ?? UNITS.at(-1);
}

export function rate(bps) {
  if (!Number.isFinite(bps)) return "–";
  const [size, unit] = unitOf(bps);
  const value = bps / size;
  return `${value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)} ${unit}`;
}

export function milliseconds(ms) {
  if (!Number.isFinite(ms)) return "–";
  return `${ms.toFixed(ms >= 100 ? 0 : ms >= 10 ? 1 : 2)} ms`;
}

export function count(value) {
  return Number.isFinite(value) ? value.toLocaleString("en") : "–";
}

// In the reader's time zone, to the second.
export function time(iso) {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return "–";
  const two = (number) => String(number).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

// From the first to the second, in % of the first.
export function change(first, second) {
  if (!(Number.isFinite(first) && Number.isFinite(second) && first > 0)) return "–";
  const percent = (second / first - 1) * 100;
  return `${percent > 0 ? "+" : percent < 0 ? "−" : ""}${Math.abs(percent).toFixed(Math.abs(percent) < 100 ? 1 : 0)} %`;
}
