// Paint the charts in the reader's theme: each model is tagged with the name of its colour.
(function () {
  "use strict";
  const themes = JSON.parse(document.getElementById("colours").textContent);
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const properties = [
    "line_color", "fill_color", "label_text_color", "major_label_text_color",
    "axis_label_text_color", "grid_line_color",
  ];

  function paint(theme) {
    for (const document_ of Bokeh.documents) {
      for (const model of document_.all_models) {
        const colour = theme[model.tags && model.tags[0]];
        if (!colour) continue;
        for (const property of properties) {
          if (!(property in model.properties)) continue;
          const value = model[property];
          if (value === null || (value && value.value === null)) continue;
          model[property] = colour;
        }
      }
    }
  }

  function paintForReader() {
    paint(prefersDark.matches ? themes.dark : themes.light);
  }

  if (window.Bokeh) {
    document.addEventListener("DOMContentLoaded", function () {
      // Bokeh fills its documents in the same event, registered before this one.
      window.setTimeout(paintForReader, 0);
    });
    prefersDark.addEventListener("change", paintForReader);
    window.addEventListener("beforeprint", function () { paint(themes.light); });
    window.addEventListener("afterprint", paintForReader);
  }
  // Paper has no disclosure triangles: everything is shown.
  window.addEventListener("beforeprint", function () {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });
})();
