// A word of the translation offers the words that could stand there instead, and the sentence goes
// on from the one that is chosen.

import { getWays } from "./api.js";
import { exchange, onForget, sentenceOf, textBefore } from "./shown.js";

const translation = document.getElementById("translation");
const section = document.getElementById("ways-section");
const title = document.getElementById("ways-title");
const list = document.getElementById("ways");

let asked = 0; // answers to all but the latest question are dropped
let report = () => {};

export function offerWords(onProblem) {
  report = onProblem;
}

function hideWays() {
  asked += 1;
  section.hidden = true;
  list.replaceChildren();
}

async function ask(word) {
  const mine = (asked += 1);
  const place = Number(word.dataset.sentence);
  const { source, model } = sentenceOf(place);
  try {
    const ways = await getWays(source, { ...model, prefix: textBefore(word) });
    if (mine !== asked) return;
    title.textContent = `Instead of “${word.textContent}”`;
    list.lang = translation.lang;
    list.replaceChildren(...ways.map((way) => choice(way, place)));
    section.hidden = ways.length === 0;
    if (section.hidden) report(`there are no other words for “${word.textContent}”`);
    if (document.activeElement === word) list.querySelector("button")?.focus();
  } catch (error) {
    if (mine !== asked) return;
    hideWays();
    report(error.message);
  }
}

function choice(way, place) {
  const item = document.createElement("li");
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = way.word;
  button.title = way.translation;
  const share = document.createElement("span");
  share.className = "share";
  share.textContent = percent(way.confidence);
  button.append(" ", share);
  button.addEventListener("click", () => {
    exchange(place, way);
    translation.focus();
    if (way.faults.length > 0) {
      report(way.faults.map((fault) => `the translation ${fault}`).join("; "));
    }
  });
  item.append(button);
  return item;
}

function percent(share) {
  return share < 0.01 ? "under 1 %" : `${Math.round(100 * share)} %`;
}

translation.addEventListener("click", (event) => {
  const word = event.target.closest(".word");
  const selects = !getSelection().isCollapsed;
  if (!word || selects) return;
  moveTo(word);
  ask(word);
});
translation.addEventListener("keydown", (event) => {
  if (!event.target.matches(".word") || !["Enter", " "].includes(event.key)) return;
  event.preventDefault();
  ask(event.target);
});

// The words are one stop of the Tab key; the arrows go from word to word.
function moveTo(word) {
  translation.querySelector(".word[tabindex]")?.removeAttribute("tabindex");
  word.tabIndex = 0;
  word.focus();
}

// The stop is none while the pointer is down on it, so that it can be selected like the others.
translation.addEventListener("pointerdown", (event) => {
  const word = event.target.closest(".word[tabindex]");
  if (!word) return;
  word.removeAttribute("tabindex");
  addEventListener("pointerup", () => (word.tabIndex = 0), { once: true });
});

translation.addEventListener("keydown", (event) => {
  const words = [...translation.querySelectorAll(".word")];
  const from = words.indexOf(document.activeElement);
  const steps = { ArrowRight: from + 1, ArrowLeft: from - 1, Home: 0, End: words.length - 1 };
  const next = words[steps[event.key]];
  if (from < 0 || !next) return;
  event.preventDefault();
  moveTo(next);
});

section.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    hideWays();
    translation.focus();
  }
});

onForget(hideWays);
