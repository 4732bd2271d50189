// SPDX-License-Identifier: Apache-2.0
// The same as the lanes, as a table: every series with the value that was read last and its rate.
"use strict";

const ROWS = 200;
const EVERY_MS = 250;

class SeriesTable {
  constructor(source) {
    this.source = source;
    this.details = document.getElementById("table");
    this.filter = document.getElementById("filter");
    this.rows = [];
    this.shownAt = 0;
    this.later = null;
    this.key = "";
    this.t = 0;
    this.filter.addEventListener("input", () => this.show(this.t, true));
    this.details.addEventListener("toggle", () => this.show(this.t, true));
  }

  show(t, now = false) {
    this.t = t;
    const time = performance.now();
    if (!this.details.open) return;
    if (!now && time - this.shownAt < EVERY_MS) {
      this.later ??= setTimeout(() => this.show(this.t, true), EVERY_MS);
      return;
    }
    clearTimeout(this.later);
    this.later = null;
    this.shownAt = time;
    this.build();
    const { samples, about } = this.source;
    for (const { number, cells } of this.rows) {
      const found = samples.value(about, number, t);
      const counter = about.series[number][4] === "counter";
      const none = found === undefined ? NOT_LOADED : "\u2013";
      cells[0].textContent = found ? String(found.raw) : none;
      cells[1].textContent = found && counter ? shownNumber(found.shown) : counter ? none : "";
    }
  }

  build() {
    const { series } = this.source.about;
    const word = this.filter.value.trim().toLowerCase();
    const key = `${series.length} ${word}`;
    if (key === this.key) return;
    this.key = key;
    const found = series.map((each, number) => [number, each, labelsOf(each)])
      .filter(([, each, labels]) => `${each[1]} ${labels}`.toLowerCase().includes(word));
    this.rows = found.slice(0, ROWS).map(([number, each, labels]) => {
      const row = element("tr");
      const cells = [element("td", { class: "n" }), element("td", { class: "n" })];
      row.append(element("th", { scope: "row" }, each[1]), element("td", {}, labels), cells[0],
        element("td", {}, each[3]), cells[1]);
      return { number, row, cells };
    });
    document.getElementById("rows").replaceChildren(...this.rows.map(({ row }) => row));
    const more = found.length - this.rows.length;
    document.getElementById("more").textContent =
      `${found.length} of ${series.length} series${more > 0 ? `; the first ${ROWS} are listed` : ""}`;
  }
}

function labelsOf(series) {
  return series[2].map(([name, value]) => `${name}=${value}`).join(", ");
}
