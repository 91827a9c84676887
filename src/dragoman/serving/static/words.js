// Every word of the best translation of a sentence is a button: it offers the words that could stand there instead, and
// the translation goes on from the one that is chosen.

import { getWays } from "./api.js";

const translation = document.getElementById("translation");
const section = document.getElementById("ways-section");
const title = document.getElementById("ways-title");
const list = document.getElementById("ways");

let asked = 0; // answers to all but the latest question are dropped

export function offerWords(sentence, languages, onProblem) {
  hideWays();
  const parts = translation.textContent.split(/(\s+)/).filter((part) => part !== "");
  const nodes = parts.map((part, place) => {
    if (!part.trim()) return document.createTextNode(part);
    const button = document.createElement("button");
    button.type = "button";
    button.className = "word";
    button.textContent = part;
    button.addEventListener("click", () => {
      const prefix = parts.slice(0, place).join("").trim();
      ask(sentence, languages, prefix, part, onProblem);
    });
    return button;
  });
  translation.replaceChildren(...nodes);
}

export function hideWays() {
  asked += 1;
  section.hidden = true;
  list.replaceChildren();
}

async function ask(sentence, languages, prefix, word, onProblem) {
  const mine = (asked += 1);
  try {
    const ways = await getWays(sentence, { ...languages, prefix });
    if (mine !== asked) return;
    title.textContent = `Instead of “${word}”`;
    list.lang = translation.lang;
    list.replaceChildren(
      ...ways.map((way) => choice(way, () => take(way, sentence, languages, onProblem))),
    );
    section.hidden = ways.length === 0;
    list.querySelector("button")?.focus();
  } catch (error) {
    if (mine === asked) onProblem(error.message);
  }
}

function choice(way, onClick) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = way.word;
  button.title = way.translation;
  const share = document.createElement("span");
  share.className = "share";
  share.textContent = percent(way.confidence);
  button.append(" ", share);
  button.addEventListener("click", onClick);
  item.append(button);
  return item;
}

function percent(share) {
  return share < 0.01 ? "under 1 %" : `${Math.round(100 * share)} %`;
}

function take(way, sentence, languages, onProblem) {
  translation.textContent = way.translation;
  offerWords(sentence, languages, onProblem);
  translation.focus();
}

section.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    hideWays();
    translation.focus();
  }
});
