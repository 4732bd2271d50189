// SPDX-License-Identifier: Apache-2.0
// The CPUs at one moment: how busy each is, and which polling threads it has.
"use strict";

class CpuMap {
  constructor({ cpus, owners }) {
    this.owners = owners;
    this.empty = !cpus.length;
    this.root = element("section", { class: "cpus", "aria-label": "CPUs and their owners" });
    this.list = element("ul");
    this.root.append(element("h3", {}, "CPUs and their owners at this time"), this.list);
    this.cells = cpus.map((each) => {
      const item = element("li");
      const value = element("b", {}, NOT_LOADED);
      const load = element("div", { class: "load", "aria-hidden": "true" });
      const bar = element("i");
      const owner = element("span");
      load.append(bar);
      item.append(`CPU ${each.cpu} `, value, load, owner);
      return { ...each, item, value, bar, owner };
    });
    this.list.replaceChildren(...this.cells.map(({ item }) => item));
  }

  show(samples, about, t) {
    const on = new Map();
    for (const { label, cpu } of this.owners) {
      const found = samples.value(about, cpu, t);
      if (!found) continue;
      const key = String(found.raw);
      if (!on.has(key)) on.set(key, []);
      on.get(key).push(label);
    }
    for (const { cpu, busy, isolated, item, value, bar, owner } of this.cells) {
      const share = busy === null ? NaN : samples.line(about, busy, t);
      value.textContent = percentWords(share);
      bar.style.width = `${share > 0 ? Math.min(100, share) : 0}%`;
      const polls = on.get(cpu) ?? [];
      const alone = isolated !== null && String(samples.value(about, isolated, t)?.raw) === "1";
      const others = alone ? "isolated, no polling thread" : "shared by all programs";
      owner.textContent = polls.length ? `${polls.join(", ")}${alone ? " (isolated)" : ""}` : others;
      item.classList.toggle("polls", polls.length > 0);
    }
  }
}
