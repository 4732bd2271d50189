// SPDX-License-Identifier: Apache-2.0
// Colours as the system has them, or as chosen here. Not a module: it runs before the page is drawn.
(() => {
  const KEY = "wirespeed.theme";
  const CHOICES = ["system", "light", "dark"];
  const root = document.documentElement;
  const apply = (choice) => {
    root.dataset.theme = choice;
    const button = document.getElementById("theme");
    if (button) button.textContent = `Colours: ${choice}`;
  };
  let choice = "system";
  try {
    choice = localStorage.getItem(KEY) ?? choice;
  } catch {
    // Storage may be forbidden; the choice then lasts as long as the page.
  }
  if (!CHOICES.includes(choice)) choice = "system";
  apply(choice);
  document.addEventListener("DOMContentLoaded", () => {
    apply(choice);
    document.getElementById("theme").addEventListener("click", () => {
      choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
      apply(choice);
      try {
        localStorage.setItem(KEY, choice);
      } catch {
        // As above.
      }
    });
  });
})();
