// SPDX-License-Identifier: Apache-2.0
// Rates of what several streams tell: N bytes between this time and that one (ms since the start).
export const STEP_MS = 200;

export class Timeline {
  // `warmupMs` is drawn but not counted: the streams are still opening their windows.
  constructor(streams, ms, warmupMs) {
    this.bits = new Float64Array(Math.ceil(ms / STEP_MS));
    this.warmupMs = warmupMs;
    this.counted = Array.from({ length: streams }, () => ({ bits: 0, last: warmupMs }));
  }

  // The bytes are spread evenly over their time, so a large piece is no peak in the step it ended in.
  add(stream, from, to, bytes) {
    const within = (low, high) => {
      const overlap = Math.max(Math.min(to, high) - Math.max(from, low), 0);
      return bytes * 8 * (to > from ? overlap / (to - from) : Number(low <= to && to < high));
    };
    const first = Math.floor(from / STEP_MS), last = Math.floor(to / STEP_MS);
    for (let step = first; step <= Math.min(last, this.bits.length - 1); step += 1) {
      this.bits[step] += within(step * STEP_MS, (step + 1) * STEP_MS);
    }
    const counted = this.counted[stream];
    counted.bits += within(this.warmupMs, Infinity);
    counted.last = Math.max(counted.last, to);
  }

  // bit/s in each whole step before this time.
  rates(untilMs = Infinity) {
    const whole = Math.min(Math.floor(untilMs / STEP_MS), this.bits.length);
    return Array.from(this.bits.slice(0, Math.max(whole, 0)), (bits) => Math.round(bits * 1000 / STEP_MS));
  }

  // bit/s of all streams after the warm-up, each over its own time.
  mean() {
    return this.counted.reduce((sum, { bits, last }) => {
      const seconds = (last - this.warmupMs) / 1000;
      return sum + (seconds > 0 ? bits / seconds : 0);
    }, 0);
  }
}
