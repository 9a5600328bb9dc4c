// SPDX-License-Identifier: MIT
// In the place of furo's script, which is a module, as which no browser loads a file that lies on a disk: the button that
// chooses between light, dark and what the system is. And paper shows what the page has folded.
"use strict";
window.addEventListener("DOMContentLoaded", () => {
  const themes = ["auto", "light", "dark"];
  for (const button of document.getElementsByClassName("theme-toggle"))
    button.addEventListener("click", () => {
      const next = themes[(themes.indexOf(document.body.dataset.theme) + 1) % themes.length];
      document.body.dataset.theme = next;
      localStorage.setItem("theme", next);
    });
});
window.addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll("details:not([open])")) {
    folded.open = true;
    folded.dataset.printed = "";
  }
});
window.addEventListener("afterprint", () => {
  for (const opened of document.querySelectorAll("details[data-printed]")) {
    opened.open = false;
    delete opened.dataset.printed;
  }
});
