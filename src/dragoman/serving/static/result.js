// What the server has answered: the translation, its alternatives, and what to know about it.
// Translations are text and never markup.

import { capitalised, element } from "./element.js";
import { forget, show } from "./shown.js";

const translation = document.getElementById("translation");
const status = document.getElementById("status");
const section = document.getElementById("alternatives-section");
const list = document.getElementById("alternatives");
const copy = document.getElementById("copy");

let translated = null; // the text whose whole translation is shown
let shown = null; // the candidate that is shown, as it was found or as the reader has made it
let notes = []; // what there is to know of all candidates

// The beginning of a translation that is being made.
export function showPiece(piece, language) {
  if (!("growing" in translation.dataset)) {
    showText("", language);
    section.hidden = true; // these are of another text
    showBusy();
    translation.dataset.growing = "";
  }
  translation.append(piece);
}

export function showTranslation(answer, { text, notes: said, model }) {
  const candidates = answer.alternatives.filter(
    (found, place, all) => all.findIndex((other) => other.text === found.text) === place,
  );
  const [best, ...others] = candidates.map((found) => ({
    text: found.text,
    parts: found.translated_parts,
    words: found.translated_words,
    faults: found.faults,
  }));
  const passage = { source: text, parts: answer.parts, words: answer.words, model };
  notes = said;
  showCandidate(best, passage, answer.target_language);
  showAlternatives(others, passage);
  translated = text;
}

export function showBusy() {
  translated = null;
  delete translation.dataset.growing;
  translation.setAttribute("aria-busy", "true");
  showStatus("");
}

// There is no translation of the text: what is left of an older one is not offered as if it were.
export function showFailure(message) {
  showText(translation.textContent, translation.lang);
  translation.dataset.stale = "";
  copy.disabled = true;
  section.hidden = true;
  showProblem(message);
}

export function showProblem(message) {
  showStatus(message, { problem: true });
}

export function clear() {
  showText("", "");
  translated = null;
  section.hidden = true;
  showStatus("");
}

// Another translation of one of its sentences, with these faults, is shown in the one that was.
export function noteExchange(candidate, faults) {
  const ofOthers = candidate.parts.length > 1 ? shown.faults : []; // or of the one that is gone
  shown = { ...candidate, faults: [...new Set([...ofOthers, ...faults])] };
  showFaults();
}

// The translation of a text, if it is the one that is shown, and whole.
export function translationOf(text) {
  return text === translated ? translation.textContent : null;
}

copy.addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(translation.textContent);
    showStatus("copied");
  } catch {
    // Browsers give the clipboard to pages on https or localhost only: let the reader copy.
    getSelection().selectAllChildren(translation);
    showStatus("selected; copy it with Ctrl C");
  }
});

function showText(text, language) {
  forget();
  translation.removeAttribute("aria-busy");
  delete translation.dataset.growing;
  delete translation.dataset.stale;
  translation.textContent = text;
  translation.lang = language;
  copy.disabled = text === "";
}

function showCandidate(candidate, passage, language) {
  shown = candidate;
  showText(candidate.text, language);
  if (passage.model) show(candidate, passage); // else it is not a translation
  showFaults();
}

function showFaults() {
  showStatus([...notes, ...shown.faults.map((fault) => `the translation ${fault}`)].join("; "), {
    problem: shown.faults.length > 0,
  });
}

function showAlternatives(others, passage) {
  section.hidden = others.length === 0;
  list.lang = translation.lang;
  list.replaceChildren(
    ...others.map((other) => {
      const button = element("button", { type: "button", dir: "auto" }, other.text);
      // Choosing an alternative exchanges it for the translation that is shown.
      button.addEventListener("click", () => {
        const chosen = other;
        other = shown;
        showCandidate(chosen, passage, translation.lang);
        button.textContent = other.text;
      });
      return element("li", {}, button);
    }),
  );
}

function showStatus(message, { problem = false } = {}) {
  status.textContent = capitalised(message);
  status.classList.toggle("problem", problem);
}
