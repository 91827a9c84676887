// What the server has answered: the translation, its alternatives, and what to know about it.
// Translations are text and never markup.

import { hideWays } from "./words.js";

const translation = document.getElementById("translation");
const status = document.getElementById("status");
const section = document.getElementById("alternatives-section");
const list = document.getElementById("alternatives");
const copy = document.getElementById("copy");

export function showTranslation(answer, notes) {
  showText(answer.text, answer.target_language);
  const others = answer.alternatives.map((found) => found.text);
  showAlternatives([...new Set(others)].filter((text) => text !== answer.text));
  showStatus([...notes, ...answer.faults.map((fault) => `the translation ${fault}`)].join("; "), {
    problem: answer.faults.length > 0,
  });
}

export function showBusy() {
  translation.setAttribute("aria-busy", "true");
}

export function showProblem(message) {
  translation.removeAttribute("aria-busy");
  showStatus(message, { problem: true });
}

export function clear() {
  showText("", "");
  showAlternatives([]);
  showStatus("");
}

export function currentText() {
  return translation.textContent;
}

export function listenToCopy() {
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(currentText());
      showStatus("copied");
    } catch {
      // Browsers give the clipboard to pages on https or localhost only: let the reader copy.
      getSelection().selectAllChildren(translation);
      showStatus("selected; copy it with Ctrl C");
    }
  });
}

function showText(text, language) {
  hideWays();
  translation.removeAttribute("aria-busy");
  translation.textContent = text;
  translation.lang = language;
  copy.disabled = text === "";
}

function showAlternatives(texts) {
  section.hidden = texts.length === 0;
  list.lang = translation.lang;
  list.replaceChildren(...texts.map(alternative));
}

// Choosing an alternative exchanges it for the translation that is shown.
function alternative(text) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = text;
  button.addEventListener("click", () => {
    const before = currentText();
    showText(button.textContent, translation.lang);
    button.textContent = before;
  });
  item.append(button);
  return item;
}

function showStatus(message, { problem = false } = {}) {
  status.textContent = message && message[0].toUpperCase() + message.slice(1);
  status.classList.toggle("problem", problem);
}
