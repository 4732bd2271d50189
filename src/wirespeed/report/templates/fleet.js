// Hides the rows of hosts whose name does not have what was typed.
(function () {
  "use strict";
  const input = document.getElementById("filter");
  const shown = document.getElementById("shown");
  const rows = Array.from(document.querySelectorAll(".matrix tbody tr"), function (row) {
    return [row, row.cells[0].textContent.toLowerCase()];
  });
  input.addEventListener("input", function () {
    const wanted = input.value.trim().toLowerCase();
    let count = 0;
    for (const [row, name] of rows) {
      row.hidden = !name.includes(wanted);
      count += row.hidden ? 0 : 1;
    }
    shown.textContent = wanted ? count + " rows" : "";
  });
})();
