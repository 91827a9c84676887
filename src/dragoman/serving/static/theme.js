// Light or dark: as the system says, until the reader chooses.

import { recall, remember } from "./memory.js";

const root = document.documentElement;
const button = document.getElementById("theme");
const system = matchMedia("(prefers-color-scheme: dark)");

const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
const show = () => button.setAttribute("aria-pressed", String(isDark()));

const chosen = recall("localStorage", "theme");
if (chosen) root.dataset.theme = chosen;
show();
system.addEventListener("change", show);
button.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  remember("localStorage", "theme", root.dataset.theme);
  show();
});
