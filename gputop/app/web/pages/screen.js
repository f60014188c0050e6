// The screen's page: keys go to the terminal without a click, and an ended screen can be started again.
"use strict";

document.getElementById("again").addEventListener("click", () => location.reload());

function focus() {
  document.querySelector(".xterm-helper-textarea")?.focus();
}
new MutationObserver(focus).observe(document.body, { attributes: true, attributeFilter: ["class"] });
addEventListener("focus", focus);
