// A word of the translation offers the words that could stand there instead, and the sentence goes
// on from the one that is chosen.

import { getWays } from "./api.js";
import { element, percent } from "./element.js";
import { noteExchange, showProblem } from "./result.js";
import { exchange, onForget, sentenceOf, textBefore } from "./shown.js";

const translation = document.getElementById("translation");
const section = document.getElementById("ways-section");
const title = document.getElementById("ways-title");
const list = document.getElementById("ways");

let asked = 0; // answers to all but the latest question are dropped

function hideWays() {
  asked += 1;
  section.hidden = true;
  list.replaceChildren();
}

async function ask(word) {
  const mine = (asked += 1);
  const sentence = sentenceOf(word);
  try {
    const ways = await getWays(sentence.source, { ...sentence.model, prefix: textBefore(word) });
    if (mine !== asked) return;
    title.textContent = `Instead of “${word.textContent}”`;
    list.lang = translation.lang;
    list.replaceChildren(...ways.map((way) => choice(way, sentence)));
    section.hidden = ways.length === 0;
    if (section.hidden) showProblem(`there are no other words for “${word.textContent}”`);
    if (document.activeElement === word) list.querySelector("button")?.focus();
  } catch (error) {
    if (mine !== asked) return;
    hideWays();
    showProblem(error.message);
  }
}

function choice(way, sentence) {
  const share = element("span", { class: "share" }, percent(way.confidence));
  const word = element("bdi", {}, way.word); // else its direction would move the number
  const button = element("button", { type: "button", title: way.translation }, word, " ", share);
  button.addEventListener("click", () => {
    noteExchange(exchange(sentence, way), way.faults);
    translation.focus();
  });
  return element("li", {}, button);
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
