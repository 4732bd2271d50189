// The mark of a chart nearest to the pointer or the finger tells its value. Without a script its
// <title> does, on screens with a mouse.
(function () {
  "use strict";
  const REACH = 24;
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);

  function distance(mark, x, y) {
    const box = mark.getBoundingClientRect();
    const dx = Math.max(box.left - x, 0, x - box.right);
    const dy = Math.max(box.top - y, 0, y - box.bottom);
    return Math.hypot(dx, dy);
  }

  function nearest(marks, event) {
    const over = event.target.closest("[data-tip]");
    if (over) return over;
    let best = null;
    let least = REACH;
    for (const mark of marks) {
      const away = distance(mark, event.clientX, event.clientY);
      if (away < least) [best, least] = [mark, away];
    }
    return best;
  }

  function show(mark, event) {
    tip.hidden = mark === null;
    if (mark === null) return;
    tip.textContent = mark.dataset.tip;
    const width = document.documentElement.clientWidth;
    const left = Math.min(event.clientX + 14, width - tip.offsetWidth - 8);
    tip.style.left = Math.max(8, left) + window.scrollX + "px";
    tip.style.top = event.clientY + 16 + window.scrollY + "px";
  }

  for (const chart of document.querySelectorAll("svg.chart")) {
    for (const title of chart.querySelectorAll("title")) {
      const owner = title.parentNode;
      owner.setAttribute("aria-label", title.textContent);
      if (owner !== chart) owner.dataset.tip = title.textContent;
      title.remove();
    }
    const marks = chart.querySelectorAll("[data-tip]");
    const follow = (event) => show(nearest(marks, event), event);
    chart.addEventListener("pointermove", follow);
    chart.addEventListener("pointerdown", follow);
    chart.addEventListener("pointerleave", function (event) {
      if (event.pointerType === "mouse") tip.hidden = true;
    });
  }
  document.addEventListener("pointerdown", function (event) {
    if (!event.target.closest("svg.chart")) tip.hidden = true;
  });

  // Paper has no disclosure triangles: everything is shown.
  window.addEventListener("beforeprint", function () {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
})();
